"""`./run test` in two runs: which tests go where, and how they end together."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolchain.testing import ALONE, ON_THE_CLOUD, runs, side_by_side, worse

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_is_in_one_of_two_runs() -> None:
    cloud, rest = runs(["-k", "fence"], ROOT)
    assert cloud[2:] == [f"tests/{name}" for name in ON_THE_CLOUD]
    assert [word for word in rest if word.startswith("--ignore=")] == [
        f"--ignore=tests/{name}" for name in ON_THE_CLOUD
    ]
    assert all((ROOT / "tests" / name).is_dir() for name in ON_THE_CLOUD)
    assert cloud[:2] == rest[:2] == ["-k", "fence"]


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

    report = tmp_path / "made" / "tests.txt"
    code = side_by_side(
        program("import os, time; time.sleep(0.5); print('first', os.environ['WORD'])"),
        program("import sys; print('second'); sys.exit(3)"),
        {"WORD": "heard"},
        report,
    )
    assert code == 3
    assert capfd.readouterr().out.split("\n\n") == ["first heard", "second\n"]
    assert report.read_text() == "second\n"
