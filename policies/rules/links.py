"""ISO-27: cables between machines of two owners carry nothing, by a mechanism that is named (A4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from interlock.model.site.inventory import Cable
from policies.about import components, devices, listed
from policies.facts import identities as ids
from policies.facts.guards import GuardState, assumption
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer, by_guard

_KINDS = {"ipu-link": "IPU-Link", "gw-link": "GW-Link", "sync-link": "Sync-Link"}

#: Two machines, in the order of their names.
_Pair = tuple[str, str]


def _boundary_links_down(model: Model, names: Names) -> RuleAnswer:
    crossed = {pair: cables for pair, cables in _joined(model).items() if _is_boundary(model, pair)}
    count = sum(len(cables) for cables in crossed.values())
    held = assumption(model.site.site, "A4")
    return by_guard(count, held, (_cause(model, names, pair, cables, held) for pair, cables in sorted(crossed.items())))


def _joined(model: Model) -> dict[_Pair, list[Cable]]:
    """Machines that links join, with the cables: straight from one to the other, or by way of one switch."""
    machines, found = model.site.site.machine, defaultdict(list)
    at_switch: defaultdict[str, dict[str, Cable]] = defaultdict(dict)
    for cable in _links(model):
        ends = cable.a.device, cable.b.device
        known = [device for device in ends if device in machines]
        if cable.kind not in _KINDS or not known:
            continue
        if len(known) == 2:
            found[min(ends), max(ends)].append(cable)
        else:
            (machine,), (switch,) = known, (device for device in ends if device not in machines)
            at_switch[switch][machine] = cable
    for plugged in at_switch.values():
        for a, b in combinations(sorted(plugged), 2):
            found[a, b] += [plugged[a], plugged[b]]
    return dict(found)


def _links(model: Model) -> Iterable[Cable]:
    """The cables that the plan answers for: those at its machines, and at the switches behind them."""
    site = model.site
    if not model.plan.is_tenant:
        return site.site.cables
    mine = (node for node, labels in model.labels.items() if model.plan.owner in labels)
    own = sorted({site.machine_of_rnic[node] for node in mine if node in site.machine_of_rnic})
    direct = [cable for name in own for cable in site.hall.links_at.get(name, ())]
    ends = {device for cable in direct for device in (cable.a.device, cable.b.device)}
    behind = (cable for name in sorted(ends) if name not in site.site.machine for cable in site.hall.links_at[name])
    return {id(cable): cable for cable in (*direct, *behind)}.values()


def _is_boundary(model: Model, pair: _Pair) -> bool:
    """True if two owners, or two vPODs of the plan's own tenant, have the machines, and the plan is about one."""
    a, b = (_holder(model, machine) for machine in pair)
    mine = not model.plan.is_tenant or model.plan.owner in a[0] | b[0]
    return a != b and mine


def _holder(model: Model, machine: str) -> tuple[frozenset[str], str | None]:
    rnic = ids.part(model.site.site.machine[machine].serial, "rnic")
    return model.label(rnic), model.vpod_of.get(rnic)


def _cause(model: Model, names: Names, pair: _Pair, cables: list[Cable], held: GuardState) -> Cause:
    holders = [" and ".join(sorted(_holder(model, machine)[0])) for machine in pair]
    kinds = "/".join(sorted({_KINDS[cable.kind] for cable in cables}))
    between = f"{pair[0]} of {holders[0]} and {pair[1]} of {holders[1]}"
    known = "nothing keeps" if held.value is False else "nobody states what keeps"
    return Cause(
        key=pair,
        message=f"{known} {len(cables)} {kinds} cables between {between} from carrying data",
        witness=tuple(_witness(model, names, pair, cables, held)),
        hint="state the guards of A4 in the site file if they are held, or pull the cables",
        missing=held.missing,
        specificity=84,
        about=(
            *components(*sorted({owner for machine in pair for owner in _holder(model, machine)[0]})),
            *devices(*pair, *(end.device for cable in cables for end in (cable.a, cable.b))),
        ),
    )


def _witness(model: Model, names: Names, pair: _Pair, cables: list[Cable], held: GuardState) -> Iterator[str]:
    first, last = (ids.part(model.site.site.machine[machine].serial, "rnic") for machine in pair)
    yield f"{names.of(first)} [{', '.join(sorted(model.label(first)))}]"
    yield from (f"{_KINDS[cable.kind]} {cable.a} – {cable.b}" for cable in cables)
    reason = f" (not held: {listed(held.broken)})" if held.broken else ""
    yield f"{names.of(last)} [{', '.join(sorted(model.label(last)))}]{reason}"


ISO_27 = Rule(
    id="ISO-27",
    title="links between machines of two owners are down, by a named mechanism",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="the cable between the last machine of one vPOD and the first of the next is plugged, whoever has them",
    source="docs/design/semantics.md §4, E16, and §7, A4; Graphcore, V-IPU administrator guide, allocations",
    needs=("IPU-Link, GW-Link and Sync-Link cables", "machines of vPODs", "A4"),
    ask=_boundary_links_down,
)
