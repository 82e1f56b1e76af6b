"""`./run test`: when it takes several processes, and which of them runs what."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.groups import GROUPS, group_of, is_slow, is_slow_path, on_cloud, place_of
from tests.support.scheduling import prefers_cloud
from toolchain.testing import TOGETHER, pytest_arguments

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "words", [[], ["-k", "leaky"], ["tests/oracle"], ["--lf"], ["--color=no"], ["--junitxml=here.xml"], ["--fast"]]
)
def test_several_processes(words: list[str]) -> None:
    assert pytest_arguments(words, ROOT) == [*TOGETHER, *words]


@pytest.mark.parametrize(
    "words",
    [["--pdb"], ["-s"], ["--capture=no"], ["--collect-only"], ["-n3"], ["-n", "0"],
     ["tests/house/test_house.py::test_x", "-x"], ["tests/house/test_house.py::a", "tests/house/test_house.py::b"]],
)  # fmt: skip
def test_one_process(words: list[str]) -> None:
    assert pytest_arguments(words, ROOT) == words


def test_each_row_of_the_table_names_tests() -> None:
    for row in GROUPS:
        for path in row.paths:
            groups = {group_of(f"{file.relative_to(ROOT).as_posix()}::test_it") for file in ROOT.glob(f"{path}*")}
            assert row.name in groups, path
            assert on_cloud(row.name) is row.cloud
    assert group_of("tests/model/test_source.py::test_it[a::b]") == "tests/model/test_source.py"
    assert place_of("tests/model/test_source.py") == len(GROUPS)


def test_one_process_in_four_computes_first() -> None:
    assert [prefers_cloud(f"gw{number}") for number in range(5)] == [True, True, True, False, True]


def test_what_a_fast_run_leaves_out() -> None:
    assert is_slow("tests/faults/test_it.py::test_it", ["sandbox"])
    assert is_slow("tests/e2e/test_leaky.py::test_it", [])
    assert not is_slow("tests/policies/test_it.py::test_it", ["tmp_path"])
    assert is_slow_path("tests/e2e")
    assert is_slow_path("tests/store/test_stores.py")
    assert not is_slow_path("tests")
    assert not is_slow_path("tests/store")


CONFTEST = """\
import pytest
from tests.support.scheduling import GroupScheduling

def pytest_xdist_make_scheduler(config, log):
    return GroupScheduling(config, log)
"""

TEST = """\
import json, os, pathlib, pytest

@pytest.mark.parametrize("number", range(3))
def test_it(number):
    with (pathlib.Path(os.environ["SEEN"]) / os.environ["PYTEST_XDIST_WORKER"]).open("a") as seen:
        seen.write(json.dumps(__name__.rpartition(".")[2]) + chr(10))
"""


PLACES = ("e2e/test_apply", "e2e/test_change", "provider/test_world", "model/test_a", "model/test_b", "kills/test_k")


def test_a_group_stays_in_one_process(tmp_path: Path) -> None:
    """With the scheduler that all tests have: real processes of xdist over small files in folders of the table."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "conftest.py").write_text(CONFTEST)
    seen = tmp_path / "seen"
    seen.mkdir()
    for place in PLACES:
        file = tmp_path / "tests" / place
        file.parent.mkdir(exist_ok=True)
        file.with_suffix(".py").write_text(TEST)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n4", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
        cwd=ROOT, check=False, capture_output=True, text=True, env={"SEEN": str(seen), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    ran = {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in seen.iterdir()}
    names = {name for found in ran.values() for name in found}
    where = {name: {worker for worker, found in ran.items() if name in found} for name in names}
    assert all(len(workers) == 1 for workers in where.values())
    assert where["test_apply"] == where["test_change"]
    (worker,) = where["test_apply"]
    order = [name for name in ran[worker] if name in ("test_apply", "test_change")]
    assert order == ["test_apply"] * 3 + ["test_change"] * 3
    assert sum(map(len, ran.values())) == 18


def test_all_processes_take_one_sample() -> None:
    """Faults are drawn, and their names are those of tests: with two seeds the processes would not agree on them."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n2", "-q", "-p", "no:cacheprovider", "tests/faults/test_claims_store.py",
         "-k", "test_fault_of_a_folder"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
