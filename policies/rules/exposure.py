"""Entries from outside: EXPO-01 exactly those that the request declares, from where it says; L3-08 where they lead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policies.about import Reason, components, resources
from policies.edges.plan import EXTERNAL_REFERENCE
from policies.facts.data import EVERYBODY
from policies.facts.kinds import PlanFacts
from policies.facts.rights import FloatingIpFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .public_filters import more_than_stated
from .rule import Cause, Polarity, Rule, RuleAnswer, by_facts


@dataclass(frozen=True)
class ExposedEntry:
    """Something that everybody outside can reach; `leads_to` in words, with what they name."""

    name: str
    leads_to: Reason


def entries(plan: PlanFacts) -> tuple[ExposedEntry, ...]:
    """Floating addresses, and buckets with a policy for everybody."""
    return (*_floating(plan), *_public_buckets(plan))


def _floating(plan: PlanFacts) -> Iterator[ExposedEntry]:
    for item in plan.floating_ips:
        port = plan.port.get(item.port)
        server = port.server if port is not None else None
        target = server or item.port
        yield ExposedEntry(item.name, Reason(f"{item.address or item.name} leads to {target}", resources(target)))


def _public_buckets(plan: PlanFacts) -> Iterator[ExposedEntry]:
    for policy in plan.bucket_policies:
        for principals, actions in policy.grants:
            if EVERYBODY in principals:
                yield ExposedEntry(policy.bucket, Reason(f"everybody may {' and '.join(actions)}"))


def _as_declared(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    found, declared = entries(plan), set(plan.access.public)
    causes = [_undeclared(entry) for entry in found if entry.name not in declared]
    causes += [_absent(name) for name in sorted(declared - {entry.name for entry in found})]
    return by_facts(len(found) + len(declared), (*causes, *_strange_networks(plan), *more_than_stated(model)))


def _undeclared(entry: ExposedEntry) -> Cause:
    return Cause(
        key=("undeclared", entry.name),
        message=f"{entry.name} is an entry from outside that the request does not declare: {entry.leads_to}",
        witness=("outside", entry.name, str(entry.leads_to)),
        hint="declare it public in the request, or take it away",
        specificity=20,
        about=(*resources(entry.name), *components(entry.name), *entry.leads_to.about),
    )


def _absent(name: str) -> Cause:
    return Cause(
        key=("absent", name),
        message=f"{name} is declared public, and nothing of the plan lets anybody in there",
        witness=(name, "declared public", "no policy and no floating address"),
        hint="plan again from the request: declaration and entry come from one line of it",
        specificity=20,
        about=(*resources(name), *components(name)),
    )


def _strange_networks(plan: PlanFacts) -> Iterator[Cause]:
    for item in plan.floating_ips:
        if item.external_network != EXTERNAL_REFERENCE:
            yield Cause(
                key=("network", item.name),
                message=f"{item.name} is an address of {item.external_network}, not the site's external network",
                witness=(item.name, item.address or item.name, item.external_network),
                hint="take addresses of the site's external network only",
                specificity=20,
                about=resources(item.name, item.external_network),
            )


EXPO_01 = Rule(
    id="EXPO-01",
    title="entries from outside are exactly those that the request declares, open to the prefixes that it states",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="what the whole world can reach is the tenant's own decision, and nobody's by mistake",
    source="docs/design/semantics.md §6, Expo, and §11, example 16",
    needs=("floating addresses", "bucket policies", "security groups", "ports", "the request's declarations"),
    ask=_as_declared,
)


# L3-08


def _own_servers_only(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    wrong = ((item, _wrong_target(plan, item)) for item in plan.floating_ips)
    return RuleAnswer(len(plan.floating_ips), tuple(_target_cause(item, why) for item, why in wrong if why is not None))


def _wrong_target(plan: PlanFacts, item: FloatingIpFact) -> Reason | None:
    """What is wrong with where a floating address leads; None if it is one of the owner's own servers."""
    port = plan.port.get(item.port)
    if port is None:
        return Reason(f"{item.port}, which is no port of this plan", resources(item.port))
    server = plan.server.get(port.server or "")
    if server is None:
        return Reason(f"port {port.name}, which no server holds", resources(port.name))
    if server.is_controller:
        return Reason(f"the V-IPU controller {server.name}", resources(server.name))
    if server.labels != {plan.owner} or item.owner != plan.owner:
        others = " and ".join(sorted((server.labels | {item.owner}) - {plan.owner}))
        return Reason(f"{server.name}, in which {others} has a part", resources(server.name))
    return None


def _target_cause(item: FloatingIpFact, why: Reason) -> Cause:
    return Cause(
        key=item.name,
        message=f"floating address {item.shown} ({item.name}) leads to {why}",
        witness=("outside", item.address or item.name, f"port {item.port}", str(why)),
        hint="let it lead to a Poplar server or bastion of the same owner",
        specificity=92,
        about=(*resources(item.name), *why.about, *resources(item.port)),
    )


L3_08 = Rule(
    id="L3-08",
    title="floating IPs lead to their owner's own servers, never to controllers, BMCs or storage",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="who reaches a controller or BMC from outside has the machines behind it",
    source="docs/design/semantics.md §6, Expo, and §11, example 16; reference design, control network",
    needs=("floating addresses", "ports", "servers"),
    ask=_own_servers_only,
)
