"""Who is let in by group: the members of a security group that a filter names instead of a prefix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.resources import Network, is_site_reference
from interlock.resources import SecurityGroupRule as Filter
from interlock.vocabulary import Reference, Scheme
from policies.about import Fact, SaidFact
from policies.facts.identities import FOREIGN, OPERATOR
from policies.facts.kinds import PlanFacts, PortFact
from policies.facts.rights import EVERY_PROJECT, RightFact, SecurityGroupFact


@dataclass(frozen=True)
class Member:
    """Somebody who is let in, or may be: whose, in words why, the resources that these name, and what would tell."""

    owner: str
    why: str
    named: tuple[str, ...] = ()
    missing: tuple[Fact, ...] = ()


def strangers(plan: PlanFacts, group: SecurityGroupFact, rule: Filter) -> Iterator[Member]:
    """Members of a filter's remote group who are neither the group's owner's, nor this stack's, nor the operator's."""
    if rule.remote_group is None or rule.direction != "ingress":
        return
    familiar = {group.owner, plan.owner, OPERATOR}
    yield from (item for item in _members(plan, rule.remote_group) if item.missing or item.owner not in familiar)


def _members(plan: PlanFacts, name: str) -> Iterator[Member]:
    if is_site_reference(name):
        # The operator's group: what stands in it is in no plan of a site.
        yield Member(OPERATOR, f"nobody states who has a port in {name}", (name,), (SaidFact(f"members of {name}"),))
        return
    remote = next((item for item in plan.security_groups if item.name == name), None)
    if remote is None:
        yield Member(FOREIGN, f"{name} is no group of this plan, so others put their ports into it", (name,))
        return
    yield Member(remote.owner, f"the group is {remote.owner}'s")
    for port in holders(plan, name):
        yield Member(port.owner, f"port {port.name} in it is {port.owner}'s", (port.name,))
        owner = _owner_of_network(plan, port.network)
        why = f"port {port.name} in it is on {port.network}, a network of {owner}"
        yield Member(owner, why, (port.name, port.network))
    yield from (_right_member(right) for right in plan.rights if right.object == name)


def holders(plan: PlanFacts, group: str) -> tuple[PortFact, ...]:
    """The ports of a plan that are in a security group."""
    return tuple(port for port in plan.ports if group in port.security_groups)


def _owner_of_network(plan: PlanFacts, reference: str) -> str:
    network = plan.network.get(reference)
    if network is not None:
        return network.owner
    return FOREIGN if Reference.name_in(reference, Scheme.SITE, Network.KIND) is None else OPERATOR


def _right_member(right: RightFact) -> Member:
    """Who may use a group puts ports into it."""
    owner = FOREIGN if right.target == EVERY_PROJECT else right.target
    return Member(owner, f"{right.name} lets {owner} put ports into it", (right.name,))
