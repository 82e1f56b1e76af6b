"""Change, drift, repeat: an `up` touches what changed and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openstack.connection import Connection

from tests.e2e.identity import identity
from tests.e2e.project import Project, changes

#: A server that is there already has a way in from outside, and one that is made.
PUBLIC = "  public: {train: {servers: [0, 2]}}\n"


def _server(cloud: Connection, name: str) -> Any:
    return next(iter(cloud.compute.servers(all_projects=True, name=f"^{name}$")))


def _port(cloud: Connection, name: str) -> Any:
    return next(iter(cloud.network.ports(name=name)))


@dataclass(frozen=True)
class Drift:
    """A field that somebody changes behind our back."""

    stack: str
    object: str
    alter: Callable[[Connection], Any]


def _extra_rule(cloud: Connection) -> object:
    group = cloud.network.find_security_group("acme-train-poplar-ssh", ignore_missing=False)
    return cloud.network.create_security_group_rule(
        security_group_id=group.id, direction="ingress", protocol="tcp", port_range_min=1, port_range_max=2
    )


def _volume(cloud: Connection, name: str) -> Any:
    return next(item for item in cloud.block_storage.volumes(all_projects=True) if item.name == name)


def _network(cloud: Connection, name: str) -> Any:
    return cloud.network.find_network(name, ignore_missing=False)


#: One field of each kind that a client can alter.
DRIFTS = (
    Drift("lyon-acme", "acme-project", lambda c: identity(c).update_project(
        identity(c).find_project("acme", ignore_missing=False), name="acme2")),
    Drift("lyon-acme", "acme-train-ipu-data", lambda c: c.network.update_network(
        _network(c, "acme-train-ipu-data"), name="renamed")),
    Drift("lyon-acme", "acme-train-control-subnet", lambda c: c.network.update_subnet(
        c.network.find_subnet("acme-train-control-subnet", ignore_missing=False), dns_nameservers=["192.0.2.9"])),
    Drift("lyon-acme", "acme-router", lambda c: c.network.update_router(
        c.network.find_router("acme-router", ignore_missing=False), name="renamed-router")),
    Drift("lyon-acme", "acme-train-poplar-ssh", _extra_rule),
    Drift("lyon-acme", "acme-train-poplar-0-control", lambda c: c.network.update_port(
        _port(c, "acme-train-poplar-0-control"), security_groups=[])),
    Drift("lyon-acme", "acme-quota", lambda c: c.compute.update_quota_set(
        identity(c).find_project("acme2", ignore_missing=False).id, instances=99)),
    Drift("lyon-acme", "acme-train-poplar-0", lambda c: c.compute.update_server(
        _server(c, "acme-train-poplar-0"), name="renamed-server")),
    Drift("lyon-acme", "acme-train-poplar-0-data", lambda c: c.block_storage.update_volume(
        _volume(c, "acme-train-poplar-0-data"), name="renamed-volume")),
    Drift("lyon-site", "poplar-hosts", lambda c: c.compute.set_aggregate_metadata(
        c.compute.find_aggregate("poplar-hosts", ignore_missing=False), {"interlock_role": "any"})),
    Drift("lyon-site", "poplar.whole", lambda c: c.compute.update_flavor_extra_specs_property(
        c.compute.find_flavor("poplar.whole", ignore_missing=False), "hw:numa_nodes", "4")),
    Drift("lyon-site", "s3_service", lambda c: identity(c).update_role(
        identity(c).find_role("s3_service", ignore_missing=False), description="anything")),
)  # fmt: skip


def test_what_a_client_altered_is_shown_by_refresh_and_mended_by_up(applied: Project, cloud: Connection) -> None:
    for drift in DRIFTS:
        drift.alter(cloud)
    # The site first: while an object of it carries no owner, no tenant may rest on it.
    for stack in ("lyon-site", "lyon-acme"):
        expected = {drift.object for drift in DRIFTS if drift.stack == stack}
        shown = applied.refresh(stack, "--diff")
        for name in expected:
            assert name in shown.text, f"refresh of {stack} does not show {name}:\n{shown.text}"
        assert changes(shown)["updated"] == len(expected), shown.text
        mended = changes(applied.must(applied.up(stack)))
        assert set(mended) == {"updated", "unchanged"}, mended
        assert mended["updated"] == len(expected)
        settled = changes(applied.refresh(stack))
        assert set(settled) == {"unchanged"}, settled


def test_a_port_deleted_behind_our_back_is_mended_and_its_server_stays(applied: Project, cloud: Connection) -> None:
    before = _server(cloud, "acme-train-poplar-1").id
    for suffix in ("control", "storage"):
        cloud.network.delete_port(_port(cloud, f"acme-train-poplar-1-{suffix}"))
    applied.refresh("lyon-acme")
    mended = applied.must(applied.plain_up("lyon-acme"))
    assert changes(mended)["created"] == 2, mended.text
    assert _server(cloud, "acme-train-poplar-1").id == before
    attached = {port.name for port in cloud.network.ports(device_id=before)}
    assert attached == {f"acme-train-poplar-1-{suffix}" for suffix in ("control", "storage", "ipu-data")}


def test_one_more_poplar_host_and_a_way_in_create_their_own_and_replace_nothing(
    applied: Project, cloud: Connection
) -> None:
    old = applied.objects("lyon-acme")
    globex = (applied.folder / "stacks/lyon/tenants/globex.lock.json").read_bytes()
    applied.edit("lyon/tenants/acme.yaml", "servers: 2", "servers: 3")
    applied.edit("lyon/tenants/acme.yaml", "  ssh_from: ", PUBLIC + "  ssh_from: ")
    applied.must(applied.interlock("lock", "acme"))
    grown = applied.must(applied.up("lyon-acme"))
    new = applied.objects("lyon-acme")
    server = {f"acme-train-poplar-2{suffix}" for suffix in ("", "-ipu-data", "-storage", "-control", "-data")}
    ways_in = {f"acme-train-poplar-{which}" for which in ("public", "0-public", "2-public")}
    assert {name for name in new if name not in old} == server | {"acme-train-poplar-2-attachment"} | ways_in
    # The claims, which lie in the operator's store; nothing on the cloud.
    assert changes(grown)["replaced"] == 1
    assert {name: item["id"] for name, item in new.items() if name in old and name != "acme-claims"} == {
        name: item["id"] for name, item in old.items() if name != "acme-claims"
    }
    assert new["acme-claims"]["id"] != old["acme-claims"]["id"]
    assert (applied.folder / "stacks/lyon/tenants/globex.lock.json").read_bytes() == globex
    applied.unchanged("lyon-globex")
    _got_in_by(applied, cloud)
    applied.edit("lyon/tenants/acme.yaml", "servers: 3", "servers: 2")
    applied.edit("lyon/tenants/acme.yaml", PUBLIC, "")
    applied.must(applied.interlock("lock", "acme"))
    shrunk = applied.must(applied.plain_up("lyon-acme"))
    # With the component that held the server's.
    assert changes(shrunk)["deleted"] == 7 + len(ways_in)
    assert list(cloud.network.ips()) == []


def _got_in_by(applied: Project, cloud: Connection) -> None:
    """A server that was there before has its address, which `interlock ssh` takes from the stack's outputs."""
    port = _port(cloud, "acme-train-poplar-0-control")
    address = next(item.floating_ip_address for item in cloud.network.ips() if item.port_id == port.id)
    shown = json.loads(applied.must(applied.interlock("ssh", "acme", "train-poplar-0", "--json")).out)
    assert shown["address"] == address
    groups = {cloud.network.get_security_group(ident).name for ident in port.security_group_ids}
    assert "acme-train-poplar-public" in groups
    assert "acme-train-poplar-ssh" not in groups


def test_a_change_of_one_tenant_leaves_the_others_lock_and_plan_as_they_are(applied: Project) -> None:
    def acme() -> tuple[bytes, str]:
        lock = (applied.folder / "stacks/lyon/tenants/acme.lock.json").read_bytes()
        return lock, str(applied.output("lyon-acme")["plan_hash"])

    before = acme()
    applied.edit("lyon/tenants/globex.yaml", "servers: 1", "servers: 2")
    applied.must(applied.interlock("lock"))
    applied.must(applied.plain_up("lyon-globex"))
    applied.unchanged("lyon-acme")
    assert acme() == before
    applied.edit("lyon/tenants/globex.yaml", "servers: 2", "servers: 1")
    applied.must(applied.interlock("lock"))
    applied.must(applied.plain_up("lyon-globex"))
