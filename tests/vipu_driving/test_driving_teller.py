"""Who tells a controller changes: what an `up` told it stays there, and goes only with its vPOD."""

from __future__ import annotations

import asyncio

import pytest

from interlock.provider.admitted import AdmissionGate
from interlock.provider.lifecycle import Lifecycle
from interlock.provider.pools import ThreadPools
from interlock.provider.preview_token import PreviewTokens
from interlock.resources import Admission, Resource

from .stand import Stand
from .test_driving_objects import everything
from .vpod import CONTROLLER, Vpod, planned, recorded


def _deleted(vpod: Vpod, admission: Admission) -> list[str]:
    """As an `up` whose plan declares none of it: what was told of each."""
    gate = AdmissionGate()
    gate.admit(admission, PreviewTokens(vpod.stand.folder), preview=True)
    life, said = Lifecycle(vpod.cloud(), gate, ThreadPools()), []
    for name in [*reversed(vpod.state)]:
        ident, olds = vpod.state.pop(name)
        said.append(asyncio.run(life.delete(recorded(name, olds), ident, olds, "lyon-acme")))
    return said


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    """Applied, with a partition that a user made beside the planned one."""
    found = Vpod(stand)
    found.up(planned(ipus=4))
    stand.desk.do("create partition job-1 --size 4 --allocation train")
    return found


def test_what_a_person_tells_from_now_on_stays(vpod: Vpod) -> None:
    """And is taken over again, as it is, when that changes back."""
    before = vpod.stand.desk.controller.state
    plan: dict[str, Resource] = planned(ipus=4)
    said = _deleted(vpod, vpod.admission({}))
    assert vpod.stand.desk.controller.state == before
    assert len(said) == len(plan)
    for text in said:
        assert "controller.managed_by: hand" in text
        assert f"stays at V-IPU controller {CONTROLLER}" in text
    vpod.up(plan)
    assert vpod.stand.desk.controller.state == before
    vpod.destroy()
    assert not any(everything(vpod).values())


def test_with_its_vpod_it_goes(vpod: Vpod) -> None:
    """The proof has no server of that controller any more."""
    admission = vpod.admission({})
    gone = tuple(item for item in admission.resources if item.name != CONTROLLER)
    assert _deleted(vpod, admission.model_copy(update={"resources": gone})) == [""] * 6
    assert not any(everything(vpod).values())


def test_what_is_taken_out_of_a_request_goes(vpod: Vpod) -> None:
    """The controller is told by the same as before: it has a cluster in the proof."""
    rest = {name: item for name, item in planned(ipus=4).items() if name != "p"}
    vpod.state = {"p": vpod.state["p"]}
    assert _deleted(vpod, vpod.admission(rest)) == [""]
    assert everything(vpod)["partitions"] == ["job-1"]
