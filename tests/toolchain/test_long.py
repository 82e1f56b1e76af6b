"""`./run test --long`: slices that go on where they stopped, of one commit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolchain.long import described, is_sliced, long_run
from toolchain.missing import MachineLacks
from toolchain.slices import MOST_MINUTES, TABLE, LongRun, report, report_text, slices

ROOT = Path(__file__).resolve().parents[2]


def test_the_table() -> None:
    names = [part.name for part in slices()]
    assert len(names) == len(set(names)) == sum(tests.parts for tests in TABLE)
    for tests in TABLE:
        assert tests.minutes <= MOST_MINUTES
        assert all((ROOT / word).exists() for word in tests.arguments if not word.startswith("-")), tests.name


@pytest.mark.parametrize("words", [["--long"], ["--long", "--report"], ["--long", "worlds-2"], ["--long", "worlds"]])
def test_what_is_sliced(words: list[str]) -> None:
    assert is_sliced(words)


@pytest.mark.parametrize("words", [[], ["worlds-2"], ["--long", "-k", "kill"], ["--long", "tests/oracle"]])
def test_what_is_left_to_pytest(words: list[str]) -> None:
    assert not is_sliced(words)


def a_run(tmp_path: Path, described: str = "v1-2-gabc") -> LongRun:
    return LongRun.of(tmp_path, described)


#: Stands for pytest: it prints what it was called with, and ends with the code that a file says.
PROGRAM = (
    "import os, pathlib, sys; print(*sys.argv[1:]); print(os.environ['INTERLOCK_REPORTS']);"
    "print('== 3 passed =='); sys.exit(int(pathlib.Path('code').read_text()))"
)


def test_slices_run_once_and_failed_ones_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, first, second = a_run(tmp_path), *slices()[:2]
    command = [sys.executable, "-c", PROGRAM]
    (tmp_path / "code").write_text("0")
    done = run.run(first, command, tmp_path, {})
    (tmp_path / "code").write_text("1")
    failed = run.run(second, command, tmp_path, {})
    assert (done.code, done.summary, failed.code) == (0, "3 passed", 1)
    said = (run.folder / f"{first.name}.txt").read_text().splitlines()
    assert said[0] == f"--seed {run.seed} --long --part 1/4 tests/oracle/test_oracle.py"
    assert said[1] == str(run.folder)
    # Another process goes on: the same seed, and what has run.
    again = a_run(tmp_path)
    assert again == run
    assert again.results() == {first.name: done, second.name: failed}
    found = report(again)
    assert (found["failed"], found["commit"]) == ([second.name], "v1-2-gabc")
    assert found["left"] == [part.name for part in slices()[2:]]
    text = report_text(again)
    assert f"2 of {len(slices())} slices have run, 1 failed" in text
    assert "not yet" in text
    assert "FAILED (1)" in text


def test_a_slice_that_takes_too_long_is_ended_and_has_failed(tmp_path: Path) -> None:
    from dataclasses import replace

    first = slices()[0]
    short = replace(first, tests=replace(first.tests, minutes=0))
    done = a_run(tmp_path).run(short, [sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, {})
    assert done.code == -9
    assert done.seconds < 50


def test_commits_are_not_mixed(tmp_path: Path) -> None:
    run, first = a_run(tmp_path), slices()[0]
    (tmp_path / "code").write_text("0")
    run.run(first, [sys.executable, "-c", PROGRAM], tmp_path, {})
    assert a_run(tmp_path, "v2").results() == {}
    path = run.folder / f"{first.name}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"commit": "v0"}))
    with pytest.raises(MachineLacks, match="about v0, not v1-2-gabc"):
        run.results()
    with pytest.raises(MachineLacks, match="files were changed"):
        a_run(tmp_path, "v1-dirty")


def test_the_report_of_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.com"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"], ["tag", "v7"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    assert described(tmp_path) == "v7"
    words = ["--long", "--report", "--json"]
    assert long_run(words, tmp_path / ".interlock", tmp_path, Path(sys.executable), {}) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["commit"], len(found["left"])) == (1, "v7", len(slices()))
    assert (tmp_path / ".interlock" / "long" / "v7" / "run.json").exists()
    with pytest.raises(MachineLacks, match="about a commit"):
        described(tmp_path.parent)
