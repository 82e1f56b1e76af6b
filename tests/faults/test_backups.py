"""Faults while a copy is made of a volume that says `on_delete: snapshot`: the data are in the copy, or still in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlock.provider import keeping
from interlock.resources import Volume
from tests.faults.attempts import AFTER, BEFORE, MOST, STILL, act_of, attempt, words
from tests.faults.proxy import Injection
from tests.faults.report import Matrix, Outcome
from tests.faults.table import changed
from tests.faults.world import World
from tests.support.engine.process import Refused
from tests.support.sampling import sampling_of

NAME = "fay-kept"

#: What a copy meets: request -> faults in each run; in a usual one two of `MORE`, too, with --long all.
MAKES, READS = ("cinder", "POST", "/backups$"), ("cinder", "GET", r"/backups/detail")
SOME = (
    (MAKES, "over quota", STILL),
    (MAKES, "500", BEFORE),
    (MAKES, "503", AFTER),
    (READS, "half a body", AFTER),
    (READS, "500", STILL),
)
MORE = (
    *((MAKES, fault, where) for fault in ("503", "reset", "no JSON", "500") for where in (BEFORE, AFTER)),
    *((MAKES, fault, BEFORE) for fault in ("401", "403", "404", "409 in use", "413", "429")),
    (MAKES, "half a body", AFTER),
    *((READS, fault, where) for fault in ("503", "reset", "other JSON", "404") for where in (BEFORE, STILL)),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" not in metafunc.fixturenames:
        return
    found = {}
    more = sampling_of(metafunc.config).some("backups", MORE, 2)
    for asked, fault, where in (*SOME, *more):
        name = f"{asked[1]}-{fault}-{where}".replace(", ", "-").replace(" ", "_")
        found[name] = pytest.param(asked, fault, where, id=name)
    metafunc.parametrize(("asked", "fault", "where"), list(found.values()))


@pytest.fixture
def volume(world: World) -> Iterator[str]:
    """The id of a volume that says so; afterwards there is neither it nor a copy of it."""
    world.tenant.resources[NAME] = Volume(
        name="fay-kept",
        project="fay-project",
        size_gib=1,
        volume_type="site:VolumeType/fast",
        on_delete="snapshot",
        encrypted=True,
    )
    assert world.tenant.admit() == []
    found = world.tenant.create(NAME).id
    yield found
    if NAME in world.tenant.state:
        world.tenant.delete(NAME)
    api = world.direct.api("block-storage")
    for copy in copies(world, found):
        api.delete(f"/backups/{copy['id']}")
        while api.find(f"/backups/{copy['id']}") is not None:
            pass
    del world.tenant.resources[NAME]
    world.tenant.admit()


def copies(world: World, volume: str) -> list[dict[str, Any]]:
    return list(world.direct.api("block-storage").items("/backups/detail", "backups", all_tenants=1, volume_id=volume))


def there(world: World, volume: str) -> bool:
    return world.direct.api("block-storage").find(f"/volumes/{volume}") is not None


def deleted(world: World, matrix: Matrix, fault: str, where: str, *injections: Injection) -> Refused | None:
    """A deletion under these faults: done with a whole copy left, or a clean stop with the volume still there."""
    volume = world.tenant.state[NAME].id
    with matrix.watching(world.proxy) as seen, world.proxy.injected(*injections):
        refused = attempt(lambda: world.tenant.delete(NAME))
    matrix.outcomes.append(Outcome("copy", "Volume", fault, where, words(refused), seen()))
    whole = [copy for copy in copies(world, volume) if copy["status"] == "available"]
    if refused is None:
        assert len(whole) == 1
        assert not there(world, volume)
    else:
        assert there(world, volume)
    return refused


def made_right(world: World, volume: str) -> None:
    """The next deletion, without a fault: gone, and one whole copy of it is there."""
    world.tenant.delete(NAME)
    assert not there(world, volume)
    assert [copy["status"] for copy in copies(world, volume) if copy["status"] != "deleting"] == ["available"]


def test_fault_while_a_copy_is_made(
    world: World, matrix: Matrix, volume: str, asked: tuple[str, str, str], fault: str, where: str
) -> None:
    injection = Injection(act_of(fault, where), *asked, last=None if where == STILL else 1)
    refused = deleted(world, matrix, f"{fault} on {asked[1]} of the copy", where, injection)
    # What is in use may be let go: it is asked about for some seconds.
    assert 1 <= len(injection.hits) <= (int(keeping.LETTING_GO) + 7 if "in use" in fault else MOST)
    if refused is not None:
        made_right(world, volume)


def test_fault_a_copy_that_ends_in_error_leaves_the_volume(world: World, matrix: Matrix, volume: str) -> None:
    lie = Injection(changed(as_if(status="error", fail_reason="no room is left")), *READS, last=None)
    refused = deleted(world, matrix, "a copy ends in error", STILL, lie)
    assert refused is not None
    assert "stays: backup fay-kept" in words(refused)
    assert "failed: no room is left" in words(refused)
    made_right(world, volume)


def test_fault_a_copy_that_stays_on_its_way_is_not_waited_for_for_ever(
    world: World, matrix: Matrix, monkeypatch: pytest.MonkeyPatch, volume: str
) -> None:
    monkeypatch.setattr(keeping, "PATIENCE", 20.0)
    lie = Injection(changed(as_if(status="creating")), *READS, last=None)
    refused = deleted(world, matrix, "a copy stays in creating", STILL, lie)
    assert refused is not None
    assert "stays: its copy is not finished after 20 s" in words(refused)
    # One was begun, and no second one beside it: the next run finds it whole.
    assert len(copies(world, volume)) == 1
    made_right(world, volume)


def as_if(**values: str) -> Any:
    """Every copy as if it were so."""

    def change(answer: Any) -> None:
        for copy in answer["backups"]:
            copy.update(values)

    return change
