"""Premises of rights: who else may plug into what, and which address scopes are open (E13, E11)."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.lock.record import Premise
from interlock.vocabulary import Reference, Scheme
from policies.about import OpenScope
from policies.facts import identities as ids
from policies.facts.rights import EVERY_PROJECT, RightFact

from .plan import EXTERNAL_REFERENCE, PlanOnSite
from .shape import Relation, premise

_SCOPES = {"AddressScope": "address scope", "SubnetPool": "subnet pool"}
#: Filters, which take no edge away: to share them joins nobody.
_HARMLESS = ("SecurityGroup",)


def right_premises(facts: PlanOnSite) -> Iterator[Premise]:
    """A right is an edge before anybody uses it."""
    for right in facts.plan.rights:
        if right.kind in _SCOPES:
            yield from _scopes(facts, right)
        elif right.kind not in _HARMLESS:
            yield from _given(right, _plug_points(facts, right))


def _given(right: RightFact, nodes: tuple[str, ...]) -> Iterator[Premise]:
    for node in nodes:
        if right.target == EVERY_PROJECT:
            yield premise(Relation.OFFERED, node)
        else:
            yield premise(Relation.RIGHT, node, ids.capability(right.target))


def _plug_points(facts: PlanOnSite, right: RightFact) -> tuple[str, ...]:
    """A gateway on the external network is what the sharing of it declares; ports there are not."""
    network = facts.plan.network.get(right.object)
    if right.object == EXTERNAL_REFERENCE or (network is not None and network.external):
        hub = ids.external_hub(facts.site.site.external.name) if network is None else facts.hub(network)
        return (hub,) if right.action == "access_as_shared" else ()
    return facts.plug_points(network) if network is not None else (ids.unresolved(right.object),)


def _scopes(facts: PlanOnSite, right: RightFact) -> Iterator[Premise]:
    """The operator's scope filters the gateways; a tenant's own is where its routers do no NAT."""
    if not facts.plan.is_tenant or Reference.scheme_of(right.object) is Scheme.SITE:
        yield premise(Relation.OPEN_SCOPE, str(OpenScope(_SCOPES[right.kind], right.object)))
        return
    scoped = {subnet.name for subnet in facts.plan.subnets if subnet.subnet_pool is not None}
    routers = (facts.router(item.name) for item in facts.plan.routers if scoped & set(item.subnets))
    yield from _given(right, tuple(routers))
