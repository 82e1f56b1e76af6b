"""Public servers in a plan: a floating IP, a filter of their own, and nothing for the others."""

from __future__ import annotations

from interlock.model.tenant.request import PublicServers
from interlock.planning import Plan, plan_tenant
from interlock.planning.origins import request_path
from interlock.resources import FloatingIp, Port, Quota, SecurityGroup
from tests.builders.pod64 import gone, locked, pod64, site_locked, tenant
from tests.planning.golden import plans, public_request

GROUP, OTHERS = "acme-train-poplar-public", "acme-train-poplar-ssh"
ENTRY = "acme-train-poplar-0-public"


def groups_of(plan: Plan, port: str) -> tuple[str, ...]:
    found = plan.by_name[port].resource
    assert isinstance(found, Port)
    return found.security_groups


def let_in(plan: Plan, group: str) -> set[tuple[str | None, int | None, str | None]]:
    found = plan.by_name[group].resource
    assert isinstance(found, SecurityGroup)
    return {(rule.protocol, rule.port_min, rule.remote_prefix) for rule in found.rules if rule.direction == "ingress"}


def test_a_public_server_has_an_address_of_the_external_network_at_its_control_port() -> None:
    plan = plans()["public"]
    found = {item.name: item for item in plan.resources if isinstance(item.resource, FloatingIp)}
    assert list(found) == [ENTRY]
    assert found[ENTRY].resource == FloatingIp(
        project="acme-project",
        external_network="site:Network/external",
        port="acme-train-poplar-0-control",
        # Neutron gives an address only where a router leads to the port.
        uplink="acme-train-control-uplink",
    )
    assert found[ENTRY].component == "acme-train-poplar-0"


def test_the_filter_follows_the_stated_prefixes_and_the_bastion() -> None:
    plan = plans()["public"]
    assert let_in(plan, GROUP) == {
        (protocol, port, prefix)
        for protocol, port in (("tcp", 22), ("icmp", None))
        for prefix in ("198.51.100.0/24", "192.0.2.10/32")
    }
    assert groups_of(plan, "acme-train-poplar-0-control") == (GROUP,)
    assert plan.public == (ENTRY,)
    assert plan.public_from == {ENTRY: ("198.51.100.0/24", "192.0.2.10/32")}


def test_the_other_servers_are_as_they_were() -> None:
    plan, before = plans()["public"], plans()["acme"]
    assert groups_of(plan, "acme-train-poplar-1-control") == (OTHERS,)
    changed = {GROUP, ENTRY, "acme-train-poplar-0-control", "acme-quota"}
    own = {item.name: item.resource for item in plan.resources if item.name not in changed}
    assert own == {item.name: item.resource for item in before.resources if item.name not in changed}


def test_a_quota_has_room_for_the_addresses_and_one_more_and_else_for_none() -> None:
    found = {name: plans()[name].by_name["acme-quota"].resource for name in ("public", "acme")}
    assert {name: item.floating_ips for name, item in found.items() if isinstance(item, Quota)} == {
        "public": 2, "acme": 0,
    }  # fmt: skip


def test_without_a_bastion_the_stated_prefixes_are_all() -> None:
    site, request = pod64(), public_request()
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    assert plan.public_from == {ENTRY: ("198.51.100.0/24",)}
    assert {prefix for _, _, prefix in let_in(plan, GROUP)} == {"198.51.100.0/24"}


def test_a_tenant_that_is_to_go_declares_nothing() -> None:
    site, request = pod64(), public_request()
    leaver, lock = gone(locked(site, request), request)
    plan = plan_tenant(site, site_locked(site), leaver, lock)
    assert (plan.public, plan.public_from, plan.resources) == ((), {}, ())


def test_a_plan_that_makes_nothing_public_reads_as_it_did() -> None:
    assert "public_from" not in plans()["acme"].canonical()
    assert plans()["public"].canonical()["public_from"] == {ENTRY: ["198.51.100.0/24", "192.0.2.10/32"]}


def test_the_line_of_the_request_is_known() -> None:
    plan = plans()["public"]
    item = plan.by_name[ENTRY]
    assert request_path(plan, item) == "access.public.train"
    assert request_path(plan, item, "port") == "access.public.train.servers"


def test_every_server_of_a_vpod_may_be_public() -> None:
    site, request = pod64(), tenant("acme")
    every = PublicServers(vpod="train", servers=(0, 1), ssh_from=("198.51.100.0/24",))
    request = request.model_copy(update={"access": request.access.model_copy(update={"public": (every,)})})
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    assert plan.public == (ENTRY, "acme-train-poplar-1-public")
