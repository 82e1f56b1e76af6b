"""`python -m tests.policies.approved_texts` writes again what the prover makes of examples and defects.

`rows`: each worked example of docs/design/semantics.md and each world that a search found, told against the plainest
one, and some random worlds: the rows of the graph, footprints, what each rule looked at, and findings. `findings`: for
each rule the whole of what it says of every seeded defect. Look at the difference before it is committed: a line that
goes is an edge, a label, a guard or a finding that goes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random

from policies import RULES, Judgement
from tests.mutants.operator import Operator
from tests.mutants.operators import OPERATORS
from tests.mutants.sites import workspace_of
from tests.mutants.test_each_rule import ALONE
from tests.mutants.test_mutants import SEEDS
from tests.oracle.examples import EXAMPLES
from tests.oracle.found import FOUND
from tests.oracle.generator import world
from tests.oracle.sayings import Example
from tests.oracle.world import World
from tests.policies.seen import LETTER, finding_lines, of_world
from tests.policies.test_rules import DEFECTS, Defect
from tests.policies.test_site_rules import SITE_FLAWS, Flaw, of_site

APPROVED = Path(__file__).with_name("approved")

# Rows of examples.


def place_of(example: Example) -> str:
    """The file of an example; a world that has no name goes by its number."""
    return f"rows/{re.sub(r'-<.*', '', example.name)}.txt"


SEEDS_OF_WORLDS = (
    10, 12, 13, 32, 35, 37, 41, 50, 62, 70, 99, 109, 121, 127, 135, 139, 143, 167, 178, 179, 193, 202, 203, 213, 216,
    234, 235, 271, 282, 299, 306, 307, 358, 360, 373, 395, 476, 498,
)  # fmt: skip
"""Random worlds that have all kinds of edges, unstated facts and premises of the first 500 that no example has."""

WORLDS: dict[str, Callable[[], World]] = {
    **{place_of(item): item.world for item in (*EXAMPLES, *FOUND)},
    **{f"rows/world-{seed:03}.txt": partial(world, seed) for seed in SEEDS_OF_WORLDS},
}
PLAIN = "rows/33b-own_vlans_without_groups.txt"
"""Two tenants with a VLAN each, and nothing else."""


def _lines(place: str) -> frozenset[tuple[str, str]]:
    """(section, line) of all that the prover makes of an example."""
    return frozenset(_sections(of_world(WORLDS[place](), tenants=not _is_random(place))))


def _is_random(place: str) -> bool:
    return place.startswith("rows/world-")


@cache
def _plain() -> frozenset[tuple[str, str]]:
    """Of the plain example. Others are made each time: what is kept would hide a change of the code."""
    return _lines(PLAIN)


def _sections(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    section = ""
    for line in lines:
        if line.startswith("["):
            section = line
        else:
            yield section, line


def rows(place: str) -> str:
    """Of an example the lines that it has besides the plain one, and those that it lacks; of others all lines."""
    here, plain = _lines(place), frozenset() if place == PLAIN or _is_random(place) else _plain()
    signed = [(*item, "+") for item in here - plain] + [(*item, "-") for item in plain - here]
    found, last = list[str](), ""
    for section, line, sign in sorted(signed):
        found += [section] if section != last else []
        # Of a finding that is gone its first line is enough.
        found.append(f"{sign} {line if sign == '+' else line.splitlines()[0]}")
        last = section
    return "\n".join(found) + "\n"


# Findings of defects.


def _of_operator(operator: Operator) -> Judgement:
    """The judgement of its leak, in the first workspace that has something to change."""
    found = (operator.leak(workspace_of(seed), Random(seed)) for seed in range(SEEDS))
    return next(mutant for mutant in found if mutant is not None).judged()


def _of_flaw(flaw: Flaw) -> Judgement:
    return of_site(flaw.site())


def _of_defect(defect: Defect) -> Judgement:
    return defect.case(RULES)


def _cases() -> Iterator[tuple[str, str, Callable[[], Judgement]]]:
    """(rule, what is wrong, its judgement). Guards that fail have tests of their own, and rows of examples."""
    for operator in OPERATORS:
        if not operator.is_guard:
            yield operator.rule, operator.title, partial(_of_operator, operator)
    for flaw in SITE_FLAWS:
        yield flaw.rule, flaw.words, partial(_of_flaw, flaw)
    for defect in DEFECTS:
        yield defect.rule, defect.case.__name__.replace("_", " "), partial(_of_defect, defect)
    for rule, case in ALONE.items():
        yield rule, "a defect of which it alone speaks", case


CASES = {(rule, words): case for rule, words, case in _cases()}


def findings(rule: str, words: str) -> str:
    """How many things a rule looked at, and what it says of them."""
    judgement = CASES[rule, words]()
    result = next(item for item in judgement.results if item.rule == rule)
    lines = (f"{LETTER[result.verdict]}{result.count}", *finding_lines(result.findings))
    return "\n".join((f"== {words}", *lines)) + "\n"


# Files.


def approved(place: str) -> str:
    """What stands in a file; empty if there is none."""
    path = APPROVED / place
    return path.read_text(encoding="utf-8") if path.exists() else ""


def approved_findings(rule: str, words: str) -> str:
    """What stands in the file of a rule about one defect."""
    blocks = approved(f"findings/{rule}.txt").split("\n\n")
    return next((f"{block.rstrip()}\n" for block in blocks if block.splitlines()[0] == f"== {words}"), "")


def approved_texts() -> dict[str, str]:
    """Name of the file -> what is in it."""
    by_rule: defaultdict[str, list[str]] = defaultdict(list)
    for rule, words in CASES:
        by_rule[rule].append(findings(rule, words))
    return {place: rows(place) for place in WORLDS} | {
        f"findings/{rule}.txt": "\n".join(texts) for rule, texts in by_rule.items()
    }


def main() -> None:
    """Write every text, and remove those that are no more."""
    texts = approved_texts()
    for path in APPROVED.rglob("*.txt"):
        if path.relative_to(APPROVED).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        place = APPROVED / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
