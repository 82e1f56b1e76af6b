"""Names: L3-15 they are safe wherever a shell, a file or a generator reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.about import components, resources
from policies.facts.kinds import PlanFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer

#: Letters, digits, dash, underscore and dot, begun with a letter or digit: no shell, path or template reads more.
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def _safe_names(model: Model, _: Names) -> RuleAnswer:
    named = tuple(_named(model.plan))
    return RuleAnswer(len(named), tuple(_cause(what, name) for what, name in named if not SAFE.fullmatch(name)))


def _named(plan: PlanFacts) -> Iterator[tuple[str, str]]:
    yield "owner", plan.owner
    for what, items in (
        ("vPOD", plan.vpods), ("network", plan.networks), ("subnet", plan.subnets), ("port", plan.ports),
        ("server", plan.servers), ("router", plan.routers), ("allocation", plan.allocations),
        ("partition", plan.partitions), ("volume", plan.volumes), ("share", plan.shares), ("bucket", plan.buckets),
        ("user", plan.users), ("image", plan.images), ("security group", plan.security_groups),
    ):  # fmt: skip
        yield from ((what, item.name) for item in items)


def _cause(what: str, name: str) -> Cause:
    return Cause(
        key=(what, name),
        message=f"the {what} name {name!r} is not safe for shells and generators",
        witness=(f"{what} {name!r}", f"allowed: {SAFE.pattern}"),
        hint="rename it: letters, digits, dash, underscore and dot, begun with a letter or digit",
        specificity=38,
        about=(*resources(name), *components(name)),
    )


L3_15 = Rule(
    id="L3-15",
    title="names are safe for shells and generators",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="names end up in command lines, files and templates of services that quote none of them",
    source="OSSN-0097",
    needs=("names of everything planned",),
    ask=_safe_names,
)
