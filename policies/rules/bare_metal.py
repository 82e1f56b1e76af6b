"""What Ironic must keep apart where hosts are given out whole: ISO-17, ISO-18, L3-13 and SEC-16.

None of it is in a plan: a site states it as guards of A14. Where no host is given out whole, nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable

from policies.about import devices
from policies.facts.guards import GuardState, assumption_facts
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer, by_guard


def _stated(claim: str, hint: str, *guards: str) -> Callable[[Model, Names], RuleAnswer]:
    """A question that these guards of A14 answer, for every plan of a site with whole hosts."""

    def ask(model: Model, _: Names) -> RuleAnswer:
        site = model.site.site
        hosts = tuple(host.name for host in site.whole_hosts)
        facts = (fact for fact in assumption_facts(site, "A14") if fact[0].path.rpartition(".")[2] in guards)
        held = GuardState.of(facts)
        return by_guard(len(hosts), held, [_cause(claim, hint, held, hosts)] if hosts else ())

    return ask


def _cause(claim: str, hint: str, held: GuardState, hosts: tuple[str, ...]) -> Cause:
    known = "false" if held.broken else "not known"
    return Cause(
        key=claim,
        message=f"whether {claim} is {known}, and {_several(hosts)} given out whole",
        witness=(f"root on {hosts[0]}", *map(str, held.broken or held.missing)),
        hint=hint,
        missing=held.missing,
        specificity=90,
        about=devices(hosts[0]),
    )


def _several(hosts: tuple[str, ...]) -> str:
    first, *others = hosts
    return f"{first} and {len(others)} more are" if others else f"{first} is"


ISO_17 = Rule(
    id="ISO-17",
    title="whole hosts are on their tenant's networks by Ironic's `neutron` network interface",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="with `flat` all whole hosts share one network, and with `noop` nobody moves their switch ports",
    source="Ironic administration guide, security overview: network interfaces, and multi-tenancy",
    needs=("hosts", "A14.neutron_interface"),
    ask=_stated(
        "every whole host has the network interface `neutron`",
        "set `network_interface: neutron` on every node, and state `neutron_interface` of A14",
        "neutron_interface",
    ),
)
ISO_18 = Rule(
    id="ISO-18",
    title="no tenant reaches the networks on which Ironic provisions, cleans and inspects hosts",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a host is there with the operator's ramdisk in it, and whoever joins it gives it another one",
    source="Ironic administration guide, security overview: provisioning, cleaning and inspection networks",
    needs=("hosts", "A14.service_networks_closed"),
    ask=_stated(
        "tenants are kept off the provisioning, cleaning and inspection networks",
        "give these networks VLANs outside the pools and no router, and state `service_networks_closed` of A14",
        "service_networks_closed",
    ),
)
L3_13 = Rule(
    id="L3-13",
    title="Ironic's endpoints for ramdisks are on no listener that tenants or the outside can reach",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="lookup, heartbeat and inspection take calls without a token, and lookup gives one out for a host",
    source="OSSN-0106: Ironic's unauthenticated ramdisk endpoints",
    needs=("hosts", "A14.ramdisk_endpoints_closed"),
    ask=_stated(
        "Ironic's ramdisk endpoints are closed to tenants and outside",
        "serve them on the provisioning network alone (`enable_ramdisk_endpoints`), and state "
        "`ramdisk_endpoints_closed` of A14",
        "ramdisk_endpoints_closed",
    ),
)
SEC_16 = Rule(
    id="SEC-16",
    title="no tenant owns an Ironic node, and consoles and remote templates are off",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="an owner of a node changes where its BMC is, opens its console and lends it to others",
    source="OSSA-2026-008, OSSA-2026-010, OSSA-2026-012; Ironic administration guide, node owner and lessee",
    needs=("hosts", "A14.operator_owns_nodes", "A14.consoles_disabled"),
    ask=_stated(
        "the operator alone owns Ironic nodes, without consoles, anaconda deploys and iDRAC molds",
        "give tenants the lessee of a node at most, disable those interfaces, and state `operator_owns_nodes` and "
        "`consoles_disabled` of A14",
        "operator_owns_nodes",
        "consoles_disabled",
    ),
)
