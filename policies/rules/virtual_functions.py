"""Ports without a filter of their own: ISO-09 what a virtual function may send, ISO-10 security groups do nothing."""

from __future__ import annotations

from collections.abc import Iterator

from policies.about import resources
from policies.facts.kinds import PlanFacts, PortFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer

#: Ports that no virtual switch stands in front of.
_UNFILTERED = ("direct", "baremetal")


def _hardened(model: Model, _: Names) -> RuleAnswer:
    direct = [port for port in model.plan.ports if port.vnic_type == "direct"]
    return RuleAnswer(len(direct), violated=tuple(cause for port in direct for cause in _soft_spots(model.plan, port)))


def _soft_spots(plan: PlanFacts, port: PortFact) -> Iterator[Cause]:
    network = plan.network.get(port.network)
    if not port.port_security or (network is not None and not network.port_security):
        yield _soft_cause(port, "has its spoof check off", "port_security false")
    if port.allowed_address_pairs:
        listed = ", ".join(port.allowed_address_pairs)
        yield _soft_cause(port, "may send from addresses that are not its own", f"allowed_address_pairs {listed}")


def _soft_cause(port: PortFact, why: str, fact: str) -> Cause:
    return Cause(
        key=(port.name, why),
        message=f"the virtual function of port {port.name} {why}",
        witness=(f"port {port.name} of {port.server or 'no server'}", f"network {port.network}", fact),
        hint="a direct port has port_security true, on its network too, and no allowed_address_pairs",
        specificity=99,
        about=resources(port.name, port.server, port.network),
    )


def _no_evidence(model: Model, _: Names) -> RuleAnswer:
    ports = [port for port in model.plan.ports if port.vnic_type in _UNFILTERED]
    return RuleAnswer(len(ports), violated=tuple(_group_cause(port) for port in ports if port.security_groups))


def _group_cause(port: PortFact) -> Cause:
    groups = ", ".join(port.security_groups)
    return Cause(
        key=port.name,
        message=f"security groups on the {port.vnic_type} port {port.name} filter nothing: {groups}",
        witness=(f"port {port.name} of {port.server or 'no server'}", f"security groups {groups}"),
        hint="take them off: only its VLAN and its subnet's grants separate this port from others",
        specificity=20,
        about=resources(port.name, *port.security_groups, port.server),
    )


ISO_09 = Rule(
    id="ISO-09",
    title="virtual functions send from their own addresses only",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="shares and the appliance's addresses are granted by address, and nothing behind a virtual function checks one",
    source="Neutron admin guide, SR-IOV: spoof check; docs/design/semantics.md §11, example 30",
    needs=("direct ports", "networks"),
    ask=_hardened,
)
ISO_10 = Rule(
    id="ISO-10",
    title="no security groups on ports where they have no effect",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="who reads the plan takes them for a filter; the proof never does",
    source="Neutron admin guide, SR-IOV: security groups are not supported on direct ports",
    needs=("direct and bare-metal ports",),
    ask=_no_evidence,
)
