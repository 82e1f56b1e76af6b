"""Every guard that a site file can state. One left out, or called unknown, is None: never assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.values import shown

from .rests import RestsOnEvidence, rests_on_evidence


@dataclass(frozen=True)
class SharedKind:
    """A kind of declared sharing: the guards under which it stays a terminal, and the rule that takes over.

    The guards keep packets from passing through. What tenants can do by way of the objects behind is decided
    by grants, and `rule` is the one that answers for them.
    """

    guards: tuple[str, ...]
    rule: str


#: What holds for every server of the operator that several tenants reach.
_SERVER = (
    "operator_project",
    "no_tenant_login",
    "ipv4_forwarding_off",
    "ipv6_forwarding_off",
    "no_proxying",
    "listeners_listed",
)
#: What holds for a service with an address of its own for each owner.
_ADDRESSES = ("vips_per_owner", "vlan_per_owner", "no_routing_between_vips", "access_by_vip_and_client")

#: Every kind of declared sharing (docs/design/semantics.md, terminals).
SHARING: dict[str, SharedKind] = {
    "external-network": SharedKind(
        ("address_scope_closed", "l3_agent_enforces_scopes", "no_tenant_ports"), rule="L3-08"
    ),
    "vipu-controller": SharedKind(_SERVER, rule="SEC-03"),
    "storage-appliance": SharedKind(_ADDRESSES, rule="SEC-14"),
    "object-store": SharedKind(_ADDRESSES, rule="SEC-11"),
    "routed-back-end": SharedKind(("default_deny", "permits_service_only"), rule="L3-06"),
    "private-vlan-back-end": SharedKind(("roles_enforced", "tenants_isolated"), rule="ISO-07"),
    "bastion": SharedKind(_SERVER, rule="SEC-02"),
    "monitoring": SharedKind(_SERVER, rule="SEC-02"),
    "name-and-time": SharedKind(_SERVER, rule="SEC-02"),
    "metadata": SharedKind(_SERVER, rule="SEC-04"),
    "registry": SharedKind(_SERVER, rule="SEC-15"),
}

#: Kind of declared sharing -> its guards.
SHARING_GUARDS: dict[str, tuple[str, ...]] = {kind: shared.guards for kind, shared in SHARING.items()}

#: Assumption of the proof -> its guards (docs/design/semantics.md, assumptions). A12 has none: that no two sites
#: of a fleet name one thing is looked at, not stated.
ASSUMPTION_GUARDS: dict[str, tuple[str, ...]] = {
    "A1": ("vlan_lists_enforced", "configuration_matches"),
    "A2": ("project_scope_enforced", "default_policies"),
    "A3": ("no_forwarding", "credentials_rotated", "agent_port_operator_only"),
    "A4": ("one_allocation_each", "secure_tls", "operator_run"),
    "A5": ("iommu", "mitigations", "no_host_network", "pages_zeroed"),
    "A6": ("subnet_manager_keys_set", "keys_enforced_at_switch", "default_partition_limited"),
    "A7": ("private_vlan_enforced", "single_trunk"),
    "A8": ("partitions_applied", "default_partition_empty"),
    "A9": ("steps_erase",),
    "A10": ("pools_delegated",),
    "A11": ("storage_rules_enforced", "bucket_rules_enforced"),
    "A13": ("in_band_closed",),
    "A14": (
        "neutron_interface", "service_networks_closed", "ramdisk_endpoints_closed", "operator_owns_nodes",
        "consoles_disabled",
    ),
    "A15": ("token_endpoints_closed",),
    "A16": ("load_balancers_apart",),
    "A17": ("underlay_closed",),
    "A18": ("namespaces_apart", "metadata_signed"),
    "A19": ("migration_closed", "consoles_closed"),
    "A20": ("volumes_apart",),
    "A21": ("upstream_filtered",),
    "A22": ("vlan_protocols_off",),
    "A23": ("firmware_restored",),
    "A24": ("bmc_answers_only", "conductor_forwards_nothing"),
}  # fmt: skip

#: The same of assumptions that no verdict rests on. A site has them where it states them, and only there.
GUARDS_OF_SETTLING: dict[str, tuple[str, ...]] = {
    # Read by `interlock settle` alone, of GPU nodes whose firmware nobody attested.
    "A25": ("gpu_firmware_kept",),
}


def completed(stated: Mapping[str, bool | None], known: Iterable[str]) -> dict[str, bool | None]:
    """All known guards, those that nobody stated as None."""
    return {name: stated.get(name) for name in known}


def _guard(value: Any) -> bool | None:
    if value is None or value == "unknown":
        return None
    if isinstance(value, bool):
        return value
    raise fault(Code.WRONG_TYPE, f"{shown(value)} is no state of a guard", "write true, false or unknown")


def _assumption_guard(value: Any) -> bool | RestsOnEvidence | None:
    return rests_on_evidence(value) if isinstance(value, dict) else _guard(value)


_STATES = {"enum": [True, False, "unknown", None]}
_RESTS = {
    "type": "object",
    "properties": {
        "by": {
            "const": "evidence",
            "description": "files that `interlock switches --record`, for A6 `interlock fabrics --record`, writes",
        },
        "max_age": {
            "type": "string",
            "pattern": "^[1-9][0-9]{0,4}[dh]$",
            "description": "how old the evidence of each switch or subnet may be, in days or hours",
        },
    },
    "required": ["by", "max_age"],
    "additionalProperties": False,
}

Guard = Annotated[bool | None, BeforeValidator(_guard), WithJsonSchema(_STATES)]
#: The same of an assumption, some guards of which may rest on evidence (`rests.BY_EVIDENCE`).
AssumptionGuard = Annotated[
    bool | RestsOnEvidence | None, PlainValidator(_assumption_guard), WithJsonSchema({"anyOf": [_STATES, _RESTS]})
]
