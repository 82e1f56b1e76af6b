"""Agents whose addresses change hands in one `up`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.errors import Failure, Trouble
from interlock.resources import Resource
from tests.kills.vipu_ground import VipuGround, vipu_ground
from tests.support.engine.runs import destroy
from tests.support.engine.stack import Stack
from tests.support.paper.vpod import THERE, resources, stack_on

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
    assert "pulumi destroy --target '**VipuCluster::train' --target-dependents" in told.value.hint
    assert vpod.stand.desk.controller.state == before


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[VipuGround]:
    with vipu_ground(tmp_path) as found:
        yield found


def _racks(ground: VipuGround, *, first: bool) -> dict[str, Resource]:
    """A vPOD of two machines of the second rack; with `first` two of the first as well, whose addresses come before.
    The last rack is told first, as in a plan.
    """
    hosts = ground.vpod.controllers.agent_hosts()
    plan = resources(hosts[: 4 if first else 2])
    names = ["ipum-01", "ipum-02", "ipum-17", "ipum-18"][0 if first else 2 :]
    agents = {f"ag-{name}": plan[f"ag{at}"] for at, name in enumerate(names, 1)}
    agents = {
        name: item.model_copy(update={"name": f"kay-agent-{name[3:]}", "machine": name[3:]})
        for name, item in agents.items()
    }
    told = {name: agents[name] for name in (*[*agents][2:], *[*agents][:2])}
    rest = {name: item for name, item in plan.items() if not name.startswith("ag") and name not in THERE}
    rest["cluster"] = rest["cluster"].model_copy(update={"agents": tuple(agents)})
    rest["allocation"] = rest["allocation"].model_copy(update={"machines": tuple(names)})
    return {**{name: plan[name] for name in THERE}, **told, **rest}


def _vipu(stack: Stack) -> list[str]:
    """What is at the controller."""
    return [name for name in stack.resources if name not in THERE]


def test_a_rack_that_comes_in_before_another_needs_one_up(ground: VipuGround) -> None:
    """And so does one that goes: its agents, which are deleted last, have the addresses of those that stay."""
    process: Any = None
    stack = stack_on(ground.vpod, process)
    stack.declare(_racks(ground, first=False))
    ground.up(stack, _vipu(stack))
    hosts = ground.vpod.controllers.agent_hosts()
    stack.declare(_racks(ground, first=True))
    assert "cluster" in ground.up(stack, _vipu(stack))
    state = ground.vpod.controllers.state(ground.vpod.server)
    assert {name.removeprefix("kay-agent-"): item.host for name, item in state.agents.items()} == dict(
        zip(["ipum-01", "ipum-02", "ipum-17", "ipum-18"], hosts, strict=False)
    )
    stack.declare(_racks(ground, first=False))
    ground.up(stack, _vipu(stack))
    state = ground.vpod.controllers.state(ground.vpod.server)
    assert {name: item.host for name, item in state.agents.items()} == {
        "kay-agent-ipum-17": hosts[0], "kay-agent-ipum-18": hosts[1],
    }  # fmt: skip
    assert ground.up(stack, _vipu(stack)) == []
    stack.process = victim = ground.victim()
    destroy(stack, [name for name in stack.resources if name not in THERE])
    victim.close()
