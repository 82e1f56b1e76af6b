"""Plan -> facts. Owners follow from projects, vPODs from the component tree, never from cloud names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar

from interlock.planning.plan import Plan, Planned
from interlock.resources import (
    AddressScope,
    Keypair,
    Network,
    Port,
    Project,
    Resource,
    RoleAssignment,
    Router,
    RouterInterface,
    Server,
    Subnet,
    SubnetPool,
    SwitchPort,
)

from .facts import (
    NetworkFact,
    NetworkRole,
    PlanFacts,
    PortFact,
    RouterFact,
    ServerFact,
    SubnetFact,
    SwitchPortFact,
    VPodFact,
)
from .identities import FOREIGN, OPERATOR, RESERVED_LABELS

OPERATOR_USER = "cloud:User/@operator"

R = TypeVar("R", bound=Resource)


def plan_facts(plan: Plan) -> PlanFacts:
    """The facts of a plan.

    Raises ValueError if the tenant is called like one of the labels that are no tenant's.
    """
    if plan.tenant in RESERVED_LABELS:
        raise ValueError(f"a tenant cannot be called {plan.tenant!r}: the proof uses that word for another owner")
    return _Reader(plan).facts()


class _Reader:
    """Reads one plan; looks up components and owners of references."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.owner = plan.tenant or OPERATOR
        self.component = {item.name: item for item in plan.components}

    def facts(self) -> PlanFacts:
        return PlanFacts(
            owner=self.owner,
            is_tenant=self.plan.tenant is not None,
            networks=tuple(self._network(item, spec) for item, spec in self._all(Network)),
            subnets=tuple(self._subnet(item, spec) for item, spec in self._all(Subnet)),
            ports=tuple(self._port(item, spec) for item, spec in self._all(Port)),
            servers=tuple(self._server(item, spec) for item, spec in self._all(Server)),
            routers=tuple(self._router(item, spec) for item, spec in self._all(Router)),
            switch_ports=tuple(self._switch_port(item, spec) for item, spec in self._all(SwitchPort)),
            vpods=tuple(self._vpods()),
            open_scopes=tuple(self._open_scopes()),
        )

    def _all(self, kind: type[R]) -> Iterable[tuple[Planned, R]]:
        return ((item, item.resource) for item in self.plan.resources if isinstance(item.resource, kind))

    def _owner_of(self, project: str | None) -> str:
        """Who controls a project: the stack's own, the operator for the site's, else somebody unknown."""
        if project is None or project.startswith("site:Project/"):
            return OPERATOR
        own = self.plan.by_name.get(project)
        return self.owner if own is not None and isinstance(own.resource, Project) else FOREIGN

    def _vpod(self, component: str) -> str | None:
        current = self.component.get(component)
        while current is not None:
            if current.type == "VirtualPod":
                return current.name
            current = self.component.get(current.parent or "")
        return None

    def _network(self, item: Planned, spec: Network) -> NetworkFact:
        vpod = self._vpod(item.component)
        return NetworkFact(
            name=item.name,
            owner=self._owner_of(spec.project),
            role=next((role for role in NetworkRole if item.name == f"{vpod}-{role}"), None),
            vpod=vpod,
            kind=spec.network_type,
            physical_network=spec.physical_network,
            segment=spec.segmentation_id,
            external=spec.external,
            shared=spec.shared,
            port_security=spec.port_security,
        )

    def _subnet(self, item: Planned, spec: Subnet) -> SubnetFact:
        return SubnetFact(
            name=item.name,
            owner=self._owner_of(spec.project),
            network=spec.network,
            cidr=spec.cidr,
            gateway=spec.gateway,
            dhcp=spec.dhcp,
            subnet_pool=spec.subnet_pool,
        )

    @cached_property
    def _holder(self) -> dict[str, tuple[str, str]]:
        """Port -> the server that has it, and that server's host."""
        return {port: (item.name, spec.host) for item, spec in self._all(Server) for port in spec.ports}

    def _port(self, item: Planned, spec: Port) -> PortFact:
        server, host = self._holder.get(item.name, (None, None))
        return PortFact(
            name=item.name,
            owner=self._owner_of(spec.project),
            network=spec.network,
            subnet=spec.subnet,
            address=spec.address,
            vnic_type=spec.vnic_type,
            port_security=spec.port_security,
            server=server,
            host=host,
        )

    def _server(self, item: Planned, spec: Server) -> ServerFact:
        owner = self._owner_of(spec.project)
        component = self.component.get(item.component)
        return ServerFact(
            name=item.name,
            labels=frozenset({owner} | self._key_owner(spec.keypair) | self._granted(spec.project)),
            host=spec.host,
            vpod=self._vpod(item.component),
            ports=spec.ports,
            is_controller=owner == OPERATOR and component is not None and component.type == "VipuController",
        )

    def _key_owner(self, keypair: str | None) -> set[str]:
        """Whoever holds the key controls the server too; the keypairs of a stack are its owner's."""
        planned = self.plan.by_name.get(keypair or "")
        return {self.owner} if planned is not None and isinstance(planned.resource, Keypair) else set()

    def _granted(self, project: str) -> set[str]:
        """A role on a project is control over its servers. Only the operator's own role does not count."""
        roles = (spec for _, spec in self._all(RoleAssignment) if spec.project == project)
        return {self.owner} if any(spec.user != OPERATOR_USER for spec in roles) else set()

    def _open_scopes(self) -> Iterable[str]:
        yield from (f"address scope {item.name}" for item, spec in self._all(AddressScope) if spec.shared)
        yield from (f"subnet pool {item.name}" for item, spec in self._all(SubnetPool) if spec.shared)

    def _router(self, item: Planned, spec: Router) -> RouterFact:
        interfaces = (interface for _, interface in self._all(RouterInterface))
        return RouterFact(
            name=item.name,
            owner=self._owner_of(spec.project),
            external_network=spec.external_network,
            subnets=tuple(interface.subnet for interface in interfaces if interface.router == item.name),
        )

    def _switch_port(self, item: Planned, spec: SwitchPort) -> SwitchPortFact:
        return SwitchPortFact(
            name=item.name,
            switch=spec.switch,
            port=spec.port,
            device=spec.device,
            interface=spec.interface,
            vlan=spec.vlan,
            vpod=self._vpod(item.component),
        )

    def _vpods(self) -> Iterable[VPodFact]:
        for component in self.plan.components:
            if component.type == "VirtualPod":
                ports = (spec for item, spec in self._all(SwitchPort) if self._vpod(item.component) == component.name)
                yield VPodFact(component.name, tuple(sorted({spec.device for spec in ports})))
