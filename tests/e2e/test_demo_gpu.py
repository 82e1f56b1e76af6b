"""A newcomer's fresh clone: `./run demo gpu`, what its summary says, its audit, and a second run.

The tests are steps of one story, in this order, in one clone with an embedded cloud of its own. They belong to the long
run alone (`ONLY_LONG`): what happens at each step a usual run has in `test_subnet_manager_hall.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.docs.newcomer import Newcomer, Ran
from tests.e2e.test_demo import RESOURCES, steps

TENANTS = ("acme", "globex", "initech", "umbrella")
STACKS = tuple(f"hall-{name}" for name in ("site", *TENANTS))
DOWN = "./run interlock sandbox down --dir .interlock/sandbox-hall"


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    """A fresh clone; its cloud is stopped at the end, whatever happened."""
    arrived = Newcomer.arrive(tmp_path_factory.mktemp("gpu-newcomer"))
    yield arrived
    stopped = arrived.run(DOWN)
    assert stopped.code == 0, stopped.text


@pytest.fixture(scope="module")
def demo(newcomer: Newcomer) -> Ran:
    """The demo, run for the first time."""
    ran = newcomer.run("./run demo gpu")
    assert ran.code == 0, ran.text
    return ran


def test_every_step_is_named_with_its_time(demo: Ran) -> None:
    applied = [[f"stack {name}", f"pulumi up --yes --stack {name} --policy-pack policies/pack"] for name in STACKS]
    assert list(steps(demo)) == [
        "sandbox: a real OpenStack on this machine's loopback",
        *applied[0],
        "nodes: enrolled at Ironic, on its fake hardware, and cleaned",
        *(step for pair in applied[1:] for step in pair),
    ]
    assert all(re.fullmatch(r" +done after \d+\.\d s", last) for last in steps(demo).values()), steps(demo)


def test_the_summary_has_the_partitions_as_the_subnet_manager_has_them(demo: Ran) -> None:
    for name in STACKS:
        assert re.search(rf"^{name}: \d+ objects exist on the cloud$", demo.out, re.MULTILINE)
    found = demo.out.split("Partitions of compute, as its subnet manager has them:\n")[1].split("\n\n")[0]
    *tenants, everybody = found.splitlines()
    assert [line.split(":")[0] for line in tenants] == ["  0x0001  32 full at index 0", "  0x0002  16 full at index 0"]
    assert re.fullmatch(r"  0x7fff  1 full and \d+ limited: the default partition, which nobody leaves", everybody)
    assert "OpenSM, on a simulated fabric and behind a stand-in of UFM's REST interface" in demo.out


def test_the_lines_to_look_at_it_work(newcomer: Newcomer, demo: Ran) -> None:
    """In one shell, as they are told: the cloud's networks, and an audit of cloud and fabric, which finds nothing."""
    told = demo.out.split("Look at it, from the root of the repository:\n")[1].split("\n\n")[0]
    lines = [re.split(r" {2,}", line.strip())[0] for line in told.splitlines()]
    assert [line.split()[0] for line in lines[::2]] == ["export", "./run"], lines
    shown = newcomer.run("\n".join(lines))
    assert shown.code == 0, shown.text
    for name in TENANTS:
        assert re.search(rf"\b{name}-\S+", shown.out), shown.text
    assert newcomer.status() == ""


def test_a_second_run_changes_nothing_and_says_so(newcomer: Newcomer, demo: Ran) -> None:
    again = newcomer.run("./run demo gpu")
    assert again.code == 0, again.text
    assert "up already; nothing to do" in again.err
    assert "nothing was changed: everything existed already" in again.err
    counts = RESOURCES.findall(again.out)
    assert len(counts) == 2 * len(STACKS), "preview and update of each stack"
    assert all(re.fullmatch(r" {4}\d+ unchanged\n", count) for count in counts), counts
    assert newcomer.status() == ""
