"""The VLAN on which a whole host is cleaned: recorded by `interlock lock`, and as it was when another is inserted."""

from __future__ import annotations

import json

import pytest

from interlock.model.lock.files import dump_lock, load_lock
from interlock.model.lock.record import SiteLock
from tests.builders.pod64 import ironic_pod64
from tests.infra.conftest import Interlock, Lyon
from tests.infra.test_nodes import written_as_file

HOSTS = {host.name: host for host in ironic_pod64().hosts}


def stated(lyon: Lyon, *whole: str) -> None:
    """The site file lists these whole hosts, in this order, and the hypervisors after them."""
    others = [host for name, host in HOSTS.items() if not name.startswith("poplar-")]
    cables = tuple(
        cable
        for cable in ironic_pod64().cables
        if all(not end.device.startswith("poplar-") or end.device in whole for end in (cable.a, cable.b))
    )
    written_as_file(lyon, ironic_pod64(hosts=(*(HOSTS[name] for name in whole), *others), cables=cables))


@pytest.fixture
def metal(unlocked: Lyon, interlock: Interlock) -> Lyon:
    """A site with poplar-1 and poplar-3 as whole hosts, locked, and no tenant."""
    for file in (*unlocked.folder.glob("tenants/*"), *unlocked.folder.glob("evidence/*")):
        file.unlink()
    stated(unlocked, "poplar-1", "poplar-3")
    assert interlock("lock").code == 0
    return unlocked


def planned(interlock: Interlock) -> dict[str, int]:
    """Host -> VLAN of its service network, as the operator's plan has it."""
    done = interlock("plan", "--format", "json")
    assert done.code == 0, done.err
    resources = json.loads(done.out)["plan"]["resources"]
    return {
        item["name"].removeprefix("service-"): item["spec"]["segmentation_id"]
        for item in resources
        if item["kind"] == "Network" and item["name"].startswith("service-")
    }


def lock_of(lyon: Lyon) -> SiteLock:
    return load_lock(lyon.file("site.lock.json"), "site.lock.json", SiteLock)


def test_one_host_more_in_the_middle_moves_nobody(metal: Lyon, interlock: Interlock) -> None:
    assert planned(interlock) == {"poplar-1": 3200, "poplar-3": 3201}
    stated(metal, "poplar-1", "poplar-2", "poplar-3")
    assert interlock("lock").code == 0
    assert planned(interlock) == {"poplar-1": 3200, "poplar-2": 3202, "poplar-3": 3201}
    assert lock_of(metal).services == {
        "poplar-1": "mgmt1g:3200", "poplar-2": "mgmt1g:3202", "poplar-3": "mgmt1g:3201",
    }  # fmt: skip
    before = metal.locks()
    assert interlock("lock").code == 0
    assert metal.locks() == before
    assert interlock("lock", "--check").code == 0


def test_an_operators_lock_of_before_is_asked_to_record_them(metal: Lyon, interlock: Interlock) -> None:
    """The plan is as it was, and what the order gives is recorded before the order changes."""
    dump_lock(lock_of(metal).model_copy(update={"services": {}}).sealed(), metal.file("site.lock.json"))
    assert planned(interlock) == {"poplar-1": 3200, "poplar-3": 3201}
    done = interlock("lock", "--check")
    assert done.code == 1
    assert '`services` says nothing and should say {"poplar-1": "mgmt1g:3200", "poplar-3": "mgmt1g:3201"}' in done.out
    assert interlock("lock").code == 0
    assert interlock("lock", "--check").code == 0


def test_two_that_both_were_given_one_are_refused(metal: Lyon, interlock: Interlock) -> None:
    """As two branches that each added a host leave it."""
    metal.replace("site.lock.json", '"poplar-3": "mgmt1g:3201"', '"poplar-3": "mgmt1g:3200"')
    done = interlock("plan")
    assert done.code == 2
    (line,) = [
        number
        for number, text in enumerate(metal.file("site.lock.json").read_text().splitlines(), 1)
        if "services" in text
    ]
    assert f"stacks/lyon/site.lock.json:{line}:15: IN-033 edited by hand: no lock says `services` so: " in done.err
    assert "poplar-1 and poplar-3 both have the service VLAN mgmt1g:3200" in done.err
