"""The stand-in for Neutron's agents: which ports it reports as up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sandbox.services import agents

PORT = {
    "id": "1",
    "status": "DOWN",
    "binding:vif_type": "ovs",
    "binding:vnic_type": "normal",
    "binding:host_id": "infra-1",
}


@pytest.mark.parametrize(
    ("changed", "reported"),
    [
        ({}, True),
        ({"status": "ACTIVE"}, False),
        ({"binding:vif_type": "binding_failed"}, False),
        # networking-generic-switch sends nothing for a port that is already up
        ({"binding:vif_type": "other", "binding:vnic_type": "baremetal"}, False),
    ],
)
def test_bound_ports_are_reported_except_those_on_switches(changed: dict[str, str], *, reported: bool) -> None:
    agents.note_port(payload=SimpleNamespace(latest_state={**PORT, **changed}))
    assert agents.bound.empty() != reported
    if reported:
        assert agents.bound.get_nowait() == ("1", "infra-1")
