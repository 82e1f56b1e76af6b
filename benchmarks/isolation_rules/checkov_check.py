"""The rule of join.rego for Checkov: it sees one resource at a time, so the check itself remembers the others."""

from __future__ import annotations

from typing import Any

# Checkov has an environment of its own: it is no dependency of this project.
from checkov.common.models.enums import CheckCategories, CheckResult  # type: ignore[import-not-found]
from checkov.terraform.checks.resource.base_resource_check import (  # type: ignore[import-not-found]
    BaseResourceCheck,
)


class OneTenantPerVlan(BaseResourceCheck):  # type: ignore[misc]
    """No two tenants' networks on one VLAN of one physical network."""

    def __init__(self) -> None:
        super().__init__(
            name="one tenant per VLAN",
            id="CKV_ISOLATION_1",
            categories=[CheckCategories.NETWORKING],
            supported_resources=["openstack_networking_network_v2"],
        )
        self.first: dict[tuple[str, str], str] = {}

    def scan_resource_conf(self, conf: dict[str, list[Any]]) -> CheckResult:
        """Compare with the first network that was seen on this VLAN."""
        segment = conf["segments"][0]
        segment = segment[0] if isinstance(segment, list) else segment
        place = str(segment["physical_network"]), str(segment["segmentation_id"])
        tenant = str(conf["tenant_id"][0])
        return CheckResult.PASSED if self.first.setdefault(place, tenant) == tenant else CheckResult.FAILED


check = OneTenantPerVlan()
