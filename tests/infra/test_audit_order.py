"""An audit takes the order of a listed cluster as a refresh and an adoption do."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.provider.audit.at_controllers import compared
from interlock.provider.audit.controllers import ControllerPlace, ReadController
from interlock.resources import Admitted, VipuAgent, VipuCluster
from interlock.vipu.answers import SaidCluster

SERVER, CONTROLLER = "5b0f3a52-7d3c-4f5e-9a3f-0d2f6f0d9a11", "acme-train-controller"
_OWN: Any = {"controller": CONTROLLER, "managed_by": "interlock"}
#: Plan name -> id there: what people call a machine may be too long for an id.
_IDS = {"plan-b": "b", "plan-c": "c", "plan-a": "a"}


def _differs(*listed: str) -> tuple[dict[str, Any], str]:
    agents = {
        name: VipuAgent(name=ident, machine=ident, serial=ident, host=f"10.0.0.{at}", **_OWN)
        for at, (name, ident) in enumerate(_IDS.items(), 1)
    }
    cluster = VipuCluster(name="train", agents=tuple(_IDS), **_OWN)
    planned = tuple(
        Admitted(name=name, kind=item.KIND, spec=item.canonical())
        for name, item in {**agents, "cluster": cluster}.items()
    )
    said = SaidCluster("train", listed, "mesh", "none", 1, "READY")
    read = ReadController(ControllerPlace("s", CONTROLLER, SERVER, "", planned), said_clusters={"train": said})
    seen = compared(read, planned[-1])
    return dict(seen.differs), seen.reason


@pytest.mark.parametrize("listed", [("b", "c", "a"), ("a", "b", "c")], ids=["as planned", "sorted"])
def test_an_order_that_says_nothing_is_no_drift(listed: tuple[str, ...]) -> None:
    assert _differs(*listed) == ({}, "")


def test_another_order_is_drift_with_both() -> None:
    differs, reason = _differs("c", "b", "a")
    assert differs == {"agents": (["plan-b", "plan-c", "plan-a"], ["plan-c", "plan-b", "plan-a"])}
    assert "in the order c, b, a, and their cables in that of b, c, a" in reason


def test_other_agents_are_drift_in_any_order() -> None:
    assert _differs("a", "b")[0]["agents"][1] == ["plan-a", "plan-b"]
    assert _differs("a", "b", "c", "d")[0]["agents"][1][:3] == ["plan-a", "plan-b", "plan-c"]
