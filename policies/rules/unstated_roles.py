"""Networks of which nobody states what they are for: what a rule about one role cannot say anything about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.vocabulary import NetworkRole
from policies.about import SaidFact, resources
from policies.facts.kinds import NetworkFact, PlanFacts

from .rule import Cause


def unstated_roles(networks: Iterable[NetworkFact], question: str, specificity: int) -> Iterator[Cause]:
    """A cause for each network; `question`: what nobody can say without its role."""
    for network in networks:
        lacks = "vPOD" if network.role else "role"
        yield Cause(
            key=("role", network.name),
            message=(
                f"network {network.name} ({network.segment_name}) has no stated {lacks}, so nobody can say {question}"
            ),
            witness=(f"network {network.name} of {network.vpod or 'no stated vPOD'}", network.segment_name),
            hint="plan the request again: a plan states vPOD and role of each of its networks",
            missing=(SaidFact(f"{lacks} of network {network.name}"),),
            specificity=specificity,
            about=resources(network.name),
        )


def lacking(plan: PlanFacts, names: Iterable[str]) -> tuple[NetworkFact, ...]:
    """Those of the named networks that have to state a role and do not, each once."""
    found = (plan.network[name] for name in dict.fromkeys(names) if name in plan.network)
    return tuple(network for network in found if plan.lacks_role(network))


def of_role(plan: PlanFacts, role: NetworkRole, specificity: int) -> Iterator[Cause]:
    """A cause for each network that could be a vPOD's network of this role, and states none."""
    found = {item.name: item for vpod in plan.vpods for item in plan.without_role(vpod.name)}
    yield from unstated_roles(found.values(), f"whether it is the {role} network of a vPOD", specificity)
