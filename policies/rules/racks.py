"""vPODs in their racks: TOP-04 aligned blocks, TOP-05 several logical racks, TOP-07 a torus needs its closing cable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from interlock.model.site.inventory import Machine
from policies.about import Reason, Subject, components, devices, resources
from policies.facts.fabric import AllocationFact
from policies.facts.kinds import VPodFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.graph.search import connected
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer

#: Machines of one logical rack, the reach of IPU-Links.
RACK = 16


def machines_of(model: Model, names: tuple[str, ...]) -> list[Machine]:
    """The machines that the site lists, in the order of the names."""
    return [model.site.site.machine[name] for name in names if name in model.site.site.machine]


def by_rack(machines: list[Machine]) -> dict[str, list[Machine]]:
    """Logical rack -> these machines of it, by position."""
    found: defaultdict[str, list[Machine]] = defaultdict(list)
    for machine in sorted(machines, key=lambda item: (item.logical_rack, item.position)):
        found[machine.logical_rack].append(machine)
    return dict(found)


# TOP-04


def _aligned(model: Model, _: Names) -> RuleAnswer:
    small = [vpod for vpod in model.plan.vpods if len(vpod.machines) <= RACK]
    racks = [(vpod, by_rack(machines_of(model, vpod.machines))) for vpod in small]
    causes = (_unaligned(vpod, next(iter(found.values()))) for vpod, found in racks if len(found) == 1)
    return RuleAnswer(len(small), violated=tuple(cause for cause in causes if cause is not None))


def _unaligned(vpod: VPodFact, machines: list[Machine]) -> Cause | None:
    size, first = len(machines), machines[0]
    if (first.position - 1) % size == 0:
        return None
    return Cause(
        key=vpod.name,
        message=f"vPOD {vpod.name} of {size} machines begins at position {first.position}",
        witness=(f"{first.name}: position {first.position} of {first.logical_rack}", f"blocks of {size} begin at 1"),
        hint=f"take a block that begins at 1, {1 + size}, …: others leave holes where no vPOD of {size} fits",
        specificity=20,
        about=components(vpod.name),
    )


# TOP-05


def _whole_racks(model: Model, _: Names) -> RuleAnswer:
    big = [vpod for vpod in model.plan.vpods if len(vpod.machines) > RACK]
    return RuleAnswer(len(big), violated=tuple(cause for vpod in big for cause in _over_racks(model, vpod)))


def _over_racks(model: Model, vpod: VPodFact) -> Iterator[Cause]:
    machines = machines_of(model, vpod.machines)
    racks = by_rack(machines)
    parts = [f"logical rack {name}: {len(found)} of {RACK} machines" for name, found in racks.items()]
    if any(len(found) != RACK for found in racks.values()):
        yield _rack_cause(vpod, "whole", "takes parts of logical racks", tuple(parts))
        return
    crooked = tuple(_crooked(model, {machine.name: machine for machine in machines}))
    if crooked:
        yield _rack_cause(vpod, "crooked", "has GW-Links between machines of unequal positions", crooked)
    apart = tuple(_apart(model, machines))
    if apart:
        yield _rack_cause(vpod, "apart", "stands in logical racks that GW-Links do not join", apart)


def _crooked(model: Model, machines: dict[str, Machine]) -> Iterator[str]:
    for cable in model.site.site.cables:
        if cable.kind == "gw-link" and cable.a.device in machines and cable.b.device in machines:
            a, b = machines[cable.a.device], machines[cable.b.device]
            if a.position != b.position:
                yield f"{cable.a} – {cable.b}: positions {a.position} and {b.position}"


def _apart(model: Model, machines: list[Machine]) -> Iterator[str]:
    """Positions at which the machines of the racks do not reach each other, by cable or over a GW-Link switch."""
    for position in sorted({machine.position for machine in machines}):
        row = {machine.name for machine in machines if machine.position == position}
        groups = _gateway_groups(model, row)
        if len(groups) > 1:
            yield f"position {position}: " + ", no GW-Link to ".join(" – ".join(sorted(group)) for group in groups)


def _gateway_groups(model: Model, row: set[str]) -> list[set[str]]:
    import networkx as nx

    links: nx.Graph[str] = nx.Graph()
    links.add_nodes_from(row)
    allowed = row.union(switch.name for switch in model.site.site.switches if switch.role == "gw-link")
    for cable in model.site.site.cables:
        if cable.kind == "gw-link" and {cable.a.device, cable.b.device} <= allowed:
            links.add_edge(cable.a.device, cable.b.device)
    return [found for group in connected(links) if (found := group & row)]


def _rack_cause(vpod: VPodFact, key: str, what: str, witness: tuple[str, ...]) -> Cause:
    return Cause(
        key=(vpod.name, key),
        message=f"vPOD {vpod.name} of {len(vpod.machines)} machines {what}",
        witness=witness,
        hint="above 16 machines a vPOD is whole logical racks, joined by GW-Links between equal positions",
        specificity=81,
        about=components(vpod.name),
    )


# TOP-07


def _closed_rings(model: Model, _: Names) -> RuleAnswer:
    if not model.plan.is_tenant:
        racks = [rack.name for rack in model.site.site.logical_racks if rack.topology == "torus"]
        causes = (_open_ring(model, rack, Reason(f"logical rack {rack}")) for rack in racks)
        return RuleAnswer(len(racks), violated=tuple(cause for cause in causes if cause is not None))
    rings = [item for item in model.plan.allocations if item.topology == "torus"]
    return RuleAnswer(len(rings), violated=tuple(cause for item in rings for cause in _open_allocation(model, item)))


def _open_allocation(model: Model, item: AllocationFact) -> Iterator[Cause]:
    whose = Reason(f"allocation {item.name}", resources(item.name))
    for rack, machines in by_rack(machines_of(model, item.machines)).items():
        standing = sum(machine.logical_rack == rack for machine in model.site.site.machines)
        if len({machine.name for machine in machines}) < standing:
            yield _ring_cause(rack, whose, (f"{len(machines)} of {standing} machines of logical rack {rack}",))
        elif (cause := _open_ring(model, rack, whose)) is not None:
            yield cause


def _open_ring(model: Model, rack: str, whose: Reason) -> Cause | None:
    """The cause why a logical rack is no ring; None if each machine has an IPU-Link cable to the next one around."""
    machines = by_rack(list(model.site.site.machines)).get(rack, [])
    pairs = pairwise([*machines, *machines[:1]])
    open_pairs = [(a.name, b.name) for a, b in pairs if not model.site.hall.ipu_links[frozenset((a.name, b.name))]]
    gaps = tuple(f"no IPU-Link cable {a} – {b}" for a, b in open_pairs)
    ends = devices(*(name for pair in open_pairs for name in pair))
    return _ring_cause(rack, whose, gaps, ends) if gaps else None


def _ring_cause(rack: str, whose: Reason, witness: tuple[str, ...], ends: tuple[Subject, ...] = ()) -> Cause:
    return Cause(
        key=(str(whose), rack),
        message=f"{whose} is called a torus, and its machines in {rack} close to no ring",
        witness=witness,
        hint="call it a mesh, or cable the last machine of the whole logical rack back to the first",
        specificity=79,
        about=(*whose.about, *ends),
    )


TOP_04 = Rule(
    id="TOP-04",
    title="a vPOD is an aligned block of machines",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="blocks that begin anywhere leave holes in which no vPOD fits",
    source="derived: buddy blocks keep the largest free run of a logical rack whole",
    needs=("machines",),
    ask=_aligned,
    of=Of.TENANT,
)
TOP_05 = Rule(
    id="TOP-05",
    title="above 16 machines a vPOD is whole logical racks joined by GW-Links of equal positions",
    severity=Severity.BLOCK,
    polarity=Polarity.PRESENCE,
    why="IPU-Links end with the logical rack, and GW-Links join only machines of one number",
    source="Graphcore, IPU-POD direct-attach guide, overview; IPU-POD128 network guide",
    needs=("machines", "GW-Link cables"),
    ask=_whole_racks,
    of=Of.TENANT,
)
TOP_07 = Rule(
    id="TOP-07",
    title="a torus has the cable that closes it",
    severity=Severity.BLOCK,
    polarity=Polarity.PRESENCE,
    why="ring routing over a link that is not there hangs at the first collective",
    source="Graphcore, IPU-POD64 datasheet: the full rack is a 2D torus; V-IPU administrator guide, clusters",
    needs=("machines", "IPU-Link cables", "allocations", "logical_racks.topology"),
    ask=_closed_rings,
)
