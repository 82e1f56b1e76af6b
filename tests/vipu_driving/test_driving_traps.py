"""Traps of adoption: what has a planned id at a controller and is not, or only seems to be, what a plan has."""

from __future__ import annotations

import pytest

from interlock.provider.errors import Failure, Trouble
from interlock.resources import Resource

from .stand import Stand
from .vpod import Vpod, planned

#: A machine in a cluster of its own.
_ANOTHER = ("create agent ag3 --host 10.2.1.3", "create cluster other --agents ag3")
_P = "create partition p --sync-type c2-compatible"


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    return Vpod(stand)


def _up_to(vpod: Vpod, plan: dict[str, Resource], name: str) -> None:
    """All that it stands on."""
    for before_it in [*plan][: [*plan].index(name)]:
        vpod.up(plan, before_it)


@pytest.mark.parametrize(
    ("lines", "name", "told"),
    [
        (
            (*_ANOTHER, "create allocation train --cluster other"),
            "allocation", "cluster other, planned train; agents ag3, planned ag1,ag2",
        ),
        (("create allocation train --agents ag1",), "allocation", "agents ag1, planned ag1,ag2"),
        (
            ("create allocation other --agents ag1", "create user poplar-0 --allocations train,other"),
            "user", "allocations other,train, planned train",
        ),
        (
            ("create allocation other --agents ag1", "create user poplar-0 --allocations other"),
            "user", "allocations other, planned train",
        ),
        (
            ("create allocation other --cluster train", f"{_P} --size 8 --allocation other"),
            "p", "allocation other, planned train",
        ),
        (("create cluster train --agents ag2",), "cluster", "agents ag2, planned ag1,ag2"),
        ((f"{_P} --size 8 --allocation train --reconfigurable",), "p", "reconfigurable True, planned False"),
    ],
)  # fmt: skip
def test_trap_the_planned_id_in_other_hands(vpod: Vpod, lines: tuple[str, ...], name: str, told: str) -> None:
    """Refused with both contents named; nothing is taken over, changed or recorded."""
    plan = planned()
    _up_to(vpod, plan, name)
    for line in lines:
        vpod.stand.desk.do(line)
    before = vpod.stand.desk.controller.state
    with pytest.raises(Failure) as caught:
        vpod.up(plan, name)
    assert told in caught.value.message
    assert caught.value.trouble is Trouble.REFUSED
    assert "remove it at the controller" in caught.value.hint
    assert name not in vpod.state
    assert vpod.stand.desk.controller.state == before


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("create agent ag1 --host 10.2.1.1", "ag1"),
        ("create cluster train --agents ag1,ag2 --topology mesh", "cluster"),
        ("create allocation train --cluster train", "allocation"),
        ("create user poplar-0 --allocations train", "user"),
        (f"{_P} --size 8 --allocation train --num-gcds 1", "p"),
    ],
)
def test_trap_exactly_the_planned_content_is_adopted_as_it_is(vpod: Vpod, line: str, name: str) -> None:
    """An object carries no marker: whoever made it, it is what is planned, and it is not made twice."""
    plan = planned()
    _up_to(vpod, plan, name)
    vpod.stand.desk.do(line)
    before = vpod.stand.desk.controller.state
    vpod.up(plan, name)
    assert name in vpod.state
    assert vpod.stand.desk.controller.state == before


def test_trap_a_name_that_only_begins_alike(vpod: Vpod) -> None:
    """Neither is taken for the planned one, nor does it go with it."""
    plan, desk = planned(), vpod.stand.desk
    _up_to(vpod, plan, "user")
    desk.do("create user poplar-01 --allocations train")
    desk.do("create partition p2 --size 4 --allocation train")
    vpod.up(planned(ipus=4), "user", "p")
    vpod.destroy("p", "user")
    assert [*desk.controller.state.users] == ["poplar-01"]
    assert [*desk.controller.state.partitions] == ["p2"]
