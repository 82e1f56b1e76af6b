"""A newcomer's fresh clone: `./run demo`, what its summary says, a second run, then every page as it stands.

The tests of this module are steps of one story, in this order, in one clone with an embedded cloud of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.docs.newcomer import ROUTE, Newcomer, Ran
from tests.docs.pages import examples, with_cloud

STEPS = (
    "sandbox: a real OpenStack on this machine's loopback",
    "stack lyon-site",
    "pulumi up --yes --stack lyon-site --policy-pack policies/pack",
    "stack lyon-acme",
    "pulumi up --yes --stack lyon-acme --policy-pack policies/pack",
)

#: Pages that leave no file behind.
ENDS_WHERE_IT_BEGAN = ("README.md", "docs/tutorial.md")

#: What Pulumi counts at the end of a preview and of an update.
RESOURCES = re.compile(r"^Resources:\n((?: {4}\S.*\n)+)", re.MULTILINE)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    """A fresh clone; its cloud is stopped at the end, whatever happened."""
    arrived = Newcomer.arrive(tmp_path_factory.mktemp("newcomer"))
    yield arrived
    stopped = arrived.run("./run interlock sandbox down")
    assert stopped.code == 0, stopped.text


@pytest.fixture(scope="module")
def demo(newcomer: Newcomer) -> Ran:
    """The first command of the README, run for the first time."""
    assert with_cloud("README.md")[0].block.text == "./run demo\n"
    ran = newcomer.run("./run demo")
    assert ran.code == 0, ran.text
    return ran


def steps(ran: Ran) -> dict[str, str]:
    """Step -> its last line, which says how it ended and after how long."""
    return {
        part.splitlines()[0]: part.split("\ndemo finished")[0].rstrip().splitlines()[-1]
        for part in ran.err.split("==> ")[1:]
    }


def test_every_step_is_named_with_its_time(demo: Ran) -> None:
    assert tuple(steps(demo)) == STEPS
    for step, last in steps(demo).items():
        assert re.fullmatch(r" +done after \d+\.\d s", last), f"{step}: {last}"
    assert re.search(r"Python environment from requirements\.lock done in \d+\.\d s", demo.err)
    assert re.search(r"^demo finished in \d+\.\d s$", demo.err, re.MULTILINE)


def test_the_summary_says_what_exists_and_what_does_not(demo: Ran) -> None:
    assert re.search(r"^lyon-site: \d+ objects exist on the cloud$", demo.out, re.MULTILINE)
    assert re.search(r"^lyon-acme: \d+ objects exist on the cloud\n.* 3 Server, ", demo.out, re.MULTILINE)
    assert "Wired: 8 switch ports of mgmt-1 and tor-1, each read back from its switch." in demo.out
    assert "Not registered: " in demo.out
    assert "Applied state: proved with the plan, as the claims store has it" in demo.out
    assert "no guest runs, and frames flow only where it was started with `--frames`" in demo.out


def test_the_clone_stays_clean(newcomer: Newcomer, demo: Ran) -> None:
    assert newcomer.status() == ""


def test_the_lines_to_look_at_it_work(newcomer: Newcomer, demo: Ran) -> None:
    lines = [line.strip() for line in demo.out.splitlines() if re.match(r" +(export OS_|\S*/openstack )", line)]
    assert len(lines) == 4, lines
    shown = newcomer.run("\n".join(lines))
    assert shown.code == 0, shown.text
    for name in ("acme-train-poplar-1", "acme-train-controller", "acme-train-storage", "acme-train-poplar-0-ipu-data"):
        assert name in shown.out, shown.text


def test_a_second_run_changes_nothing_and_says_so(newcomer: Newcomer, demo: Ran) -> None:
    again = newcomer.run("./run demo")
    assert again.code == 0, again.text
    assert "up already; nothing to do" in again.err
    counts = RESOURCES.findall(again.out)
    assert len(counts) == 4, "preview and update of two stacks"
    assert all(re.fullmatch(r" {4}\d+ unchanged\n", count) for count in counts), counts
    for made in ("requirements.lock …", "Pulumi …", "starting 8 of 8"):
        assert made not in again.err
    assert newcomer.status() == ""


# The tutorial applies a tenant four times; beside three other processes it takes longer than any other test.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", ROUTE)
def test_a_page_read_from_top_to_bottom(page: str, newcomer: Newcomer, demo: Ran) -> None:
    _own_cloud(newcomer)
    # The first command of the README is the demo, which has run.
    for example in examples(page)[page == "README.md" :]:
        newcomer.follow(example)
    if page in ENDS_WHERE_IT_BEGAN:
        assert newcomer.status() == ""


def _own_cloud(newcomer: Newcomer) -> None:
    """The `mycloud` of the how-to: the embedded cloud under a newcomer's own name."""
    known = yaml.safe_load((newcomer.folder / ".interlock/sandbox/clouds.yaml").read_text())
    own = newcomer.home / ".config" / "openstack" / "clouds.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(yaml.safe_dump({"clouds": {"mycloud": known["clouds"]["sandbox"]}}))


def test_the_pages_leave_no_secret_readable(newcomer: Newcomer) -> None:
    """The how-to's passphrase is for its owner only."""
    mode = Path(newcomer.home / "interlock" / "passphrase").stat().st_mode
    assert mode & 0o077 == 0
