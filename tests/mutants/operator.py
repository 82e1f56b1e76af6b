"""What a mutation operator is: one way to let tenants meet, and the same way where it harms nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from interlock.model.site.networks import PhysicalNetwork
from interlock.resources import BareMetalServer, Network, Port, Server, SwitchPort
from policies import Verdict
from tests.mutants.workspaces import VPodOf, Workspace

LOST = ""

#: None: this workspace has nothing that the operator could be tried on.
Change = Callable[[Workspace, Random], Workspace | None]


@dataclass(frozen=True)
class Operator:
    """A defect seeded where it leaks and where it does not."""

    id: str
    title: str
    leak: Change
    harmless: Change
    #: The rule whose finding comes first.
    rule: str
    #: The rules of which one comes first with that rule off. None of them: the mutant is lost. `LOST` among them: it is
    #: lost in some workspaces, where what the other rule speaks of is not there.
    then: tuple[str, ...] = ()
    verdict: Verdict = Verdict.VIOLATED

    @property
    def is_guard(self) -> bool:
        """True if it states one guard otherwise: `A3.no_forwarding=false`."""
        return "=" in self.id

    @property
    def exit_code(self) -> int:
        """What the judgement of the leak ends with."""
        return 1 if self.verdict is Verdict.VIOLATED else 3


# What operators look for in a workspace.


def pick(rng: Random, found: Sequence[VPodOf]) -> VPodOf | None:
    """One of these, if there is one."""
    return rng.choice(found) if found else None


def servers_of(space: Workspace, pod: VPodOf) -> tuple[str, ...]:
    """The virtual Poplar servers of a vPOD."""
    return space.named(pod.tenant, Server, f"{pod.prefix}-poplar-")


def is_metal(space: Workspace, pod: VPodOf) -> bool:
    """True if the vPOD's servers are whole hosts."""
    return bool(space.named(pod.tenant, BareMetalServer, f"{pod.prefix}-"))


def virtual(space: Workspace) -> list[VPodOf]:
    """The vPODs on hypervisors."""
    return [pod for pod in space.vpods if not is_metal(space, pod)]


def neighbours(space: Workspace, rng: Random, *, among: Sequence[VPodOf] | None = None) -> tuple[VPodOf, VPodOf] | None:
    """Two vPODs of two tenants in one hall."""
    pods = list(space.vpods if among is None else among)
    pairs = [
        (one, other)
        for one in pods
        for other in pods
        if one.tenant != other.tenant and one.claims.ipu_data_network == other.claims.ipu_data_network
    ]
    return rng.choice(pairs) if pairs else None


def strangers(space: Workspace, rng: Random, *, among: Sequence[VPodOf] | None = None) -> tuple[VPodOf, VPodOf] | None:
    """Two vPODs of two tenants, wherever they are."""
    pods = list(space.vpods if among is None else among)
    pairs = [(one, other) for one in pods for other in pods if one.tenant != other.tenant]
    return rng.choice(pairs) if pairs else None


def siblings(space: Workspace, rng: Random, *, among: Sequence[VPodOf] | None = None) -> tuple[VPodOf, VPodOf] | None:
    """Two vPODs of one tenant in one hall."""
    pods = list(space.vpods if among is None else among)
    pairs = [
        (one, other)
        for one in pods
        for other in pods
        if one.tenant == other.tenant and one != other and one.claims.ipu_data_network == other.claims.ipu_data_network
    ]
    return rng.choice(pairs) if pairs else None


def across(space: Workspace, rng: Random) -> tuple[VPodOf, VPodOf, tuple[str, str]] | None:
    """Two vPODs of two tenants in neighbouring halls, and the ports of the core link between them: (switch, switch)."""
    found = []
    for one, other in core_links(space):
        for a in in_hall_of(space, one):
            found += [(a, b, (one, other)) for b in in_hall_of(space, other) if a.tenant != b.tenant]
    return rng.choice(found) if found else None


def core_links(space: Workspace) -> list[tuple[str, str]]:
    """The leaves that core links join: ports 32 and 33."""
    return [
        (cable.a.device, cable.b.device)
        for cable in space.site.cables
        if (cable.a.interface, cable.b.interface) == ("32", "33")
    ]


def fabric(space: Workspace, pod: VPodOf) -> PhysicalNetwork:
    """The physical network of a vPOD's data VLAN."""
    return next(item for item in space.site.physical_networks if item.name == pod.claims.ipu_data_network)


def leaf(space: Workspace, pod: VPodOf) -> str:
    """The first leaf switch of a vPOD's hall."""
    return fabric(space, pod).switches[0]


def in_hall_of(space: Workspace, switch: str) -> list[VPodOf]:
    """The vPODs whose data VLAN reaches a leaf."""
    return [pod for pod in space.vpods if switch in fabric(space, pod).switches]


def used_vlans(space: Workspace) -> set[int]:
    """Every VLAN that a vPOD has, in whatever hall."""
    return {
        vlan
        for pod in space.vpods
        for vlan in (pod.claims.ipu_data_vlan, pod.claims.storage_vlan, pod.claims.management_vlan)
    }


def idle_machine(space: Workspace, rng: Random) -> tuple[str, str, int] | None:
    """A machine that nobody has, with the leaf and port behind its RNIC; None if each is somebody's."""
    taken = {name for pod in space.vpods for name in pod.claims.machines}
    idle = [end for end in rnic_ends(space) if end[0] not in taken]
    return rng.choice(idle) if idle else None


def rnic_ends(space: Workspace) -> list[tuple[str, str, int]]:
    """(machine, leaf, port) of every RNIC."""
    return [
        (cable.a.device, cable.b.device, int(cable.b.interface))
        for cable in space.site.cables
        if cable.a.interface == "rnic"
    ]


def rnic_ports(space: Workspace, pod: VPodOf) -> tuple[str, ...]:
    """The names of the switch ports of a vPOD's RNICs."""
    return tuple(
        name
        for name in space.named(pod.tenant, SwitchPort, f"{pod.prefix}-rnic-")
        if space.get(pod.tenant, name, SwitchPort).device in pod.claims.machines
    )


def port_of(pod: VPodOf, role: str, server: int = 0) -> str:
    """The name of a Poplar server's port."""
    return f"{pod.prefix}-poplar-{server}-{role}"


def port(space: Workspace, pod: VPodOf, role: str) -> Port:
    """The port of the first Poplar server in a network of its vPOD."""
    return space.get(pod.tenant, port_of(pod, role), Port)


def network(space: Workspace, pod: VPodOf, role: str) -> Network:
    """A network of a vPOD."""
    return space.get(pod.tenant, f"{pod.prefix}-{role}", Network)
