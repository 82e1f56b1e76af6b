"""Neutron: segments and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from interlock.provider.calls import Api
from interlock.provider.clouds import Cloud
from interlock.provider.markers import split
from interlock.resources import AddressScope, Network, Port, Resource, SegmentRange, Subnet, SubnetPool

from .base import Ids, Observed, Target
from .neutron import NamedNeutronActuator, NeutronActuator


def owning(cloud: Cloud, raw: dict[str, Any]) -> str | None:
    """The project of an object, None if it is the operator's own (as `project` of a specification says it)."""
    return None if raw["project_id"] == cloud.login.project else str(raw["project_id"])


class SegmentRangeActuator(NamedNeutronActuator[SegmentRange]):
    """Shared ranges; Neutron's own default ranges of the same type must have been removed."""

    KIND: ClassVar[type[Resource]] = SegmentRange
    PATH: ClassVar[str] = "network_segment_ranges"
    ONE: ClassVar[str] = "network_segment_range"
    MUTABLE: ClassVar[tuple[str, ...]] = ("minimum", "maximum")

    def body(self, cloud: Cloud, target: Target[SegmentRange]) -> dict[str, Any]:
        spec = target.spec
        body: dict[str, Any] = {
            "network_type": spec.network_type,
            "minimum": spec.minimum,
            "maximum": spec.maximum,
            "shared": True,
        }
        if spec.physical_network is not None:
            body["physical_network"] = spec.physical_network
        return body

    def create(self, cloud: Cloud, target: Target[SegmentRange]) -> str:
        # A shared range has no project: Neutron refuses one that names a project.
        body = self.body(cloud, target) | self._carried(target)
        return str(cloud.api("network").post(f"/{self.PATH}", {self.ONE: body})[self.ONE]["id"])

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        text, mark = split(raw.get("name"))
        fields = {
            "name": text,
            "network_type": raw["network_type"],
            "physical_network": raw["physical_network"] or None,
            "minimum": raw["minimum"],
            "maximum": raw["maximum"],
        }
        return Observed(raw["id"], mark, fields)


class AddressScopeActuator(NamedNeutronActuator[AddressScope]):
    """Address scopes of the operator's project."""

    KIND: ClassVar[type[Resource]] = AddressScope
    PATH: ClassVar[str] = "address-scopes"
    ONE: ClassVar[str] = "address_scope"
    MUTABLE: ClassVar[tuple[str, ...]] = ()

    def body(self, cloud: Cloud, target: Target[AddressScope]) -> dict[str, Any]:
        return {"ip_version": target.spec.ip_version, "shared": target.spec.shared}

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        text, mark = split(raw["name"])
        fields = {"name": text, "ip_version": raw["ip_version"], "shared": raw["shared"]}
        return Observed(raw["id"], mark, fields, {"project": owning(cloud, raw)})


class SubnetPoolActuator(NeutronActuator[SubnetPool]):
    """Subnet pools of the operator's project."""

    KIND: ClassVar[type[Resource]] = SubnetPool
    PATH: ClassVar[str] = "subnetpools"
    ONE: ClassVar[str] = "subnetpool"
    MUTABLE: ClassVar[tuple[str, ...]] = ("name", "default_prefixlen")

    def body(self, cloud: Cloud, target: Target[SubnetPool]) -> dict[str, Any]:
        spec = target.spec
        return {
            "name": spec.name,
            "prefixes": list(spec.prefixes),
            "default_prefixlen": spec.default_prefix_length,
            "shared": spec.shared,
            "address_scope_id": target.one("address_scope"),
        }

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        fields = {
            "name": raw["name"],
            "prefixes": raw["prefixes"],
            "default_prefix_length": int(raw["default_prefixlen"]),
            "shared": raw["shared"],
        }
        references = {"address_scope": raw["address_scope_id"], "project": owning(cloud, raw)}
        return Observed(raw["id"], raw["description"], fields, references)


class NetworkActuator(NeutronActuator[Network]):
    """Networks with their segment; only an administrator sees and sets the segment."""

    KIND: ClassVar[type[Resource]] = Network
    PATH: ClassVar[str] = "networks"
    ONE: ClassVar[str] = "network"
    MUTABLE: ClassVar[tuple[str, ...]] = ("name", "port_security_enabled", "mtu")
    OUTPUTS: ClassVar[Mapping[str, str]] = {"segment": "segmentation id in use (VLAN or VNI); null on a flat network"}

    def body(self, cloud: Cloud, target: Target[Network]) -> dict[str, Any]:
        spec = target.spec
        body: dict[str, Any] = {
            "name": spec.name,
            "provider:network_type": spec.network_type,
            "router:external": spec.external,
            "shared": spec.shared,
            "port_security_enabled": spec.port_security,
        }
        optional = {
            "provider:physical_network": spec.physical_network,
            "provider:segmentation_id": spec.segmentation_id,
            "mtu": spec.mtu,
        }
        return body | {key: value for key, value in optional.items() if value is not None}

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        fields = {
            "name": raw["name"],
            "network_type": raw["provider:network_type"],
            "physical_network": raw["provider:physical_network"],
            "segmentation_id": raw["provider:segmentation_id"],
            "external": raw["router:external"],
            "shared": raw["shared"],
            "port_security": raw["port_security_enabled"],
            "mtu": raw["mtu"],
        }
        outputs = {"segment": raw["provider:segmentation_id"]}
        return Observed(raw["id"], raw["description"], fields, {"project": owning(cloud, raw)}, outputs)


class SubnetActuator(NeutronActuator[Subnet]):
    """Subnets, IPv4 or IPv6 by their prefix."""

    KIND: ClassVar[type[Resource]] = Subnet
    PATH: ClassVar[str] = "subnets"
    ONE: ClassVar[str] = "subnet"
    MUTABLE: ClassVar[tuple[str, ...]] = (
        "name", "gateway_ip", "enable_dhcp", "dns_nameservers", "allocation_pools",
    )  # fmt: skip

    def body(self, cloud: Cloud, target: Target[Subnet]) -> dict[str, Any]:
        spec = target.spec
        body: dict[str, Any] = {
            "name": spec.name,
            "network_id": target.one("network"),
            "ip_version": 6 if ":" in spec.cidr else 4,
            "cidr": spec.cidr,
            "gateway_ip": spec.gateway,
            "enable_dhcp": spec.dhcp,
            "dns_nameservers": list(spec.dns),
        }
        if spec.pools:
            body["allocation_pools"] = [{"start": first, "end": last} for first, last in spec.pools]
        if target.refs.get("subnet_pool"):
            body["subnetpool_id"] = target.one("subnet_pool")
        return body

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        fields = {
            "name": raw["name"],
            "cidr": raw["cidr"],
            "gateway": raw["gateway_ip"],
            "dhcp": raw["enable_dhcp"],
            "dns": raw["dns_nameservers"],
            "pools": [[pool["start"], pool["end"]] for pool in raw["allocation_pools"]],
        }
        references: dict[str, Ids] = {
            "project": owning(cloud, raw),
            "network": raw["network_id"],
            "subnet_pool": raw["subnetpool_id"],
        }
        return Observed(raw["id"], raw["description"], fields, references)


def _pair(raw: Mapping[str, str], own: str) -> str:
    """A prefix that a port may send from; with the Ethernet address, where that is not the port's own."""
    return raw["ip_address"] if raw["mac_address"] == own else f"{raw['ip_address']} {raw['mac_address']}"


class PortActuator(NeutronActuator[Port]):
    """Ports with one fixed address each."""

    KIND: ClassVar[type[Resource]] = Port
    PATH: ClassVar[str] = "ports"
    ONE: ClassVar[str] = "port"
    MUTABLE: ClassVar[tuple[str, ...]] = (
        "name", "fixed_ips", "port_security_enabled", "security_groups", "allowed_address_pairs",
    )  # fmt: skip
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "mac": "Ethernet address of the port; empty for a whole host, whose interface has its own"
    }

    def body(self, cloud: Cloud, target: Target[Port]) -> dict[str, Any]:
        spec = target.spec
        return {
            "name": spec.name,
            "network_id": target.one("network"),
            "fixed_ips": [{"subnet_id": target.one("subnet"), "ip_address": spec.address}],
            "binding:vnic_type": spec.vnic_type,
            "port_security_enabled": spec.port_security,
            # Always sent: without it Neutron adds the project's default group.
            "security_groups": list(target.many("security_groups")),
            "allowed_address_pairs": [{"ip_address": prefix} for prefix in spec.allowed_address_pairs],
        }

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        addresses = raw["fixed_ips"]
        fields = {
            "name": raw["name"],
            "address": ",".join(item["ip_address"] for item in addresses),
            "vnic_type": raw["binding:vnic_type"],
            "port_security": raw["port_security_enabled"],
            "allowed_address_pairs": [_pair(item, raw["mac_address"]) for item in raw["allowed_address_pairs"]],
        }
        references: dict[str, Ids] = {
            "project": raw["project_id"],
            "network": raw["network_id"],
            "subnet": addresses[0]["subnet_id"] if addresses else None,
            "security_groups": tuple(raw["security_groups"]),
        }
        # Ironic gives a port the address of the interface that it is attached to, and another one when that changes.
        mac = "" if raw["binding:vnic_type"] == "baremetal" else raw["mac_address"]
        return Observed(raw["id"], raw["description"], fields, references, {"mac": mac})

    def holder(self, cloud: Cloud, ident: str, target: Target[Port]) -> str:
        """The server at which Nova has the port. Neutron's word alone is none: a tenant can write a port's device."""
        found = cloud.api("network").find(f"/{self.PATH}/{ident}")
        if found is None or not found[self.ONE]["device_id"]:
            return ""
        raw = found[self.ONE]
        answer = _compute(cloud, target).find(f"/servers/{raw['device_id']}")
        plugged = answer is not None and raw["mac_address"] in _addresses(answer["server"])
        return str(raw["device_id"]) if plugged else ""

    def detach(self, cloud: Cloud, ident: str, target: Target[Port], server: str) -> None:
        """Asks Nova, which then frees the virtual function behind the port. If Neutron deletes a port that is plugged
        in, Nova hears of it and takes it off, but goes on to count the function until the server is gone
        (`_process_instance_vif_deleted_event` in nova/compute/manager.py): after some moves a host has none left."""
        _compute(cloud, target).delete(f"/servers/{server}/os-interface/{ident}")


def _compute(cloud: Cloud, target: Target[Port]) -> Api:
    """Nova for the owning project: of other projects' servers it says that there are none."""
    return cloud.api("compute", target.one("project"))


def _addresses(server: Mapping[str, Any]) -> set[str]:
    """Ethernet addresses of the ports that Nova has at a server."""
    return {item["OS-EXT-IPS-MAC:mac_addr"] for items in server["addresses"].values() for item in items}
