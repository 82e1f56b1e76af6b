"""Operators on links between switches, on switch ports that carry too much, and on what was released."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from policies import Verdict
from tests.builders.pod64 import cable
from tests.mutants.ground import DEAD
from tests.mutants.operator import (
    Operator,
    across,
    core_links,
    fabric,
    idle_machine,
    is_metal,
    leaf,
    neighbours,
    pick,
    rnic_ends,
    rnic_ports,
    strangers,
    used_vlans,
)
from tests.mutants.workspaces import OPERATOR, VPodOf, Workspace

UNUSED = 2950
#: What both ends of a core link are set to, by the data VLANs of the vPODs behind them.
Ends = Callable[[int, int], tuple[dict[str, object], dict[str, object]]]


def _linked(space: Workspace, rng: Random, ends: Ends) -> Workspace | None:
    """The core link between two tenants' halls configured again at both ends."""
    found = across(space, rng)
    if found is None:
        return None
    one, other, switches = found
    settings = ends(one.claims.ipu_data_vlan, other.claims.ipu_data_vlan)
    changed = space.with_port(switches[0], 32, **settings[0]).with_port(switches[1], 33, **settings[1])
    return changed.asking(one.tenant)


def _same_vlan(space: Workspace, rng: Random, settings: dict[str, object]) -> Workspace | None:
    """The core link between two tenants that have one VLAN id in two halls."""
    found = across(space, rng)
    if found is None or found[0].claims.ipu_data_vlan != found[1].claims.ipu_data_vlan:
        return None
    one, _, switches = found
    return space.with_port(switches[0], 32, **settings).with_port(switches[1], 33, **settings).asking(one.tenant)


def _harmless_link(space: Workspace, settings: dict[str, object], other: dict[str, object]) -> Workspace | None:
    links = core_links(space)
    if not links:
        return None
    return space.with_port(links[0][0], 32, **settings).with_port(links[0][1], 33, **other)


def unpruned(space: Workspace, rng: Random) -> Workspace | None:
    return _same_vlan(space, rng, {"tagged": None})


_FILLED: dict[str, object] = {"tagged": (), "filled_by": "neutron"}


def filled(space: Workspace, rng: Random) -> Workspace | None:
    """Neutron puts the networks of either hall onto the link."""
    return _same_vlan(space, rng, _FILLED)


def filled_at_one_end(space: Workspace, _: Random) -> Workspace | None:
    """The other end lists what nobody has."""
    return _harmless_link(space, _FILLED, {"tagged": ((UNUSED, UNUSED),)})


def list_too_wide(space: Workspace, rng: Random) -> Workspace | None:
    return _same_vlan(space, rng, {"tagged": ((1000, 2999),)})


def list_of_unused(space: Workspace, _: Random) -> Workspace | None:
    settings: dict[str, object] = {"tagged": ((UNUSED, UNUSED + 5),)}
    return _harmless_link(space, settings, settings)


def natives_of_two(space: Workspace, rng: Random) -> Workspace | None:
    return _linked(space, rng, lambda a, b: (_untagged(a), _untagged(b)))


def _untagged(vlan: int) -> dict[str, object]:
    return {"untagged": vlan, "tag_native": False}


def natives_that_are_dead(space: Workspace, _: Random) -> Workspace | None:
    return _harmless_link(space, _untagged(DEAD), _untagged(DEAD - 1))


def tagged_native(space: Workspace, rng: Random) -> Workspace | None:
    """Sent with its tag, the same id at both ends: as if both lists had it."""
    return _linked(
        space,
        rng,
        lambda a, b: ({"untagged": a, "tag_native": True}, {"tagged": ((a, a), (b, b)), "translations": ((a, b),)}),
    )


def tagged_natives_apart(space: Workspace, _: Random) -> Workspace | None:
    """Two numbers, each sent with its tag, so neither end takes the other's; both are dead."""
    return _harmless_link(space, {"untagged": DEAD, "tag_native": True}, {"untagged": DEAD - 1, "tag_native": True})


def native_taken(space: Workspace, rng: Random) -> Workspace | None:
    """One end sends its VLAN as the other's native one, whose list leaves that out: most switches take it."""
    return _linked(space, rng, lambda a, b: ({"tagged": ((a, a),), "translations": ((b, a),)}, _untagged(b)))


def native_taken_by_nobody(space: Workspace, _: Random) -> Workspace | None:
    return _harmless_link(space, {"tagged": ((UNUSED, UNUSED),)}, _untagged(DEAD))


def second_tag(space: Workspace, rng: Random) -> Workspace | None:
    """One end sends its VLAN untagged; what is written behind its tag, the other end takes."""
    return _linked(space, rng, lambda a, b: (_untagged(a), {"tagged": ((b, b),)}))


def second_tag_of_nobody(space: Workspace, rng: Random) -> Workspace | None:
    """Nobody is in the VLAN that leaves untagged."""
    return _linked(space, rng, lambda _, b: (_untagged(DEAD), {"tagged": ((b, b),)}))


def translated(space: Workspace, rng: Random) -> Workspace | None:
    """One end sends its VLAN as the other's id."""
    return _linked(space, rng, lambda a, b: ({"tagged": ((a, a),), "translations": ((2900, a),)}, _as_2900(b)))


def _as_2900(vlan: int) -> dict[str, object]:
    return {"tagged": ((2900, 2900), (vlan, vlan)), "translations": ((2900, vlan),)}


def translated_unused(space: Workspace, _: Random) -> Workspace | None:
    settings: dict[str, object] = {"tagged": ((UNUSED, UNUSED),), "translations": ((UNUSED, UNUSED + 1),)}
    return _harmless_link(space, settings, {"tagged": ((UNUSED, UNUSED),)})


def q_in_q(space: Workspace, rng: Random) -> Workspace | None:
    return _linked(space, rng, lambda _a, _b: ({"mode": "dot1q-tunnel", "untagged": 3500}, {"tagged": ()}))


def q_in_q_without_a_cable(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return space.with_port(leaf(space, pod), 40, mode="dot1q-tunnel", untagged=3500)


def undescribed(space: Workspace, rng: Random) -> Workspace | None:
    """Nobody states how one end of a core link is configured; the other carries everything."""
    found = across(space, rng)
    if found is None:
        return None
    one, _, switches = found
    kept = tuple(item for item in space.site.switch[switches[1]].ports if item.port != 33)
    wide = space.with_port(switches[0], 32, tagged=((1000, 2999),))
    return wide.with_switch(switches[1], ports=kept).asking(one.tenant)


def undescribed_without_a_cable(space: Workspace, rng: Random) -> Workspace | None:
    links = core_links(space)
    if not links:
        return None
    kept = tuple(item for item in space.site.switch[links[0][1]].ports if item.port != 33)
    cables = (item for item in space.site.cables if (item.a.interface, item.b.interface) != ("32", "33"))
    return space.with_site(cables=tuple(cables)).with_switch(links[0][1], ports=kept)


# Whole hosts, and the ToR beside the management switch.


def leftover_tag(space: Workspace, rng: Random) -> Workspace | None:
    """The switch port of a whole host still carries another's VLAN."""
    found = _metal_beside(space, rng)
    return None if found is None else _tagged(space, found[0], found[1].claims.ipu_data_vlan)


def leftover_tag_of_nobody(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, [pod for pod in space.vpods if is_metal(space, pod)])
    return None if pod is None else _tagged(space, pod, UNUSED)


def _metal_beside(space: Workspace, rng: Random) -> tuple[VPodOf, VPodOf] | None:
    pairs = [
        (pod, other)
        for pod in space.vpods
        for other in space.vpods
        if is_metal(space, pod) and pod.tenant != other.tenant and fabric(space, pod) == fabric(space, other)
    ]
    return rng.choice(pairs) if pairs else None


def _tagged(space: Workspace, pod: VPodOf, vlan: int) -> Workspace:
    rack = pod.claims.hosts[0].partition("-")[0]
    return space.with_port(f"tor-{rack}", 25, tagged=((vlan, vlan),)).asking(pod.tenant)


def management_on_an_rnic(space: Workspace, rng: Random) -> Workspace | None:
    """A link between leaf and management switch carries the management VLAN, and an RNIC's port is in it.

    Another RNIC of the vPOD stays where servers are: theirs is the way that is told first.
    """
    pod = pick(rng, [pod for pod in space.vpods if len(pod.claims.machines) > 1])
    if pod is None:
        return None
    name = rng.choice(rnic_ports(space, pod))
    rack = pod.claims.machines[0].partition("-")[0]
    vlan = pod.claims.management_vlan
    linked = _to_management(space, rack, vlan)
    return linked.edit(pod.tenant, name, vlan=vlan).asking(pod.tenant)


def management_link_of_nobody(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    free = [vlan for vlan in range(150, 199) if vlan not in used_vlans(space)]
    return _to_management(space, pod.claims.machines[0].partition("-")[0], rng.choice(free))


def _to_management(space: Workspace, rack: str, vlan: int) -> Workspace:
    wide = space.with_port(f"tor-{rack}", 40, tagged=((vlan, vlan),))
    wide = wide.with_port(f"mgmt-{rack}", 46, tagged=((vlan, vlan),))
    return wide.with_cables(cable(f"tor-{rack}:40", f"mgmt-{rack}:46"))


# Released machines.


def _released(space: Workspace, *, ports: dict[str, object], others: dict[str, object]) -> Workspace | None:
    """Two tenants released one machine each on one leaf; their ports are set to these."""
    taken = {name for pod in space.vpods for name in pod.claims.machines}
    idle = [end for end in rnic_ends(space) if end[0] not in taken and end[1] == "tor-r1"]
    if len(idle) < 2:
        return None
    changed = space
    for tenant, end, settings in zip(space.tenants, idle, (ports, others), strict=False):
        changed = changed.with_port(end[1], end[2], **settings).with_released(tenant, "machines", end[0])
    return changed.asking(OPERATOR)


def quarantine_of_two(space: Workspace, _: Random) -> Workspace | None:
    port = {"mode": "access", "untagged": 4000}
    return _released(space, ports=port, others=port)


def quarantine_ports_down(space: Workspace, _: Random) -> Workspace | None:
    return _released(space, ports={"mode": "disabled"}, others={"mode": "disabled"})


def quarantine_isolated(space: Workspace, _: Random) -> Workspace | None:
    port = {"mode": "access", "untagged": 4000, "private_vlan": "isolated"}
    return _released(space, ports=port, others=port)


def quarantine_role_lost(space: Workspace, _: Random) -> Workspace | None:
    """One of the two is promiscuous."""
    port = {"mode": "access", "untagged": 4000}
    return _released(space, ports=port | {"private_vlan": "isolated"}, others=port)


def quarantine_in_one_community(space: Workspace, _: Random) -> Workspace | None:
    port = {"mode": "access", "untagged": 4000, "private_vlan": "released"}
    return _released(space, ports=port, others=port)


def not_power_cycled(space: Workspace, rng: Random) -> Workspace | None:
    """A machine that one tenant has is one that another released a moment ago."""
    found = strangers(space, rng)
    if found is None:
        return None
    mine, theirs = found
    return space.with_released(theirs.tenant, "machines", rng.choice(mine.claims.machines)).asking(mine.tenant)


def released_and_idle(space: Workspace, rng: Random) -> Workspace | None:
    tenant, idle = rng.choice(space.tenants), idle_machine(space, rng)
    return None if idle is None else space.with_released(tenant, "machines", idle[0])


def claim_not_released(space: Workspace, rng: Random) -> Workspace | None:
    """A VLAN whose release nobody has seen on the switch, taken by another."""
    found = neighbours(space, rng)
    if found is None:
        return None
    mine, theirs = found
    value = f"{mine.claims.storage_network}:{mine.claims.storage_vlan}"
    return space.with_released(theirs.tenant, "storage_vlan", value).asking(mine.tenant)


N = Verdict.NOT_PROVABLE
LINKS = (
    Operator(
        "trunk-unpruned", "a link between halls without a list",
        unpruned, list_of_unused, "ISO-14", ("ISO-11",),
    ),
    Operator(
        "trunk-filled", "a link between halls that Neutron fills",
        filled, filled_at_one_end, "ISO-14", ("ISO-11",),
    ),
    Operator(
        "trunk-too-wide", "a link whose list has an id of two tenants",
        list_too_wide, list_of_unused, "ISO-11", ("ISO-01",),
    ),
    Operator(
        "natives-unequal", "native VLANs of two tenants at the ends of a link",
        natives_of_two, natives_that_are_dead, "ISO-15", ("ISO-11",),
    ),
    Operator(
        "native-tagged", "a native VLAN sent with its tag, and translated",
        tagged_native, tagged_natives_apart, "ISO-11", ("ISO-01",),
    ),
    Operator(
        "native-taken", "a native VLAN that no list names, which arrives with its tag",
        native_taken, native_taken_by_nobody, "ISO-15", ("ISO-11",), N,
    ),
    Operator(
        "second-tag", "a second tag behind a VLAN that goes untagged between switches",
        second_tag, second_tag_of_nobody, "ISO-15", ("ISO-11",), N,
    ),
    Operator(
        "translation", "a translation that joins two tenants' VLANs",
        translated, translated_unused, "ISO-11", ("ISO-01",),
    ),
    Operator(
        "q-in-q", "a link whose port mode nobody follows",
        q_in_q, q_in_q_without_a_cable, "ISO-15", ("ISO-03", "ISO-11"), N,
    ),
    Operator(
        "link-undescribed", "a link of which one end is not described",
        undescribed, undescribed_without_a_cable, "ISO-15", ("ISO-03", "ISO-11"), N,
    ),
    Operator(
        "leftover-tag", "another's VLAN left tagged on a whole host's port",
        leftover_tag, leftover_tag_of_nobody, "ISO-01", ("ISO-02",),
    ),
    Operator(
        "management-on-rnic", "the management VLAN on an RNIC",
        management_on_an_rnic, management_link_of_nobody, "ISO-05", ("TOP-13",),
    ),
    Operator(
        "quarantine", "two released machines in one quarantine VLAN",
        quarantine_of_two, quarantine_ports_down, "ISO-16", ("ISO-01",),
    ),
    Operator(
        "private-role-lost", "one of two isolated ports is promiscuous",
        quarantine_role_lost, quarantine_isolated, "ISO-16", ("ISO-01",),
    ),
    Operator(
        "private-community", "two isolated ports in one community",
        quarantine_in_one_community, quarantine_isolated, "ISO-16", ("ISO-01",),
    ),
    Operator(
        "not-power-cycled", "a machine that another released and nobody power-cycled",
        not_power_cycled, released_and_idle, "TOP-06", ("ISO-01",),
    ),
    Operator(
        "vlan-not-released", "a VLAN that another released and no switch let go",
        claim_not_released, released_and_idle, "ISO-11", ("ISO-01",),
    ),
)  # fmt: skip
