"""A GPU node with a new adapter, and one that left the site file and came back: what `interlock lock` says and notes.

The site is `hall`: nodes.csv has the GUIDs; acme has the first four nodes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra.program.gate import Gate
from infra.stack import handing_over
from interlock.model.evidence.steps import ACCEPTANCE, SeenStep
from interlock.model.lock.files import load_lock
from interlock.model.lock.record import Lock, SiteLock
from interlock.resources import PartitionKey
from tests.infra.conftest import STACKS, Interlock

OLD, NEW = "0002c903000a0202", "0002c903000aff02"
SERIAL = "PLACEHOLDER-DGX-H100-"


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy of the site."""
    shutil.copytree(STACKS / "hall", tmp_path / "stacks/hall")
    shutil.copy(STACKS / "fleet.yaml", tmp_path / "stacks")
    monkeypatch.setenv("INTERLOCK_STACKS", str(tmp_path / "stacks"))
    return tmp_path / "stacks/hall"


def locked(interlock: Interlock) -> str:
    done = interlock("lock", "--site", "hall")
    assert done.code == 0, done.err
    return done.err


def change(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


def members(hall: Path) -> set[str]:
    """GUIDs of the partition that acme's plan has, and that its lock claims."""
    plan = Gate.open(hall.name).plan("acme")
    (spec,) = (item.resource for item in plan.resources if isinstance(item.resource, PartitionKey))
    held = load_lock(hall / "tenants/acme.lock.json", "", Lock).footprint.exclusive
    planned = {member.guid for member in spec.members}
    assert planned == {text.removeprefix("guid:") for text in held if text.startswith("guid:")}
    return planned


def test_a_new_guid_takes_the_place_of_the_old_one_and_is_told(hall: Path, interlock: Interlock) -> None:
    assert OLD in members(hall)
    change(hall / "nodes.csv", (OLD, NEW))
    assert interlock("check", "acme", "--site", "hall").code == 2, "the lock is of the old adapter"
    said = locked(interlock)
    assert (
        f"  train: hall-1-su01-n02:compute2 has GUID {NEW}; `pulumi up` takes {OLD} out of its partition before\n"
        in said
    )
    assert members(hall) & {OLD, NEW} == {NEW}
    assert NEW not in locked(interlock), "told once"


def test_a_new_guid_of_a_node_that_nobody_has_is_not_told(hall: Path, interlock: Interlock) -> None:
    before = members(hall)
    change(hall / "nodes.csv", ("0002c903000a0808", NEW))
    assert NEW not in locked(interlock)
    assert members(hall) == before


def test_a_node_that_left_and_is_back_is_used_once_it_was_accepted_again(hall: Path, interlock: Interlock) -> None:
    """It is acme's, whose plan is held up; one that nobody has is noted in the operator's lock."""
    for node, tenant in (("n08", ""), ("n01", "acme")):
        inventory = (hall / "nodes.csv").read_text()
        line = next(line for line in inventory.splitlines(keepends=True) if node in line)
        # As a lock made meanwhile has it: a tenant with the node cannot be locked then.
        lock = load_lock(hall / "site.lock.json", "", SiteLock)
        gone = lock.model_copy(update={"left": (f"hall-1-su01-{node}",), "site": "sha256:0"}).sealed()
        (hall / "site.lock.json").write_text(gone.model_dump_json())
        said = locked(interlock)
        serial = SERIAL + node[-1]
        assert line.split(",")[1] == serial
        assert f"host hall-1-su01-{node}: {serial} left the site file and is back, untested" in said
        noted = load_lock(hall / "site.lock.json", "", SiteLock)
        assert serial in {one.serial for one in noted.untested}
        assert noted.left == ()
        (owed,) = handing_over.tests_before_use(Gate.open("hall").workspace.site, noted.untested[-1:])
        assert owed.steps == (SeenStep.SELF_TESTED, *ACCEPTANCE), "accepted anew, on evidence from now on"
        replaced = load_lock(hall / "tenants/acme.lock.json", "", Lock).replaced
        assert [one.serial for one in replaced] == ([serial] if tenant else [])
    checked = interlock("check", "acme", "--site", "hall")
    assert checked.code == 3
    assert "left the site file and is back, and nobody is known to have tested it" in checked.out
