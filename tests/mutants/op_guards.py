"""Operators on premises: each guard of an assumption and of declared sharing, false and not stated.

The twin of each is a workspace in which nothing that its tenants have rests on it. A12 has no guard: that no two
sites of a fleet name one thing is looked at where a fleet is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from interlock.model.site.offers import Sharing
from interlock.planning import plan_site
from interlock.resources import BucketPolicy, Network, S3Credential, Server, is_site_reference
from interlock.vocabulary.nodes import HeldHost, HeldMachine
from policies import Verdict
from tests.builders.pod64 import site_locked, tenant
from tests.mutants.operator import LOST, Operator, idle_machine, is_metal, strangers, virtual
from tests.mutants.workspaces import OPERATOR, Workspace
from tests.policies.workspace import assumptions, made

Value = bool | None
#: A workspace in which a premise matters, asked about whom it matters to; or one in which it does not.
Setting = Callable[[Workspace, Random], Workspace | None]


@dataclass(frozen=True)
class Premise:
    """A guard, where it matters and where not, and what speaks first when it is not held."""

    place: str
    guard: str
    matters: Setting
    not_here: Setting
    rule: str
    then: tuple[str, ...] = ()


# Settings.


def anybody(space: Workspace, rng: Random) -> Workspace | None:
    """Any tenant."""
    return space.asking(rng.choice(space.tenants))


def nobody(space: Workspace, _: Random) -> Workspace | None:
    """The operator's own stack before any tenant has come."""
    return replace(space.only(), asked=OPERATOR)


def guest(space: Workspace, _: Random) -> Workspace | None:
    """A tenant with a bucket and no vPOD, alone."""
    item = made(space.site, tenant("guest", vpods=(), buckets=()))
    return replace(space, made=(item,), asked="guest")


def two_on_one_host(space: Workspace, rng: Random) -> Workspace | None:
    """Two tenants' servers on one hypervisor."""
    found = [
        (one, other)
        for one in virtual(space)
        for other in virtual(space)
        if one.tenant != other.tenant and set(one.claims.hosts) & set(other.claims.hosts)
    ]
    return space.asking(rng.choice(found)[0].tenant) if found else None


def cleaned_after_another(space: Workspace, rng: Random) -> Workspace | None:
    """A machine of a tenant's that another had before, cleaned in between."""
    found = strangers(space, rng)
    if found is None:
        return None
    mine, theirs = found
    serial = space.site.machine[rng.choice(mine.claims.machines)].serial
    return space.with_settled(theirs.tenant, str(HeldMachine(serial))).asking(mine.tenant)


def cleaned_and_idle(space: Workspace, rng: Random) -> Workspace | None:
    """The same of a machine that nobody has."""
    tenant, idle = rng.choice(space.tenants), idle_machine(space, rng)
    if idle is None:
        return None
    return space.with_settled(tenant, str(HeldMachine(space.site.machine[idle[0]].serial))).asking(tenant)


def on_its_own_host(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant of one vPOD, on hypervisors that nobody shares: it meets the operator's only."""
    hosts = [host for pod in space.vpods for host in set(pod.claims.hosts)]
    found = [
        pod.tenant
        for pod in virtual(space)
        if pod.tenant in _single(space) and all(hosts.count(host) == 1 for host in pod.claims.hosts)
    ]
    return space.asking(rng.choice(found)) if found else None


def alone(space: Workspace, rng: Random) -> Workspace | None:
    """One tenant, no other."""
    name = rng.choice(space.tenants)
    return replace(space.only(name), asked=name)


def with_keys(space: Workspace, rng: Random) -> Workspace | None:
    """Tenants on one InfiniBand subnet."""
    return space.asking(rng.choice(space.tenants)) if space.site.infiniband else None


def without_keys(space: Workspace, rng: Random) -> Workspace | None:
    """No InfiniBand subnet."""
    return None if space.site.infiniband else anybody(space, rng)


def with_gpus(space: Workspace, rng: Random) -> Workspace | None:
    """Tenants in one NVLink domain."""
    name = rng.choice(space.tenants)
    return space.asking(name) if f"{name}-gpus" in space.plan(name).by_name else None


def gpus_of_one(space: Workspace, rng: Random) -> Workspace | None:
    """One tenant in an NVLink domain."""
    found = with_gpus(space, rng)
    return None if found is None else replace(found.only(found.asked), asked=found.asked)


def with_guests(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with a virtual server of its own: a controller is the operator's."""
    found = [name for name in space.tenants if any(_is_own(space, name, item) for item in space.named(name, Server))]
    return space.asking(rng.choice(found)) if found else None


def _is_own(space: Workspace, name: str, server: str) -> bool:
    return not is_site_reference(space.get(name, server, Server).project)


def with_overlays(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with an overlay of Neutron's."""
    found = [name for name in space.tenants if _has_overlay(space, name)]
    return space.asking(rng.choice(found)) if found else None


def without_overlays(space: Workspace, rng: Random) -> Workspace | None:
    """The tenants that have none, where no switch maps VLANs to any either."""
    if any(switch.vteps for switch in space.site.switches):
        return None
    found = space.only(*(name for name in space.tenants if not _has_overlay(space, name)))
    return found.asking(rng.choice(found.tenants)) if found.tenants else None


def _has_overlay(space: Workspace, name: str) -> bool:
    return any(space.get(name, item, Network).network_type == "vxlan" for item in space.named(name, Network))


def metal_after_another(space: Workspace, rng: Random) -> Workspace | None:
    """A whole host of a tenant's that another had before, cleaned in between."""
    found = [(pod.tenant, host) for pod in space.vpods if is_metal(space, pod) for host in pod.claims.hosts]
    if not found:
        return None
    mine, host = rng.choice(found)
    others = [name for name in space.tenants if name != mine]
    if not others:
        return None
    serial = space.site.host[host].serial
    return space.with_settled(rng.choice(others), str(HeldHost(serial))).asking(mine)


def with_shares(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with a share, beside another with one."""
    found = [item for item in space.tenants if any(p.claims.storage_vip for p in space.vpods if p.tenant == item)]
    return space.asking(rng.choice(found)) if len(found) > 1 else None


def without_shares(space: Workspace, rng: Random) -> Workspace | None:
    """No shares at all."""
    found = [item for item in space.tenants if any(p.claims.storage_vip for p in space.vpods if p.tenant == item)]
    if found or not any(item.kind == "storage-appliance" for item in space.site.sharing):
        return None
    return anybody(space, rng)


def with_policies(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with a bucket policy."""
    found = [item for item in space.tenants if space.named(item, BucketPolicy)]
    return space.asking(rng.choice(found)) if found else None


def on_metal(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with a whole host, whose BMC is cabled."""
    found = [pod.tenant for pod in space.vpods if is_metal(space, pod)]
    return space.asking(rng.choice(found)) if found else None


def on_hypervisors(space: Workspace, rng: Random) -> Workspace | None:
    """Nobody has a whole host."""
    return None if any(is_metal(space, pod) for pod in space.vpods) else anybody(space, rng)


def where_hosts_are_whole(space: Workspace, rng: Random) -> Workspace | None:
    """A site that gives out whole hosts, whoever has one."""
    whole = any(host.provisioning == "bare-metal" for host in space.site.hosts)
    return space.asking(rng.choice(space.tenants)) if whole else None


def where_no_host_is_whole(space: Workspace, rng: Random) -> Workspace | None:
    """A site with hypervisors only."""
    return None if where_hosts_are_whole(space, rng) else anybody(space, rng)


def with_keys_for_buckets(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with an S3 key."""
    found = [item for item in space.tenants if space.named(item, S3Credential)]
    return space.asking(rng.choice(found)) if found else None


def without_gateways(space: Workspace, rng: Random) -> Workspace | None:
    """No router has one."""
    shut = space
    for name in space.tenants:
        for item in space.plan(name).resources:
            if item.resource.KIND == "Router":
                shut = shut.edit(name, item.name, external_network=None)
    return shut.asking(rng.choice(space.tenants))


def watched(space: Workspace, rng: Random) -> Workspace | None:
    """Tenants' management VLANs that a monitoring device is in."""
    return _has(space, "monitoring", rng)


def behind_ceph(space: Workspace, rng: Random) -> Workspace | None:
    """Storage VLANs of the first hall, with a router toward the back end."""
    on = [item for item in _single(space) if _storage_in(space, item, range(2000, 2011))]
    return space.asking(rng.choice(on)) if on and _has(space, "routed-back-end", rng) else None


def relayed(space: Workspace, rng: Random) -> Workspace | None:
    """Storage VLANs that a declared routing instance is in."""
    on = [item for item in _single(space) if _storage_in(space, item, range(2000, 2002))]
    return space.asking(rng.choice(on)) if on and _has(space, "name-and-time", rng) else None


def _single(space: Workspace) -> list[str]:
    """The tenants of one vPOD: two of them would meet by what is not held, which is told first."""
    return [item for item in space.tenants if sum(pod.tenant == item for pod in space.vpods) == 1]


def _storage_in(space: Workspace, name: str, vlans: range) -> bool:
    wires = (space.get(name, item, Network) for item in space.named(name, Network, "-storage"))
    return any(item.physical_network == "fabric-h1" and item.segmentation_id in vlans for item in wires)


def _has(space: Workspace, kind: str, rng: Random) -> Workspace | None:
    return anybody(space, rng) if any(item.kind == kind for item in space.site.sharing) else None


# What is done there.


def assumed(space: Workspace, guard: str, value: Value) -> Workspace:
    """One guard of an assumption with this value."""
    stated = assumptions(**{guard: value})
    return _with_operator(space.with_site(assumptions=stated))


def declared(space: Workspace, kind: str, guard: str, value: Value) -> Workspace:
    """One guard of the declarations of a kind with this value."""
    return _with_operator(
        space.with_site(sharing=tuple(_stated(item, kind, guard, value) for item in space.site.sharing))
    )


def _stated(item: Sharing, kind: str, guard: str, value: Value) -> Sharing:
    return item.model_copy(update={"guards": dict(item.guards) | {guard: value}}) if item.kind == kind else item


def _with_operator(space: Workspace) -> Workspace:
    return replace(space, of_site=plan_site(space.site, site_locked(space.site)))


def _stating(premise: Premise, where: Setting, value: Value) -> Setting:
    def change(space: Workspace, rng: Random) -> Workspace | None:
        found = where(space, rng)
        if found is None:
            return None
        if premise.place.startswith("A"):
            return assumed(found, premise.guard, value)
        return declared(found, premise.place, premise.guard, value)

    return change


def _operator(premise: Premise, value: Value) -> Operator:
    word = "false" if value is False else "unknown"
    return Operator(
        id=f"{premise.place}.{premise.guard}={word}",
        title=f"{premise.place}: {premise.guard.replace('_', ' ')} is {word}",
        leak=_stating(premise, premise.matters, value),
        harmless=_stating(premise, premise.not_here, value),
        rule=premise.rule,
        then=premise.then,
        verdict=Verdict.VIOLATED if value is False else Verdict.NOT_PROVABLE,
    )


def _all(place: str, guards: str, matters: Setting, not_here: Setting, rule: str, *then: str) -> tuple[Premise, ...]:
    return tuple(Premise(place, guard, matters, not_here, rule, then) for guard in guards.split())


PREMISES: tuple[Premise, ...] = (
    *_all(
        "A1", "vlan_lists_enforced configuration_matches", on_metal, guest,
        "ISO-05", "ISO-03", "ISO-02", "ISO-15", "ISO-11",
    ),
    *_all("A2", "project_scope_enforced", anybody, nobody, "ISO-02", "AUTH-01"),
    *_all("A2", "default_policies", anybody, nobody, "L3-03", "ISO-02"),
    *_all("A3", "no_forwarding credentials_rotated agent_port_operator_only", anybody, nobody, "ISO-05", "ISO-02"),
    *_all("A4", "one_allocation_each operator_run", anybody, guest, "ISO-27", "ISO-02", "ISO-03"),
    *_all("A4", "secure_tls", anybody, guest, "SEC-01", "ISO-27"),
    *_all("A5", "iommu no_host_network pages_zeroed", on_its_own_host, guest, "ISO-02"),
    *_all("A5", "mitigations", two_on_one_host, alone, "SEC-21", "ISO-02"),
    *_all("A6", "subnet_manager_keys_set keys_enforced_at_switch", with_keys, without_keys, "ISO-23", "ISO-02"),
    *_all("A6", "default_partition_limited", with_keys, without_keys, "ISO-19", "ISO-02"),
    *_all("A8", "partitions_applied default_partition_empty", with_gpus, gpus_of_one, "ISO-22", "ISO-02"),
    *_all("A9", "steps_erase", cleaned_after_another, cleaned_and_idle, "ISO-02", "AUTH-01"),
    *_all("A10", "pools_delegated", anybody, nobody, "ISO-05", "ISO-02"),
    *_all("A11", "storage_rules_enforced", with_shares, without_shares, "SEC-14", "AUTH-01"),
    *_all("A11", "bucket_rules_enforced", with_policies, guest, "SEC-11", "AUTH-01"),
    *_all("A13", "in_band_closed", on_metal, on_hypervisors, "ISO-02"),
    *_all("external-network", "address_scope_closed l3_agent_enforces_scopes no_tenant_ports",
          anybody, without_gateways, "ISO-02", "AUTH-01"),
    *_all("vipu-controller", "ipv4_forwarding_off ipv6_forwarding_off no_tenant_login no_proxying",
          anybody, guest, "ISO-05", "ISO-06"),
    *_all("storage-appliance", "vips_per_owner no_routing_between_vips",
          with_shares, without_shares, "ISO-02", "AUTH-01"),
    *_all("routed-back-end", "default_deny permits_service_only", behind_ceph, guest, "L3-06", "ISO-02"),
    *_all("monitoring", "ipv4_forwarding_off no_tenant_login", watched, guest, "ISO-07"),
    *_all("name-and-time", "listeners_listed", relayed, guest, "ISO-02", "AUTH-01", LOST),
    *_all("A14", "neutron_interface", where_hosts_are_whole, where_no_host_is_whole, "ISO-17"),
    *_all("A14", "service_networks_closed", where_hosts_are_whole, where_no_host_is_whole, "ISO-18"),
    *_all("A14", "ramdisk_endpoints_closed", where_hosts_are_whole, where_no_host_is_whole, "L3-13"),
    *_all("A14", "operator_owns_nodes consoles_disabled", where_hosts_are_whole, where_no_host_is_whole, "SEC-16"),
    *_all("A16", "load_balancers_apart", anybody, nobody, "ISO-28", "ISO-02"),
    *_all("A17", "underlay_closed", with_overlays, without_overlays, "ISO-28", "ISO-02"),
    *_all("A18", "namespaces_apart metadata_signed", anybody, guest, "ISO-28", "ISO-05", "ISO-02"),
    *_all("A19", "migration_closed consoles_closed", with_guests, guest, "ISO-28", "ISO-02"),
    *_all("A20", "volumes_apart", with_guests, guest, "ISO-28", "ISO-02"),
    *_all("A21", "upstream_filtered", anybody, without_gateways, "ISO-28", "ISO-02"),
    *_all(
        "A22", "vlan_protocols_off", anybody, guest, "ISO-28",
        "ISO-05", "ISO-03", "ISO-02", "ISO-15", "ISO-11",
    ),
    *_all("A23", "firmware_restored", metal_after_another, cleaned_after_another, "ISO-28", "ISO-02"),
    *_all("A24", "bmc_answers_only conductor_forwards_nothing", anybody, guest, "ISO-28", "ISO-02"),
    *_all("A15", "token_endpoints_closed", with_keys_for_buckets, nobody, "L3-14"),
)  # fmt: skip


GUARDS: tuple[Operator, ...] = tuple(_operator(premise, value) for premise in PREMISES for value in (False, None))
