"""Two regions of one Keystone: a stack that was applied in the one is refused in the other, and nothing is dropped.

The Keystone is real and lists both; Neutron and Nova of the second are a stand-in in which nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from tests.conftest import Sandbox
from tests.support.cloud.second_region import SECOND, clouds_in, second_region
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.small import World

#: Kinds that lie in one region; Keystone's are the same in both.
REGIONAL = ("alice-data", "alice-router", "alice-server", "alice-port-data")


@pytest.fixture(scope="module")
def two_regions(operator: Cloud, world: World) -> Iterator[World]:
    """What was applied in the first region, and Keystone lists a second one."""
    with second_region(operator):
        yield world


def _in(sandbox: Sandbox, folder: Path, region: str | None, stack: Stack) -> Iterator[Stack]:
    with clouds_in(sandbox, folder, region):
        process = Process()
        try:
            yield replace(stack, process=process, state=dict(stack.state))
        finally:
            process.close()


@pytest.fixture
def there(two_regions: World, sandbox: Sandbox, tmp_path: Path) -> Iterator[Stack]:
    """The tenant's stack with clouds.yaml set to the second region."""
    yield from _in(sandbox, tmp_path, SECOND, two_regions.tenant)


@pytest.fixture
def here(two_regions: World, sandbox: Sandbox, tmp_path: Path) -> Iterator[Stack]:
    """The same in the region in which it was applied, by a process that sees both in the catalogue."""
    yield from _in(sandbox, tmp_path, "RegionOne", two_regions.tenant)


def _old(stack: Stack) -> str:
    """A fingerprint as states had it before regions were recorded."""
    return str(stack.state["alice-router"].outputs["cloud_id"]).partition("/")[0]


def test_refresh_in_the_other_region_drops_nothing(there: Stack, journal: Any) -> None:
    before = journal.ours()
    assert len(there.state) > 20
    for name in there.state:
        with pytest.raises(Refused, match=r"is in region RegionOne of cloud 'sandbox'; the region in use is RegionTwo"):
            there.read(name)
    assert journal.ours() == before


def test_up_and_destroy_in_the_other_region_are_refused_in_the_preview_already(there: Stack, journal: Any) -> None:
    before = journal.ours()
    # A preview tells already that what the site has is not there.
    assert there.process.admit(there.admission()) != []
    for name in ("alice-project", "alice-router"):
        with pytest.raises(Refused, match="is in region RegionOne"):
            there.diff(name)
        with pytest.raises(Refused, match="is in region RegionOne"):
            there.delete(name)
    # The preview has refused, so no update follows it.
    (fault,) = there.process.admit(there.admission(), preview=False, previewed=False)
    assert "no preview of this plan" in fault
    assert journal.ours() == before


@pytest.mark.parametrize("name", REGIONAL)
def test_an_old_fingerprint_in_the_other_region_is_no_reason_to_drop(there: Stack, name: str, journal: Any) -> None:
    before, old = journal.ours(), _old(there)
    with pytest.raises(Refused, match=r"is not in region RegionTwo, .* it may be in RegionOne"):
        there.read(name, cloud_id=old)
    with pytest.raises(Refused, match=r"it may be in RegionOne"):
        there.delete(name, cloud_id=old)
    there.state[name] = replace(there.state[name], outputs=there.state[name].outputs | {"cloud_id": old})
    assert there.process.admit(there.admission()) != []
    with pytest.raises(Refused, match=r"it may be in RegionOne"):
        there.diff(name)
    assert journal.ours() == before


def test_an_old_fingerprint_is_taken_where_the_object_is_and_rewritten_by_up_alone(here: Stack) -> None:
    old = _old(here)
    for name in ("alice-project", "alice-router"):
        found = here.read(name, cloud_id=old)
        assert found is not None
        assert found.outputs["cloud_id"] == old
    assert here.process.admit(here.admission()) == []
    assert here.diff("alice-router") == {"cloud_id": False}
    assert here.update("alice-router").outputs["cloud_id"] == f"{old}/RegionOne"


@pytest.mark.usefixtures("two_regions")
def test_without_a_region_both_are_named_and_none_is_chosen(
    sandbox: Sandbox, tmp_path: Path, two_regions: World
) -> None:
    said = "has the regions RegionOne, RegionTwo, and nobody states which one"
    with clouds_in(sandbox, tmp_path, None), pytest.raises(Failure, match=said):
        _ = Cloud(sandbox.cloud).login
    for stack in _in(sandbox, tmp_path, None, two_regions.tenant):
        (fault,) = stack.process.admit(stack.admission())
        assert "RegionOne, RegionTwo" in fault
        with pytest.raises(Refused, match="RegionOne, RegionTwo"):
            stack.read("alice-router")


@pytest.mark.usefixtures("two_regions")
def test_the_site_file_states_the_region(sandbox: Sandbox, tmp_path: Path) -> None:
    with clouds_in(sandbox, tmp_path, None):
        assert [Cloud(sandbox.cloud, site_region=one).login.fingerprint.region for one in ("RegionOne", SECOND)] == [
            "RegionOne",
            SECOND,
        ]
        with pytest.raises(Failure, match="has no region RegionThree: its catalogue has RegionOne, RegionTwo"):
            _ = Cloud(sandbox.cloud, site_region="RegionThree").login
        there = Cloud(sandbox.cloud, site_region=SECOND)
        # Neutron of the second region has no networks; users are Keystone's, wherever its endpoint is.
        assert list(there.api("network").items("/networks", "networks")) == []
        assert list(there.api("identity").items("/users", "users", name="alice"))
