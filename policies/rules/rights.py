"""Rights at Neutron: ISO-24 none to everybody, ISO-25 none to another tenant, ISO-26 external networks by name."""

from __future__ import annotations

from collections.abc import Iterator

from policies.about import resources
from policies.edges.plan import EXTERNAL_REFERENCE
from policies.facts.kinds import NetworkFact
from policies.facts.rights import EVERY_PROJECT, RightFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer


def _offers_outside(model: Model, right: RightFact) -> bool:
    """True for a right to gateways on an external network: what it is there for."""
    network = model.plan.network.get(right.object)
    external = right.object == EXTERNAL_REFERENCE or (network is not None and network.external)
    return external and right.action == "access_as_external"


# ISO-24


def _nothing_for_all(model: Model, _: Names) -> RuleAnswer:
    inner = [network for network in model.plan.networks if not network.external]
    rights = [right for right in model.plan.rights if not _offers_outside(model, right)]
    causes = (*_shared_networks(inner), *_open_scopes(model), *_wildcards(rights))
    return RuleAnswer(len(inner) + len(rights), violated=causes)


def _shared_networks(networks: list[NetworkFact]) -> Iterator[Cause]:
    for network in networks:
        if network.shared:
            what, how = f"network {network.name} of {network.owner}", f"{network.segment_name}, shared: true"
            yield _open_cause(what, how, network.name)


def _open_scopes(model: Model) -> Iterator[Cause]:
    """A tenant's own; what the operator opens counts where a gateway stands on it."""
    if model.plan.is_tenant:
        yield from (_open_cause(str(scope), "shared: true", scope.name) for scope in model.plan.open_scopes)


def _wildcards(rights: list[RightFact]) -> Iterator[Cause]:
    for right in rights:
        if right.target == EVERY_PROJECT:
            what, how = f"{right.object} of {right.owner}", f"{right.name}: {right.action} to *"
            yield _open_cause(what, how, right.object, right.name)


def _open_cause(what: str, how: str, *named: str) -> Cause:
    """`named`: the resources that these words name."""
    return Cause(
        key=(what, how),
        message=f"every project, foreign ones among them, has a right to {what}",
        witness=(what, how, "every tenant, and projects that no file describes"),
        hint="take the right away: what several owners may use is the operator's, declared under `sharing`",
        specificity=96,
        about=resources(*named),
    )


# ISO-25


def _nothing_for_others(model: Model, _: Names) -> RuleAnswer:
    named = [right for right in model.plan.rights if right.target != EVERY_PROJECT]
    others = (right for right in named if right.target != right.owner and not _offers_outside(model, right))
    return RuleAnswer(len(named), violated=tuple(_given_cause(right) for right in others))


def _given_cause(right: RightFact) -> Cause:
    return Cause(
        key=right.name,
        message=f"{right.target} has a right to {right.object} of {right.owner}, before it uses it",
        witness=(f"{right.object} of {right.owner}", f"{right.name}: {right.action}", f"project of {right.target}"),
        hint="take the right away: a right to plug in joins two owners like a port does",
        specificity=95,
        about=resources(right.object, right.name),
    )


# ISO-26


def _outside_by_name(model: Model, _: Names) -> RuleAnswer:
    offered = [right for right in model.plan.rights if _offers_outside(model, right)]
    wide = (right for right in offered if right.target == EVERY_PROJECT)
    return RuleAnswer(len(offered), violated=tuple(_wide_cause(right) for right in wide))


def _wide_cause(right: RightFact) -> Cause:
    return Cause(
        key=right.name,
        message=f"every project may put a gateway on {right.object}",
        witness=(right.object, f"{right.name}: {right.action} to *"),
        hint="give the right to each tenant's project by name",
        specificity=20,
        about=resources(right.object, right.name),
    )


ISO_24 = Rule(
    id="ISO-24",
    title="nothing but external networks is open to every project",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="a right to plug in counts as used. That also security groups, address scopes and subnet pools are closed is "
    "a rule of its own",
    source="Neutron admin guide, RBAC policies: target *; docs/design/semantics.md §4, E13",
    needs=("networks", "rights", "address scopes", "subnet pools"),
    ask=_nothing_for_all,
)
ISO_25 = Rule(
    id="ISO-25",
    title="no tenant has a right to another's objects",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a right to plug in counts as used. That a right to a security group or an address scope stays inside the "
    "tenant is a rule of its own",
    source="Neutron admin guide, RBAC policies; docs/design/semantics.md §11, example 11",
    needs=("rights",),
    ask=_nothing_for_others,
)
ISO_26 = Rule(
    id="ISO-26",
    title="external networks are offered to projects by name",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="whoever gets a project gets a way out, and in, unasked",
    source="Neutron admin guide, RBAC policies: access_as_external",
    needs=("rights", "external"),
    ask=_outside_by_name,
)
