"""The address of a public server: from the outputs of its stack where Pulumi can read them, else from the cloud."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from infra.cli.exits import EnvironmentFailed
from infra.program.gate import Gate
from interlock.planning import Plan
from interlock.planning.ways_in import WayIn

from .engine import Engine


def address_of(gate: Gate, plan: Plan, way: WayIn) -> str:
    """The address outside. Raises `EnvironmentFailed` if the server has none yet, or if neither can be asked."""
    found = _of_outputs(plan.stack, way) or _of_cloud(gate, plan, way)
    if not found:
        raise EnvironmentFailed(f"{way.server} has no address outside yet", "apply its stack: `pulumi up`")
    try:
        # It becomes a word of a command line.
        return str(ip_address(found))
    except ValueError:
        raise EnvironmentFailed(f"{way.server}: {found!r} is no address", "run `interlock audit`") from None


def _of_outputs(stack: str, way: WayIn) -> str:
    """Empty where Pulumi, its backend or the stack is not there, or the stack is from before the server was public."""
    try:
        outputs = Engine.here().outputs(stack)
    except EnvironmentFailed:
        return ""
    parts = [*outputs.get("vpods", {}).values(), *outputs.get("clusters", {}).values()]
    for servers in (part.get(word, {}) for part in parts for word in ("poplar", "heads")):
        server: dict[str, Any] = servers.get(way.server, {})
        if "public_address" in server:
            return str(server["public_address"] or "")
    return ""


def _of_cloud(gate: Gate, plan: Plan, way: WayIn) -> str:
    # Imported here: the cloud's client takes as long to load as everything else together.
    from interlock.provider.clouds import Cloud
    from interlock.provider.public_addresses import public_address

    site = gate.workspace.site
    cloud = Cloud(site.cloud, site_region=site.region)
    project = plan.by_name[way.entry].resource.canonical()["project"]
    return public_address(cloud, plan.owner, project, way.entry)
