"""`python -m tests.e2e.witness_texts` rewrites the approved findings of the leaky examples; read the diff after it."""

from __future__ import annotations

from infra.program.gate import Gate
from policies.findings.report import by_specificity, lines_of
from tests.conftest import ROOT

WITNESSES = ROOT / "tests" / "e2e" / "witnesses"


def witness(folder: str, tenant: str) -> str:
    """The finding that comes first, as the refusal of a stack tells it."""
    gate = Gate.open(f"leaky/{folder}")
    judged = gate.judge(tenant)
    first = by_specificity(judged.judgement)[0]
    told = lines_of(judged.judgement, first, where=gate.places(judged.plan), site=gate.explained_by)
    return "\n".join(told) + "\n"


def main() -> None:
    """Write every text."""
    # Only here: whoever asks for one text need not have what the tests of stacks need.
    from tests.e2e.test_leaky import CASES

    for case in CASES:
        (WITNESSES / f"{case.folder}.txt").write_text(witness(case.folder, case.tenant), encoding="utf-8")


if __name__ == "__main__":
    main()
