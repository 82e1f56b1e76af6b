"""ISO-28: what the operator runs for everybody, and what stays in devices, joins nobody (A16 to A24)."""

from __future__ import annotations

from collections.abc import Iterator

from policies.about import components
from policies.edges.operated import OPERATED, Operated
from policies.facts import identities as ids
from policies.facts.guards import GuardState
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer


def _kept_apart(model: Model, names: Names) -> RuleAnswer:
    count, violated, unknown = 0, list[Cause](), list[Cause]()
    for item in OPERATED:
        resting = tuple(dict.fromkeys(_resting(model, item)))
        held = item.held(model.union)
        count += len(resting)
        if resting and held.value is not True:
            (violated if held.broken else unknown).append(_cause(model, names, item, held, resting))
    return RuleAnswer(count, tuple(violated), tuple(unknown))


def _resting(model: Model, item: Operated) -> Iterator[str]:
    """What of the plan's own tenant rests on it; of all tenants for the operator's plan."""
    for node, met, _ in item.ends(model.union):
        tenants = model.label(node) - ids.RESERVED_LABELS
        mine = tenants & {model.plan.owner} if model.plan.is_tenant else tenants
        if mine and model.label(met) != tenants:
            yield node


def _cause(model: Model, names: Names, item: Operated, held: GuardState, resting: tuple[str, ...]) -> Cause:
    known = "false" if held.broken else "not known"
    owners = sorted({label for node in resting for label in model.label(node)} - ids.RESERVED_LABELS)
    more = f" and {len(resting) - 1} more" if len(resting) > 1 else ""
    return Cause(
        key=item.assumption,
        message=f"whether {item.claim} is {known}: {names.of(resting[0])}{more} of {' and '.join(owners)} rests on it",
        witness=(
            f"{names.of(resting[0])} [{', '.join(sorted(model.label(resting[0])))}]",
            item.service,
            *map(str, held.broken or held.missing),
        ),
        hint=item.hint,
        missing=held.missing,
        specificity=96,
        about=components(*owners),
    )


ISO_28 = Rule(
    id="ISO-28",
    title="what the operator runs for all tenants, and what stays in a device, joins nobody",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="load balancers, underlays, network nodes, consoles, BMCs, firmware: in no plan, and every tenant is on them",
    source="docs/design/semantics.md §7, A16 to A24; OpenStack security guide: networking, compute, bare metal",
    needs=("what rests on each", "A16 to A24"),
    ask=_kept_apart,
)
