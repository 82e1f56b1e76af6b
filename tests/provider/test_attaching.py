"""A port at a server whose host has no free virtual function yet: Nova hears of the one that is gone a little later.

Nova here is a fake: it refuses as InterfaceAttachPciClaimFailed does (400, nova/exception.py), which a real one does
when the port before it went less than some seconds ago.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interlock.provider.actuators import ACTUATORS, Observed, Target
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.retry import Pace
from interlock.resources import Server

REFUSED = "compute POST /servers/s/os-interface: Failed to claim PCI device for s during interface attach"
SPEC = Server.model_construct(name="s")
TARGET: Target[Any] = Target("s", "0a11ce", SPEC, {"project": "p", "ports": ("new",)})
SEEN = Observed("s", TARGET.marker, {}, {"ports": ()})


@dataclass
class Nova:
    """Takes the port from the `free`th request on."""

    free: int
    words: str = REFUSED
    asked: list[str] = field(default_factory=list)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body["interfaceAttachment"]["port_id"])
        if len(self.asked) < self.free:
            raise Failure(Trouble.INVALID, self.words)
        return {}


def attach(nova: Nova) -> list[float]:
    """The pauses that were made."""
    pauses: list[float] = []
    passed = SimpleNamespace(api=lambda *_: nova, pace=Pace(clock=lambda: sum(pauses), sleep=pauses.append))
    ACTUATORS["Server"].update(cast(Cloud, passed), TARGET, SEEN, frozenset({"ports"}))
    return pauses


def test_it_waits_until_nova_has_heard_that_a_function_is_free() -> None:
    nova = Nova(free=4)
    assert attach(nova) == [0.5, 1.0, 2.0]
    assert nova.asked == ["new"] * 4


def test_a_host_that_really_has_none_ends_with_what_nova_says() -> None:
    nova = Nova(free=1000)
    with pytest.raises(Failure, match="Failed to claim PCI device"):
        attach(nova)
    assert len(nova.asked) == Pace().budget.attempts


def test_any_other_refusal_is_told_at_once() -> None:
    nova = Nova(free=2, words="compute POST /servers/s/os-interface: Port new is still in use.")
    with pytest.raises(Failure, match="still in use"):
        attach(nova)
    assert nova.asked == ["new"]
