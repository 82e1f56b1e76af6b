"""Files that nobody would write: only InputErrors may come of them, each with a code and a place.

Hypothesis looks for small counter-examples; the mutator brings the number. A failure names its seed, with which
`found_wrong((door, seed, 1))` shows it again.
"""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.model.text.errors import InputErrors
from tests.fuzz.doors import Door, doors, found_wrong, wrong
from tests.fuzz.mutating import TOKENS, mutated
from tests.support.forking import nothing_to_collect
from tests.support.sampling import BUDGETS, Sampling

DOORS = ("acme.yaml", "site.yaml", "acme.lock.json", "site.lock.json")
CORES = 2
#: Work that one process takes at a time.
SHARE = 250


def test_a_long_run_has_more_than_a_million_inputs() -> None:
    assert set(DOORS) == set(doors())
    assert sum(BUDGETS[f"fuzz {door}"].long for door in DOORS) > 1_000_000


@pytest.mark.parametrize("door", DOORS)
def test_seeds_are_read(door: str, tmp_path: Path) -> None:
    """Mutations of files that are refused anyway would find nothing."""
    file = tmp_path / door
    for seed in doors()[door].seeds:
        file.write_bytes(seed)
        assert doors()[door].read(file) is not None


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("door", DOORS)
def test_mutated_files(door: str, sampling: Sampling) -> None:
    seeds = sampling.cases(f"fuzz {door}")
    shares = [seeds[start : start + SHARE] for start in range(0, len(seeds), SHARE)]
    work = [(door, share.start, len(share)) for share in shares]
    with nothing_to_collect(), multiprocessing.get_context("fork").Pool(CORES) as pool:
        found = [fault for faults in pool.imap_unordered(found_wrong, work) for fault in faults]
    assert found[:3] == []


@pytest.mark.parametrize("door", ["acme.yaml", "site.yaml"])
def test_some_mutations_are_read(door: str, tmp_path: Path) -> None:
    """The mutator neither breaks every file nor none, so that what it brings reaches all checks."""
    inputs = [mutated(seed, doors()[door].seeds) for seed in range(100)]
    assert len(set(inputs)) > 90
    assert 5 <= sum(is_read(doors()[door], tmp_path / door, data) for data in inputs) < 70


def is_read(door: Door, file: Path, data: bytes) -> bool:
    file.write_bytes(data)
    try:
        door.read(file)
    except InputErrors:
        return False
    return True


#: Text that looks like these files at times, and bytes that look like nothing.
LINES = st.lists(st.sampled_from(TOKENS) | st.text(max_size=12), max_size=8).map(": ".join)
TEXTS = st.lists(LINES, max_size=12).map("\n".join).map(lambda text: text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("door", DOORS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400) | TEXTS)
def test_random_files(door: str, tmp_path: Path, data: bytes) -> None:
    assert wrong(doors()[door], tmp_path, data) is None


@pytest.mark.parametrize("door", DOORS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_files_with_a_piece_replaced(door: str, tmp_path: Path, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(doors()[door].seeds))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 60, len(text))))
    assert wrong(doors()[door], tmp_path, text[:start] + data.draw(TEXTS) + text[end:]) is None
