"""Servers of a plan as facts: who controls them, and which host they are on or are."""

from __future__ import annotations

from interlock.planning.plan import Planned
from interlock.resources import BareMetalServer, Image, Keypair, RoleAssignment, Server
from interlock.vocabulary.references import OPERATOR_USER

from .identities import FOREIGN, OPERATOR
from .kinds import ServerFact
from .reader import PlanReader
from .user_data import login_keys


def server(reader: PlanReader, item: Planned, spec: Server) -> ServerFact:
    """A virtual server."""
    owner = reader.owner_of(spec.project)
    component = reader.component.get(item.component)
    return ServerFact(
        name=item.name,
        labels=_labels(reader, spec),
        host=spec.host,
        vpod=item.vpod,
        ports=reader.with_sub_ports(spec.ports),
        is_controller=owner == OPERATOR and component is not None and component.type == "VipuController",
        image=spec.image,
        keypair=spec.keypair,
        user_data=spec.user_data,
        login_keys=login_keys(spec.user_data),
        flavor=spec.flavor,
    )


def bare_metal_server(reader: PlanReader, item: Planned, spec: BareMetalServer) -> ServerFact:
    """A whole host. It is never a declared controller: nothing under it could hold it to its ports."""
    return ServerFact(
        name=item.name,
        labels=_labels(reader, spec),
        host=spec.node,
        vpod=item.vpod,
        ports=reader.with_sub_ports(spec.ports),
        is_controller=False,
        is_bare_metal=True,
        image=spec.image,
        keypair=spec.keypair,
        user_data=spec.user_data,
        login_keys=login_keys(spec.user_data),
    )


def _labels(reader: PlanReader, spec: Server | BareMetalServer) -> frozenset[str]:
    """All who control it: the project's owner, and whoever's key, image or role is on it."""
    own = reader.is_own(spec.keypair, Keypair) or reader.is_own(spec.image, Image) or _has_role(reader, spec.project)
    strange = spec.keypair is not None and not reader.is_own(spec.keypair, Keypair)
    others = (reader.owner if own else None, FOREIGN if strange else None)
    return frozenset({reader.owner_of(spec.project), *(label for label in others if label is not None)})


def _has_role(reader: PlanReader, project: str) -> bool:
    """A role on a project is control over its servers. Only the operator's own role does not count."""
    roles = (spec for _, spec in reader.all(RoleAssignment) if spec.project == project)
    return any(spec.user != OPERATOR_USER for spec in roles)
