"""Rights, trunks, floating addresses, stored credentials, images and security groups of a plan as facts."""

from __future__ import annotations

from interlock.planning.plan import Planned
from interlock.resources import FloatingIp, Image, Project, RbacPolicy, SecurityGroup, StoredCredential, Trunk
from interlock.vocabulary import Reference, Scheme

from .identities import FOREIGN, OPERATOR
from .reader import PlanReader
from .rights import (
    EVERY_PROJECT,
    FloatingIpFact,
    ImageFact,
    RightFact,
    SecurityGroupFact,
    StoredCredentialFact,
    TrunkFact,
)


def trunk(reader: PlanReader, item: Planned, spec: Trunk) -> TrunkFact:
    """A trunk with its sub-ports."""
    sub_ports = tuple((sub.port, sub.vlan) for sub in spec.sub_ports)
    return TrunkFact(item.name, reader.owner_of(spec.project), spec.port, sub_ports)


def floating_ip(reader: PlanReader, item: Planned, spec: FloatingIp) -> FloatingIpFact:
    """An entry from outside."""
    return FloatingIpFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        external_network=spec.external_network,
        address=spec.address,
        port=spec.port,
    )


def right(reader: PlanReader, item: Planned, spec: RbacPolicy) -> RightFact:
    """A right, and who gets it."""
    return RightFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        object=spec.object,
        kind=_kind(reader, spec.object),
        action=spec.action,
        target=_target(reader, spec.target),
    )


def _kind(reader: PlanReader, reference: str) -> str:
    """`site:Network/external` says its kind; a plan name has it in the plan."""
    planned = reader.plan.by_name.get(reference)
    if planned is not None:
        return planned.resource.KIND
    return Reference.kind_of(reference)


def _target(reader: PlanReader, target: str) -> str:
    if target == EVERY_PROJECT:
        return target
    if Reference.name_in(target, Scheme.SITE, Project.KIND) is not None:
        return OPERATOR
    tenant = Reference.name_in(target, Scheme.CLOUD, Project.KIND)
    if tenant is not None:
        return tenant
    return reader.owner_of(target) if target else FOREIGN


def stored_credential(reader: PlanReader, item: Planned, spec: StoredCredential) -> StoredCredentialFact:
    """A credential that is kept where data is, or handed to a server."""
    return StoredCredentialFact(item.name, reader.owner_of(spec.project), spec.credential, spec.place)


def image(reader: PlanReader, item: Planned, spec: Image) -> ImageFact:
    """An image is its stack's, which can write it."""
    return ImageFact(item.name, reader.owner, spec.visibility)


def security_group(reader: PlanReader, item: Planned, spec: SecurityGroup) -> SecurityGroupFact:
    """A security group."""
    return SecurityGroupFact(item.name, reader.owner_of(spec.project), spec.rules)
