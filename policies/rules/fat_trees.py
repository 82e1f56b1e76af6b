"""Fabrics as they are cabled: TOP-17 fat trees, TOP-18 rails, TOP-19 without blocking, TOP-25 apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from interlock.hardware.gpu import FatTree, fat_tree
from interlock.model.site.gpu import FabricSwitch
from interlock.model.site.inventory import Cable
from policies.about import SaidFact, SiteFact, devices
from policies.facts.fat_trees import FabricTree, HcaEnd, InfinibandCabling
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .leaf_group_rails import railed_hosts, some_of_its_rails
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts

_CORRECT = "correct the cable in the site file, or in the hall"
_H100 = "NVIDIA, DGX SuperPOD H100 reference architecture, network fabrics"


def _cause(key: str, message: str, witness: tuple[str, ...], *named: str, hint: str = _CORRECT) -> Cause:
    """`named`: the devices that message and witness name."""
    return Cause(key, message, witness, hint, specificity=35, about=devices(*named))


def _text(cable: Cable) -> str:
    return f"{cable.a} – {cable.b}"


# TOP-17


def _fat_trees(model: Model, _: Names) -> RuleAnswer:
    trees = model.site.infiniband.trees.values()
    return RuleAnswer(len(trees), violated=tuple(cause for tree in trees for cause in _tree_faults(tree)))


def _tree_faults(tree: FabricTree) -> Iterator[Cause]:
    for cable in tree.astray:
        message = f"the cable {_text(cable)} joins switches that are no neighbours in the tree of {tree.name}"
        yield _cause(_text(cable), message, (_text(cable),), cable.a.device, cable.b.device)
    leaves, spines, cores = (tree.of_tier(tier) for tier in ("leaf", "spine", "core"))
    if len(tree.switches) == 1 and leaves:
        return
    radixes = sorted({switch.ports for switch in tree.switches})
    if len(radixes) > 1:
        sizes = " and ".join(map(str, radixes))
        message = f"switches of {tree.name} have {sizes} ports: there is no fat tree of these"
        yield _cause(tree.name, message, tuple(f"{item.name}: {item.ports} ports" for item in tree.switches[:4]))
        return
    try:
        wanted = fat_tree(len(leaves) * (radixes[0] // 2), radixes[0])
    except ValueError as wrong:
        message = f"{tree.name}, with {len(leaves)} leaves of {radixes[0]} ports, is no fat tree: {wrong}"
        yield _cause(tree.name, message, (f"{len(leaves)} leaves",))
        return
    found, formula = (len(leaves), len(spines), len(cores)), (wanted.leaves, wanted.spines, wanted.cores)
    if found != formula:
        message = f"{tree.name} has {_counts(found)}; a fat tree of {len(leaves)} leaves has {_counts(formula)}"
        hint = "state every switch of the fabric, or cable it as its makers do: some paths are narrower than others"
        yield _cause(tree.name, message, (_counts(found),), hint=hint)
        return
    yield from _bundles(tree, leaves, wanted.spines if not cores else wanted.down, wanted.leaf_spine_bundle)
    if cores:
        yield from _bundles(tree, spines, _cores_of_a_spine(wanted), wanted.spine_core_bundle)


def _cores_of_a_spine(tree: FatTree) -> int:
    """Spines with the same number in their group share cores of their own."""
    return tree.cores // tree.down


def _counts(found: tuple[int, int, int]) -> str:
    return "{} leaves, {} spines, {} cores".format(*found)


def _bundles(tree: FabricTree, lower: tuple[FabricSwitch, ...], reached: int, bundle: int) -> Iterator[Cause]:
    """Each switch has equally many cables to each of as many switches above it, the same for its whole group."""
    groups = list[frozenset[str]]()
    for switch in lower:
        above = tree.reached.get(switch.name, frozenset())
        if len(above) != reached:
            message = f"{switch.name} has cables to {len(above)} switches above it, not to {reached}"
            yield _cause(switch.name, message, tuple(sorted(above)[:4]) or (switch.name,), switch.name)
        elif (group := next((one for one in groups if one & above), above)) != above:
            message = f"{switch.name} shares some of the switches above it with others, and not all"
            yield _cause(switch.name, message, tuple(sorted(group ^ above)[:4]), switch.name)
        groups.append(above)
        for upper in sorted(above):
            count = tree.links[switch.name, upper]
            if count != bundle:
                message = f"{switch.name} and {upper} have {count} cables, not {bundle}"
                witness = (f"{switch.name} – {upper}: {count} of {bundle}",)
                yield _cause(f"{switch.name} {upper}", message, witness, switch.name, upper)


# TOP-18


def _rails(model: Model, _: Names) -> RuleAnswer:
    cabling = model.site.infiniband
    ends = [end for end in cabling.ports if end.port.use == "compute"]
    site = model.site.site
    railed = railed_hosts(site)
    left_out = [cause for host in railed for cause in some_of_its_rails(site, host)]
    return by_facts(len(ends) + len(railed), [*_misplaced(cabling, ends), *_divided(cabling, ends), *left_out])


def _misplaced(cabling: InfinibandCabling, ends: list[HcaEnd]) -> Iterator[Cause]:
    """Ports at a leaf of another rail or unit, or at no leaf; what nobody states may be either."""
    for end in ends:
        where = f"{end.plug}, rail {end.port.rail} of unit {end.node.unit}"
        if end.far is None:
            message = f"{where}: no cable is stated"
            yield Cause(
                str(end.plug), message, (str(end.plug),), "state the cable, kind `infiniband`",
                missing=(SaidFact(f"the cable at {end.plug}"),), specificity=35,
            )  # fmt: skip
            continue
        leaf = cabling.switch.get(end.far.device)
        if leaf is None or leaf.tier != "leaf":
            message = f"{where}, leads to {end.far}, which is no leaf"
            yield _cause(str(end.plug), message, (f"{end.plug} – {end.far}",), end.node.name, end.far.device)
        elif leaf.rail is None or leaf.unit is None:
            facts = tuple(SiteFact(f"fabric_switches.{leaf.name}.{key}") for key in ("rail", "unit"))
            message = f"{where}, leads to {leaf.name}, of which nobody states rail and unit"
            hint = f"state `rail` and `unit` of {leaf.name}"
            yield Cause(str(end.plug), message, (f"{end.plug} – {end.far}",), hint, missing=facts, specificity=35)
        elif (leaf.rail, leaf.unit) != (end.port.rail, end.node.unit):
            message = f"{where}, leads to {leaf.name}, which serves rail {leaf.rail} of unit {leaf.unit}"
            yield _cause(str(end.plug), message, (f"{end.plug} – {end.far}",), end.node.name, leaf.name)


def _divided(cabling: InfinibandCabling, ends: list[HcaEnd]) -> Iterator[Cause]:
    """Rails of a unit whose ports hang on several leaves: two of them are then more than one switch apart."""
    at: dict[tuple[str, int, int], dict[str, HcaEnd]] = {}
    for end in ends:
        leaf = None if end.far is None else cabling.switch.get(end.far.device)
        if leaf is not None and (leaf.rail, leaf.unit) == (end.port.rail, end.node.unit):
            at.setdefault((end.port.infiniband, end.node.unit, end.port.rail), {}).setdefault(leaf.name, end)
    for (subnet, unit, rail), leaves in at.items():
        if len(leaves) > 1:
            names = sorted(leaves)
            message = f"rail {rail} of unit {unit} on {subnet} hangs on {' and '.join(names)}, not on one leaf"
            witness = tuple(f"{leaves[name].plug} – {leaves[name].far}" for name in names)
            yield _cause(f"{subnet} {unit} {rail}", message, witness, *names)


# TOP-19


def _non_blocking(model: Model, _: Names) -> RuleAnswer:
    cabling = model.site.infiniband
    trees = [tree for name, tree in cabling.trees.items() if "compute" in cabling.uses.get(name, ())]
    below = [(tree, switch) for tree in trees for switch in _below_the_top(tree)]
    causes = [_narrow(tree, switch) for tree, switch in below if tree.down[switch.name] > tree.up[switch.name]]
    return RuleAnswer(len(below), violated=tuple(causes))


def _below_the_top(tree: FabricTree) -> tuple[FabricSwitch, ...]:
    """Switches that have others above them: a fabric of one leaf has none, and blocks nothing."""
    if tree.of_tier("core"):
        return (*tree.of_tier("leaf"), *tree.of_tier("spine"))
    return tree.of_tier("leaf") if len(tree.switches) > 1 else ()


def _narrow(tree: FabricTree, switch: FabricSwitch) -> Cause:
    down, up = tree.down[switch.name], tree.up[switch.name]
    message = f"{switch.name} of {tree.name} has {down} links down and {up} up: its nodes wait for each other"
    found = _cause(switch.name, message, (f"{switch.name}: {down} down, {up} up",), switch.name)
    # TOP-17 speaks of each bundle that is too thin; this is what it does to whoever is there.
    return replace(found, specificity=36)


# TOP-25


def _apart(model: Model, _: Names) -> RuleAnswer:
    cabling = model.site.infiniband
    causes = [*_shared_subnets(cabling), *_crossing(model, cabling), *_foreign_ports(cabling)]
    return RuleAnswer(len(cabling.cables), violated=tuple(causes))


def _shared_subnets(cabling: InfinibandCabling) -> Iterator[Cause]:
    for name, uses in cabling.uses.items():
        if len(uses) > 1:
            ends = {use: next(end for end in cabling.ports if _is_on(end, name, use)) for use in sorted(uses)}
            message = f"{name} carries compute and storage: a job's traffic and its data wait for each other"
            witness = tuple(f"{end.plug}, for {use}" for use, end in ends.items())
            hint = "state the storage ports on a subnet of their own"
            yield _cause(name, message, witness, *(end.node.name for end in ends.values()), hint=hint)


def _is_on(end: HcaEnd, subnet: str, use: str) -> bool:
    return (end.port.infiniband, end.port.use) == (subnet, use)


def _crossing(model: Model, cabling: InfinibandCabling) -> Iterator[Cause]:
    """Cables between switches of two fabrics, InfiniBand or Ethernet."""
    site = model.site.site
    for cable in site.cables:
        names = (cable.a.device, cable.b.device)
        subnets = {cabling.switch[name].infiniband for name in names if name in cabling.switch}
        if len(subnets) > 1:
            what = f"joins {' and '.join(sorted(subnets))}, which are two subnets"
        elif cable.kind == "ethernet" and subnets:
            what = f"is Ethernet, and ends at a switch of {', '.join(subnets)}"
        elif cable.kind == "infiniband" and any(name in site.switch for name in names):
            what = "is InfiniBand, and ends at an Ethernet switch"
        else:
            continue
        yield _cause(_text(cable), f"the cable {_text(cable)} {what}", (_text(cable),), *names)


def _foreign_ports(cabling: InfinibandCabling) -> Iterator[Cause]:
    """Ports that hang on a switch of another subnet than theirs."""
    for end in cabling.ports:
        switch = None if end.far is None else cabling.switch.get(end.far.device)
        if switch is not None and switch.infiniband != end.port.infiniband:
            message = f"{end.plug} is a port on {end.port.infiniband}, and its cable leads to {switch.infiniband}"
            yield _cause(str(end.plug), message, (f"{end.plug} – {end.far}",), end.node.name, switch.name)


TOP_17 = Rule(
    id="TOP-17",
    title="InfiniBand fabrics are fat trees, with equally many cables between each two neighbours",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="where one bundle is thinner than the others, jobs that cross it are slower, and nobody sees why",
    source=f"{_H100}, table 4; derived: the formula gives the counts of every row",
    needs=("fabric_switches", "InfiniBand cables"),
    ask=_fat_trees,
    of=Of.SITE,
)
TOP_18 = Rule(
    id="TOP-18",
    title="each rail of a scalable unit hangs on one leaf, and no other rail does; for RoCE, all in one leaf group",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="collectives run rail by rail: a port on another leaf is three switches away from its peers, and not one; a "
    "node with seven of eight rails for RoCE is given to no cluster",
    source=f"{_H100}: each group of 32 nodes is aligned by rails",
    needs=("gpu_nodes.ports", "fabric_switches.rail", "InfiniBand cables", "hosts.interfaces", "hosts.macs", "cables"),
    ask=_rails,
    of=Of.SITE,
)
TOP_19 = Rule(
    id="TOP-19",
    title="no switch of a compute fabric has more links down than up",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a cluster that is alone on its leaf is as fast as it was bought, and slower as soon as others use the spines",
    source=f"{_H100}: a full fat tree, 32 ports down and 32 up",
    needs=("fabric_switches", "InfiniBand cables"),
    ask=_non_blocking,
    of=Of.SITE,
)
TOP_25 = Rule(
    id="TOP-25",
    title="compute, storage and Ethernet are fabrics without a switch or cable in common",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="a subnet manager has what is cabled to its switches: one wrong cable makes two subnets one",
    source=f"{_H100}: four fabrics",
    needs=("gpu_nodes.ports", "fabric_switches", "cables"),
    ask=_apart,
    of=Of.SITE,
)
