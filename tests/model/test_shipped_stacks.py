"""The stacks as they were shipped on 22 November 2026: what rests on them must go on as if nothing had happened.

`formats/shipped/stacks` are requests, sites and locks of that day; `formats/shipped/digests.json` holds what followed
from them: the digest of each resource and the user data of each server. A state of that day holds these
specifications, so `pulumi up` over it changes nothing while they are equal. User data became another since, and a
server keeps the one that it was made with: digests are compared with that in its place. No command writes these files
again.

Not compared: switch ports, which no state of that day holds, since nothing made them; and the hash of the plan, which
covers them and decides nothing on a cloud.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from infra.cli import main as cli
from infra.program.gate import Gate
from interlock.model.load import load_workspace
from interlock.model.lock.record import FORMAT, Lock
from interlock.planning.claims import claims_of_lock
from interlock.planning.plan import Plan
from interlock.resources import Resource, VipuObject, digest_of

SHIPPED = Path(__file__).parent / "formats" / "shipped"
STACKS = SHIPPED / "stacks"
DIGESTS = SHIPPED / "digests.json"
SITES = sorted(file.parent.relative_to(STACKS).as_posix() for file in STACKS.rglob("site.yaml"))
#: Plan names of switch ports on that day.
SWITCH_PORT = re.compile(r"-(rnic|mgmt)-[^-]+-[0-9]+$")
ALLOCATION = re.compile(r"-allocation$")
#: The format of the locks in the folder.
SHIPPED_FORMAT = 2

every_site = pytest.mark.parametrize("site", SITES)


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder, which `interlock` takes."""
    monkeypatch.setenv("INTERLOCK_STACKS", str(tmp_path / "stacks"))
    return Path(shutil.copytree(STACKS, tmp_path / "stacks"))


@pytest.fixture
def lock_again(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`interlock lock --site <site>`."""

    def run(site: str) -> None:
        monkeypatch.setattr("sys.argv", ["interlock", "lock", "--site", site])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 0

    return run


def facts_of(site: str, user_data: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """What must stay of each stack of a site; `user_data`: stack -> server -> what it was made with."""
    gate = Gate.open(site)
    return {plan.stack: _facts(plan, user_data.get(plan.stack, {})) for plan in (gate.plan(it) for it in gate.stacks())}


def _facts(plan: Plan, user_data: Mapping[str, str]) -> dict[str, Any]:
    found = {
        item.name: item.resource
        for item in plan.resources
        if item.resource.KIND != "SwitchPort" and not isinstance(item.resource, VipuObject)
    }
    written = {name for name, resource in found.items() if getattr(resource, "user_data", "")}
    kept = {
        name: resource.model_copy(update={"user_data": user_data.get(name, "")}) if name in written else resource
        for name, resource in found.items()
    }
    return {
        "owner": plan.owner,
        "resources": {name: _digest(resource) for name, resource in kept.items()},
        "with_user_data": written,
    }


#: (kind, field) that came later and means something new: an `up` after an upgrade sets it once, in place.
#: Whole hosts keep the shares that they were deployed with.
ADDED = {("Quota", "floating_ips"), ("Server", "shares"), ("BareMetalServer", "shares")}


def _digest(resource: Resource) -> str:
    """Without fields that came later, where they say what a state of that day means without them."""
    younger = type(resource).YOUNGER
    fields = [(name, value) for name, value in resource.canonical().items() if (resource.KIND, name) not in ADDED]
    said = {name: value for name, value in fields if name not in younger or value != younger[name]}
    return digest_of({"kind": resource.KIND, "spec": said})


def lock_files(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*.lock.json"))}


def test_every_lock_of_the_day_is_here() -> None:
    assert len(SITES) == 7
    assert len(lock_files(STACKS)) == 19
    assert {json.loads(text)["format"] for text in lock_files(STACKS).values()} == {SHIPPED_FORMAT}
    assert sorted(json.loads(DIGESTS.read_text(encoding="utf-8"))) == SITES


@every_site
def test_locks_load_and_locking_again_leaves_them(site: str, stacks: Path, lock_again: Callable[[str], None]) -> None:
    """Footprints say more since, and all that they said; after an upgrade every claim is as it was."""
    before, claims = lock_files(STACKS / site), claims_of(stacks, site)
    lock_again(site)
    assert claims_of(stacks, site) == claims
    if FORMAT == SHIPPED_FORMAT:
        again = lock_files(stacks / site)
        assert again.keys() == before.keys()
        assert not any(lost(json.loads(text), json.loads(again[name])) for name, text in before.items())


def lost(old: object, new: object) -> object:
    """What of a lock is no more in the one made again, but for serial and hash: lists may have become longer."""
    if isinstance(old, dict) and isinstance(new, dict):
        left_out = ("serial", "hash")
        found = {key: lost(value, new.get(key)) for key, value in old.items() if key not in left_out}
        return {key: value for key, value in found.items() if value}
    if isinstance(old, list) and isinstance(new, list):
        return [item for item in old if item not in new]
    return [] if old == new else old


def claims_of(stacks: Path, site: str) -> dict[str, list[tuple[str, str, str]]]:
    locks: dict[str, Lock] = dict(load_workspace(stacks, site).locks)
    return {
        name: [(claim.field, claim.value, str(claim.holder)) for claim in claims_of_lock(lock)]
        for name, lock in locks.items()
    }


@every_site
def test_digests_are_those_of_the_day(site: str, stacks: Path) -> None:
    assert stacks.is_dir()
    of_the_day = json.loads(DIGESTS.read_text(encoding="utf-8"))[site]
    found = facts_of(site, {stack: facts["user_data"] for stack, facts in of_the_day.items()})
    assert found.keys() == of_the_day.keys()
    for stack, facts in found.items():
        # Nothing told a controller of an allocation in those days, so no state has one.
        ports = {name for name in of_the_day[stack]["resources"] if SWITCH_PORT.search(name) or ALLOCATION.search(name)}
        resources = {name: it for name, it in of_the_day[stack]["resources"].items() if name not in ports}
        written = set(of_the_day[stack]["user_data"])
        assert facts == {"owner": of_the_day[stack]["owner"], "resources": resources, "with_user_data": written}
