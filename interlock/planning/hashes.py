"""Hashes that locks and plans record of a site: of the whole of it, and of a slice.

A lock names only the slice of the site that it uses, so that a rack added elsewhere leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any

from pydantic_core import to_jsonable_python

from interlock.model.lock.record import Allocation, VPodAllocation
from interlock.model.site.inventory import (
    Assumption,
    Cable,
    Controller,
    Endpoint,
    FlavorSpec,
    Host,
    ImageSpec,
    Lag,
    Machine,
    ShareTypeSpec,
    Site,
    Switch,
    SwitchPortConfig,
)
from interlock.model.site.networks import InfinibandSubnet, Pools, Underlay, VlanPool
from interlock.model.site.whole_nodes import WholeNode
from interlock.resources import Frozen, digest_of
from interlock.vocabulary.digits import is_number

#: Sections of a site that every tenant's plan may rest on. Not here: prices, rooms, places in racks; what is
#: listed rack by rack comes with the racks; of pools, ranges and limits only what concerns the networks used.
COMMON = {
    "name", "cloud", "region", "domain", "fabric_profiles", "underlays", "infiniband", "external", "flavors", "images",
    "volume_types", "volume_encryption", "share_types", "s3_role", "channel", "controller", "sharing", "assumptions",
    "existing",
}  # fmt: skip

#: Sections that no lock rests on: where claims are recorded, what evidence counts, what the operator lets pass; which
#: tables are complete, which every proof reads anew; Ironic's own networks; bastion, object storage, Lustre's version.
UNPLANNED = {
    "bastion", "claims", "complete", "complete_max_age_h", "controllers_read", "evidence", "ironic",
    "lustre_server", "object_storage", "waivers",
}  # fmt: skip

#: The limits that concern a tenant; the others are those of the operator's own project.
TENANT_LIMITS = {"machines_per_tenant", "remote_poplar_oversubscription"}


#: Fields that no plan rests on: facts of the proof, which reads them anew. Locks stay as they were without them.
_UNPLANNED_FIELDS: tuple[tuple[type[Frozen], frozenset[str]], ...] = (
    # Who has a machine or host that fails keeps it: no lock rests on its state, and none grows old with it.
    (Host, frozenset({"bmc", "macs", "state", "state_reason"})),
    (Machine, frozenset({"state", "state_reason"})),
    (SwitchPortConfig, frozenset({"empty", "filled_by"})),
    (FlavorSpec, frozenset({"devices"})),
    (WholeNode, frozenset({"one_time_use"})),
    # What is in an image is compared with what is asked for; no claim rests on it.
    (ImageSpec, frozenset({"properties", "software"})),
    # Which back end answers to a type, and how servers mount, decide no claim.
    (ShareTypeSpec, frozenset({"extra_specs", "mount_options"})),
    # How a port that is planned comes to be set, and where others rest, decide no claim.
    (Switch, frozenset({"wired_by", "mac", "port_names", "quarantine_vlan"})),
    # What was seen when: a lock does not grow old with the evidence that the proof rests on.
    (Assumption, frozenset({"evidence"})),
)
#: Assumptions that are as old as the hashes of locks. What was added since is left out like other facts of the proof.
_HASHED = frozenset(f"A{number}" for number in range(1, 16))

#: Sections of a site that came after the first locks; one that nobody states is left out of hashes.
YOUNGER_SECTIONS = frozenset({"region", "volume_encryption", "channel", "gpu_nodes", "fabric_switches"})

#: Types of values that are JSON as they are.
_PLAIN = frozenset({str, int, bool, type(None)})

#: Fields of other sections that are younger too, and left out likewise.
_YOUNGER_FIELDS: tuple[tuple[type[Frozen], frozenset[str]], ...] = (
    (Pools, frozenset({"cluster", "cluster_subnets", "roce", "roce_subnets"})),
    (FlavorSpec, frozenset({"whole_node"})),
    (InfinibandSubnet, frozenset({"storage"})),
)


def site_hash(site: Site) -> str:
    """`sha256:` of the whole site in full form, but for what no plan rests on."""
    return _hash_of(site, (name for name in Site.model_fields if name not in UNPLANNED))


def _hash_of(site: Site, names: Iterable[str]) -> str:
    """Of these fields, but for `YOUNGER_SECTIONS` that nobody states, so that older locks stay as they are."""
    said = {name: planned_part(getattr(site, name)) for name in names}
    return digest_of({key: value for key, value in said.items() if key not in YOUNGER_SECTIONS or value})


def planned_part(part: Any) -> Any:
    """A part of a site as JSON, without what no plan rests on."""
    # Most parts are texts and numbers: not enumerations, which are texts of a type of their own.
    if type(part) in _PLAIN:
        return part
    match part:
        case Frozen():
            names, young = _fields_of(type(part))
            fields = {name: getattr(part, name) for name in names}
            if young:
                fields = {name: value for name, value in fields.items() if value or name not in young}
            return {name: planned_part(value) for name, value in (fields | _as_planned(part)).items()}
        case tuple() | list():
            return [planned_part(item) for item in part if not isinstance(item, Assumption) or item.id in _HASHED]
        case dict():
            return {key: planned_part(value) for key, value in part.items()}
        case Controller():
            # Who tells it what a plan has for it decides no claim, nor does what is read of it.
            return part.model_dump(mode="json", exclude={"managed_by", "readings"})
    return to_jsonable_python(part)


@cache
def _fields_of(kind: type[Frozen]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The fields of a section's type that plans rest on, and those of them that are left out where empty."""
    hidden = next((names for each, names in _UNPLANNED_FIELDS if issubclass(kind, each)), frozenset[str]())
    young = next((names for each, names in _YOUNGER_FIELDS if issubclass(kind, each)), frozenset[str]())
    return tuple(name for name in kind.model_fields if name not in hidden), young


def _as_planned(part: Frozen) -> dict[str, Any]:
    """To a plan, a port that nobody stated is like a disabled one, and an underlay perhaps of Neutron's like others."""
    if isinstance(part, Underlay):
        return {"neutron": part.neutron is True}
    if isinstance(part, Switch) and part.ports:
        count = sum(number for _, number in part.port_groups)
        disabled = (SwitchPortConfig(port=port, mode="disabled") for port in range(1, count + 1))
        return {"ports": [part.by_port.get(item.port, item) for item in disabled]}
    return {}


class SiteHashes:
    """The hashes of one site. Every part is hashed once, so keep the object for all tenants of a run."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._parts: dict[tuple[str, ...], str] = {}

    @cached_property
    def whole(self) -> str:
        """The hash of the whole site, as `site_hash` gives it: what the operator's own lock records."""
        return site_hash(self.site)

    def slice_hash(self, allocation: Allocation) -> str:
        """`sha256:` over what this allocation uses of the site.

        That is: what all share, the logical racks of its machines, the switches of its physical networks with
        every cable there, its hosts, and of GPU nodes their InfiniBand ports. Anything else may change without making
        the lock old.
        """
        vpods, clusters = allocation.vpods.values(), allocation.clusters.values()
        used = {name for vpod in vpods for name in networks_of(vpod)}
        in_band = {cluster.cluster_network for cluster in clusters}
        roce = {cluster.roce_network for cluster in clusters if cluster.roce_network is not None}
        networks = tuple(sorted(used | in_band | roce))
        racks = {
            machine.logical_rack
            for vpod in vpods
            for machine in map(self.site.machine.get, vpod.machines)
            if machine is not None
        }
        nodes = {name for cluster in clusters for name in cluster.hosts}
        hosts = nodes | {name for vpod in vpods for name in (*vpod.hosts, vpod.controller_host)}
        hosts |= {name for cluster in clusters for name in cluster.heads}
        parts: dict[str, Any] = {
            "common": self._common(networks, has_clusters=bool(clusters), has_roce=bool(roce)),
            "networks": {name: self._network(name) for name in sorted(used)},
            "racks": {name: self._rack(name) for name in sorted(racks)},
            "hosts": {name: self._host(name, networks) for name in sorted(hosts)},
        }
        if clusters:
            parts["nodes"] = {name: self._node(name) for name in sorted(nodes)}
            # Without its switches, which the nodes' cables have: others of the hall come and go.
            parts["in_band"] = [planned_part(self.site.physical_network.get(name)) for name in sorted(in_band)]
        if roce:
            parts["roce"] = [planned_part(self.site.physical_network.get(name)) for name in sorted(roce)]
        return digest_of(parts)

    def _common(self, networks: tuple[str, ...], *, has_clusters: bool, has_roce: bool) -> str:
        key = ("common", "clusters" if has_clusters else "", "roce" if has_roce else "", *networks)
        if key not in self._parts:
            site = self.site
            ranges = [
                planned_part(item)
                for item in site.segment_ranges
                if item.physical_network is None or item.physical_network in networks
            ]
            limits = site.limits.model_dump(mode="json", include=TENANT_LIMITS)
            self._parts[key] = digest_of(
                {
                    "shared": self._shared(has_clusters=has_clusters),
                    "pools": self._pools(networks, has_clusters=has_clusters, has_roce=has_roce),
                    "ranges": ranges,
                    "limits": limits,
                }
            )
        return self._parts[key]

    def _shared(self, *, has_clusters: bool) -> str:
        """Sections that all share; InfiniBand's subnets join the nodes of clusters alone."""
        key = ("shared", "clusters" if has_clusters else "")
        if key not in self._parts:
            site = self.site if has_clusters else self.site.model_copy(update={"infiniband": ()})
            self._parts[key] = _hash_of(site, (name for name in Site.model_fields if name in COMMON))
        return self._parts[key]

    def _pools(self, networks: tuple[str, ...], *, has_clusters: bool, has_roce: bool) -> object:
        """The pools as these networks see them: the names of other leaf groups are left out.

        Without clusters so are the pools of clusters, so that a GPU hall makes no lock old that has nothing there, and
        without RoCE is the pool `roce`.
        """
        # Empty, not left out: so it stood in the locks of before.
        narrowed: dict[str, object] = {} if has_clusters else {"partition_keys": ()}
        for name, pool in self.site.pools:
            if isinstance(pool, VlanPool):
                used = tuple(item for item in pool.physical_networks if item in networks)
                narrowed[name] = pool.model_copy(update={"physical_networks": used})
        hidden = set[str]() if has_clusters else {"cluster", "cluster_subnets"}
        hidden |= set[str]() if has_roce else {"roce", "roce_subnets"}
        return self.site.pools.model_copy(update=narrowed).model_dump(mode="json", exclude=hidden)

    def _network(self, name: str) -> str:
        """A physical network, its switches, and whatever is plugged into them."""
        key = ("network", name)
        if key not in self._parts:
            network = self.site.physical_network.get(name)
            switches = network.switches if network else ()
            self._parts[key] = digest_of(
                {
                    "network": network.model_dump(mode="json") if network else name,
                    "switches": [planned_part(self.site.switch[item]) for item in switches if item in self.site.switch],
                    "plugged": self._plugged(switches),
                }
            )
        return self._parts[key]

    def _rack(self, name: str) -> str:
        """A logical rack, its machines and hosts, and every cable at them."""
        key = ("rack", name)
        if key not in self._parts:
            rack = self.site.logical_rack.get(name)
            machines, hosts = self._machines_in.get(name, []), self._hosts_in.get(name, [])
            self._parts[key] = digest_of(
                {
                    "rack": rack.model_dump(mode="json") if rack else name,
                    "machines": [planned_part(item) for item in machines],
                    "hosts": [planned_part(item) for item in hosts],
                    "plugged": self._plugged([*(item.name for item in machines), *(item.name for item in hosts)]),
                }
            )
        return self._parts[key]

    def _host(self, name: str, networks: tuple[str, ...]) -> str:
        """A host as these networks and the external one see it: it may serve other leaf groups as well."""
        key = ("host", name, *networks)
        if key not in self._parts:
            host = self.site.host.get(name)
            self._parts[key] = digest_of(self._host_seen(host, networks) if host else name)
        return self._parts[key]

    def _node(self, name: str) -> object:
        """What a GPU node has besides being a host: GUIDs, which its partitions consist of, and the leaves behind."""
        cables = [self._cable(cable) for cable in self._cables_at.get(name, []) if cable.kind == "infiniband"]
        return {"node": planned_part(self.site.gpu_node.get(name)), "cables": cables}

    def _host_seen(self, host: Host, networks: tuple[str, ...]) -> object:
        seen = {*networks, self.site.external.physical_network}
        interfaces = {key: found for key, found in host.interfaces.items() if key in seen}
        plugs = {plug for found in interfaces.values() for plug in found}
        cables = [
            self._cable(cable)
            for cable in self._cables_at.get(host.name, [])
            if any(end.device == host.name and end.interface in plugs for end in (cable.a, cable.b))
        ]
        return {"host": planned_part(host.model_copy(update={"interfaces": interfaces})), "cables": cables}

    def _plugged(self, devices: Iterable[str]) -> object:
        """Cables and LAGs with an end at one of these devices."""
        names = list(devices)
        cables = [self._cable(cable) for name in names for cable in self._cables_at.get(name, [])]
        lags = [lag.model_dump(mode="json") for name in names for lag in self._lags_at.get(name, [])]
        return {"cables": cables, "lags": lags}

    def _cable(self, cable: Cable) -> object:
        """A cable with how the switch ports at its ends are set: what comes in there depends on both."""
        return [cable.kind, *(self._end(end) for end in (cable.a, cable.b))]

    def _end(self, end: Endpoint) -> object:
        switch = self.site.switch.get(end.device)
        if switch is None:
            return str(end)
        number = int(end.interface) if is_number(end.interface) else 0
        disabled = SwitchPortConfig(port=number, mode="disabled") if switch.ports and number else None
        port = switch.by_port.get(number, disabled)
        inside = switch.model_dump(mode="json", include={"ip_routing", "routed_vlans", "vrfs", "vteps"})
        return [str(end), planned_part(port) if port else None, inside]

    @cached_property
    def _machines_in(self) -> dict[str, list[Machine]]:
        found: dict[str, list[Machine]] = {}
        for machine in self.site.machines:
            found.setdefault(machine.logical_rack, []).append(machine)
        return found

    @cached_property
    def _hosts_in(self) -> dict[str, list[Host]]:
        found: dict[str, list[Host]] = {}
        for host in self.site.hosts:
            if host.logical_rack is not None:
                found.setdefault(host.logical_rack, []).append(host)
        return found

    @cached_property
    def _cables_at(self) -> dict[str, list[Cable]]:
        found: dict[str, list[Cable]] = {}
        for cable in self.site.cables:
            for device in {cable.a.device, cable.b.device}:
                found.setdefault(device, []).append(cable)
        return found

    @cached_property
    def _lags_at(self) -> dict[str, list[Lag]]:
        found: dict[str, list[Lag]] = {}
        for lag in self.site.lags:
            found.setdefault(lag.device, []).append(lag)
        return found


def networks_of(vpod: VPodAllocation) -> tuple[str, ...]:
    """The physical networks that a vPOD's VLANs lie on."""
    names = (vpod.ipu_data_network, vpod.storage_network, vpod.management_network, vpod.control_network)
    return tuple(name for name in names if name is not None)
