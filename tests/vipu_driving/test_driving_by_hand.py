"""The commands of `interlock break-glass plan` for V-IPU, pasted into a shell, at the simulator's controller."""

from __future__ import annotations

import pytest

from infra.break_glass.acts import ActsOf
from infra.break_glass.known import KnownObject, KnownStack
from infra.break_glass.manual_act import ManualAct
from interlock.resources import Server
from interlock.vipu.loading import load_vipu
from tests.support.cloud.by_hand import paste

from .stand import SERVER, Stand
from .vpod import CONTROLLER, Vpod, planned


def acts(stand: Stand) -> dict[str, ManualAct]:
    """Those of the vPOD, as `vipu.yaml` says how its controller is reached."""
    objects = (KnownObject(item.KIND, name, item) for name, item in planned().items())
    server = KnownObject("Server", CONTROLLER, Server.model_construct(name=CONTROLLER, ports=()), SERVER)
    known = KnownStack("lyon-acme", (server, *objects))
    return {act.act: act for act in ActsOf(known, {}, load_vipu(stand.write())).all()}


@pytest.mark.parametrize("name", ["remove-vipu-partition", "remove-vipu-user"])
def test_what_is_removed_by_hand_is_gone_alone_and_made_again(stand: Stand, name: str) -> None:
    vpod = Vpod(stand)
    vpod.up(planned())
    act, before = acts(stand)[name], set(vpod.state)
    paste(act.commands)
    there = {item for item in [*vpod.state] if vpod.refresh(item) is not None}
    assert before - there == {act.objects[0]}
    vpod.up(planned(), act.objects[0])
    assert {item for item in [*vpod.state] if vpod.refresh(item) is not None} == before
