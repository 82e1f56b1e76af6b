"""Operators on wires inside one hall: VLANs of plans, switch ports, what routes and maps them."""

from __future__ import annotations

from random import Random

from interlock.model.site.physical import Cable, Endpoint
from interlock.resources import Network, SwitchPort
from policies import Verdict
from tests.mutants.operator import (
    Operator,
    fabric,
    idle_machine,
    neighbours,
    network,
    pick,
    port_of,
    rnic_ends,
    rnic_ports,
    siblings,
    strangers,
    virtual,
)
from tests.mutants.workspaces import VPodOf, Workspace

UNUSED_DATA, UNUSED_STORAGE = 1950, 2950


# A machine's port in the VLAN of another.


def rnic_on_anothers_vlan(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    if found is None:
        return None
    mine, theirs = found
    name = rng.choice(rnic_ports(space, mine))
    return space.asking(mine.tenant).edit(mine.tenant, name, vlan=theirs.claims.ipu_data_vlan)


def rnic_on_nobodys_vlan(space: Workspace, rng: Random) -> Workspace | None:
    idle = idle_machine(space, rng)
    if idle is None:
        return None
    _, switch, number = idle
    return space.with_port(switch, number, mode="access", untagged=UNUSED_DATA)


def rnic_of_a_sibling(space: Workspace, rng: Random) -> Workspace | None:
    found = siblings(space, rng)
    if found is None:
        return None
    mine, theirs = found
    name = rng.choice(rnic_ports(space, mine))
    return space.asking(mine.tenant).edit(mine.tenant, name, vlan=theirs.claims.ipu_data_vlan)


def idle_rnic_on_a_vlan(space: Workspace, rng: Random) -> Workspace | None:
    """The site file puts an idle machine's port into a tenant's VLAN."""
    idle = idle_machine(space, rng)
    if idle is None:
        return None
    _, switch, number = idle
    pod = pick(rng, [pod for pod in space.vpods if switch in fabric(space, pod).switches])
    if pod is None:
        return None
    return space.with_port(switch, number, mode="access", untagged=pod.claims.ipu_data_vlan).asking(pod.tenant)


def swapped_cables(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    if found is None:
        return None
    names = [rng.choice(pod.claims.machines) for pod in found]
    return _swapped(space, names[0], names[1]).asking(found[0].tenant)


def swapped_idle_cables(space: Workspace, rng: Random) -> Workspace | None:
    taken = {name for pod in space.vpods for name in pod.claims.machines}
    idle = [name for name, _, _ in rnic_ends(space) if name not in taken]
    return _swapped(space, *rng.sample(idle, 2)) if len(idle) > 1 else None


def _swapped(space: Workspace, one: str, other: str) -> Workspace:
    to = {one: other, other: one}

    def turned(cable: Cable) -> Cable:
        if cable.a.interface != "rnic" or cable.a.device not in to:
            return cable
        return cable.model_copy(update={"a": Endpoint(device=to[cable.a.device], interface="rnic")})

    return space.with_site(cables=tuple(turned(cable) for cable in space.site.cables))


# One id, two claims.


def vlan_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    return None if found is None else _moved(space, found[0], found[1].claims.ipu_data_vlan)


def vlan_of_nobody(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _moved(space, pod, UNUSED_DATA)


def _moved(space: Workspace, pod: VPodOf, vlan: int) -> Workspace:
    """All of a vPOD's ipu-data VLAN, ports included."""
    moved = space.edit(pod.tenant, f"{pod.prefix}-ipu-data", segmentation_id=vlan)
    old = pod.claims.ipu_data_vlan
    for name in space.named(pod.tenant, SwitchPort, f"{pod.prefix}-"):
        item = space.get(pod.tenant, name, SwitchPort)
        if item.vlan == old and item.switch.startswith("tor-"):
            moved = moved.edit(pod.tenant, name, vlan=vlan)
    return moved.asking(pod.tenant)


def storage_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng, among=virtual(space))
    if found is None:
        return None
    mine, theirs = found
    name = f"{mine.prefix}-storage"
    return space.asking(mine.tenant).edit(mine.tenant, name, segmentation_id=theirs.claims.storage_vlan)


def storage_of_nobody(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return space.asking(pod.tenant).edit(pod.tenant, f"{pod.prefix}-storage", segmentation_id=UNUSED_STORAGE)


def under_another_name(space: Workspace, rng: Random) -> Workspace | None:
    """A second physical network on the same leaves and legs; its VLAN is another's under the first name."""
    found = neighbours(space, rng, among=virtual(space))
    return None if found is None else _under_another_name(space, found[0], found[1].claims.ipu_data_vlan)


def unused_under_another_name(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _under_another_name(space, pod, UNUSED_STORAGE)


def _under_another_name(space: Workspace, pod: VPodOf, vlan: int) -> Workspace:
    known = fabric(space, pod)
    second = known.model_copy(update={"name": "second"})
    hosts = tuple(
        host.model_copy(update={"interfaces": dict(host.interfaces) | {"second": host.interfaces[known.name]}})
        for host in space.site.hosts
        if known.name in host.interfaces
    )
    pool = space.site.pools.vlans_by_name["storage"]
    wider = pool.model_copy(update={"physical_networks": (*pool.physical_networks, "second"), "vlans": ((1000, 2999),)})
    pools = space.site.pools.model_copy(update={"storage": wider})
    wide = space.with_site(physical_networks=(*space.site.physical_networks, second), pools=pools).with_hosts(*hosts)
    changes = {"physical_network": "second", "segmentation_id": vlan}
    return wide.edit(pod.tenant, f"{pod.prefix}-storage", **changes).asking(pod.tenant)


def vni_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    mine, theirs = found
    name = f"{mine.prefix}-control"
    return space.asking(mine.tenant).edit(mine.tenant, name, segmentation_id=theirs.claims.control_vni)


def vni_of_nobody(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return space.asking(pod.tenant).edit(pod.tenant, f"{pod.prefix}-control", segmentation_id=5900)


# A server's own ways between segments.


def function_without_a_check(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return space.asking(pod.tenant).edit(pod.tenant, port_of(pod, "storage"), port_security=False)


def filter_off_on_its_own_network(space: Workspace, rng: Random) -> Workspace | None:
    """No security group on an ordinary port: nobody else is on its segment."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return space.asking(pod.tenant).edit(pod.tenant, port_of(pod, "control"), security_groups=())


def function_on_vlan_4095(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    assert isinstance(network(space, pod, "storage"), Network)
    return space.asking(pod.tenant).edit(pod.tenant, f"{pod.prefix}-storage", segmentation_id=4095)


N = Verdict.NOT_PROVABLE
WIRES = (
    Operator(
        "rnic-vlan", "a machine's port in another's VLAN",
        rnic_on_anothers_vlan, rnic_on_nobodys_vlan, "ISO-03", ("ISO-01",),
    ),
    Operator(
        "rnic-vlan-sibling", "a machine's port in the VLAN of the tenant's other vPOD",
        rnic_of_a_sibling, rnic_on_nobodys_vlan, "ISO-03",
    ),
    Operator(
        "rnic-idle", "an idle machine's port in a tenant's VLAN",
        idle_rnic_on_a_vlan, rnic_on_nobodys_vlan, "ISO-03", ("ISO-01",),
    ),
    Operator(
        "cables-swapped", "the cables of two tenants' RNICs swapped",
        swapped_cables, swapped_idle_cables, "TOP-13", ("ISO-03",),
    ),
    Operator(
        "vlan-reuse", "another's data VLAN",
        vlan_of_another, vlan_of_nobody, "ISO-01", ("ISO-11",),
    ),
    Operator(
        "storage-vlan-reuse", "another's storage VLAN",
        storage_of_another, storage_of_nobody, "ISO-01", ("ISO-11",),
    ),
    Operator(
        "vlan-other-name", "another's VLAN under a second physical network",
        under_another_name, unused_under_another_name, "ISO-11", ("ISO-01",),
    ),
    Operator(
        "vni-reuse", "another's VNI",
        vni_of_another, vni_of_nobody, "ISO-01", ("ISO-11",),
    ),
    Operator(
        "vf-spoof", "a virtual function without its spoof check",
        function_without_a_check, filter_off_on_its_own_network, "ISO-08", ("ISO-09",),
    ),
    Operator(
        "vf-4095", "a virtual function with VLAN 4095",
        function_on_vlan_4095, storage_of_nobody, "ISO-08", ("ISO-12",),
    ),
)  # fmt: skip
