"""AUTH-01: by API calls alone no owner reaches what is another's. The general rule of SEC-03 and SEC-15."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.about import PlanComponent, PlanResource, ScopeIsShared, Subject, components, resources
from policies.authority.closure import AccessMode, Leak, leaks_of, mentioned, steps
from policies.authority.grants import Grant
from policies.edges.shape import Relation
from policies.facts import principals as who
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer, unique

if TYPE_CHECKING:
    from policies.graph.search import Graph

#: Specificity of what only follows from packets that meet.
CONSEQUENCE = 5
#: What a rule tells of the leaks that it explains; None for those that it leaves to others.
Told = Callable[[Leak], "Cause | None"]


def leaking(model: Model, count: int, told: Told) -> RuleAnswer:
    """Ask for leaks by certain grants in G_must, then by all that there might be in G_may."""
    violated = tuple(unique(_causes(model, model.must, told, certain=True)))
    certain = {cause.key for cause in violated}
    perhaps = {
        cause.key: cause
        for cause in _causes(model, model.may, told, certain=False)
        if cause.missing and cause.key not in certain
    }
    return RuleAnswer(count, violated, tuple(perhaps.values()))


def _causes(model: Model, graph: Graph, told: Told, *, certain: bool) -> Iterator[Cause]:
    for leak in leaks_of(model, graph, certain):
        cause = told(leak)
        if cause is not None:
            yield cause


def _closed(model: Model, _: Names) -> RuleAnswer:
    """The count is that of the principals and objects that the plan speaks of, or of all there are."""
    everything = {node for node, _ in model.union.facts(Relation.HOLDS)}
    count = len(everything & mentioned(model.own)) if model.plan.is_tenant else len(everything)
    return leaking(model, count, lambda leak: leak_cause(leak, hint=_HINT, specificity=15))


_HINT = "take back the grant at any of the steps, or move the credential out of what others read"


def leak_cause(leak: Leak, *, hint: str, specificity: int) -> Cause:
    """A leak as a cause: who holds what of whom, by which steps."""
    what, theirs = who.words(leak.held.node), " and ".join(sorted(leak.labels - {leak.owner}))
    return Cause(
        key="where packets meet" if leak.follows else (leak.owner, leak.held),
        message=f"{leak.owner} can {_verb(leak)} {what}" + ("" if what == theirs else f", which is {theirs}'s"),
        witness=steps(leak),
        hint=_PACKETS_FIRST if leak.follows else hint,
        missing=leak.missing,
        # Where packets meet, calls do too: the rules about packets say why.
        specificity=CONSEQUENCE if leak.follows else specificity,
        about=_about(leak),
    )


def _about(leak: Leak) -> tuple[Subject, ...]:
    """What is held, whose it is, and what each step gives by what."""
    steps_on = (subject for grant in leak.grants for subject in _about_step(grant))
    return (*components(leak.owner), *_about_node(leak.held.node), *components(*sorted(leak.labels)), *steps_on)


def _about_step(grant: Grant) -> tuple[Subject, ...]:
    opened = (fact.scope.name for fact in grant.broken if isinstance(fact, ScopeIsShared))
    return (*_about_node(grant.target), *resources(grant.given_by, *opened))


def _about_node(node: str) -> tuple[Subject, ...]:
    name = who.kind_and_name(node)[1]
    return (PlanResource(name), PlanComponent(name))


_PACKETS_FIRST = "it only follows from packets that meet: mend what the other rules name"
#: What holding a thing to write means, where that is not to write it.
_VERBS = {"prin": "act as", "user": "act as", "key": "use", "server": "control", "allocation": "control"}


def _verb(leak: Leak) -> str:
    if leak.held.access is AccessMode.READ:
        return "read"
    return _VERBS.get(who.kind_and_name(leak.held.node)[0], "write")


AUTH_01 = Rule(
    id="AUTH-01",
    title="by API calls alone no owner gets what belongs to another",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a grant, a role or a credential that lies about is a way around every network",
    source="docs/design/semantics.md §6, Auth: the closed set S(t) holds nothing of anybody else's",
    needs=("roles", "keys", "bucket policies", "share accesses", "images", "allocations", "stored credentials", "A11"),
    ask=_closed,
)
