"""Whatever is asked in any order, with failures and restarts in between, the objects of a controller fit together."""

from __future__ import annotations

from pathlib import Path
from random import Random

from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.objects import ControllerState
from sandbox.vipu.racks import board_replaced, changed, rack_of
from sandbox.vipu.refusals import VipuRefused
from tests.support.sampling import Sampling

from .desk import SLOW, Desk

_MACHINES = 8


def _agents(rng: Random) -> str:
    count, first = rng.choice([1, 1, 2, 2, 3, 4]), rng.randint(1, _MACHINES)
    return ",".join(f"ag{number}" for number in range(first, first + count))


def _line(rng: Random) -> str:
    """Any command, mostly about objects that may be there."""
    agent, few = f"ag{rng.randint(1, _MACHINES)}", rng.randint(1, 3)
    size, gcds = rng.choice([1, 2, 4, 4, 8, 8, 16, 3]), rng.choice([1, 1, 2])
    where = rng.choice(["", f"--allocation al{few}", f"--cluster c{few}", "--index 1"])
    partition = f"p{rng.randint(1, 5)}"
    made = f"create partition {partition} --size {size} --num-gcds {gcds} {where}"
    rare = [
        f"remove agent {agent}",
        f"update agent {agent} --maintenance on",
        f"create cluster c{few} --agents {_agents(rng)}",
        f"remove cluster c{few}",
        f"create allocation al{few} --agents {_agents(rng)}",
        f"update allocation al{few} --agents {_agents(rng)}",
        f"remove allocation al{few}",
        f"create agent {agent} --host 10.2.1.{agent[2:]}",
    ]
    usual = [
        made,
        made,
        f"remove partition {partition}",
        f"reset partition {partition}",
        f"occupy partition {partition} --gcd {rng.randint(0, 1)}",
        f"update agent {agent} --maintenance off",
        f"create allocation al{few} --cluster c{rng.randint(1, 3)}",
    ]
    return rng.choice(rare if rng.random() < 0.25 else usual)


def _happens(desk: Desk, rng: Random) -> None:
    host = f"10.2.1.{rng.randint(1, _MACHINES)}"
    match rng.randint(0, 19):
        case 0:
            desk.becomes(changed(desk.hardware(), host, answers=False))
        case 1 | 2 | 3:
            for machine in desk.hardware().machines:
                desk.becomes(changed(desk.hardware(), machine.host, answers=True))
        case 4:
            desk.becomes(board_replaced(desk.hardware(), host))
        case 5:
            desk.restarted()
        case _:
            desk.clock.passes(rng.choice([1, 5, 20]))


def _begin(desk: Desk) -> None:
    for number in range(1, _MACHINES + 1):
        desk.do(f"create agent ag{number} --host 10.2.1.{number}")
    desk.clock.passes(SLOW.contact)
    desk.do("create cluster c1 --agents ag1,ag2,ag3,ag4")
    desk.do("create cluster c2 --agents ag5,ag6")
    desk.clock.passes(SLOW.cluster)
    desk.do("create allocation al1 --agents ag1,ag2")
    desk.do("create allocation al2 --cluster c2")


def _check(state: ControllerState) -> None:
    clusters = [agent for item in state.clusters.values() for agent in item.agents]
    assert len(clusters) == len(set(clusters)), "an agent is in two clusters"
    assert set(clusters) <= state.agents.keys()
    ipus = [place for item in state.partitions.values() for place in item.ipus]
    assert len(ipus) == len(set(ipus)), "an IPU is in two partitions"
    for allocation in state.allocations.values():
        assert set(allocation.agents) <= set(state.clusters[allocation.cluster].agents)
    for partition in state.partitions.values():
        cluster = state.clusters[partition.cluster]
        own = cluster.agents if partition.allocation is None else state.allocations[partition.allocation].agents
        used = list(dict.fromkeys(place.agent for place in partition.ipus))
        assert set(used) <= set(own), f"{partition.id} is outside of its allocation"
        first = cluster.agents.index(used[0])
        assert list(cluster.agents[first : first + len(used)]) == used, f"{partition.id} has a gap"
        assert len(partition.ipus).bit_count() == 1
        assert not partition.occupied or partition.state == "ACTIVE"


def test_whatever_is_asked_nothing_is_in_two_places(tmp_path: Path, sampling: Sampling) -> None:
    rng = sampling.random("calls of a V-IPU controller")
    desk = Desk(tmp_path, rack_of(_MACHINES), ControllerSettings(durations=SLOW))
    _begin(desk)
    done: set[str] = set()
    for _ in range(sampling.count("calls of a V-IPU controller")):
        line = _line(rng)
        try:
            desk.do(line)
            done.add(" ".join(line.split()[:2]))
        except VipuRefused:
            pass
        _happens(desk, rng)
        _check(desk.controller.state)
        assert desk.controller.storage.read() == desk.controller.state
    assert "create partition" in done
