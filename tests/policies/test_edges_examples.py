"""Worked examples of docs/design/semantics.md that need a shared device on switch ports; by their numbers.

tor-1 port 31: a device of the operator's, on the storage VLANs of acme and globex
"""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import InfinibandSubnet, Sharing, Site
from interlock.model.site.offers import SharingKind
from interlock.model.site.physical import Device, Vrf
from interlock.model.tenant.request import ShareRequest
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey, PartitionMember
from tests.builders.pod64 import (
    bare_metal_pod64,
    bare_metal_vpod,
    cable,
    cables,
    management_switch,
    site_locked,
    storing_pod64,
    tenant,
    tor,
)
from tests.policies.joining import access, declared, tagged
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    changed,
    first,
    full_site,
    judged,
    made,
    pair,
    sharing,
    text,
    verdicts,
    with_footprint,
)

SITE = full_site()


@cache
def tenants() -> tuple[Made, Made]:
    return pair(SITE)


def storage_vlans() -> tuple[int, ...]:
    return tuple(item.lock.allocation.vpods["train"].storage_vlan for item in tenants())


def site(entries: tuple[Sharing, ...], *, device: bool = True, **switch: object) -> Site:
    one = tor()
    ports = (*one.ports, *([tagged(31, *storage_vlans())] if device else []))
    return full_site(
        switches=(one.model_copy(update={"ports": ports} | switch), management_switch()),
        cables=(*cables(), *([cable("shared:eth0", "tor-1:31")] if device else [])),
        devices=(Device(name="shared", role="other"),) if device else (),
        sharing=entries,
    )


def verdict(of: Site) -> object:
    acme, globex = tenants()
    return verdicts(judged(of, acme.plan, globex))["ISO-02"]


@pytest.mark.parametrize("kind", ["monitoring", "routed-back-end", "object-store"])
def test_examples_38_and_39_a_device_between_tenants(kind: SharingKind) -> None:
    acme, globex = tenants()
    assert verdict(site(sharing())) == V
    assert "shared" in text(first(judged(site(sharing()), acme.plan, globex)))
    assert judged(site(declared("shared", kind)), acme.plan, globex).exit_code == 0
    assert judged(site(declared("shared", kind)), globex.plan, acme).exit_code == 0


def test_example_38_with_a_guard_that_nobody_stated() -> None:
    acme, globex = tenants()
    judgement = judged(site(declared("shared", ipv6_forwarding_off=None)), acme.plan, globex)
    assert judgement.exit_code == 3
    missing = {fact for item in judgement.findings for fact in item.missing}
    assert missing == {"sharing.extra.guards.ipv6_forwarding_off"}
    assert verdict(site(declared("shared", ipv6_forwarding_off=False))) == V


def test_an_audience_that_leaves_one_out() -> None:
    acme, globex = tenants()
    for_acme = site(declared("shared", "monitoring", "acme"))
    assert verdicts(judged(for_acme, acme.plan))["ISO-02"] == P
    assert verdicts(judged(for_acme, globex.plan, acme))["ISO-02"] == V


def test_examples_37_and_49_routing_instances_of_a_switch() -> None:
    own, both = storage_vlans()[:1], storage_vlans()
    assert verdict(site(sharing(), device=False, vrfs=(Vrf(name="acme", vlans=own),))) == V
    relay = declared("tor-1/acme", "name-and-time", "acme")
    assert verdict(site(relay, device=False, vrfs=(Vrf(name="acme", vlans=own),))) == P
    acme, globex = tenants()
    wide = site(relay, device=False, vrfs=(Vrf(name="acme", vlans=both),))
    assert verdicts(judged(wide, globex.plan, acme))["ISO-02"] == V
    unsure = declared("tor-1/acme", "name-and-time", "acme", no_proxying=None)
    assert verdict(site(unsure, device=False, vrfs=(Vrf(name="acme", vlans=own),))) == N
    default = declared("tor-1", "name-and-time")
    assert verdict(site(default, device=False, routed_vlans=both, ip_routing=True)) == P
    assert verdict(site(sharing(), device=False, routed_vlans=both, ip_routing=True)) == V


# Whole hosts of two tenants on one private VLAN, with an appliance on a promiscuous port.


def back_end(entries: tuple[Sharing, ...], **roles: object) -> Site:
    """poplar-1 and poplar-2 isolated on VLAN 500 of mgmt-1, and the filer; `roles` set the second host's port."""
    second = {"private_vlan": "isolated"} | roles
    ports = (access(33, 500, private_vlan="isolated"), access(34, 500, **second), access(35, 500))
    base = bare_metal_pod64(sharing=entries, assumptions=assumptions())
    switch = base.switch["mgmt-1"]
    more = (cable("poplar-1:eno2", "mgmt-1:33"), cable("poplar-2:eno2", "mgmt-1:34"), cable("filer:e0", "mgmt-1:35"))
    return changed(
        base,
        switches=(base.switch["tor-1"], switch.model_copy(update={"ports": (*switch.ports, *ports)})),
        cables=(*base.cables, *more),
        devices=(Device(name="filer", role="appliance"),),
    )


@cache
def on_whole_hosts() -> tuple[Made, Made]:
    of = back_end(declared("filer", "private-vlan-back-end"))
    acme = made(of, tenant("acme", vpods=(bare_metal_vpod(servers=1),)))
    return acme, made(of, tenant("globex", vpods=(bare_metal_vpod(servers=1),)), [acme.lock])


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (back_end(declared("filer", "private-vlan-back-end")), P),
        (back_end(declared("filer", "private-vlan-back-end", roles_enforced=None)), N),
        (back_end(sharing()), V),
        (back_end(declared("filer", "private-vlan-back-end"), private_vlan="batch"), P),
        (back_end(declared("filer", "private-vlan-back-end"), private_vlan=None), V),
    ],
)
def test_a_private_vlan_back_end(of: Site, expected: object) -> None:
    acme, globex = on_whole_hosts()
    assert verdicts(judged(of, acme.plan, globex))["ISO-02"] == expected
    assert verdicts(judged(of, globex.plan, acme))["ISO-02"] == expected


# Example 26: a storage P_Key of the operator's, in which tenants' ports are limited members.

GUIDS = {"acme": "000000000000000a", "globex": "000000000000000b"}
STORE = "00000000000000ff"


def key(number: int, **members: str) -> PartitionKey:
    listed = tuple(PartitionMember.model_validate({"guid": guid, "membership": how}) for guid, how in members.items())
    return PartitionKey(infiniband="ib", key=number, members=listed)


def with_key(of: Site, item: Made, number: int) -> Made:
    plan = added(item.plan, "ib", item.plan.tenant or "", key(number, **{GUIDS[item.plan.tenant or ""]: "full"}))
    return with_footprint(of, plan, item.lock)


def storing(entries: tuple[Sharing, ...], full: str = STORE) -> tuple[Site, Plan, tuple[Made, ...]]:
    """The site, its plan with the storage key, and both tenants with a key of their own."""
    of = full_site(infiniband=(InfinibandSubnet(name="ib", prefix="fe80000000000000"),), sharing=entries)
    members = dict.fromkeys(GUIDS.values(), "limited") | {full: "full"}
    plan = added(plan_site(of, site_locked(of)), "store", "site", key(0x0100, **members))
    both = tuple(with_key(of, item, 5 + index) for index, item in enumerate(tenants()))
    return of, plan, both


@pytest.mark.parametrize(
    ("entries", "full", "expected"),
    [
        (sharing(), STORE, V),
        (declared(STORE, "storage-appliance"), STORE, P),
        (declared(STORE, "storage-appliance", vips_per_owner=None), STORE, N),
        (declared(STORE, "storage-appliance", "acme"), STORE, V),
        (declared(STORE, "storage-appliance"), GUIDS["globex"], V),
    ],
)
def test_example_26_a_storage_key(entries: tuple[Sharing, ...], full: str, expected: object) -> None:
    of, plan, both = storing(entries, full)
    found = judged(of, plan, *both)
    assert verdicts(found)["ISO-02"] == expected
    if expected == P:
        assert verdicts(found)["TOP-06"] == P
        assert verdicts(judged(of, both[0].plan, both[1]))["ISO-02"] == P


# The appliance behind shares of the cloud is met at addresses; another declaration says nothing of who meets it there.


@pytest.mark.parametrize(
    ("node", "audience", "expected"),
    [("filer", "acme", P), ("filer", "globex", V), ("second", "globex", V), (STORE, "globex", P)],
)
def test_audiences_of_two_appliances(node: str, audience: str, expected: object) -> None:
    known = sharing() if node == "filer" else declared("filer", "storage-appliance")
    more = declared(node, "storage-appliance", audience)[-1].model_copy(update={"name": "more"})
    of = storing_pod64(sharing=(*known, more), assumptions=assumptions())
    share = ShareRequest(name="models", size_gib=100, share_type="nfs", vpods=("train",), on_delete="erase")
    assert verdicts(judged(of, made(of, tenant("acme", shares=(share,))).plan))["ISO-02"] == expected
