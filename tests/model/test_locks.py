"""Lock files: same lock, same bytes; what was written is what is read; nothing half-written stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.model.load import InputErrors, Workspace, dump_lock, load_workspace, require_fresh_site_lock
from interlock.model.lock.record import Allocation, Lock, Released, Settled, SiteLock
from interlock.planning import site_hash
from interlock.vocabulary.owners import OwnerId
from tests.builders.pod64 import locked, site_locked
from tests.model.small_site import changed, small_fleet


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    """A site whose tenant and operator have locks."""
    stacks = small_fleet(tmp_path)
    workspace = load_workspace(stacks, "yard")
    dump_lock(acme_lock(workspace), workspace.lock_file("acme"))
    dump_lock(site_locked(workspace.site), workspace.lock_file("site"))
    return stacks


def acme_lock(workspace: Workspace) -> Lock:
    """What acme would get."""
    return locked(workspace.site, workspace.tenants["acme"])


def test_locks_are_read_as_written(stacks: Path) -> None:
    workspace = load_workspace(stacks, "yard")
    assert workspace.locks["acme"] == acme_lock(workspace)
    assert workspace.site_lock == site_locked(workspace.site)
    assert require_fresh_site_lock(workspace, site_hash(workspace.site)) is workspace.site_lock


def test_the_same_lock_is_the_same_bytes(stacks: Path) -> None:
    workspace = load_workspace(stacks, "yard")
    file = workspace.lock_file("acme")
    before = file.read_bytes()
    dump_lock(workspace.locks["acme"], file)
    assert file.read_bytes() == before
    assert before.endswith(b"}\n")
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_a_write_that_fails_leaves_the_old_lock(stacks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    workspace = load_workspace(stacks, "yard")
    file = workspace.lock_file("acme")
    before = file.read_bytes()
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        dump_lock(acme_lock(workspace).model_copy(update={"serial": 2}), file)
    assert file.read_bytes() == before
    assert len(list(file.parent.iterdir())) == 2


def test_claims_without_a_request_are_a_fault_of_the_site(stacks: Path) -> None:
    (stacks / "yard/tenants/acme.yaml").unlink()
    with pytest.raises(InputErrors, match=r"acme\.lock\.json: IN-035 .*\n  hint: restore the file with `state: gone`"):
        load_workspace(stacks, "yard")


def test_a_settled_lock_without_a_request_is_no_fault(stacks: Path) -> None:
    workspace = load_workspace(stacks, "yard")
    (stacks / "yard/tenants/acme.yaml").unlink()
    settled = workspace.locks["acme"].model_copy(update={"allocation": Allocation(vpods={})})
    settled = settled.model_copy(update={"settled": (Settled(identity="x", at="2026-11-23T10:00:00Z", by="Anne"),)})
    dump_lock(settled, workspace.lock_file("acme"))
    # What its holder had and gave back cleaned is still told: the hint above says to keep the file for that.
    assert [lock.settled for lock in load_workspace(stacks, "yard").locks.values()] == [settled.settled]


def test_a_released_claim_alone_needs_a_request_too(stacks: Path) -> None:
    workspace = load_workspace(stacks, "yard")
    (stacks / "yard/tenants/acme.yaml").unlink()
    released = (Released(vpod="train", claim="machines", value="ipum-01"),)
    update = {"allocation": Allocation(vpods={}), "released": released}
    dump_lock(workspace.locks["acme"].model_copy(update=update), workspace.lock_file("acme"))
    with pytest.raises(InputErrors, match="IN-035"):
        load_workspace(stacks, "yard")


def test_a_comment_in_the_request_changes_no_hash(stacks: Path) -> None:
    before = load_workspace(stacks, "yard").tenants["acme"]
    changed(stacks / "yard/tenants/acme.yaml", "machines: 4", "ipus: 16 # four machines")
    assert load_workspace(stacks, "yard").tenants["acme"] == before


def test_one_owner_id_in_two_locks_is_a_copy(stacks: Path) -> None:
    workspace = load_workspace(stacks, "yard")
    twin = workspace.locks["acme"].model_copy(update={"id": "twin"})
    dump_lock(twin, workspace.lock_file("twin"))
    with pytest.raises(InputErrors, match="the locks of `acme` and `twin` have one owner id"):
        load_workspace(stacks, "yard")


def test_the_site_lock_must_fit_the_site(stacks: Path) -> None:
    changed(stacks / "yard/site.yaml", "user_api_port: 8090", "user_api_port: 8091")
    workspace = load_workspace(stacks, "yard")
    expected = r"stacks/yard/site\.lock\.json:\d+:11: IN-032 .*\n  hint: run `interlock lock`"
    with pytest.raises(InputErrors, match=expected):
        require_fresh_site_lock(workspace, site_hash(workspace.site))


def test_a_site_without_a_lock_says_so(stacks: Path) -> None:
    workspace = load_workspace(stacks, "yard")
    workspace.lock_file("site").unlink()
    workspace = load_workspace(stacks, "yard")
    assert workspace.site_lock is None
    with pytest.raises(InputErrors, match="IN-030 the site has no lock"):
        require_fresh_site_lock(workspace, site_hash(workspace.site))


def test_sealing_covers_everything() -> None:
    lock = SiteLock(owner=OwnerId("a"), serial=1, site="b").sealed()
    assert lock.model_copy(update={"serial": 2}).expected_hash() != lock.hash
