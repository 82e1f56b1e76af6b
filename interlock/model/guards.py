"""Every guard that a site file can state. One left out, or called unknown, is None: never assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from .errors import Code, fault
from .values import shown

#: Kind of declared sharing -> guards under which it stays a terminal (docs/design/semantics.md, terminals).
SHARING_GUARDS: dict[str, tuple[str, ...]] = {
    "external-network": ("address_scope_closed", "l3_agent_enforces_scopes", "no_tenant_ports"),
    "vipu-controller": (
        "operator_project",
        "no_tenant_login",
        "ipv4_forwarding_off",
        "ipv6_forwarding_off",
        "no_proxying",
        "listeners_listed",
    ),
}

#: Assumption of the proof -> its guards (docs/design/semantics.md, assumptions).
ASSUMPTION_GUARDS: dict[str, tuple[str, ...]] = {
    "A1": ("vlan_lists_enforced", "configuration_matches"),
    "A2": ("project_scope_enforced", "default_policies"),
    "A3": ("no_forwarding", "credentials_rotated", "agent_port_operator_only"),
    "A4": ("one_allocation_each", "secure_tls", "operator_run"),
    "A5": ("iommu", "mitigations", "no_host_network", "pages_zeroed"),
    "A10": ("pools_delegated",),
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


Guard = Annotated[
    bool | None, BeforeValidator(_guard), WithJsonSchema({"enum": [True, False, "unknown", None]})
]
