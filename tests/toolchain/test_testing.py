"""`./run test` in two runs: which tests go where, and how they end together."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolchain.testing import ALONE, FIRST, runs, second, side_by_side, worse

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_is_in_one_of_two_runs() -> None:
    engine, rest = runs(["-k", "fence"], ROOT)
    assert engine == ["-k", "fence", *(f"tests/{name}" for name in FIRST)]
    assert rest[:2] == ["-k", "fence"]
    folders = [word.removeprefix("tests/") for word in (*engine, *rest) if word.startswith("tests/")]
    assert len(folders) == len(set(folders))
    assert set(folders) == {file.parent.name for file in (ROOT / "tests").rglob("test_*.py")}


def test_those_on_a_cloud_come_last(tmp_path: Path) -> None:
    for name in ("store", "kills", "faults", "benchmarks", "e2e"):
        (tmp_path / "tests" / name).mkdir(parents=True)
        (tmp_path / "tests" / name / "test_it.py").touch()
    (tmp_path / "tests" / "builders").mkdir()
    assert second(tmp_path) == ["benchmarks", "store", "faults", "kills"]


@pytest.mark.parametrize(
    "words", [["tests/oracle"], ["tests/house/test_house.py::test_x", "-x"], *([it] for it in ALONE)]
)
def test_what_cannot_be_two_runs_is_one(words: list[str]) -> None:
    assert runs(words, ROOT) == [words]


@pytest.mark.parametrize(
    ("codes", "whole"), [((0, 0), 0), ((0, 1), 1), ((1, 0), 1), ((5, 0), 0), ((0, 5), 0), ((5, 5), 5), ((5, 2), 2)]
)
def test_the_worse_code_counts(codes: tuple[int, int], whole: int) -> None:
    assert worse(codes) == whole


def test_both_are_run_and_the_second_is_shown_last(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def program(text: str) -> list[str]:
        return [sys.executable, "-c", text]

    report, own = tmp_path / "reports" / "tests.txt", tmp_path / "test-sandbox-beside"
    code = side_by_side(
        program("import os, time; time.sleep(0.5); print('first', os.environ['WORD'])"),
        program("import os, sys; print('second', os.environ['INTERLOCK_TEST_SANDBOX']); sys.exit(3)"),
        {"WORD": "heard"},
        report,
    )
    assert code == 3
    assert capfd.readouterr().out.split("\n\n") == ["first heard", f"second {own}\n"]
    assert report.read_text() == f"second {own}\n"
