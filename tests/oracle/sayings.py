"""Words that the worked examples share: two tenants on a leaf, and a table of what is expected of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from interlock.planning.plan import Component
from interlock.resources import Network, Port, Server

from .drafting import CONTROLLERS, Draft, Ranges
from .world import World

Expected = Literal["V", "P", "N"]
POOL: Ranges = ((1000, 1099),)
A, G = "acme", "globex"
#: VLAN of each tenant's data network.
VLAN = {A: 1001, G: 1002}


@dataclass(frozen=True)
class Example:
    """One verdict of the page. `rules`: the rules that it is about, where it is not Sep or Excl."""

    number: str
    expected: Expected
    make: Callable[[], Draft]
    rules: tuple[str, ...] = ()
    #: What the oracle leaves out, where the page's verdict is about packets alone.
    without: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Number and what it says."""
        return f"{self.number}-{self.make.__name__}"

    def world(self) -> World:
        """The world of it."""
        return self.make().made()


def leaf(name: str = "leaf-1", network: str = "data-1", host: str = "hv-1") -> Draft:
    """A switch with a hypervisor; no tenant yet."""
    draft = Draft()
    more_leaf(draft, name, network, host)
    return draft


def more_leaf(draft: Draft, name: str, network: str, host: str) -> int:
    """One more switch with a hypervisor; the number of the host's port."""
    draft.switch(name)
    draft.networks[network] = (name,)
    return draft.hypervisor(host, name, network, POOL)


def tenant(draft: Draft, name: str, vlan: int, network: str = "data-1", host: str | None = "hv-1") -> None:
    """A tenant with a data network, and a server on it if there is a host."""
    if name not in draft.components:
        draft.tenant(name)
    segment = draft.vlan(name, f"{name}-a-ipu-data-{vlan}", network, vlan)
    if host is not None:
        port = draft.plug(name, f"{name}-a-poplar-{vlan}-ipu-data", segment)
        draft.server(name, f"{name}-a-poplar-{vlan}", host, (port,))


def both() -> Draft:
    """acme and globex on one leaf, each on its own VLAN."""
    draft = leaf()
    for name, vlan in VLAN.items():
        tenant(draft, name, vlan)
    return draft


def apart() -> Draft:
    """acme on leaf-1 and globex on leaf-2, with one VLAN id."""
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    tenant(draft, A, 1001)
    tenant(draft, G, 1001, "data-2", "hv-2")
    return draft


def management(draft: Draft) -> None:
    """The switch for BMCs and gateways."""
    draft.switch("mgmt-1")
    draft.networks["mgmt"] = ("mgmt-1",)


def machine(draft: Draft, owner: str, name: str, vlan: int) -> tuple[int, int]:
    """A machine of a tenant, its RNIC in a VLAN and its management port in none; its switch ports."""
    if "mgmt-1" not in draft.switches:
        management(draft)
    ports = draft.machine(name)
    draft.switch_port(owner, "leaf-1", ports[0], vlan)
    return ports


def control(draft: Draft, owner: str, vni: int, gateway: bool = True) -> str:
    """A control network with a server's port, behind a router; the network."""
    network = draft.vxlan(owner, f"{owner}-a-control", vni)
    subnet = draft.subnet(owner, network, f"10.30.{vni % 250}.0/24")
    if gateway:
        draft.router(owner, f"{owner}-router", (subnet,))
    else:
        draft.router(owner, f"{owner}-router", (subnet,), external=None)
    port = draft.plug(owner, f"{owner}-a-control-port", network, vnic_type="normal")
    draft.server(owner, f"{owner}-a-control-server", "hv-1", (port,))
    return network


def controller(draft: Draft, owner: str, vlan: int, vni: int, machines: tuple[str, ...] = ()) -> None:
    """A controller on the tenant's control network and on a management VLAN of the operator's, with an allocation."""
    if "mgmt-1" not in draft.switches:
        management(draft)
    if "infra-1" not in draft.hosts:
        draft.hypervisor("infra-1", "mgmt-1", "mgmt", ((110, 199),))
    network = draft.vlan(owner, f"{owner}-a-management", "mgmt", vlan, project=CONTROLLERS)
    ports = tuple(
        draft.plug(owner, f"{owner}-a-controller-{part}", part, project=CONTROLLERS, vnic_type="normal")
        for part in (control(draft, owner, vni, gateway=False), network)
    )
    draft.controller(owner, ports, "infra-1", machines)


def vpods(draft: Draft, owner: str, *vlans: int) -> None:
    """vPODs `a`, `b` … of a tenant, each with a data network by its planned name and a server on it."""
    for letter, vlan in zip("abc", vlans, strict=False):
        vpod = f"{owner}-{letter}"
        if letter != "a":
            draft.components[owner].append(Component(name=vpod, type="VirtualPod", parent=owner))
        name = f"{vpod}-ipu-data"
        network = Network(
            name=name, project=draft.project(owner), network_type="vlan", physical_network="data-1",
            segmentation_id=vlan,
        )  # fmt: skip
        draft.add(owner, name, network, component=vpod)
        second_server(draft, owner, vpod, (name,))


def second_server(draft: Draft, owner: str, vpod: str, networks: tuple[str, ...]) -> None:
    """A server of a vPOD with a function on each of these networks."""
    name = f"{vpod}-poplar-{len(draft.resources[owner])}"
    project = draft.project(owner)
    ports = tuple(f"{name}-{network}" for network in networks)
    for port, network in zip(ports, networks, strict=True):
        plug = Port(
            name=port, project=project, network=network, subnet=f"{network}-subnet", address="10.0.0.9",
            vnic_type="direct",
        )  # fmt: skip
        draft.add(owner, port, plug, component=vpod)
    server = Server(
        name=name, project=project, flavor="site:Flavor/poplar", image="site:Image/poplar", host="hv-1", ports=ports
    )
    draft.add(owner, name, server, component=vpod)
