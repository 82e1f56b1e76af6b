"""An audit reads the cloud by lists: the same as alone, and everything that somebody did by hand is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from interlock.channel.tickets import TICKET
from interlock.provider.actuators import ACTUATORS, Phase
from interlock.provider.audit.asked import ONE_BY_ONE, Asked
from interlock.provider.audit.buckets import buckets
from interlock.provider.audit.controllers import AT_CONTROLLERS
from interlock.provider.audit.listing import COPIES, NODES, RIGHTS, Listed, listed
from interlock.provider.audit.mirror import Mirror
from interlock.provider.audit.quotas import quotas
from interlock.provider.audit.standing import UNLISTED, Expected, StackReader, Standing
from interlock.provider.audit.unmanaged import SegmentPool, Territory, UnmanagedResource, unmanaged
from interlock.provider.clouds import Cloud
from interlock.provider.registers import REGISTERS, is_ticket, plain_id
from interlock.provider.state import declared, recorded_target
from interlock.vocabulary.owners import OwnerId
from tests.support.engine.stack import Stack
from tests.support.world.small import OWNER, SITE_OWNER, World

POOLS = (SegmentPool("ipu_data", "vlan", ("fabric100g",), ((2100, 2199),)), SegmentPool("control", "vxlan", (), ()))


def expected(program: Stack) -> Expected:
    admission = program.admission()
    return Expected(
        program.stack, OwnerId(program.owner), OwnerId(SITE_OWNER), {}, str(program.folder), admission.resources
    )


@dataclass(frozen=True)
class Seen:
    """One reading of the cloud."""

    found: Listed
    standings: dict[str, list[Standing]]

    def drift(self) -> dict[str, Standing]:
        return {item.name: item for items in self.standings.values() for item in items if item.has_drifted}

    def territory(self, world: World) -> Territory:
        known: dict[str, dict[str, str]] = {}
        for stack, items in self.standings.items():
            for item in items:
                known.setdefault(item.kind, {}).update(dict.fromkeys(item.ids, stack))
        programs = {OWNER: world.tenant, SITE_OWNER: world.site}
        planned = {
            owner: frozenset((item.KIND, name) for name, item in program.resources.items())
            for owner, program in programs.items()
        }
        external = frozenset({world.site.state["external"].id})
        stacks = {owner: program.stack for owner, program in programs.items()}
        return Territory(stacks, planned, known, external, frozenset({"poplar-1", "poplar-2"}), POOLS)

    def unmanaged(self, world: World) -> list[UnmanagedResource]:
        return unmanaged(self.territory(world), self.found)


def look(cloud: Cloud, world: World) -> Seen:
    found = listed(cloud)
    readers = {
        program.stack: StackReader(Mirror(cloud, found), found, expected(program)) for program in _programs(world)
    }
    return Seen(found, {stack: reader.standings() for stack, reader in readers.items()})


def _programs(world: World) -> tuple[Stack, Stack]:
    return world.site, world.tenant


#: Kinds that services list. Those at V-IPU controllers have a test of their own: tests/infra/test_audit_controllers.py.
IN_LISTS = ACTUATORS.keys() - UNLISTED.keys() - ONE_BY_ONE.keys() - AT_CONTROLLERS.keys()


@pytest.mark.parametrize("kind", sorted(IN_LISTS))
def test_an_object_reads_the_same_from_lists_as_alone(world: World, operator: Cloud, kind: str) -> None:
    mirror = Mirror(operator, listed(operator))
    alone = Cloud(operator.name)
    # What a switch says is in no list of the cloud's: an audit reads it by itself.
    alone.switches = None
    read = 0
    for program in _programs(world):
        for name, recorded in program.state.items():
            if kind == program.resources[name].KIND:
                item = declared(kind, name, recorded.inputs)
                target = recorded_target(item, recorded.outputs)
                actuator, read = ACTUATORS[kind], read + 1
                seen = [actuator.read(cloud, recorded.id, target) for cloud in (mirror, alone)]
                if kind == "Share":
                    # No list says where a share is exported, which is an output and compared with nothing.
                    seen = [one and replace(one, outputs={}, phase=Phase.READY) for one in seen]
                assert seen[0] == seen[1]
    assert read


def test_nothing_that_an_up_made_has_drifted_or_is_foreign(world: World, operator: Cloud) -> None:
    seen = look(operator, world)
    assert seen.drift() == {}
    assert seen.unmanaged(world) == []
    assert seen.found.unread == {}
    count = sum(len(program.resources) for program in _programs(world))
    unlisted = sum(item.KIND in (*UNLISTED, *ONE_BY_ONE) for item in world.tenant.resources.values())
    unlisted += sum(item.KIND in (*UNLISTED, *ONE_BY_ONE) for item in world.site.resources.values())
    assert sum(map(len, seen.standings.values())) == count - unlisted


def test_quotas_are_read_project_by_project(world: World, operator: Cloud) -> None:
    """As planned, and as somebody else set one of them."""
    (planned,) = (item for item in expected(world.tenant).resources if item.kind == "Quota")
    project = world.tenant.state["alice-project"].id
    asked = [Asked(world.tenant.stack, planned, one) for one in (project, "", "nowhere")]
    assert [(one.ids, one.has_drifted) for _, one in quotas(operator, asked)] == [
        ((project,), False), ((), True), ((), True),
    ]  # fmt: skip
    ports, path = planned.spec["ports"], f"/quotas/{project}"
    operator.api("network").put(path, {"quota": {"port": ports + 1}})
    try:
        ((_, seen),) = quotas(operator, asked[:1])
        assert seen.differs == {"ports": (ports, ports + 1)}
    finally:
        operator.api("network").put(path, {"quota": {"port": ports}})


def test_the_number_of_lists_does_not_depend_on_what_is_there(world: World, operator: Cloud) -> None:
    private = [
        item for item in world.site.resources.values() if item.KIND == "Flavor" and not item.canonical()["public"]
    ]
    found = look(operator, world).found
    # Of each volume type its encryption, of each share its access rules, of each private flavour who may use it, of
    # each ticket what it says.
    tickets = sum(map(is_ticket, found.of("StoredCredential").values()))
    beside = len(found.of("VolumeType")) + len(found.of("Share")) + len(private) + tickets
    assert tickets
    assert found.requests == len((*REGISTERS, *RIGHTS, *NODES, *COPIES)) + beside


@contextmanager
def _port_by_hand(cloud: Cloud, world: World) -> Iterator[str]:
    """Of the operator's own project, on the tenant's network."""
    body = {"network_id": world.tenant.state["alice-control"].id, "name": "hand"}
    yield from _made(cloud, "/ports", "port", body)


@contextmanager
def _network_in_pool(cloud: Cloud, world: World) -> Iterator[str]:
    segment = {"network_type": "vlan", "physical_network": "fabric100g", "segmentation_id": 2199}
    body = {"name": "hand"} | {f"provider:{key}": value for key, value in segment.items()}
    yield from _made(cloud, "/networks", "network", body)


@contextmanager
def _group_in_project(cloud: Cloud, world: World) -> Iterator[str]:
    body = {"name": "hand", "project_id": world.tenant.state["alice-project"].id}
    yield from _made(cloud, "/security-groups", "security_group", body)


@contextmanager
def _right_of_another(cloud: Cloud, world: World) -> Iterator[str]:
    body = {
        "object_type": "network",
        "object_id": world.tenant.state["alice-data"].id,
        "action": "access_as_shared",
        "target_tenant": cloud.login.project,
    }
    yield from _made(cloud, "/rbac-policies", "rbac_policy", body)


@contextmanager
def _orphan(cloud: Cloud, world: World) -> Iterator[str]:
    body = {"name": "old", "description": f"interlock:{OWNER}:alice-old"}
    yield from _made(cloud, "/networks", "network", body)


@contextmanager
def _ticket_of_before(cloud: Cloud, world: World) -> Iterator[str]:
    """What a killed run left for a server, and the plan has it no more."""
    api, name = cloud.api("key-manager"), f"{TICKET}{world.tenant.state['alice-server'].id}"
    ident = plain_id(api.post("/secrets", {"name": name, "mode": f"interlock:{OWNER}:alice-old"}))
    yield ident
    api.delete(f"/secrets/{ident}")


@contextmanager
def _role_by_hand(cloud: Cloud, world: World) -> Iterator[str]:
    reader = next(iter(cloud.api("identity").items("/roles", "roles", name="reader")))["id"]
    project, user = world.tenant.state["alice-project"].id, world.tenant.state["alice-s3"].id
    cloud.api("identity").put(f"/projects/{project}/users/{user}/roles/{reader}")
    yield f"{project}/{user}/{reader}"
    cloud.api("identity").delete(f"/projects/{project}/users/{user}/roles/{reader}")


@contextmanager
def _key_by_hand(cloud: Cloud, world: World) -> Iterator[str]:
    """Of the operator's own user, for the tenant's project."""
    project, path = world.tenant.state["alice-project"].id, f"/users/{cloud.login.user}/credentials/OS-EC2"
    access = cloud.api("identity").post(path, {"tenant_id": project})["credential"]["access"]
    yield f"{cloud.login.user}/{access}"
    cloud.api("identity").delete(f"{path}/{access}")


@contextmanager
def _snapshot_by_hand(cloud: Cloud, world: World) -> Iterator[str]:
    api = cloud.api("block-storage", world.tenant.state["alice-project"].id)
    body = {"volume_id": world.tenant.state["alice-volume"].id, "name": "hand", "force": True}
    ident = str(api.post("/snapshots", {"snapshot": body})["snapshot"]["id"])
    while api.get(f"/snapshots/{ident}")["snapshot"]["status"] == "creating":
        pass
    yield ident
    api.delete(f"/snapshots/{ident}")
    while api.find(f"/snapshots/{ident}") is not None:
        pass


@contextmanager
def _image_for_everybody(cloud: Cloud, world: World) -> Iterator[str]:
    api = cloud.api("image", world.tenant.state["alice-project"].id)
    ident = str(api.post("/images", {"name": "hand", "visibility": "community"})["id"])
    yield ident
    api.delete(f"/images/{ident}")


@contextmanager
def _image_of_ones_own(cloud: Cloud, world: World) -> Iterator[str]:
    """As `openstack image create --volume` makes it: Cinder says `private` unless it is told otherwise."""
    api = cloud.api("image", world.tenant.state["alice-project"].id)
    ident = str(api.post("/images", {"name": "hand", "visibility": "private"})["id"])
    yield ident
    api.delete(f"/images/{ident}")


def _made(cloud: Cloud, path: str, key: str, body: dict[str, Any]) -> Iterator[str]:
    ident = str(cloud.api("network").post(path, {key: body})[key]["id"])
    yield ident
    cloud.api("network").delete(f"{path}/{ident}")


#: What somebody did -> (kind, whether it is an orphan, what the audit says of it).
BY_HAND: dict[Callable[..., Any], tuple[str, bool, str]] = {
    _port_by_hand: ("Port", False, "it is plugged in on network"),
    _network_in_pool: ("Network", False, "its segment, fabric100g 2199, is of the pool ipu_data"),
    _group_in_project: ("SecurityGroup", False, "it lies in project"),
    _right_of_another: ("RbacPolicy", False, "has access_as_shared of network"),
    _orphan: ("Network", True, "it belongs to lyon-alice: interlock:0a11ce:alice-old in its description"),
    _ticket_of_before: ("StoredCredential", True, "it belongs to lyon-alice: interlock:0a11ce:alice-old in its mode"),
    _role_by_hand: ("RoleAssignment", False, "has the role reader on project"),
    _key_by_hand: ("S3Credential", False, "has an S3 key of project"),
    _snapshot_by_hand: ("VolumeSnapshot", False, "it holds what was on a volume; it is private"),
    _image_for_everybody: ("Image", False, "it may hold what was on a volume; it is community: every project"),
    _image_of_ones_own: ("Image", False, "it may hold what was on a volume; it is private: nobody else"),
}


@pytest.mark.parametrize("done", BY_HAND, ids=lambda done: done.__name__.strip("_"))
def test_what_somebody_made_is_told_with_the_reason(world: World, operator: Cloud, done: Callable[..., Any]) -> None:
    kind, orphan, why = BY_HAND[done]
    with done(operator, world) as ident:
        seen = look(operator, world)
    (resource,) = seen.unmanaged(world)
    assert (resource.kind, resource.id, resource.orphan) == (kind, ident, orphan)
    assert why in resource.why
    assert resource.hint
    assert seen.drift() == {}


def test_what_somebody_changed_is_told_field_by_field(world: World, operator: Cloud) -> None:
    network, group = world.tenant.state["alice-data"].id, world.tenant.state["alice-ssh"].id
    api = operator.api("network")
    right = {"object_type": "network", "object_id": network, "action": "access_as_shared", "target_tenant": "*"}
    rule: dict[str, Any] = {"security_group_id": group, "direction": "ingress", "protocol": "tcp", "ethertype": "IPv4"}
    rule |= {"port_range_min": 80, "port_range_max": 80}
    made = api.post("/rbac-policies", {"rbac_policy": right})["rbac_policy"]["id"]
    opened = api.post("/security-group-rules", {"security_group_rule": rule})["security_group_rule"]["id"]
    seen = look(operator, world)
    api.delete(f"/rbac-policies/{made}")
    api.delete(f"/security-group-rules/{opened}")
    assert seen.drift().keys() == {"alice-data", "alice-ssh"}
    assert seen.drift()["alice-data"].differs == {"shared": (False, True)}
    planned, actual = seen.drift()["alice-ssh"].differs["rules"]
    assert [one["port_min"] for one in actual if one not in planned] == [80]


def test_what_is_gone_is_told_and_so_is_what_depends_on_it(world: World, operator: Cloud) -> None:
    """Without a list there is nothing of a kind: here, as if the project were gone."""
    found = listed(operator)
    kept = {kind: {} if kind == "Project" else objects for kind, objects in found.objects.items()}
    lost = Listed(kept, found.flavor_access, {}, found.requests)
    standings = StackReader(Mirror(operator, lost), lost, expected(world.tenant)).standings()
    said = {item.name: item for item in standings}
    assert said["alice-project"].ids == ()
    assert said["alice-router"].reason == "it refers to alice-project, which is not there"
    assert all(item.has_drifted for item in standings if item.kind in ("Network", "Server", "Volume"))


def test_two_objects_under_one_marker_are_told(world: World, operator: Cloud) -> None:
    body = {"name": "again", "description": f"interlock:{OWNER}:alice-data"}
    ident = operator.api("network").post("/networks", {"network": body})["network"]["id"]
    seen = look(operator, world)
    operator.api("network").delete(f"/networks/{ident}")
    assert set(seen.drift()["alice-data"].ids) == {ident, world.tenant.state["alice-data"].id}


def test_a_bucket_is_asked_for_and_so_is_who_else_may_use_it(world: World, operator: Cloud) -> None:
    name = next(name for name, item in world.tenant.resources.items() if item.KIND == "Bucket")
    project, planned = world.tenant.state["alice-project"].id, expected(world.tenant).by_name["Bucket", name]
    path, swift = f"/{planned.spec['name']}", operator.api("object-store", project)
    asked = Asked("lyon-alice", planned, project)
    swift.request("POST", path, headers={"X-Container-Read": ".r:*"})
    ((_, standing, opened),) = buckets(operator, [asked])
    swift.request("POST", path, headers={"X-Remove-Container-Read": "x"})
    assert not standing.has_drifted
    assert [(resource.name, resource.why) for resource in opened] == [(name, ".r:* may read it (X-Container-Read)")]
    ((_, standing, opened),) = buckets(operator, [asked])
    assert (standing.has_drifted, opened) == (False, [])
    ((_, gone, _),) = buckets(operator, [Asked("lyon-alice", planned, "")])
    assert gone.has_drifted


def test_nothing_can_be_changed_through_lists(operator: Cloud) -> None:
    mirror = Mirror(operator, Listed({}, {}, {}, 0))
    with pytest.raises(TypeError, match="nothing is changed through lists"):
        mirror.api("network").post("/networks", {"network": {}})
