"""A `Site` as a file in full form: every device, port and cable by itself, no short form. Loads again to the same.

Values are those that people write: sizes with units, ranges of ids, guards that nobody stated as `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock.model.evidence.values import age_text

from .completeness import complete_section
from .file import TenantDefaultsFile
from .full_rooms import ids, room_sections
from .inventory import Site
from .ironic import Ironic, ServiceNetworks
from .networks import InfinibandSubnet, Pools, SegmentRangeSpec
from .offers import Assumption, FlavorSpec, ImageSpec, Limits, Sharing
from .terms import CURRENCY
from .terms_of_evidence import EvidenceTerms

#: A file, or a part of it, as plain values.
Document = dict[str, Any]


def full_form(site: Site, defaults: TenantDefaultsFile) -> Document:
    """All of `site.yaml` in plain values, keys in the order of the documentation; empty sections are left out."""
    document: Document = {"name": site.name, "cloud": site.cloud, "region": site.region or None}
    document |= {"claims": site.claims or None, "domain": site.domain}
    document |= room_sections(site)
    document["complete"] = complete_section(site.complete, site.complete_max_age_h)
    document |= _networks(site)
    document |= _offers(site)
    document["tenant_defaults"] = defaults.model_dump(exclude_none=True)
    document |= _terms(site)
    return {key: value for key, value in document.items() if value not in ({}, [], None) or key in _REQUIRED}


#: Sections that a file has even where nothing is in them.
_REQUIRED = ("physical_networks", "flavors", "images")


def _networks(site: Site) -> Document:
    return {
        "physical_networks": {item.name: _stated(item, "name") for item in site.physical_networks},
        "fabric_profiles": {item.name: _stated(item, "name") for item in site.fabric_profiles},
        "underlays": {item.name: _stated(item, "name") for item in site.underlays},
        "infiniband": {item.name: _infiniband(item) for item in site.infiniband},
        "pools": _pools(site.pools),
        "external": _stated(site.external) | {"pool": "-".join(site.external.pool)},
        "bastion": None if site.bastion is None else _stated(site.bastion),
        "segment_ranges": [_segment_range(item) for item in site.segment_ranges],
        "ironic": None if site.ironic is None else _ironic(site.ironic),
    }


def _infiniband(item: InfinibandSubnet) -> Document:
    found = _stated(item, "name", "storage")
    if item.storage is None:
        return found
    stated = item.storage
    keys = {} if stated.key is None else {"key": f"{stated.key:#06x}"}
    return found | {"storage": {"access": stated.access, "appliance": list(stated.appliance)} | keys}


def _stated(item: Any, *without: str) -> Document:
    """Fields of a frozen type that are not as they are by default, under their own names."""
    found: Document = item.model_dump(exclude=set(without), exclude_defaults=True)
    return found


#: Pools of ids of networks, in the order of the full form.
_POOLS = ("ipu_data", "storage", "management", "control", "bare_metal_control", "cluster", "roce")


def _pools(pools: Pools) -> Document:
    found: Document = {}
    for name in _POOLS:
        pool, subnets = pools.vlans_by_name.get(name), pools.subnets_by_name.get(name)
        if name == "control" and subnets is not None:
            found[name] = {"vnis": ids(pools.control)} | _subnets(subnets)
        elif pool is not None:
            found[name] = _vlan_pool(pool) | _subnets(subnets)
    found["reserved_vlans"] = ids(_runs(pools.reserved_vlans))
    found["reserved_vnis"] = ids(_runs(pools.reserved_vnis))
    if pools.storage_vips is not None:
        found["storage_vips"] = "{}-{}".format(*pools.storage_vips)
    found["partition_keys"] = {
        pool.infiniband: {"keys": _keys(pool.keys), "reserved": _keys((key, key) for key in pool.reserved)}
        for pool in pools.partition_keys
    }
    return {key: value for key, value in found.items() if value not in ([], {})}


def _subnets(subnets: tuple[str, int] | None) -> Document:
    return {} if subnets is None else {"subnets": dict(zip(("prefix", "each"), subnets, strict=True))}


def _vlan_pool(pool: Any) -> Document:
    return {"physical_networks": list(pool.physical_networks), "vlans": ids(pool.vlans)}


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted numbers as inclusive ranges."""
    found = list[tuple[int, int]]()
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def _keys(ranges: Iterable[tuple[int, int]]) -> list[str]:
    """Ranges of P_Keys in hexadecimal, as every tool shows them."""
    return [f"{first:#06x}-{last:#06x}" if first != last else f"{first:#06x}" for first, last in ranges]


def _segment_range(item: SegmentRangeSpec) -> Document:
    found = ids([(item.minimum, item.maximum)])
    if item.network_type == "vxlan":
        return {"vnis": found}
    return {"physical_network": item.physical_network, "vlans": found}


def _ironic(ironic: Ironic) -> Document:
    stated = {"poplar": ironic.poplar_class, "machine": ironic.machine_class}
    classes = {key: value for key, value in stated.items() if value is not None}
    networks = [_service_networks(item) for item in ironic.networks]
    found: Document = {"conductor_group": ironic.conductor_group, "driver": ironic.driver}
    return found | ({"resource_classes": classes} if classes else {}) | ({"networks": networks} if networks else {})


def _service_networks(item: ServiceNetworks) -> Document:
    prefix, each = item.subnets
    return {
        "physical_network": item.physical_network,
        "vlans": ids(item.vlans),
        "subnets": {"prefix": prefix, "each": each},
    }


def _offers(site: Site) -> Document:
    return {
        "flavors": {item.name: _flavor(item) for item in site.flavors},
        "images": {item.name: _image(item) for item in site.images},
        "volume_types": list(site.volume_types),
        "volume_encryption": {name: item.model_dump() for name, item in site.volume_encryption.items()},
        "share_types": {
            item.name: _stated(item, "name") | {"mount_options": list(item.mount_options)} for item in site.share_types
        },
        "s3_role": site.s3_role,
        "channel": site.channel,
        "object_storage": None if site.object_storage is None else _stated(site.object_storage),
        "lustre_server": site.lustre_server,
    }


def _image(item: ImageSpec) -> Document:
    properties = _stated(item.properties, "disk_gib")
    if item.properties.disk_gib is not None:
        properties["disk"] = f"{item.properties.disk_gib}GiB"
    if "generations" in properties:
        properties["generations"] = list(item.properties.generations)
    # A list that is stated and empty says more than one that is not.
    software = {
        key: list(value) if isinstance(value, tuple) else value for key, value in _stated(item.software).items()
    }
    parts = {"properties": properties, "software": software}
    return _stated(item, "name", *parts) | {name: part for name, part in parts.items() if part}


def _flavor(item: FlavorSpec) -> Document:
    found: Document = {
        "role": item.role,
        "vcpus": item.vcpus,
        "ram": f"{item.ram_gib}GiB",
        "disk": f"{item.disk_gib}GiB",
    }
    specs = {"extra_specs": dict(item.extra_specs)} if item.extra_specs else {}
    beyond = specs | ({} if item.public else {"public": False})
    found |= beyond | ({} if item.devices is None else {"devices": item.devices})
    return found | ({} if item.whole_node is None else {"whole_node": _stated(item.whole_node)})


def _terms(site: Site) -> Document:
    prices = site.prices
    return {
        "controller": None if site.controller is None else _stated(site.controller),
        "limits": _limits(site.limits),
        "prices": None if prices is None else {CURRENCY: prices.currency, **prices.prices},
        "sharing": {item.name: _sharing(item) for item in site.sharing},
        "assumptions": {item.id: _assumption(item) for item in site.assumptions},
        "evidence": _evidence(site.evidence),
        "existing": dict(site.existing),
        "waivers": {item.rule: _stated(item, "rule") for item in site.waivers},
    }


def _evidence(terms: EvidenceTerms) -> Document:
    age: Document = {} if terms.max_age_h is None else {"max_age": age_text(terms.max_age_h)}
    signed: Document = age if terms.signers is None else {**age, "signers": terms.signers}
    return {**signed, "acceptance": _acceptance(terms)} if terms.acceptance else signed


def _acceptance(terms: EvidenceTerms) -> Document:
    return {item.node_type: _stated(item, "node_type") for item in terms.acceptance}


def _limits(limits: Limits) -> Document:
    of_controllers = {
        "controller_instances": limits.controller_instances,
        "controller_cores": limits.controller_cores,
        "controller_ram": limits.controller_ram_gib and f"{limits.controller_ram_gib}GiB",
    }
    found: Document = {key: value for key, value in of_controllers.items() if value}
    found["remote_poplar_oversubscription"] = limits.remote_poplar_oversubscription
    return found if limits.machines_per_tenant is None else found | {"machines_per_tenant": limits.machines_per_tenant}


def _sharing(item: Sharing) -> Document:
    found: Document = {"kind": item.kind}
    if item.node != item.name:
        found["node"] = item.node
    found["audience"] = "any" if item.audience == ("*",) else list(item.audience)
    return found | {"guards": _guards(item.guards)}


def _assumption(item: Assumption) -> Document:
    return _guards(item.guards) | {guard: rests.stated() for guard, rests in item.evidence.items()}


def _guards(guards: dict[str, bool | None]) -> dict[str, bool | str]:
    return {name: "unknown" if value is None else value for name, value in guards.items()}
