"""What a row, guard or kind is worth: the verdicts that change without it, in examples and in seeded defects."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar
from unittest.mock import patch

from interlock.model.site.inventory import Assumption, Sharing
from interlock.resources import KINDS
from policies import Judgement, Verdict
from policies.edges import plan, union
from policies.edges.shape import EdgeRule
from policies.findings.report import by_specificity
from tests.mutants.operator import Operator
from tests.mutants.operators import OPERATORS
from tests.mutants.sites import workspace_of
from tests.mutants.test_mutants import SEEDS
from tests.mutants.workspaces import Workspace
from tests.oracle.comparing import answers
from tests.oracle.world import World

ROOT = Path(__file__).resolve().parents[2]

ROWS: tuple[EdgeRule[Any], ...] = (*plan.PLAN_EDGES, *union.UNION_EDGES)
"""The table of edges: what follows from a plan alone, and what follows from all together."""

#: Stack -> rule -> its verdict.
Verdicts = Mapping[str, Mapping[str, Verdict]]


@contextmanager
def without(row: EdgeRule[Any]) -> Iterator[None]:
    """The prover with one row of the table of edges less."""
    kept = {
        table: tuple(item for item in getattr(union if hasattr(union, table) else plan, table) if item is not row)
        for table in ("PLAN_EDGES", "UNION_EDGES", "_ROWS")
    }
    with (
        patch("policies.edges.plan_fragment.PLAN_EDGES", kept["PLAN_EDGES"]),
        patch("policies.graph.model.UNION_EDGES", kept["UNION_EDGES"]),
        patch("policies.footprints.boundary.UNION_EDGES", kept["UNION_EDGES"]),
        patch("policies.edges.union._ROWS", kept["_ROWS"]),
    ):
        yield


def verdicts(world: World) -> Verdicts:
    """What the rules about meeting say of every plan of a world."""
    found = answers(world, ["site", *world.plans])
    return {stack: {item.rule: item.verdict for item in judged.results} for stack, judged in found.items()}


@cache
def leak(operator: Operator) -> Workspace:
    """The first workspace in which an operator seeds its leak."""
    found = (operator.leak(workspace_of(seed), Random(seed)) for seed in range(SEEDS))
    return next(mutant for mutant in found if mutant is not None)


def verdicts_of_leak(operator: Operator) -> Verdicts:
    """What all rules say of the plan that is asked about; footprints are made again."""
    space = leak(operator)
    fresh = space.asking(space.asked)
    return {space.asked: {item.rule: item.verdict for item in fresh.judged().results}}


def changed(before: Verdicts, after: Verdicts) -> frozenset[str]:
    """The rules of which some verdict is another."""
    return frozenset(
        rule for stack, found in before.items() for rule, verdict in found.items() if after[stack].get(rule) != verdict
    )


def denied(world: World, place: str, guard: str) -> World:
    """The world in which one guard is known not to hold; the same where nobody states it."""
    site = world.site
    assumed = tuple(_denied(item, guard) if item.id == place else item for item in site.assumptions)
    declared = tuple(_denied(item, guard) if item.kind == place else item for item in site.sharing)
    fields = {name: getattr(site, name) for name in type(site).model_fields}
    changes = {"assumptions": assumed, "sharing": declared}
    return replace(world, site=type(site).model_validate(fields | changes))


G = TypeVar("G", Assumption, Sharing)


def _denied(item: G, guard: str) -> G:
    return item.model_copy(update={"guards": dict(item.guards) | {guard: False}})


@cache
def judgement_of_leak(operator: Operator) -> Judgement:
    """What all rules say of an operator's leak."""
    return leak(operator).judged()


@cache
def _kinds_of_leak(operator: Operator) -> frozenset[str]:
    """Kinds of the resources that the first finding about an operator's leak names."""
    plan_ = leak(operator).plan(leak(operator).asked)
    finding = by_specificity(judgement_of_leak(operator))[0]
    entries = (str(entry).removeprefix("resource:") for entry in finding.about)
    return frozenset(plan_.by_name[name].resource.KIND for name in entries if name in plan_.by_name)


_BROKEN = (Verdict.VIOLATED, Verdict.NOT_PROVABLE)
_OF_RESOURCES = tuple(operator for operator in OPERATORS if not operator.is_guard)


@cache
def mutants_of_kinds() -> dict[str, frozenset[str]]:
    """Kind of resource -> the rules of the operators of which the first finding is about one."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for operator in _OF_RESOURCES:
        for kind in _kinds_of_leak(operator):
            found[kind].add(by_specificity(judgement_of_leak(operator))[0].rule)
    return {kind: frozenset(rules) for kind, rules in found.items()}


def mutants_of_theorems(theorems: Mapping[str, frozenset[str]]) -> dict[str, dict[str, set[str]]]:
    """Theorem -> kind of resource -> the operators that are about one and break some rule of the theorem."""
    found: dict[str, dict[str, set[str]]] = {theorem: {} for theorem in theorems}
    for operator in _OF_RESOURCES:
        broken = {item.rule for item in judgement_of_leak(operator).results if item.verdict in _BROKEN}
        for theorem, rules in theorems.items():
            for kind in _kinds_of_leak(operator) if rules & broken else ():
                found[theorem].setdefault(kind, set()).add(operator.id)
    return found


#: Modules of the oracle that make worlds; the others look at them.
_MAKING = ("examples", "plots", "drafting", "sayings", "found", "scene", "comparing", "test_")


def read_by_the_oracle() -> frozenset[str]:
    """Kinds of resources that some module of the oracle looks for."""
    modules = [path for path in (ROOT / "tests" / "oracle").glob("*.py") if not path.name.startswith(_MAKING)]
    nodes = (node for path in modules for node in ast.walk(ast.parse(path.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return frozenset(names & KINDS.keys())
