"""Hypervisors: SEC-08 flavours and hosts are fenced on both sides, SEC-21 one owner where mitigations are off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interlock.resources import Aggregate
from interlock.vocabulary import ExistingObject
from interlock.vocabulary.nodes import ServerNode, parse
from policies.about import PlanResource, SiteDevice, SiteFact, components, devices, resources
from policies.edges.shape import Relation
from policies.facts.access import AggregateFact, FlavorFact
from policies.facts.guards import BETWEEN_OWNERS, assumption
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_guard

# SEC-08

#: What Nova's AggregateInstanceExtraSpecsFilter compares with the metadata of a host's aggregates.
FENCE = "aggregate_instance_extra_specs:"


def _fenced(model: Model, _: Names) -> RuleAnswer:
    plan, site = model.plan, model.site.site
    hosts = [host.name for host in site.hosts if host.provisioning == "hypervisor"]
    known = [name for name in site.existing if ExistingObject.parse(name).kind == Aggregate.KIND]
    causes = [cause for flavor in plan.flavors for cause in _flavor_faults(flavor, plan.aggregates, known)]
    open_hosts = [name for name in hosts if not any(name in item.hosts for item in plan.aggregates)]
    why_open = "stands in no aggregate: every flavour without a fence lands there"
    causes += [_fence_cause(SiteDevice(name), why_open, known) for name in open_hosts]
    causes += [_fence_cause(SiteDevice(name), why, ()) for name, why in _twice(plan.aggregates)]
    # An aggregate that is on the cloud already may mend it: nobody states what stands in one.
    violated, unknown = ([cause for cause in causes if bool(cause.missing) is open_] for open_ in (False, True))
    return RuleAnswer(len(hosts) + len(plan.flavors), tuple(violated), tuple(unknown))


def _flavor_faults(
    flavor: FlavorFact, aggregates: tuple[AggregateFact, ...], known: list[str]
) -> Iterator[Cause]:  # fmt: skip
    fences = {key.removeprefix(FENCE): value for key, value in flavor.extra_specs if key.startswith(FENCE)}
    if not fences:
        yield _fence_cause(PlanResource(flavor.name), "has no fence: its servers may start on any host", ())
    met = any(fences.items() <= dict(item.metadata).items() for item in aggregates)
    if fences and not met:
        asked = ", ".join(f"{key}={value}" for key, value in fences.items())
        yield _fence_cause(PlanResource(flavor.name), f"asks for {asked}, which no aggregate has", known)


def _twice(aggregates: tuple[AggregateFact, ...]) -> Iterator[tuple[str, str]]:
    """Hosts in two aggregates that say different things under one key."""
    seen: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for item in aggregates:
        for host in item.hosts:
            for key, value in item.metadata:
                seen[host, key].add(value)
    for (host, key), values in sorted(seen.items()):
        if len(values) > 1:
            yield host, f"stands in aggregates with {key} {' and '.join(sorted(values))}"


def _fence_cause(what: PlanResource | SiteDevice, why: str, missing: list[str] | tuple[str, ...]) -> Cause:
    """A flavour or a host on one side of a fence."""
    name = f"flavour {what.name}" if isinstance(what, PlanResource) else what.name
    return Cause(
        key=(name, why),
        message=f"{name} {why}",
        witness=(name, why),
        hint="every flavour asks for a role, and every hypervisor stands in the aggregate of exactly one",
        missing=tuple(SiteFact(f"existing.{item}") for item in missing),
        specificity=37,
        severity=Severity.WARN if missing else None,
        about=(what,),
    )


# SEC-21


def _one_owner_each(model: Model, names: Names) -> RuleAnswer:
    hosts = _owners_on(model)
    shared = {host: guests for host, guests in hosts.items() if len({owner for _, owner in guests}) > 1}
    held = assumption(model.site.site, "A5", only=BETWEEN_OWNERS)
    causes = (
        Cause(
            key=host,
            message=f"{host} runs servers of {' and '.join(sorted({owner for _, owner in guests}))}, and whether "
            f"processors are kept apart is {'false' if held.broken else 'not known'}",
            witness=tuple(f"{names.of(server)} [{owner}]" for server, owner in sorted(guests)),
            hint="give one of them another host, or leave `mitigations` on and state it in A5",
            missing=held.missing,
            specificity=65,
            about=(*resources(*_servers(guests)), *components(*sorted(owner for _, owner in guests)), *devices(host)),
        )
        for host, guests in sorted(shared.items())
    )
    return by_guard(len(hosts), held, causes)


def _servers(guests: set[tuple[str, str]]) -> Iterator[str]:
    """The names of these guests."""
    nodes = (parse(server) for server, _ in sorted(guests))
    yield from (node.name for node in nodes if isinstance(node, ServerNode))


def _owners_on(model: Model) -> dict[str, set[tuple[str, str]]]:
    """Host -> its guests that the plan answers for or meets: (server, an owner of it)."""
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for server, host, _ in model.union.facts(Relation.GUEST):
        found[host] |= {(server, owner) for owner in model.label(server)}
    mine = {server.host for server in model.plan.servers}
    return {host: owners for host, owners in found.items() if host in mine or not model.plan.is_tenant}


SEC_08 = Rule(
    id="SEC-08",
    title="each flavour is limited to hosts of one role, and each hypervisor has exactly one role",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a fence on one side only keeps the vPODs' flavours in, and lets every other in to them",
    source="Nova admin guide, aggregates: AggregateInstanceExtraSpecsFilter; tenant isolation with placement",
    needs=("flavours", "aggregates", "hosts"),
    ask=_fenced,
    of=Of.SITE,
)
SEC_21 = Rule(
    id="SEC-21",
    title="servers of two owners share no host whose mitigations are off",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="without them one guest reads another's memory by way of the processor",
    source="docs/design/semantics.md §11, example 42; Linux kernel, hardware vulnerabilities; reference design, hosts",
    needs=("servers", "hosts", "A5.mitigations"),
    ask=_one_owner_each,
)
