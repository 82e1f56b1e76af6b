"""What the prover makes of a plan, as lines of text: the rows of its graph, its footprint, answers and findings.

Lines are sorted, so that two ways to say one thing are one text, and what differs is read off line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from interlock.model.lock.record import Footprint, Lock
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import Finding, Judgement, Verdict, judge
from policies.judging import model_of
from policies.statement import Statement, statement
from tests.oracle.comparing import lock_of
from tests.oracle.world import World

LETTER = {
    Verdict.PROVED: "P", Verdict.VIOLATED: "V", Verdict.NOT_PROVABLE: "N", Verdict.NOT_APPLICABLE: "-",
}  # fmt: skip


def of_world(world: World, *, tenants: bool = True) -> Iterator[str]:
    """Every footprint, and the operator's plan judged beside all others; with `tenants` the first tenant's as well."""
    assert world.site_plan is not None
    locks = {tenant: lock_of(world, tenant) for tenant in world.plans}
    for tenant, lock in locks.items():
        yield f"[footprint of {tenant}]"
        yield from footprint_lines(lock.footprint)
    yield "[judged: site]"
    yield from judged_lines(world.site, world.site_plan, list(locks.values()))
    for tenant in list(world.plans)[: int(tenants)]:
        yield f"[judged: {tenant}]"
        yield from judged_lines(world.site, world.plans[tenant], [locks[name] for name in locks if name != tenant])


def judged_lines(site: Site, plan: Plan, others: Sequence[Lock]) -> Iterator[str]:
    """The graph, what each rule looked at, and what it says."""
    yield from statement_lines(statement(model_of(site, plan, others)))
    yield from answer_lines(judge(site, plan, others))


def footprint_lines(mark: Footprint) -> Iterator[str]:
    """What others know of a tenant."""
    found = [f"class {' '.join(nodes)}" for nodes in mark.classes]
    found += [f"label {node}: {' '.join(labels)}" for node, labels in mark.labels.items()]
    found += [f"exclusive {identity}" for identity in mark.exclusive]
    found += [f"exposure {item}" for item in mark.exposures]
    found += [f"grant {item}" for item in mark.grants]
    found += [f"{item.relation} {' '.join(item.tuple)}" for item in mark.premises]
    found += [f"unknown {item}" for item in mark.unknown]
    yield from sorted(found)


def statement_lines(said: Statement) -> Iterator[str]:
    """What a judgement rests on. Guards and terminals are those of the site file, and left out."""
    found = [f"{row} {' '.join(ends)}" for row, edges in said.facts.items() for ends in edges]
    found += [f"table {table} {' '.join(row)}" for table, rows in said.ground.items() for row in rows]
    found += [f"unknown {fact}: {', '.join(edges)}" for fact, edges in said.unknown.items()]
    found += [f"label {node}: {' '.join(labels)}" for node, labels in said.labels.items()]
    found += [f"exclusive {identity}: {' '.join(owners)}" for identity, owners in said.exclusive.items()]
    found += [f"grant {' '.join(grant)}" for grant in said.grants]
    found += [f"owner {node}: {' '.join(owners)}" for node, owners in said.owners.items()]
    found += [f"public {node}" for node in said.public]
    yield from sorted(found)


def answer_lines(judgement: Judgement) -> Iterator[str]:
    """Each rule that had something to look at, with its verdict and how much it was; then the findings."""
    asked = [f"{item.rule} {LETTER[item.verdict]}{item.count}" for item in judgement.results if item.count]
    yield f"asked: {' '.join(asked)}"
    yield from finding_lines(judgement.findings)


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """A line for each finding: what decides its place among others, its words, what is missing, what it is about."""
    for item in sorted(findings, key=lambda item: (item.rule, item.verdict, item.message, item.id)):
        head = f"{item.id} {LETTER[item.verdict]} {item.severity} {item.specificity}: {item.message}"
        rows = {
            "witness": " / ".join(item.witness), "path": " ".join(item.path), "missing": ", ".join(item.missing),
            "about": ", ".join(map(str, item.about)), "fix": ", ".join(map(str, item.fix)), "hint": item.hint,
        }  # fmt: skip
        yield "\n  ".join([head, *(f"{name}: {text}" for name, text in rows.items() if text)])
