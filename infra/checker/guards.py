"""Which assumptions and declared sharings keep which edges away, and whether all that each takes is stated to hold."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from typing import Any

from .reading import Malformed, printable

#: Row of the table of edges, with the kind of its second end where that matters -> the assumptions that must hold for
#: an edge of it to be away. Of an empty one a declared sharing answers; named ones must hold besides in every row.
KEPT_AWAY: dict[str, tuple[str, ...]] = {
    "E1": ("A1", "A7"), "E9": (), "E11": (), "E14": ("A13",), "E15": ("A3",), "E16": ("A4",), "E17": ("A8",),
    "E18": ("A5",), "E18 cpu": ("A5 between owners",), "E19": (), "E19 fabric": ("A6",),
    **{name: (name,) for name in ("A1", "A2", "A9", "A10", *(f"A{number}" for number in range(16, 25)))},
}  # fmt: skip
_OF_A_SERVER = "operator_project no_tenant_login ipv4_forwarding_off ipv6_forwarding_off no_proxying listeners_listed"
_SERVER_KINDS = ("vipu-controller", "bastion", "monitoring", "name-and-time", "metadata", "registry")
_VIPS = ("vips_per_owner", "vlan_per_owner", "no_routing_between_vips", "access_by_vip_and_client")
#: Assumption -> everything that must hold; a guard that is left out holds nothing back.
GUARDS: dict[str, tuple[str, ...]] = {
    "A1": ("vlan_lists_enforced", "configuration_matches"), "A2": ("project_scope_enforced", "default_policies"),
    "A3": ("no_forwarding", "credentials_rotated", "agent_port_operator_only"),
    "A4": ("one_allocation_each", "secure_tls", "operator_run"),
    "A5": ("iommu", "no_host_network", "pages_zeroed"), "A5 between owners": ("mitigations",),
    "A6": ("subnet_manager_keys_set", "keys_enforced_at_switch", "default_partition_limited"),
    "A7": ("private_vlan_enforced", "single_trunk"), "A8": ("partitions_applied", "default_partition_empty"),
    "A9": ("steps_erase",), "A10": ("pools_delegated",), "A13": ("in_band_closed",), "A23": ("firmware_restored",),
    "A16": ("load_balancers_apart",), "A17": ("underlay_closed",), "A18": ("namespaces_apart", "metadata_signed"),
    "A19": ("migration_closed", "consoles_closed"), "A20": ("volumes_apart",), "A21": ("upstream_filtered",),
    "A22": ("vlan_protocols_off",), "A24": ("bmc_answers_only", "conductor_forwards_nothing"),
}  # fmt: skip
#: The same of each kind of declared sharing.
SHARING: dict[str, tuple[str, ...]] = {
    "external-network": ("address_scope_closed", "l3_agent_enforces_scopes", "no_tenant_ports"),
    "storage-appliance": _VIPS, "object-store": _VIPS, "routed-back-end": ("default_deny", "permits_service_only"),
    "private-vlan-back-end": ("roles_enforced", "tenants_isolated"),
    **dict.fromkeys(_SERVER_KINDS, tuple(_OF_A_SERVER.split())),
}  # fmt: skip


def required(said: dict[str, Any]) -> Callable[[str, bool], frozenset[str] | None]:
    """Asks for the guards of an assumption or a declaration, of the tables and all others stated; None: one fails."""
    kinds = {item["name"]: item["kind"] for item in said["terminals"]}
    stated = sorted({*said["guards"]} - {f"assumptions.A5.{guard}" for guard in GUARDS["A5 between owners"]})

    @cache
    def held(name: str, is_declared: bool) -> frozenset[str] | None:
        if is_declared and name not in kinds:
            raise Malformed(printable(f"statement.ground: {name} is no declaration"))
        head = f"sharing.{name}.guards." if is_declared else f"assumptions.{name.split()[0]}."
        found = {head + guard for guard in (SHARING[kinds[name]] if is_declared else GUARDS[name])}
        if is_declared or " " not in name:
            # All that begins with it: the next character after a dot is a slash.
            found |= {*stated[bisect_left(stated, head) : bisect_left(stated, head[:-1] + "/")]}
        found |= {"external.address_scope"} if is_declared and kinds[name] == "external-network" else set()
        return frozenset(found) if all(said["guards"].get(guard) is True for guard in found) else None

    return held
