"""Enrolling that was stopped anywhere is completed by the next run: ports, and the steps that were begun."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sandbox.services.enrolling import NotEnrolled, enrol

NODE = {
    "name": "n1", "driver": "redfish", "driver_info": {"cleaning_network": "c", "redfish_address": "x"},
    "traits": ["CUSTOM_A"], "ports": [{"address": "02:00:00:00:00:01"}, {"address": "02:00:00:00:00:02"}],
}  # fmt: skip
#: State -> the one that Ironic goes on to by itself.
GOES_ON = {"verifying": "manageable", "cleaning": "clean wait", "clean wait": "available"}
#: (state, verb) -> state; all else is a conflict, as Ironic says.
TAKES = {
    ("enroll", "manage"): "verifying", ("manageable", "provide"): "cleaning", ("clean failed", "manage"): "manageable",
}  # fmt: skip


class Stopped(Exception):
    """The run dies here."""


class Ironic:
    """As much of Ironic as enrolling asks for; it dies before its change `dies_at`."""

    current_project_id = "p"

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.addresses: list[str] = []
        self.traits: list[str] = []
        self.changes = self.dies_at = 0

    @property
    def baremetal(self) -> Ironic:
        return self

    def _change(self) -> None:
        self.changes += 1
        if self.changes == self.dies_at:
            raise Stopped

    def nodes(self, *, details: bool) -> list[Any]:
        assert details
        return [SimpleNamespace(name=name, provision_state=state) for name, state in self.states.items()]

    def get_node(self, name: str) -> Any:
        now = self.states[name]
        self.states[name] = GOES_ON.get(now, now)
        return SimpleNamespace(id=name, provision_state=now, reservation=None, last_error="no power")

    def ports(self, *, node: str) -> list[Any]:
        assert node == "n1"
        return [SimpleNamespace(address=address) for address in self.addresses]

    def create_node(self, *, provision_state: str, owner: str, name: str, **_: Any) -> Any:
        self._change()
        assert owner == "p"
        self.states[name] = provision_state
        return SimpleNamespace(id=name)

    def set_node_traits(self, _: str, traits: list[str]) -> None:
        self._change()
        self.traits = traits

    def create_port(self, *, node_uuid: str, address: str) -> None:
        self._change()
        assert node_uuid == "n1"
        assert address not in self.addresses
        self.addresses.append(address)

    def set_node_provision_state(self, name: str, verb: str) -> None:
        self._change()
        self.states[name] = TAKES[self.states[name], verb]


def whole(ironic: Ironic) -> bool:
    ports = [port["address"] for port in NODE["ports"]]  # type: ignore[index]
    return (ironic.states, ironic.addresses, ironic.traits) == ({"n1": "available"}, ports, NODE["traits"])


def test_stopped_before_any_change_the_next_run_completes_it() -> None:
    at = 0
    for at in range(1, 20):
        ironic = Ironic()
        ironic.dies_at = at
        try:
            enrol(ironic, [NODE])
        except Stopped:
            enrol(ironic, [NODE])
        assert whole(ironic), at
        if ironic.changes < at:
            break
        assert enrol(ironic, [NODE]) == []
    # A node, its traits, two ports, two steps.
    assert at == 7


@pytest.mark.parametrize("state", ["verifying", "manageable", "cleaning", "clean wait", "clean failed"])
def test_a_node_amid_a_step_is_waited_for(state: str) -> None:
    ironic = Ironic()
    enrol(ironic, [NODE])
    ironic.states["n1"] = state
    assert enrol(ironic, [NODE]) == ["n1"]
    assert whole(ironic)


def test_a_node_that_fails_is_told() -> None:
    ironic = Ironic()
    ironic.states["n1"] = "deploy failed"
    with pytest.raises(NotEnrolled, match="n1 is deploy failed, not manageable: no power"):
        enrol(ironic, [NODE])
