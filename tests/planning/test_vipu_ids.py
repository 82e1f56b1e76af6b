"""Ids at V-IPU of names that are as long as names may be, and the order in which agents are told."""

from __future__ import annotations

import pytest

from infra.reports.plan_tree import tree
from interlock.model.site.offers import Controller
from interlock.model.tenant.partitions import Partition
from interlock.model.text.names import MOST_OTHER, MOST_PART, MOST_TENANT
from interlock.planning import plan_tenant
from interlock.planning.errors import PlanningError
from interlock.planning.scope import VPodScope
from interlock.planning.vipu_ids import LONGEST_ID, check_ids, vipu_id
from interlock.resources import Server, VipuAgent, VipuCluster, VipuObject
from sandbox.vipu.scene import checked_new
from tests.builders.pod64 import given, locked, machines, pod64, site_locked, tenant, vpod

_CONTROLLER = Controller(flavor="controller", image="vipu-controller", user_api_port=8090, managed_by="interlock")


def _scope(tenant_id: str = "acme", part: str = "train") -> VPodScope:
    site, request = pod64(controller=_CONTROLLER), tenant(tenant_id, vpods=(vpod(part),))
    return VPodScope(
        site=site, tenant=request, vpod=request.vpods[0], claims=locked(site, request).allocation.vpods[part]
    )


def test_no_id_of_a_plan_is_longer_than_a_controller_takes() -> None:
    """With the longest names that a request may have, the simulator takes each; and the server is told the same id."""
    tenant_id, part, job = "t" * MOST_TENANT, "p" * MOST_PART, "j" * MOST_PART
    site = pod64(controller=_CONTROLLER, channel=True)
    wanted = vpod(part).model_copy(update={"partitions": (Partition(name=job, ipus=4),)})
    request = tenant(tenant_id, vpods=(wanted,))
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    told = {item.name: item.resource for item in plan.resources if isinstance(item.resource, VipuObject)}
    for item in told.values():
        assert checked_new({}, "id", item.name) == item.name
    (ident,) = [item.name for name, item in told.items() if name.endswith(f"-partition-{job}")]
    assert len(ident) == LONGEST_ID < len(f"{tenant_id}-{part}-partition-{job}")
    assert f"{ident} at V-IPU" in tree(plan)
    documents = [item.resource.user_data for item in plan.resources if isinstance(item.resource, Server)]
    assert any(f"IPUOF_VIPU_API_PARTITION_ID={ident}" in text for text in documents)


def test_ids_of_long_names_are_known_again_and_apart() -> None:
    scope = _scope("t" * MOST_TENANT, "p" * MOST_PART)
    before = f"{'t' * MOST_TENANT}-{'p' * MOST_PART}-agent-"
    names = [f"{'m' * (MOST_OTHER - 3)}-{at:02}" for at in range(64)]
    found = [vipu_id(scope, "agent", name) for name in names]
    assert len({*found}) == len(names)
    assert all(len(one) <= LONGEST_ID and one.startswith(before) for one in found)
    assert all(one.endswith(name[-5:]) for one, name in zip(found, names, strict=True))
    assert found == [vipu_id(scope, "agent", name) for name in names]


def test_a_name_that_is_short_enough_is_the_id() -> None:
    scope = _scope()
    longest = "m" * (LONGEST_ID - len("acme-train-agent-"))
    assert vipu_id(scope, "agent", longest) == f"acme-train-agent-{longest}"
    assert vipu_id(scope, "agent", f"{longest}m") != f"acme-train-agent-{longest}m"


def test_two_names_with_one_id_are_refused() -> None:
    with pytest.raises(PlanningError, match="m1 and m2 would both be x at V-IPU") as told:
        check_ids([("m1", "x"), ("m3", "y"), ("m2", "x")], ("vpods", "train"))
    assert "shorten one of these names" in told.value.hint
    check_ids([("m1", "x"), ("m3", "y")], ())


def test_agents_of_the_last_rack_are_told_first() -> None:
    """A rack that comes in before others takes their addresses, so whoever had these gives them up before."""
    two_racks = tuple(
        one.model_copy(update={"logical_rack": "lrack-2", "position": one.position - 8}) if one.position > 8 else one
        for one in machines()
    )
    site, request = pod64(controller=_CONTROLLER, machines=two_racks), tenant("acme", machines=2)
    lock = given(locked(site, request), machines=("ipum-08", "ipum-09"))
    plan = plan_tenant(site, site_locked(site), request, lock)
    agents = [item for item in plan.resources if isinstance(item.resource, VipuAgent)]
    assert [item.name for item in agents] == ["acme-train-agent-ipum-09", "acme-train-agent-ipum-08"]
    assert "acme-train-agent-ipum-09" in agents[1].after
    (cluster,) = [item.resource for item in plan.resources if isinstance(item.resource, VipuCluster)]
    assert cluster.agents == ("acme-train-agent-ipum-08", "acme-train-agent-ipum-09")
