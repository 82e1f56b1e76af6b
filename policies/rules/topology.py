"""vPODs on real machines: TOP-02 size, TOP-03 one run of IPU-Links, TOP-06 one holder for each machine and port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.hardware import is_power_of_two
from interlock.model.site.inventory import Machine
from interlock.vocabulary.nodes import (
    GpuNode,
    HeldHost,
    HeldLoginKey,
    HeldMachine,
    HeldSegment,
    InfinibandPortNode,
    MacAddress,
    NvlinkPartitionNode,
    PartitionKeyNode,
    ShareAddressNode,
    VolumeNode,
    parse,
)
from policies.about import Fact, Reason, SiteFact, components, devices, in_order, resources
from policies.edges.plan_fragment import volume_holders
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts.fabric import SwitchPortFact
from policies.facts.kinds import VPodFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.graph.search import connected
from policies.proof import Severity

from .holders import Together, held_together, looked_at
from .racks import RACK, by_rack, machines_of
from .rule import Cause, Polarity, Rule, RuleAnswer, by_facts

if TYPE_CHECKING:
    import networkx as nx


def _sizes(model: Model, _: Names) -> RuleAnswer:
    wrong = (vpod for vpod in model.plan.vpods if not is_power_of_two(len(vpod.machines)))
    return RuleAnswer(len(model.plan.vpods), violated=tuple(_size_cause(vpod) for vpod in wrong))


def _size_cause(vpod: VPodFact) -> Cause:
    count = len(vpod.machines)
    return Cause(
        key=vpod.name,
        message=f"vPOD {vpod.name} has {count} machines; there are 1, 2, 4, 8, 16, and 2, 4, 8 … whole racks",
        witness=(f"vPOD {vpod.name}", *vpod.machines),
        hint="ask for the next smaller or larger size",
        specificity=82,
        about=components(vpod.name),
    )


def _connected(model: Model, _: Names) -> RuleAnswer:
    vpods = model.plan.vpods
    strangers = [_stranger_cause(vpod, unlisted) for vpod in vpods if (unlisted := _unlisted(model, vpod))]
    broken = [_run_cause(model, vpod, *why) for vpod in vpods if (why := _broken_run(model, vpod)) is not None]
    return by_facts(len(vpods), (*strangers, *broken))


def _unlisted(model: Model, vpod: VPodFact) -> tuple[str, ...]:
    return tuple(name for name in vpod.machines if name not in model.site.site.machine)


def _broken_run(model: Model, vpod: VPodFact) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
    """The witness that the machines are no connected run, and what would have to be known; None if they are one."""
    machines = machines_of(model, vpod.machines)
    racks = by_rack(machines)
    if len(machines) > RACK:
        return None  # whole logical racks: TOP-05
    return (_by_rack(racks), ()) if len(racks) > 1 else cut(model, machines)


def _by_rack(racks: dict[str, list[Machine]]) -> tuple[str, ...]:
    return tuple(
        f"logical rack {rack}: {', '.join(machine.name for machine in members)}"
        for rack, members in sorted(racks.items())
    )


def cut(model: Model, machines: list[Machine]) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
    """The pieces that machines fall into, and what would have to be known for them to be one; None: they are one."""
    import networkx as nx

    names = {machine.name for machine in machines}
    links = _links(model, names)
    groups = connected(links)
    if len(groups) < 2:
        return None
    steps = [" – ".join(sorted(group)) for group in groups]
    witness = tuple(
        step for index, text in enumerate(steps) for step in (("no IPU-Link cable to",) if index else ()) + (text,)
    )
    # Between machines of which nobody says that all cables are listed there may be the one that lacks.
    unsure = {name: missing for name in sorted(names) if (missing := model.site.undeclared("attachments", name))}
    nx.add_path(links, unsure)
    return witness, in_order(fact for facts in unsure.values() for fact in facts) if nx.is_connected(links) else ()


def pieces_of(model: Model, machines: list[Machine]) -> list[set[str]]:
    """The pieces by names: in each one IPU-Link cables lead from every machine to every other."""
    return connected(_links(model, {machine.name for machine in machines}))


def _links(model: Model, names: set[str]) -> nx.Graph[str]:
    import networkx as nx

    links: nx.Graph[str] = nx.Graph()
    links.add_nodes_from(names)
    for cable in (cable for name in names for cable in model.site.hall.links_at.get(name, ())):
        if cable.kind == "ipu-link" and {cable.a.device, cable.b.device} <= names:
            links.add_edge(cable.a.device, cable.b.device)
    return links


def _run_cause(model: Model, vpod: VPodFact, why: tuple[str, ...], missing: tuple[Fact, ...]) -> Cause:
    held = (item.name for item in model.plan.allocations if item.vpod == vpod.name)
    return Cause(
        key=vpod.name,
        message=f"the machines of vPOD {vpod.name} are not joined by IPU-Links of their own",
        witness=why,
        hint="take neighbours in one logical rack (16 machines and more: whole racks)",
        missing=missing,
        specificity=80,
        about=(*resources(*held), *components(vpod.name)),
    )


def _stranger_cause(vpod: VPodFact, unlisted: tuple[str, ...]) -> Cause:
    return Cause(
        key=(vpod.name, "unlisted"),
        message=f"the site does not list {', '.join(unlisted)} of vPOD {vpod.name}",
        witness=unlisted,
        hint="list the machine in the site file, with its rack and cables",
        missing=tuple(SiteFact(f"machines.{name}") for name in unlisted),
        specificity=80,
        about=components(vpod.name),
    )


#: Exclusive identities that are told by their own name.
_NAMED_BY_THEMSELVES = (
    ShareAddressNode | PartitionKeyNode | InfinibandPortNode | NvlinkPartitionNode | GpuNode | MacAddress
)


def _nobody_elses(model: Model, names: Names) -> RuleAnswer:
    items = looked_at(model, lambda node: not isinstance(node, HeldSegment | HeldLoginKey))
    shared = (_shared_with(model, names, pair) for pair in held_together(model, items))
    attached = volume_holders(model.plan)
    volumes = (_volume_cause(names, *item) for item in attached.items() if len(item[1]) > 1)
    return RuleAnswer(
        len(items) + len(attached), violated=(*(cause for cause in shared if cause), *_twice(model), *volumes)
    )


def _volume_cause(names: Names, volume: str, holders: frozenset[str]) -> Cause:
    """One of the servers is another's: whoever controls it reads and writes all that is stored."""
    node = parse(volume)
    return Cause(
        key=volume,
        message=f"{names.of(volume)} is attached for {' and '.join(sorted(holders))}",
        witness=(names.of(volume), *sorted(holders)),
        hint="attach a volume to servers of its own tenant only",
        specificity=92,
        about=(*resources(node.name if isinstance(node, VolumeNode) else None), *components(*sorted(holders))),
    )


def _shared_with(model: Model, names: Names, pair: Together) -> Cause | None:
    things = list(_in_words(model, names, pair.identities))
    if not things:
        return None
    left = {owner for identity, owner, _ in model.union.facts(Relation.RESIDUE) if identity in pair.identities}
    holder, other = pair.holder, pair.other
    if holder != model.plan.owner and holder in left and other not in left:
        holder, other = other, holder
    how = "has released but is not seen to have let go" if other in left else "holds"
    return Cause(
        key=other if holder == model.plan.owner else (holder, other),
        message=f"{holder} takes what {other} {how}: {', '.join(map(str, things))}",
        witness=tuple(f"{thing}: {holder} and {other}" for thing in things),
        hint="take others; what was released is free once `interlock settle` has seen it let go",
        specificity=92,
        about=(*components(holder, other), *(subject for thing in things for subject in thing.about)),
    )


def _in_words(model: Model, names: Names, identities: frozenset[str]) -> Iterator[Reason]:
    """Machines and hosts by name; an address or a switch port only if it is not that of one that is named already."""
    told: set[str] = set()
    for machine in model.site.site.machines:
        if ids.machine_identity(machine.serial) in identities:
            told.update(model.site.held_with(machine))
            yield Reason(machine.name, devices(machine.name))
    for host in model.site.site.hosts:
        if ids.host_identity(host.serial) in identities:
            yield Reason(f"host {host.name}", devices(host.name))
    for item in sorted(identities - told):
        if isinstance(parse(item), _NAMED_BY_THEMSELVES):
            yield Reason(names.of(item))
    if not any(isinstance(parse(item), HeldMachine | HeldHost) for item in identities):
        for switch in model.site.site.switches:
            ports = range(1, 1 + sum(count for _, count in switch.port_groups))
            taken = (n for n in ports if ids.port_identity(switch.serial, n) in identities)
            yield from (Reason(f"{switch.name} port {n}", devices(switch.name)) for n in taken)


def _twice(model: Model) -> Iterator[Cause]:
    """Machines and switch ports that the plan itself gives to two vPODs, or a port that it sets twice."""
    holders: defaultdict[str, list[SwitchPortFact]] = defaultdict(list)
    for item in model.plan.switch_ports:
        holders[f"{item.device} {item.interface}"].append(item)
        holders[f"{item.switch} port {item.port}"].append(item)
    taken: set[str] = set()
    for thing, items in sorted(holders.items()):
        names = sorted({item.name for item in items})
        if len(names) > 1 and not taken & set(names):
            taken |= set(names)
            yield _twice_cause(thing, items)


def _twice_cause(thing: str, items: list[SwitchPortFact]) -> Cause:
    return Cause(
        key=thing,
        message=f"{thing} is planned {len(items)} times",
        witness=tuple(
            f"{item.name}: {item.switch} port {item.port}, VLAN {item.vlan}, vPOD {item.vpod}" for item in items
        ),
        hint="a machine belongs to one vPOD, and its switch port to one VLAN",
        specificity=92,
        about=resources(*(item.name for item in items)),
    )


TOP_02 = Rule(
    id="TOP-02",
    title="a vPOD has one of the sizes that exist",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="IPU partitions come in powers of two, and racks are filled whole",
    source="reference design, overview: vPODs of 1, 2, 4, 8, 16 or more IPU-Machines",
    needs=("machines of vPODs",),
    ask=_sizes,
)
TOP_03 = Rule(
    id="TOP-03",
    title="a vPOD's machines are one connected run of IPU-Links in one logical rack",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="IPUs without a cable between them cannot form a partition",
    source="IPU-POD64 build and test guide: IPU-Link cabling of a logical rack",
    needs=("machines", "IPU-Link cables"),
    ask=_connected,
)
TOP_06 = Rule(
    id="TOP-06",
    title="no machine, host, switch port, storage address or key has two holders",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="Excl: a machine runs one tenant's code, until it is known to be wiped",
    source="docs/design/semantics.md §6, Excl; V-IPU administrator guide, clusters",
    needs=(
        "machines and hosts of vPODs",
        "allocations",
        "volume attachments",
        "locks of all tenants with what is released",
    ),
    ask=_nobody_elses,
)
