"""TOP-10, of addresses and cables: the BMC's address, the order of agents, a torus, a loop of GW-Links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Site, Switch
from policies.facts.kinds import PlanFacts, VPodFact
from policies.facts.site import SiteFacts
from policies.facts.vipu import AgentClusterFact, AgentFact, VipuFacts
from tests.policies.exact_answers import answer, drawn, messages, plan_of, share
from tests.policies.test_exact_vipu import AGENTS, CLUSTERS, PORTS, TRAIN, agent, joined, of, planned
from tests.policies.test_racks import link, name, two_racks
from tests.policies.workspace import P, V, changed

BOTH = range(1, 33)


def told(changes: dict[str, object]) -> list[str]:
    result = of("TOP-10", planned(**changes))
    assert {item.verdict for item in result.findings} <= {V}
    return messages(result)


def test_an_agent_is_at_the_gateway_and_not_at_the_bmc() -> None:
    bmc = PORTS[0].addresses[0]
    asked = agent(TRAIN, "ipum-01", host=bmc)
    assert told({"agents": (asked, *AGENTS[1:])}) == [
        f"agent agent-ipum-01 is asked at {bmc}, where the BMC of ipum-01 is"
    ]


def test_an_agent_whose_machine_has_no_planned_port_is_at_no_address() -> None:
    """Nor is one that says none at all."""
    for asked in (AGENTS[0], replace(AGENTS[0], host="")):
        assert told({"switch_ports": PORTS[1:], "agents": (asked, *AGENTS[1:])}) == [
            f"agent agent-ipum-01 is asked at {asked.host}, where ipum-01 is not"
        ]


def test_a_cluster_has_its_agents_in_the_order_of_their_cables() -> None:
    turned = joined(TRAIN, "agent-ipum-02", "agent-ipum-01")
    assert told({"agent_clusters": (turned, CLUSTERS[1])}) == [
        "cluster train-cluster has its agents in another order than their cables: after ipum-02 comes ipum-01"
    ]


def test_a_part_of_a_rack_is_no_torus() -> None:
    called = replace(CLUSTERS[0], topology="torus")
    assert told({"agent_clusters": (called, CLUSTERS[1])}) == [
        "cluster train-cluster is a torus, and its ring is open: 2 of 16 machines of logical rack lrack-1"
    ]


def _both(site: Site, order: Iterable[int] = BOTH, *, topology: str = "mesh") -> list[str]:
    """What TOP-10 says of the cables of one cluster over two whole logical racks, looped."""
    vpod = VPodFact("big", tuple(map(name, BOTH)))
    agents = tuple(AgentFact(f"a-{name(at)}", "big", "ctl", name(at), "", "") for at in BOTH)
    names = tuple(f"a-{name(at)}" for at in order)
    cluster = AgentClusterFact("big-cluster", "big", "ctl", names, topology, 2, "looped")
    plan: PlanFacts = plan_of("acme", vpods=(vpod,), vipu=VipuFacts(agents, (cluster,), ()))
    result = answer("TOP-10", drawn(SiteFacts(site), plan, share(plan.owner)))
    head = "cluster big-cluster "
    return [text.removeprefix(head) for text in messages(result) if text.startswith(head) and "stands on" not in text]


def _without(*positions: int, more: Iterable[Cable] = (), role: str = "gw-link") -> Site:
    site, gone = two_racks(), {name(at) for at in positions}
    kept = tuple(item for item in site.cables if item.kind != "gw-link" or item.a.device not in gone)
    fields = {"name": "gw-1", "serial": "SN-gw-1", "model": "arista-7060px4", "role": role}
    switch = Switch.model_validate(fields | {"port_groups": ((100, 64),)})
    return changed(site, cables=(*kept, *more), switches=(*site.switches, switch))


def _plug(*numbers: int) -> tuple[Cable, ...]:
    return tuple(
        Cable(
            a=Endpoint(device="gw-1", interface=str(at)), b=Endpoint(device=name(at), interface="gw-link-1"),
            kind="gw-link",
        )
        for at in numbers
    )  # fmt: skip


_GAP = "loops GW-Links, and there is none ipum-05 – ipum-21"


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        (two_racks(), []),
        (two_racks(gateways=False), ["loops GW-Links, and there is none ipum-01 – ipum-17"]),
        (_without(5), [_GAP]),
        (_without(5, more=_plug(5, 21)), []),
        (_without(5, more=_plug(5)), [_GAP]),
        (_without(5, more=_plug(5, 21), role="spine"), [_GAP]),
        # Both reach a third machine, which is no switch.
        (_without(5, more=(link(5, 22, "gw-link"), link(22, 21, "gw-link"))), [_GAP]),
    ],
)
def test_a_loop_needs_gateway_links_at_each_position(site: Site, expected: list[str]) -> None:
    assert _both(site) == expected


@pytest.mark.parametrize(
    ("order", "after"),
    [
        (BOTH, ""),
        ((*range(17, 33), *range(1, 17)), "after ipum-32 comes ipum-01"),
        ((2, 1, *range(3, 33)), "after ipum-02 comes ipum-01"),
        ((*range(1, 16), 17, 16, *range(18, 33)), "after ipum-17 comes ipum-16"),
    ],
)
def test_racks_follow_each_other_whole(order: Iterable[int], after: str) -> None:
    wrong = f"has its agents in another order than their cables: {after}"
    assert _both(two_racks(), order) == ([wrong] if after else [])


def test_a_ring_is_closed_in_each_rack() -> None:
    site = two_racks()
    closed = changed(site, cables=(*site.cables, link(16, 1, "ipu-link"), link(32, 17, "ipu-link")))
    assert _both(closed, topology="torus") == []
    half = changed(site, cables=(*site.cables, link(16, 1, "ipu-link")))
    assert _both(half, topology="torus") == ["is a torus, and its ring is open: no IPU-Link cable ipum-32 – ipum-17"]


def test_what_is_told_of_its_own_vpod_is_right() -> None:
    assert of("TOP-10", planned()).verdict is P
