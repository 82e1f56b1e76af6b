"""What changes from one plan to the next, what each change does, and what follows from it."""

from __future__ import annotations

import json
from typing import Any

from interlock.model.lock.record import Lock
from interlock.model.tenant.partitions import Partition
from interlock.model.tenant.request import Tenant
from interlock.planning import Plan, plan_tenant
from interlock.planning.differences import ResourceChange, changes_between
from interlock.resources import Effect
from tests.builders.pod64 import given, locked, pod64, site_locked, ssh_key, tenant, vpod
from tests.planning.golden import plans

SITE = pod64()


def planned(request: Tenant, lock: Lock) -> Plan:
    return plan_tenant(SITE, site_locked(SITE), request, lock)


def with_volume(**change: Any) -> Tenant:
    pod = vpod()
    volume = pod.poplar.volume
    assert volume is not None
    poplar = pod.poplar.model_copy(update={"volume": volume.model_copy(update=change)})
    return tenant("acme", vpods=(pod.model_copy(update={"poplar": poplar}),))


BEFORE = tenant("acme")
LOCK = locked(SITE, BEFORE)


def changed(request: Tenant = BEFORE, lock: Lock = LOCK) -> dict[str, ResourceChange]:
    # Through JSON, as a plan that was kept in a file comes back.
    kept = json.loads(json.dumps(planned(BEFORE, LOCK).canonical()))
    return {item.name: item for item in changes_between(kept, planned(request, lock))}


def test_the_same_plan_has_no_changes() -> None:
    assert changed() == {}


def test_without_an_earlier_plan_all_is_created() -> None:
    plan = plans()["acme"]
    found = changes_between(None, plan)
    assert [item.name for item in found] == [item.name for item in plan.resources]
    assert {item.action for item in found} == {"create"}


def test_a_tenant_that_goes_deletes_users_before_what_they_refer_to() -> None:
    before = plans()["acme"]
    found = changes_between(before.canonical(), plans()["gone"])
    assert {item.action for item in found} == {"delete"}
    assert [item.name for item in found] == [item.name for item in reversed(before.resources)]


def test_a_volume_grows_in_place() -> None:
    found = changed(with_volume(size_gib=20))
    assert found["acme-train-poplar-0-data"].action == "update"
    (field,) = found["acme-train-poplar-0-data"].fields
    assert (field.field, field.before, field.after, field.effect) == ("size_gib", 10, 20, Effect.IN_PLACE)
    assert set(found) == {"acme-quota", "acme-train-poplar-0-data", "acme-train-poplar-1-data"}


def test_a_volume_does_not_shrink() -> None:
    change = changed(with_volume(size_gib=5))["acme-train-poplar-0-data"]
    assert change.action == "forbidden"
    assert change.fields[0].reason == "a volume can grow, not shrink"


def test_another_flavor_is_forbidden_with_its_reason() -> None:
    change = changed(tenant("acme", vpods=(vpod(flavor="poplar.whole"),)))["acme-train-poplar-0"]
    assert change.action == "forbidden"
    assert "remove the server, add another" in change.fields[0].reason


def test_another_host_replaces_the_server_and_what_is_attached_to_it() -> None:
    found = changed(lock=given(LOCK, hosts=("poplar-3", *LOCK.allocation.vpods["train"].hosts[1:])))
    assert {name: item.action for name, item in found.items()} == {
        "acme-train-poplar-0": "replace",
        "acme-train-poplar-0-attachment": "replace",
    }
    assert found["acme-train-poplar-0-attachment"].fields[0].follows == "acme-train-poplar-0"


def test_a_replaced_network_takes_subnet_and_ports_along_and_servers_stay() -> None:
    found = changed(lock=given(LOCK, storage_vlan=2500))
    assert {name: item.action for name, item in found.items()} == {
        "acme-train-storage": "replace",
        "acme-train-storage-subnet": "replace",
        "acme-train-poplar-0-storage": "replace",
        "acme-train-poplar-0": "update",
        "acme-train-poplar-1-storage": "replace",
        "acme-train-poplar-1": "update",
    }
    ports = found["acme-train-poplar-0"].fields[0]
    assert (ports.field, ports.follows, ports.effect) == ("ports", "acme-train-poplar-0-storage", Effect.IN_PLACE)


def test_a_vpod_that_grows_has_another_allocation_and_keeps_its_wires() -> None:
    """V-IPU resizes nothing."""
    bigger = tenant("acme", machines=8)
    found = changed(bigger, given(LOCK, machines=tuple(f"ipum-{number:02}" for number in range(1, 9))))
    assert found["acme-train-allocation"].action == "replace"
    assert found["acme-train-agent-ipum-05"].action == "create"
    assert "acme-train-agent-ipum-01" not in found
    assert found["acme-train-rnic-ipum-05"].action == "create"


def test_a_vpod_that_shrinks_has_another_allocation() -> None:
    smaller = tenant("acme", machines=2)
    found = changed(smaller, given(LOCK, machines=("ipum-01", "ipum-02")))
    assert found["acme-train-allocation"].action == "replace"
    assert found["acme-train-mgmt-ipum-04"].action == "delete"


def test_a_replaced_project_takes_even_fields_along_that_may_not_change() -> None:
    """As the provider does it: the object behind the reference is gone, so this one goes with it."""
    kept = planned(BEFORE, LOCK).canonical()
    for item in kept["resources"]:
        if item["name"] == "acme-train-poplar-0-storage":
            item["spec"]["vnic_type"] = "normal"
        if item["name"] == "acme-train-s3":
            item["spec"]["name"] = "another"
    found = {item.name: item for item in changes_between(kept, planned(BEFORE, LOCK))}
    assert found["acme-train-s3-key"].action == "replace"
    assert found["acme-data"].action == "update"
    assert found["acme-data"].fields[0].follows == "acme-train-s3-key"


def test_a_field_that_an_earlier_plan_did_not_have_is_a_change_from_nothing() -> None:
    kept = planned(BEFORE, LOCK).canonical()
    for item in kept["resources"]:
        item["spec"].pop("on_delete", None)
    found = {item.name: item for item in changes_between(kept, planned(BEFORE, LOCK))}
    assert found["acme-data"].fields[0].before is None
    assert found["acme-data"].action == "update"


def test_data_that_is_to_be_kept_cannot_be_deleted() -> None:
    before = plans()["data"]
    found = {item.name: item for item in changes_between(before.canonical(), plans()["gone"])}
    kept = {name for name, item in found.items() if item.action == "forbidden"}
    assert kept == {"acme-models", "acme-datasets", "acme-archive"}
    # It says `snapshot`: a copy is made, and it goes.
    assert found["acme-scratch"].action == "delete"
    assert found["acme-archive"].reason == "delete it: it holds data and says `on_delete: keep`"
    assert found["acme-train-poplar-0-data"].action == "delete"


def test_a_snapshot_of_what_takes_none_is_no_leave_to_delete() -> None:
    before = plans()["data"].canonical()
    for item in before["resources"]:
        if "on_delete" in item["spec"]:
            item["spec"]["on_delete"] = "snapshot"
    found = {item.name: item.action for item in changes_between(before, plans()["gone"])}
    assert (found["acme-models"], found["acme-datasets"]) == ("forbidden", "forbidden")
    assert found["acme-archive"] == "delete"


def test_what_it_said_before_counts_not_what_it_says_now() -> None:
    kept = with_volume(on_delete="keep")
    before = planned(kept, LOCK).canonical()
    found = {item.name: item for item in changes_between(before, planned(BEFORE, LOCK))}
    assert found["acme-train-poplar-0-data"].action == "update"
    gone = {item.name: item for item in changes_between(before, plans()["gone"])}
    assert gone["acme-train-poplar-0-data"].action == "forbidden"


def test_changed_userdata_leaves_servers_as_they_are() -> None:
    plan = planned(BEFORE, LOCK)
    kept: dict[str, Any] = json.loads(json.dumps(plan.canonical()))
    for item in kept["resources"]:
        if item["kind"] == "Server":
            item["spec"]["user_data"] = "#cloud-config\n"
    found = changes_between(kept, plan)
    assert {(item.kind, item.action) for item in found} == {("Server", "stay")}
    (field,) = found[0].fields
    assert (field.field, field.effect) == ("user_data", Effect.NEW_ONLY)
    assert "keeps its own" in field.reason


def test_userdata_and_a_new_ssh_key_replace_no_server() -> None:
    access = BEFORE.access.model_copy(update={"ssh_public_key": ssh_key("somebody-else")})
    found = changed(BEFORE.model_copy(update={"access": access}))
    assert found["acme-key"].action == "replace"
    servers = {name: item.action for name, item in found.items() if item.kind == "Server"}
    assert servers == {"acme-train-poplar-0": "stay", "acme-train-poplar-1": "stay"}
    (field,) = found["acme-train-poplar-0"].fields
    assert (field.field, field.follows, field.effect) == ("keypair", "acme-key", Effect.NEW_ONLY)
    assert set(found) == {"acme-key", *servers}


def _partitions_become(before: dict[str, int], after: dict[str, int], machines: int = 4) -> dict[str, ResourceChange]:
    """Of four machines, or to so many: the changes of partitions of so many IPUs."""

    def request(sizes: dict[str, int], count: int) -> Tenant:
        found = tuple(Partition(name=name, ipus=ipus, replaceable=True) for name, ipus in sizes.items())
        return tenant("acme", vpods=(vpod(machines=count).model_copy(update={"partitions": found}),))

    old, new = request(before, 4), request(after, machines)
    lock = locked(SITE, old)
    changes = changes_between(planned(old, lock).canonical(), planned(new, locked(SITE, new, previous=lock)))
    return {item.name.removeprefix("acme-train-partition-"): item for item in changes if item.kind == "VipuPartition"}


def test_a_partition_whose_room_another_has_until_the_end_is_refused() -> None:
    """Another name, two in the place of one, or one of two: what is gone is deleted last."""
    found = _partitions_become({"a": 16}, {"b": 8, "c": 8})
    assert {name: item.action for name, item in found.items()} == {"a": "delete", "b": "forbidden", "c": "forbidden"}
    assert "not free before acme-train-partition-a is deleted" in found["b"].reason
    larger = _partitions_become({"a": 8, "b": 8}, {"a": 16})
    assert {name: item.action for name, item in larger.items()} == {"a": "forbidden", "b": "delete"}
    assert {item.action for item in _partitions_become({"a": 4, "b": 8}, {"a": 8}).values()} == {"replace", "delete"}
    assert {item.action for item in _partitions_become({"a": 8}, {"b": 8}).values()} == {"create", "delete"}
    # What is recreated goes first, and all that stands on an allocation goes with it.
    assert {item.action for item in _partitions_become({"a": 16}, {"a": 8, "b": 8}).values()} == {"replace", "create"}
    assert {item.action for item in _partitions_become({"a": 16}, {"b": 32}, machines=8).values()} == {
        "create", "delete",
    }  # fmt: skip
