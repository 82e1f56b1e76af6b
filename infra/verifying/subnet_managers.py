"""What evidence says of subnet managers, guard by guard of A6, derived from its files and the site in full form.

Written from docs/reference/evidence-file.md: nothing is used of what the loader made.
"""

from __future__ import annotations

from typing import Any

from infra.checker import digest

Json = dict[str, Any]
_KEYS = ("m_key", "sm_key", "sa_key", "m_key_per_port")


def said_of_subnets(site: Json, files: dict[str, Json], guard: str) -> dict[str, bool | str]:
    """Subnet -> whether its manager was seen to be so, or why nothing is known of it."""
    found = dict[str, bool | str]()
    for subnet in site["infiniband"]:
        name = subnet["name"]
        ports = (port for node in site["gpu_nodes"] for port in node["ports"] if port["infiniband"] == name)
        guids = {port["guid"] for port in ports} | _appliances(site, subnet)
        said = _said(site["name"], subnet, files.get(f"evidence/fabrics-{name}.json"), guard, guids)
        found[name] = f"the evidence of {name} {said}" if isinstance(said, str) else said
    return found


def _appliances(site: Json, subnet: Json) -> set[str]:
    """Ports of appliances: those of the subnet's own, and those that are declared as shared by their GUID."""
    kinds = ("storage-appliance", "object-store")
    shared = {item["node"].lower() for item in site["sharing"] if item["kind"] in kinds}
    return {*(subnet["storage"] or {"appliance": ()})["appliance"], *shared}


def _said(site: str, subnet: Json, found: Json | None, guard: str, guids: set[str | None]) -> bool | str:
    if found is None:
        return "is not there"
    if found["digest"] != digest({key: value for key, value in found.items() if key != "digest"}):
        return "was edited"
    if (found["site"], found["infiniband"]) != (site, subnet["name"]):
        return f"is of {found['infiniband']} of site {found['site']}"
    if found["prefix"] != subnet["prefix"]:
        return f"is of the subnet {found['prefix']}"
    values = [found["keys"][key] for key in _KEYS]
    if guard == "default_partition_limited":
        full = found["full_in_default"]
        # A full member that no node is stated to have may be the port of which nobody states the GUID.
        is_open = full is None or (full and None in guids)
        values = [found["default_limited"], False if guids & {*(full or ())} else None if is_open else True]
    if any(value is False for value in values):
        return False
    return "does not say it" if any(value is None for value in values) else True
