"""Every kind, really made: read back without a difference, adopted after a crash, changed by hand and mended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import preflight
from interlock.resources import ID_OF, KINDS, Network, SecurityGroup, SecurityGroupRule, Server, VipuObject, Volume
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.small import World

#: What is not made on the cloud. `test_claims` has claims. Swift takes no policies; tests/buckets has them. Partitions
#: are a subnet manager's: `test_subnet_manager` and tests/ufm. What V-IPU controllers are told has tests/vipu_driving.
ELSEWHERE = ("Claims", "BucketPolicy", "PartitionKey")
MADE = sorted(
    kind
    for kind, cls in KINDS.items()
    if cls.HAS_ACTUATOR and kind not in ELSEWHERE and not issubclass(cls, VipuObject)
)


def _of_kind(world: World, kind: str) -> list[tuple[Stack, str]]:
    return [
        (program, name)
        for program in (world.site, world.tenant)
        for name, item in program.resources.items()
        if kind == item.KIND
    ]


@pytest.mark.parametrize("kind", MADE)
def test_refresh_after_up_shows_no_change(world: World, kind: str) -> None:
    """But for inputs that only new ones get: there a refresh says what the object was made with."""
    assert _of_kind(world, kind)
    kept = {*KINDS[kind].kept_as_made(), *(f"{ID_OF}{field}" for field in KINDS[kind].kept_as_made())}
    for program, name in _of_kind(world, kind):
        before = program.state[name]
        after = program.read(name, record=False)
        assert after is not None
        assert {key: after.inputs[key] for key in after.inputs if key not in kept} == {
            key: before.inputs[key] for key in before.inputs if key not in kept
        }
        assert after.outputs == before.outputs
        assert program.diff(name) == {}


@pytest.mark.parametrize("kind", MADE)
def test_an_object_whose_id_a_crash_lost_is_adopted(world: World, kind: str) -> None:
    for program, name in _of_kind(world, kind):
        before = program.state[name]
        after = program.create(name)
        if kind == "S3Credential":
            # A secret that nobody recorded is worth nothing: revoked, and one recreated.
            assert after.id != before.id
            assert ACTUATORS[kind].read(Cloud("sandbox"), before.id) is None
            # What waits for a server is the key of before: it is left again.
            assert program.create("alice-handed").id != program.state[name].id
        else:
            assert after.id == before.id
        assert after.outputs.keys() == before.outputs.keys()


def test_outputs_hold_the_inputs_the_cloud_and_what_was_resolved(world: World, operator: Cloud) -> None:
    server = world.tenant.state["alice-server"]
    assert server.outputs | server.inputs == server.outputs
    assert server.outputs["cloud_id"] == str(operator.login.fingerprint)
    assert server.outputs["resolved"]["flavor"] == world.site.state["poplar"].id
    assert server.outputs["marker"] == "interlock:0a11ce:alice-server"
    assert world.tenant.state["alice-port-data"].outputs["mac"].startswith("fa:16:3e")
    key = world.tenant.state["alice-s3-key"].outputs
    assert key["access_key"]
    assert key["secret_key"]


def test_the_secret_key_is_marked_secret(world: World) -> None:
    from pulumi.runtime.proto import provider_pb2

    from interlock.provider.codec import SECRET, SIGNATURE, encode

    old = world.tenant.state["alice-s3-key"]
    answer = world.tenant.process.call(
        "Read",
        provider_pb2.ReadRequest(
            urn=world.tenant.urn("alice-s3-key"),
            id=old.id,
            inputs=encode(old.inputs),
            properties=encode(old.outputs),
        ),
    )
    assert answer.properties["secret_key"][SIGNATURE] == SECRET


#: Name -> (path below which the object lies, body of a change by hand, the field that refresh then shows).
BY_HAND: dict[str, tuple[str, str, str, Any, str]] = {
    "alice-project": ("identity", "PATCH", "/projects/{id}", {"project": {"name": "mallory"}}, "name"),
    "alice-quota": ("network", "PUT", "/quotas/{id}", {"quota": {"port": 51}}, "ports"),
    "alice-router": ("network", "PUT", "/routers/{id}", {"router": {"name": "mallory"}}, "name"),
    # Taken off its port; the address stays.
    "alice-entry": ("network", "PUT", "/floatingips/{id}", {"floatingip": {"port_id": None}}, "port"),
    "alice-data": ("network", "PUT", "/networks/{id}", {"network": {"port_security_enabled": False}}, "port_security"),
    "alice-control-subnet": ("network", "PUT", "/subnets/{id}", {"subnet": {"dns_nameservers": []}}, "dns"),
    "alice-port-control": ("network", "PUT", "/ports/{id}", {"port": {"security_groups": []}}, "security_groups"),
    "alice-port-data": (
        "network", "PUT", "/ports/{id}", {"port": {"allowed_address_pairs": [{"ip_address": "0.0.0.0/0"}]}},
        "allowed_address_pairs",
    ),
    "alice-server": ("compute", "PUT", "/servers/{id}", {"server": {"name": "other"}}, "name"),
    "alice-volume": ("block-storage", "PUT", "/volumes/{id}", {"volume": {"name": "other"}}, "name"),
    "poplar-hosts": ("compute", "POST", "/os-aggregates/{id}/action", {"remove_host": {"host": "poplar-1"}}, "hosts"),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_refresh_shows_what_was_changed_by_hand_and_up_mends_it(world: World, operator: Cloud, name: str) -> None:
    program = world.tenant if name in world.tenant.resources else world.site
    service, method, path, body, field = BY_HAND[name]
    ident = program.state[name].id
    operator.api(service).request(method, path.format(id=ident), json=body)
    assert program.read(name) is not None
    assert program.diff(name) == {field: False}
    assert program.check(name) == []
    program.update(name)
    assert program.state[name].id == ident
    assert program.read(name) is not None
    assert program.diff(name) == {}


def test_a_rule_added_by_hand_is_seen_and_removed(world: World, operator: Cloud) -> None:
    program, name = world.tenant, "alice-ssh"
    rule = {"direction": "ingress", "security_group_id": program.state[name].id, "protocol": "udp"}
    operator.api("network").post("/security-group-rules", {"security_group_rule": rule})
    found = program.read(name)
    assert found is not None
    assert len(found.inputs["rules"]) == 4
    assert program.diff(name) == {"rules": False}
    program.update(name)
    assert program.diff(name) == {}


def test_a_marker_removed_by_hand_is_put_back(world: World, operator: Cloud) -> None:
    program, name = world.tenant, "alice-router"
    path = f"/routers/{program.state[name].id}"
    operator.api("network").put(path, {"router": {"description": ""}})
    assert program.read(name) is not None
    assert program.diff(name) == {"marker": False}
    program.update(name)
    assert operator.api("network").get(path)["router"]["description"] == "interlock:0a11ce:alice-router"


def test_a_network_without_its_marker_is_in_nobodys_way(world: World, operator: Cloud) -> None:
    """Its VLAN is its own, although by the marker alone nobody could tell."""
    program, name = world.tenant, "alice-data"
    path = f"/networks/{program.state[name].id}"
    operator.api("network").put(path, {"network": {"description": "by hand"}})
    (fault,) = preflight(program.admission())
    assert "delete that network unless this stack's state holds it" in fault.hint
    assert program.read(name) is not None
    assert program.admit(preview=False) == []
    assert program.diff(name) == {"marker": False}
    program.update(name)
    assert operator.api("network").get(path)["network"]["description"] == "interlock:0a11ce:alice-data"


def test_a_port_deleted_by_hand_comes_back_and_the_server_stays(world: World, operator: Cloud) -> None:
    program, port, server = world.tenant, "alice-port-data", "alice-server"
    ident, lost = program.state[server].id, program.state[port].id
    operator.api("network").delete(f"/ports/{lost}")
    assert program.read(port) is None
    assert program.read(server) is not None
    assert program.diff(server) == {"ports": False}
    assert program.create(port).id != lost
    assert program.diff(server) == {"ports": False, "id_of_ports": False}
    assert program.update(server).id == ident
    assert program.read(server) is not None
    assert program.diff(server) == {}
    attached = operator.api("network").get("/ports", device_id=ident)["ports"]
    assert {item["id"] for item in attached} == set(program.inputs(server)["id_of_ports"])


#: Limits that are below what the tenant has by then, of every service; Cinder takes none below what is in use.
BELOW_USE: dict[str, dict[str, int]] = {
    "alice-quota": {"instances": 0, "cores": 0, "ram_mib": 0, "networks": 0, "subnets": 0, "ports": 0, "routers": 0,
                    "security_groups": 0, "security_group_rules": 0, "floating_ips": 0, "volumes": 0, "volume_gib": 0},
    "alice-share-quota": {"shares": 0, "share_gib": 0},
}  # fmt: skip
PENDING = {"alice-quota": {"volumes": False, "volume_gib": False}, "alice-share-quota": {}}


@pytest.mark.parametrize("name", BELOW_USE)
def test_limits_below_what_is_in_use_are_applied(world: World, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As when a tenant shrinks: what is too much is deleted after them. Each `up` says what Cinder does not take."""
    program, before = world.tenant, dict(world.tenant.resources)
    program.declare(before | {name: before[name].model_copy(update=BELOW_USE[name])})
    try:
        for _ in range(2):
            # The next `up` goes on with what is pending, whether a refresh came between or not.
            program.update(name)
            assert program.diff(name) == PENDING[name]
            lines = capsys.readouterr().err.splitlines()
            assert len(lines) == bool(PENDING[name])
            for field in PENDING[name]:
                held = program.state[name].outputs[field]
                assert held > 0
                assert f"{field} is limited to the {held} that are in use, not to 0" in lines[0]
        seen = program.read(name)
        assert seen is not None
        assert program.diff(name) == PENDING[name]
        taken = BELOW_USE[name].keys() - PENDING[name].keys()
        assert {field: seen.inputs[field] for field in taken} == dict.fromkeys(taken, 0)
    finally:
        program.declare(before)
        program.update(name)
    assert program.diff(name) == {}
    assert "is limited to" not in capsys.readouterr().err


def test_a_server_stays_with_the_image_that_it_was_made_from(world: World) -> None:
    program, server = world.tenant, "alice-server"
    # As if the operator had put another image under the name: new servers take it, this one keeps its own.
    world.tenant.process.servicer._parts()[0].resolved["site:Image", world.site.owner, "machine"] = "another"
    before = program.state[server].outputs["resolved"]["image"]
    assert program.update(server).outputs["resolved"]["image"] == before
    world.tenant.process.servicer._parts()[0].resolved.clear()


def test_preflight_finds_nothing_where_all_is_there(world: World) -> None:
    for program in (world.site, world.tenant):
        assert program.admit(preview=False) == []


def test_a_volume_grows_in_place_and_never_shrinks(world: World) -> None:
    program, name = world.tenant, "alice-volume"
    old = program.resources[name]
    assert isinstance(old, Volume)
    program.resources[name] = old.model_copy(update={"size_gib": 3})
    assert program.admit() == []
    assert program.check(name) == []
    assert program.diff(name) == {"size_gib": False}
    program.update(name)
    seen = program.read(name)
    assert seen is not None
    assert seen.inputs["size_gib"] == 3
    program.resources[name] = old
    assert program.admit() == []
    with pytest.raises(Refused, match=r"has 3 GiB and cannot shrink to 1 GiB"):
        program.update(name)
    program.resources[name] = old.model_copy(update={"size_gib": 3})
    assert program.admit() == []


def test_security_group_rules_change_in_place(world: World) -> None:
    program, name = world.tenant, "alice-ssh"
    old = program.resources[name]
    assert isinstance(old, SecurityGroup)
    https = SecurityGroupRule(direction="ingress", protocol="tcp", port_min=443, port_max=443)
    program.resources[name] = old.model_copy(update={"rules": (https, *old.rules[1:])})
    assert program.admit() == []
    assert program.diff(name) == {"rules": False}
    program.update(name)
    seen = program.read(name)
    assert seen is not None
    assert seen.inputs["rules"][0]["port_min"] == 443
    assert program.diff(name) == {}


def test_data_that_is_to_be_kept_is_not_deleted(world: World) -> None:
    for name in ("alice-volume", "alice-bucket"):
        physical = world.tenant.resources[name].canonical()["name"]
        with pytest.raises(Refused, match=f"{physical} .* holds data and says `on_delete: keep`"):
            world.tenant.delete(name, on_delete="keep")
        assert world.tenant.read(name, record=False) is not None


def test_another_cloud_of_the_same_name_is_refused(world: World, journal: Any) -> None:
    before, program = journal.ours(), world.tenant
    with pytest.raises(Refused, match="is on the cloud another"):
        program.read("alice-router", cloud_id="another")
    with pytest.raises(Refused, match="is on the cloud another"):
        program.update("alice-router", cloud_id="another")
    with pytest.raises(Refused, match="is on the cloud another"):
        program.delete("alice-router", cloud_id="another")
    assert journal.ours() == before


def test_an_exchanged_reference_is_refused_before_any_change(world: World, operator: Cloud, journal: Any) -> None:
    program, name = world.tenant, "alice-port-control"
    body = {"name": "alice-control", "description": "interlock:ebe:alice-control"}
    foreign = operator.api("network").post("/networks", {"network": body})["network"]["id"]
    inputs = program.inputs(name)
    inputs["id_of_network"] = foreign
    before = journal.ours()
    # In a process of its own: a refusal closes the gate for the rest of a process.
    other = replace(program, process=Process())
    assert other.admit() == []
    ((where, why),) = other.check(name, inputs)
    other.process.close()
    assert where == "id_of_network"
    assert f"object {foreign} carries 'interlock:ebe:alice-control'" in why
    for attempt in (program.create, program.update):
        with pytest.raises(Refused, match=rf"object {foreign} carries 'interlock:ebe:alice-control'"):
            attempt(name, inputs=inputs)
    assert journal.ours() == before
    operator.api("network").delete(f"/networks/{foreign}")


def test_the_site_stays_while_tenants_are_there(world: World) -> None:
    with pytest.raises(Refused, match=r"tenants still use the site: alice \("):
        world.site.delete("poplar-hosts")


def test_a_server_that_no_host_takes_is_kept_in_state_and_recreated(world: World, operator: Cloud) -> None:
    name, program = "alice-giant", world.tenant
    giant = Server(
        name=name,
        project="alice-project",
        flavor="site:Flavor/whale",
        image="site:Image/machine",
        host="poplar-2",
        ports=(),
    )
    program.resources[name] = giant
    assert program.admit() == []
    with pytest.raises(Refused, match="No valid host was found") as caught:
        program.create(name)
    first = caught.value.partial
    assert first is not None
    program.state[name] = first
    assert program.diff(name) == {"broken": True}
    # As after a crash that lost the id: the broken one is removed, not adopted.
    with pytest.raises(Refused) as caught:
        program.create(name)
    second = caught.value.partial
    assert second is not None
    assert second.id != first.id
    assert operator.api("compute").find(f"/servers/{first.id}") is None
    program.state[name] = second
    program.delete(name)
    del program.resources[name]


def test_a_project_with_someone_elses_network_is_not_deleted(world: World, operator: Cloud) -> None:
    project = world.tenant.state["alice-project"].id
    body = {"name": "left-over", "project_id": project}
    network = operator.api("network").post("/networks", {"network": body})["network"]["id"]
    with pytest.raises(Refused, match=r"still holds objects that this stack did not create: .*network left-over"):
        world.tenant.delete("alice-project")
    operator.api("network").delete(f"/networks/{network}")


def test_nothing_of_another_stack_is_changed_or_deleted(world: World, operator: Cloud) -> None:
    program, name = world.tenant, "alice-router"
    path = f"/routers/{program.state[name].id}"
    operator.api("network").put(path, {"router": {"description": "interlock:ebe:alice-router"}})
    for attempt in (program.update, program.delete):
        with pytest.raises(Refused, match="belongs to another stack"):
            attempt(name)
    operator.api("network").put(path, {"router": {"description": "interlock:0a11ce:alice-router"}})


def test_nothing_without_a_marker_is_ours_if_it_cannot_be(world: World, operator: Cloud) -> None:
    """The state was edited, and names a stranger's object."""
    program, name, api = world.tenant, "alice-router", operator.api("network")
    stranger = api.post("/routers", {"router": {"name": name}})["router"]["id"]
    ours = program.state[name]
    program.state[name] = replace(ours, id=stranger)
    try:
        for attempt in (program.update, program.delete):
            with pytest.raises(Refused, match="carries no marker and differs in project, which cannot be changed"):
                attempt(name)
        left = api.get(f"/routers/{stranger}")["router"]
        assert (left["name"], left["description"]) == (name, "")
    finally:
        program.state[name] = ours
        api.delete(f"/routers/{stranger}")


def test_a_project_with_a_strangers_security_group_is_not_deleted(world: World, operator: Cloud) -> None:
    project, api = world.tenant.state["alice-project"].id, operator.api("network")
    group = api.post("/security-groups", {"security_group": {"name": "left-over", "project_id": project}})
    with pytest.raises(Refused, match=r"still holds objects that this stack did not create: .*group left-over"):
        world.tenant.delete("alice-project")
    api.delete(f"/security-groups/{group['security_group']['id']}")


def test_preview_asks_the_cloud_nothing(world: World, journal: Any) -> None:
    from interlock.provider.codec import UNKNOWN

    process = Process("there is no such cloud")
    program = Stack(process, "lyon-bob", "b0b", {"n": Network(name="n", network_type="vxlan")}, "5", world.site.folder)
    found = program.create("n", preview=True)
    assert found.id == ""
    assert found.outputs["name"] == "n"
    assert found.outputs["segment"] is UNKNOWN
    process.close()
