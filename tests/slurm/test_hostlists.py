"""Folded lists, read by Slurm itself: the same names, in the same order."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.planning.scheduler.hostlists import folded

from .hall import program, require_slurm

#: Names as they are, and some whose numbers are long, or begin with zeros, or carry over.
NAMES = st.lists(
    st.one_of(
        st.from_regex(r"[a-c]{1,2}(-[0-9]{1,2}){0,2}", fullmatch=True),
        st.builds(
            lambda head, number, width: f"{head}{number:0{width}}",
            st.sampled_from(("n", "n-", "su1-n", "10.0.0.")), st.integers(0, 130), st.integers(1, 4),
        ),
        st.builds(lambda number: f"gpu{number}", st.integers(10**8, 10**18 - 1)),
        st.sampled_from(("n098", "n099", "n100", "n99", "head", "n999999999", "n1000000000")),
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`scontrol` wants a slurm.conf, whatever is in it."""
    require_slurm()
    file = tmp_path_factory.mktemp("scontrol") / "slurm.conf"
    file.write_text("ClusterName=none\nSlurmctldHost=localhost\n", encoding="utf-8")
    return file


def read_by_slurm(folded_names: str, file: Path) -> list[str]:
    command = [program("scontrol"), "show", "hostnames", folded_names]
    done = subprocess.run(command, env={"SLURM_CONF": str(file)}, capture_output=True, text=True, check=True)
    return done.stdout.split()


@given(names=NAMES)
def test_slurm_reads_what_was_folded(configured: Path, names: list[str]) -> None:
    assert read_by_slurm(folded(names), configured) == names


def test_slurm_loses_a_number_of_more_than_64_bits(configured: Path) -> None:
    """Why a layout takes no name that ends in more than 18 digits: this one is another node's."""
    assert read_by_slurm("gpu18446744073709551616", configured) == ["gpu18446744073709551615"]


@given(first=st.integers(0, 1200), count=st.integers(2, 200), width=st.integers(1, 5))
def test_a_run_is_one_range(configured: Path, first: int, count: int, width: int) -> None:
    names = [f"n{number:0{width}}" for number in range(first, first + count)]
    assert folded(names) == f"n[{names[0][1:]}-{names[-1][1:]}]"
    assert read_by_slurm(folded(names), configured) == names


def test_a_range_is_no_longer_than_slurm_takes(configured: Path) -> None:
    names = [f"n{number}" for number in range(1, 70_000)]
    assert folded(names) == "n[1-65536,65537-69999]"
    assert read_by_slurm(folded(names), configured) == names
    refused = subprocess.run(
        [program("scontrol"), "show", "hostnames", "n[1-69999]"],
        env={"SLURM_CONF": str(configured)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Too many hosts in range" in refused.stderr
