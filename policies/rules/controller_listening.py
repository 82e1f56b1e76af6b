"""SEC-02 by readings: the admin API of a V-IPU controller listens at no address of a tenant's network.

Filters of its ports are planned and proved; that nothing but the user API listens is a guard that a person states. A
reading of sockets contradicts it, and shows nothing more: what a filter on the machine lets through nobody read.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.controller_readings import open_within
from interlock.vocabulary import NetworkRole
from policies.about import SiteFact
from policies.facts.controllers import ControllerFacts
from policies.facts.kinds import PlanFacts
from policies.facts.prefixes import prefix_of
from policies.graph.model import Model


def admin_api_open(plan: PlanFacts, item: ControllerFacts) -> str:
    """At which address of a tenant's network the admin API was seen to listen, in words; empty if at none."""
    seen = item.last
    if seen is None or seen.admin_port is None:
        return ""
    networks = _tenants_networks(plan, item.name)
    prefixes = [prefix_of(subnet.cidr) for subnet in plan.subnets if subnet.network in networks]
    found = open_within(seen.admin_addresses, prefixes)
    if not found:
        return ""
    return f"takes calls of the admin API, tcp {seen.admin_port}, at {', '.join(found)}, on {', '.join(networks)}"


def _tenants_networks(plan: PlanFacts, controller: str) -> list[str]:
    """Those on which it has a port, but for the operator's management; of one without a role nobody can say it."""
    ports = (plan.port[name] for name in plan.server[controller].ports if name in plan.port)
    networks = {port.network: plan.network.get(port.network) for port in ports}
    beside = (None, NetworkRole.MANAGEMENT)
    return sorted(name for name, network in networks.items() if network is not None and network.role not in beside)


def stated_by(model: Model, guard: str) -> Iterator[SiteFact]:
    """Where the site states a guard of its controllers."""
    for item in model.site.site.sharing:
        if item.kind == "vipu-controller":
            yield SiteFact(f"sharing.{item.name}.guards.{guard}")
