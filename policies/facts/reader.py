"""What reading one resource needs of the rest of its plan: components, and owners of references."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar

from interlock.planning.plan import Plan, Planned
from interlock.resources import BareMetalServer, Project, Resource, Server, Trunk
from interlock.vocabulary import Reference, Scheme

from .identities import FOREIGN, OPERATOR

R = TypeVar("R", bound=Resource)


class PlanReader:
    """One plan, with the look-ups that facts are read by."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        #: The label of everything in the stack's own project.
        self.owner = plan.tenant or OPERATOR
        self.component = {item.name: item for item in plan.components}

    def all(self, kind: type[R]) -> Iterable[tuple[Planned, R]]:
        """Every resource of one kind."""
        return ((item, item.resource) for item in self.plan.resources if isinstance(item.resource, kind))

    def owner_of(self, project: str | None) -> str:
        """Who controls a project: the stack's own, the operator for the site's, else somebody unknown."""
        if project is None or Reference.name_in(project, Scheme.SITE, Project.KIND) is not None:
            return OPERATOR
        return self.owner if self.is_own(project, Project) else FOREIGN

    def is_own(self, reference: str | None, kind: type[Resource]) -> bool:
        """True if a reference names a resource of this plan, of this kind."""
        planned = None if reference is None else self.plan.by_name.get(reference)
        return planned is not None and isinstance(planned.resource, kind)

    @cached_property
    def holder(self) -> dict[str, tuple[str, str]]:
        """Port -> the server that has it, and the host under that."""
        virtual = ((spec.ports, item.name, spec.host) for item, spec in self.all(Server))
        metal = ((spec.ports, item.name, spec.node) for item, spec in self.all(BareMetalServer))
        servers = (*virtual, *metal)
        return {port: (server, host) for ports, server, host in servers for port in self.with_sub_ports(ports)}

    @cached_property
    def _sub_ports(self) -> dict[str, tuple[str, ...]]:
        """Parent port -> the sub-ports of its trunks."""
        found: dict[str, tuple[str, ...]] = {}
        for _, trunk in self.all(Trunk):
            found[trunk.port] = (*found.get(trunk.port, ()), *(sub.port for sub in trunk.sub_ports))
        return found

    def with_sub_ports(self, ports: Iterable[str]) -> tuple[str, ...]:
        """Ports of a server, and what trunks put on their wire: one device has them all."""
        own = tuple(ports)
        subs = (sub for port in own for sub in self._sub_ports.get(port, ()))
        return tuple(dict.fromkeys((*own, *subs)))
