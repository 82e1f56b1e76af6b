"""The shipped site, as those benchmarks begin from it that make larger ones."""

from __future__ import annotations

from typing import Any

import yaml

from tests.e2e.project import ROOT


def lyon() -> dict[str, Any]:
    """The document of `stacks/lyon/site.yaml`, without its one storage appliance: no benchmark is about it."""
    site: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / "lyon" / "site.yaml").read_text())
    del site["devices"], site["share_types"], site["sharing"]["filer"]
    del site["tenant_defaults"]["share_type"], site["pools"]["storage_vips"]
    site["cables"] = [item for item in site["cables"] if not any("filer-1" in end for end in item["ends"])]
    for port in (25, "26-32"):
        del site["racks"][0]["tor"]["ports"][port]
    return site
