"""`interlock lock --check`: what differs from request and site, and what two locks hold at once."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.locking.conflicts import conflicts
from infra.locking.places import Places
from infra.program.gate import Gate
from interlock.model.load import dump_lock
from interlock.model.lock.record import Allocation, Lock, Released
from tests.infra.conftest import Interlock, Lyon

ACME, GLOBEX = "tenants/acme.lock.json", "tenants/globex.lock.json"


def held(lyon: Lyon, **claims: Any) -> list[str]:
    """What is held twice after these claims are written into the lock of globex, as nobody's hand could."""
    gate = lyon.gate()
    old = gate.workspace.locks["globex"]
    vpod = old.allocation.vpods["research"].model_copy(update=claims)
    dump_lock(old.model_copy(update={"allocation": Allocation(vpods={"research": vpod})}), lyon.file(GLOBEX))
    return found(lyon.gate())


def found(gate: Gate) -> list[str]:
    """What is held twice, in words."""
    workspace = gate.workspace
    return [item.what for item in conflicts(workspace.site, workspace.locks.values(), Places(workspace))]


def test_fresh_locks_are_as_they_should_be(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    done = interlock("lock", "--check")
    assert (done.code, done.err) == (0, "")
    assert done.out == "lyon: 3 lock(s): as they should be, and no claim is held twice\n"
    assert lyon.locks() == before


def test_what_differs_is_named_with_its_place(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    done = interlock("lock", "--check")
    assert done.code == 1
    assert "`request` is the hash of the request as it was, not as it is" in done.out
    place = 'acme.lock.json:11:18: `allocation.vpods.train.hosts` says ["poplar-1", "poplar-2"] and should say'
    assert place in done.out
    assert "hash of the site" not in done.out
    assert "hint: run `interlock lock acme`" in done.out
    assert "globex" not in done.out
    assert lyon.locks() == before


def test_a_changed_site_is_named_for_the_locks_that_use_what_changed(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "volume_types: [fast]", "volume_types: [fast, slow]")
    done = interlock("lock", "--check")
    assert done.code == 1
    assert done.out.count("`site` is the hash of the site as it was, not as it is") == 3
    assert "hint: run `interlock lock`\n" in done.out


def test_a_footprint_that_says_less_is_found(lyon: Lyon, interlock: Interlock) -> None:
    lock = lyon.gate().workspace.locks["acme"]
    short = lock.footprint.model_copy(update={"exclusive": lock.footprint.exclusive[1:]})
    dump_lock(lock.model_copy(update={"footprint": short}), lyon.file(ACME))
    done = interlock("lock", "--check", "--format", "json")
    assert done.code == 1
    (report,) = json.loads(done.out)["sites"]
    (difference,) = report["differences"]
    assert (difference["lock"], difference["field"]) == ("acme", "footprint.exclusive")
    assert difference["should"] == f'"{lock.footprint.exclusive[0]}"'


def test_a_missing_lock_differs(lyon: Lyon, interlock: Interlock) -> None:
    lyon.file(GLOBEX).unlink()
    done = interlock("lock", "--check")
    assert done.code == 1
    assert "stacks/lyon/tenants/globex.lock.json: `globex` has no lock" in done.out


def test_a_request_without_room_is_2(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 16")
    done = interlock("lock", "--check")
    assert done.code == 2
    assert "PL-002" in done.out


def test_an_edited_lock_is_2(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(ACME, '"serial": 1', '"serial": 7')
    assert interlock("lock", "--check").code == 2


@pytest.mark.parametrize(
    ("claims", "what"),
    [
        ({"machines": ("ipum-01", *(f"ipum-{n:02}" for n in range(10, 17)))}, "IPU-Machine ipum-01"),
        ({"ipu_data_vlan": 1000}, "VLAN 1000 on tor-1"),
        ({"storage_vlan": 1000}, "VLAN 1000 on tor-1"),
        ({"management_vlan": 110}, "VLAN 110 on mgmt-1"),
        ({"control_vni": 10000}, "VNI 10000"),
        ({"hosts": ("poplar-1",), "flavor": "poplar.whole"}, "host poplar-1 (more servers than it holds)"),
        ({"controller_host": "poplar-1"}, "host poplar-1, which is none for controllers,"),
    ],
)
def test_each_kind_of_claim_held_twice(lyon: Lyon, claims: dict[str, Any], what: str) -> None:
    assert held(lyon) == []
    assert held(lyon, **claims) == [what]


def test_overlapping_subnets_of_any_two_are_found(lyon: Lyon) -> None:
    subnet = lyon.gate().workspace.locks["acme"].allocation.vpods["train"].control_subnet
    inner = f"{subnet.partition('/')[0]}/28"
    assert held(lyon, storage_subnet=inner) == [f"addresses of {subnet}"]


def test_what_is_released_counts_and_what_one_takes_again_does_not(lyon: Lyon) -> None:
    lock: Lock = lyon.gate().workspace.locks["globex"]
    own = Released(vpod="research", claim="machines", value="ipum-09")
    dump_lock(lock.model_copy(update={"released": (own,)}), lyon.file(GLOBEX))
    assert found(lyon.gate()) == []
    others = Released(vpod="research", claim="ipu_data_vlan", value="fabric100g:1000")
    dump_lock(lock.model_copy(update={"released": (others,)}), lyon.file(GLOBEX))
    assert found(lyon.gate()) == ["VLAN 1000 on tor-1"]


def test_the_whole_fleet(lyon: Lyon, interlock: Interlock) -> None:
    other = lyon.stacks / "leaky" / "vlan-of-another"
    shutil.copytree(Path(__file__).parents[2] / "stacks/leaky/vlan-of-another", other)
    (other / "fleet.yaml").unlink()
    text = (other / "site.yaml").read_text()
    assert "name: leakyvlan" in text
    shutil.move(other, lyon.stacks / "leakyvlan")
    done = interlock("lock", "--check", "--fleet")
    # Two descriptions of one rack: that they are told apart is the fleet's first check.
    assert done.code == 2
    assert "IN-040" in done.err
    shutil.rmtree(lyon.stacks / "leakyvlan")
    assert interlock("lock", "--check", "--fleet").code == 0


class Clone:
    """A clone of a repository, for one person."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str) -> str:
        """What git says; it must succeed."""
        identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
        command = ["git", "-C", str(self.folder), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)


def test_two_branches_that_lock_the_same_block(
    unlocked: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    origin = Clone(unlocked.stacks.parent)
    requests = {name: unlocked.file(f"tenants/{name}.yaml").read_text() for name in ("acme", "globex")}
    for name in requests:
        unlocked.file(f"tenants/{name}.yaml").unlink()
    interlock("lock")
    origin.git("init", "--quiet", "--initial-branch", "main")
    (origin.folder / ".gitignore").write_text("/.interlock/\n/[!s]*/\n")
    origin.commit("a site without tenants")
    for name, text in requests.items():
        clone = Clone(tmp_path / f"clone-{name}")
        origin.git("clone", "--quiet", str(origin.folder), str(clone.folder))
        clone.git("switch", "--quiet", "--create", name)
        monkeypatch.setenv("INTERLOCK_STACKS", str(clone.folder / "stacks"))
        (clone.folder / "stacks/lyon/tenants").mkdir(exist_ok=True)
        (clone.folder / f"stacks/lyon/tenants/{name}.yaml").write_text(text)
        assert interlock("lock", name).code == 0
        clone.commit(f"{name} joins")
        clone.git("push", "--quiet", "origin", name)
    origin.git("merge", "--quiet", "--no-edit", "acme")
    origin.git("merge", "--quiet", "--no-edit", "globex")
    monkeypatch.setenv("INTERLOCK_STACKS", str(unlocked.stacks))

    done = interlock("lock", "--check")
    assert done.code == 1
    assert "IPU-Machine ipum-01 is claimed 2 times:\n" in done.out
    for name, vpod in (("acme", "train"), ("globex", "research")):
        where = f"stacks/lyon/tenants/{name}.lock.json:"
        line = next(line for line in done.out.splitlines() if where in line and "IPU-Machine ipum-01" in line)
        assert f": {name}, vPOD {vpod}: " in line
    assert "VLAN 1000 on tor-1 is claimed 2 times:" in done.out
    assert "VNI 10000 is claimed 2 times:" in done.out
    assert "as they should be" not in done.out

    judgement = Gate.open("lyon").judge("acme").judgement
    assert judgement.exit_code == 1
    said = {finding.rule: finding for finding in judgement.findings}
    assert "acme takes what globex holds: ipum-01" in said["TOP-06"].message
    assert {"acme", "globex"} <= set(" ".join(said["ISO-01"].witness).replace("[", " ").replace("]", " ").split())
    checked = interlock("check", "globex")
    assert checked.code == 1
    assert "globex takes what acme holds" in checked.out
