"""Agents whose addresses change hands in one `up`."""

from __future__ import annotations

import pytest

from interlock.provider.errors import Failure, Trouble
from interlock.resources import Resource

from .stand import Stand
from .vpod import Vpod, planned

_OWN = "acme-train-agent-"


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    return Vpod(stand)


def _plan(*hosts: str) -> dict[str, Resource]:
    """The agents of a vPOD as plans call them, at these addresses."""
    plan = planned(len(hosts))
    for at, host in enumerate(hosts, 1):
        plan[f"ag{at}"] = plan[f"ag{at}"].model_copy(update={"name": f"{_OWN}ipum-{at:02}", "host": host})
    return plan


def _hosts(vpod: Vpod) -> dict[str, str]:
    return {item.id.removeprefix(_OWN): item.host for item in vpod.stand.controller().agents().values()}


def test_two_agents_swap_addresses_in_one_up(vpod: Vpod) -> None:
    """In the engine's order: what rests on the first goes with it, and the second is recreated after it."""
    vpod.up(_plan("10.2.1.1", "10.2.1.2"))
    # The boards were swapped as well, so that the cables are those of the machines again.
    swapped = _plan("10.2.1.2", "10.2.1.1")
    vpod.destroy("p", "user", "allocation", "cluster", "ag1")
    vpod.up(swapped, "ag1")
    assert _hosts(vpod) == {"ipum-01": "10.2.1.2"}
    vpod.destroy("ag2")
    vpod.up(swapped, "ag2")
    assert _hosts(vpod) == {"ipum-01": "10.2.1.2", "ipum-02": "10.2.1.1"}


def test_an_agent_that_a_cluster_has_keeps_its_address(vpod: Vpod) -> None:
    """Nothing is removed; what to do is said."""
    vpod.up(_plan("10.2.1.1", "10.2.1.2"))
    before = vpod.stand.desk.controller.state
    del vpod.state["ag1"]
    plan = _plan("10.2.1.1", "10.2.1.2")
    plan["ag1"] = plan["ag1"].model_copy(update={"name": f"{_OWN}ipum-09", "machine": "ipum-09"})
    with pytest.raises(
        Failure, match=rf"10\.2\.1\.1 is still the address of agent {_OWN}ipum-01 in cluster train"
    ) as told:
        vpod.up(plan, "ag1")
    assert told.value.trouble is Trouble.IN_USE
    assert "pulumi up --refresh" in told.value.hint
    assert vpod.stand.desk.controller.state == before
