"""What a vPOD's V-IPU controller is to be told, on a site whose controllers `interlock` tells, and on one where a
person does.
"""

from __future__ import annotations

from typing import Any

import pytest

from infra.reports.vipu_words import let_go_words
from interlock.model.site.offers import Controller
from interlock.model.tenant.partitions import Partition
from interlock.planning import plan_tenant
from interlock.planning.differences import changes_between
from interlock.planning.makeable import BY_HAND, not_makeable
from interlock.planning.plan import Plan
from interlock.planning.removal import removal_of
from interlock.planning.vpod_vipu import cluster_topology_of, topology_of
from interlock.provider.admitted import forbidden_changes
from interlock.provider.state import declared
from interlock.resources import (
    ID_OF,
    Server,
    StoredCredential,
    SwitchPort,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuObject,
    VipuPartition,
    VipuUser,
)
from interlock.resources.asked_names import TABLE
from interlock.resources.vipu import ManagedBy
from tests.builders.pod64 import locked, pod64, site_locked, tenant, vpod


def planned(managed_by: ManagedBy = "interlock", *, channel: bool = True, **partition: object) -> Plan:
    """acme with one partition."""
    controller = Controller(flavor="controller", image="vipu-controller", user_api_port=8090, managed_by=managed_by)
    site = pod64(controller=controller, channel=channel)
    wanted = Partition.model_validate({"name": "jobs", "ipus": 4, **partition})
    request = tenant("acme", vpods=(vpod().model_copy(update={"partitions": (wanted,)}),))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def of(plan: Plan) -> list[VipuObject]:
    return [item.resource for item in plan.resources if isinstance(item.resource, VipuObject)]


def test_everything_stands_on_what_was_told_before_it() -> None:
    plan = planned()
    kinds = list(dict.fromkeys(type(item) for item in of(plan)))
    assert kinds == [VipuAgent, VipuCluster, VipuAllocation, VipuUser, VipuPartition]
    assert {item.is_declared for item in of(plan)} == {True}
    assert not_makeable(plan) == ()
    steps = [{entry.kind for entry in step} for step in removal_of(plan).steps]
    place = {kind: number for number, step in enumerate(steps) for kind in step}
    order = [place[kind.KIND] for kind in (VipuPartition, VipuAllocation, VipuCluster, VipuAgent, Server)]
    assert order == sorted(set(order))


def test_an_agent_is_asked_where_the_switch_port_has_the_gateway() -> None:
    plan = planned()
    agents = {item.machine: item for item in of(plan) if isinstance(item, VipuAgent)}
    ports = {
        item.resource.device: item.resource
        for item in plan.resources
        if isinstance(item.resource, SwitchPort) and item.resource.interface == "mgmt"
    }
    assert agents.keys() == ports.keys()
    assert {name: agent.host for name, agent in agents.items()} == {
        name: port.addresses[-1] for name, port in ports.items()
    }
    cluster = next(item for item in of(plan) if isinstance(item, VipuCluster))
    assert [plan.by_name[name].resource.machine for name in cluster.agents] == list(agents)  # type: ignore[attr-defined]


def test_each_poplar_server_is_a_user_and_fetches_its_key() -> None:
    plan = planned()
    keys = [item.resource for item in plan.resources if isinstance(item.resource, StoredCredential)]
    keys = [item for item in keys if item.item == "vipu"]
    assert keys
    for key in keys:
        user, server = plan.by_name[key.credential].resource, plan.by_name[key.place].resource
        assert isinstance(user, VipuUser)
        assert isinstance(server, Server)
        assert user.name == server.name
        assert f'api-user-id="{user.name}"' in server.user_data
        assert "access-key" not in server.user_data
        assert TABLE in server.user_data
        assert '["s3", "vipu"]' in server.user_data


@pytest.mark.parametrize("channel", [True, False])
def test_by_hand_nothing_is_declared_and_servers_are_told_what_they_were(channel: bool) -> None:
    plan = planned("hand", channel=channel)
    assert {item.is_declared for item in of(plan)} == {False}
    assert [(item.kind, item.why, item.where) for item in not_makeable(plan)] == [
        ("VipuPartition", BY_HAND, "vpods.train.partitions.jobs")
    ]
    told = [item.resource for item in plan.resources if isinstance(item.resource, StoredCredential | Server)]
    assert not any(isinstance(item, StoredCredential) and item.item == "vipu" for item in told)
    assert not any("api-user-id" in item.user_data for item in told if isinstance(item, Server))


def test_without_a_channel_nobody_is_handed_a_key() -> None:
    assert not any(isinstance(item.resource, StoredCredential) for item in planned(channel=False).resources)


@pytest.mark.parametrize(("replaceable", "action"), [(False, "forbidden"), (True, "replace")])
def test_a_partition_is_recreated_only_where_the_request_lets_it(replaceable: bool, action: str) -> None:
    before, after = planned(), planned(ipus=8, replaceable=replaceable)
    found = {item.name: item for item in changes_between(before.canonical(), after)}
    change = found["acme-train-partition-jobs"]
    assert change.action == action
    reasons = [field.reason for field in change.fields if field.field == "replaceable" and field.reason]
    assert [("replaceable: true" in reason) for reason in reasons] == ([] if replaceable else [True])


def test_who_tells_a_controller_changes_nothing_at_it() -> None:
    """Neither way is anything recreated or lost; a key that waits for a server goes, and is left anew."""
    told, by_hand = planned(), planned("hand")
    names = {item.name for item in told.resources if isinstance(item.resource, VipuObject)}
    there = {item.name: item for item in changes_between(told.canonical(), by_hand)}
    back = {item.name: item for item in changes_between(by_hand.canonical(), told)}
    assert {there[name].action for name in names} == {"stay"}
    assert {back[name].action for name in names} == {"update"}
    for name in names:
        assert [field.reason for field in there[name].fields if "stays at the controller" in field.reason]
        assert [field.reason for field in back[name].fields if "exactly what is planned" in field.reason]
    keys = {item.name for item in told.resources if isinstance(item.resource, StoredCredential)} - {
        item.name for item in by_hand.resources if isinstance(item.resource, StoredCredential)
    }
    assert {there[name].action for name in keys} == {"delete"}
    assert {back[name].action for name in keys} == {"create"}


def test_a_preview_by_hand_says_that_nothing_goes() -> None:
    assert let_go_words(planned()) == ()
    (words,) = let_go_words(planned("hand"))
    assert "acme-train-controller: a person tells it" in words
    assert "only the state forgets it" in words


def _inputs(item: VipuPartition, allocation: str) -> dict[str, Any]:
    return {**item.canonical(), "owner": "lyon/acme", f"{ID_OF}allocation": allocation, f"{ID_OF}controller": "c"}


@pytest.mark.parametrize("replaceable", [False, True])
def test_the_provider_refuses_what_the_request_does_not_let_go(replaceable: bool) -> None:
    """Of a partition itself, and of what it stands on; a change of neither is none."""
    item = next(item for item in of(planned(replaceable=replaceable)) if isinstance(item, VipuPartition))
    olds = _inputs(item, "a")

    def faults(news: dict[str, Any]) -> list[str]:
        return [field for field, _ in forbidden_changes(declared(item.KIND, "x", news), olds)]

    assert faults(olds) == []
    assert faults({**olds, "address": "10.0.0.9"}) == []
    assert faults({**olds, "ipus": 2}) == ([] if replaceable else ["ipus"])
    assert faults(_inputs(item, "another")) == ([] if replaceable else ["allocation"])


def test_links_decide_the_topology() -> None:
    site = pod64()
    machines = tuple(item.name for item in site.machines)
    assert topology_of(site, machines[:2]) == "mesh"
    assert cluster_topology_of(site, machines) == "none"
