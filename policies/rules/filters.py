"""Security groups: L3-11 no rule admits other owners, L3-12 IPv6 rules admit no more than IPv4 rules.

Filters take no edge of the proof away. These rules are for what they are there for: defence in depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interlock.resources import SecurityGroupRule as Filter
from policies.about import resources
from policies.facts.kinds import PlanFacts
from policies.facts.prefixes import prefix_of
from policies.facts.rights import SecurityGroupFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .controller_access import shown, shown_group
from .open_filters import Opening, openings
from .remote_groups import Member, holders, strangers
from .rule import Cause, Polarity, Rule, RuleAnswer, unique

#: Ports that a server may open to the whole world if the request declares it public.
WEB = (80, 443)
_WITH_PORTS = ("tcp", "udp")
_VERSION = {"IPv4": 4, "IPv6": 6}

# L3-11


def _well_formed(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    filters = [(group, rule) for group in plan.security_groups for rule in group.rules]
    causes = [_malformed_cause(group, rule, why) for group, rule in filters for why in _malformed(rule)]
    causes += [_world_cause(group, rule) for group, rule in filters if _too_open(plan, group, rule)]
    causes += [_opening_cause(item) for item in openings(plan) if not _is_public_web(plan, item)]
    by_group = [_group_cause(group, rule, who) for group, rule in filters for who in strangers(plan, group, rule)]
    causes += [cause for cause in by_group if not cause.missing]
    return RuleAnswer(len(filters), tuple(unique(causes)), tuple(cause for cause in by_group if cause.missing))


def _malformed(rule: Filter) -> Iterator[str]:
    ports = (rule.port_min, rule.port_max)
    if ports != (None, None) and rule.protocol not in _WITH_PORTS:
        yield f"{rule.protocol or 'every protocol'} has no ports"
    if (rule.port_min is None) != (rule.port_max is None):
        yield "one end of the range of ports is missing"
    if rule.port_min is not None and rule.port_max is not None and not 1 <= rule.port_min <= rule.port_max <= 65535:
        yield f"{rule.port_min}-{rule.port_max} is no range of ports"
    if rule.remote_prefix is not None:
        version = prefix_of(rule.remote_prefix).version
        if version != _VERSION[rule.ethertype]:
            yield f"{rule.remote_prefix} is no {rule.ethertype} prefix"


def is_open(rule: Filter) -> bool:
    """True if the rule is for every address there is."""
    if rule.remote_prefix is None:
        return rule.remote_group is None
    return prefix_of(rule.remote_prefix).prefixlen == 0


def _too_open(plan: PlanFacts, group: SecurityGroupFact, rule: Filter) -> bool:
    """Open to the world: never, but for the web ports of a server that the request declares public."""
    if rule.direction != "ingress" or not is_open(rule):
        return False
    web = rule.protocol == "tcp" and rule.port_min == rule.port_max and rule.port_min in WEB
    return not (web and _only_public(plan, group))


def _is_public_web(plan: PlanFacts, opening: Opening) -> bool:
    """The same of several filters: they meet at one web port alone, in groups of public servers alone."""
    web = opening.protocol == "tcp" and opening.ports in [(port, port) for port in WEB]
    found = {group.name: group for group in plan.security_groups}
    return web and all(_only_public(plan, found[name]) for name in opening.groups)


def _only_public(plan: PlanFacts, group: SecurityGroupFact) -> bool:
    ports = {port.name for port in holders(plan, group.name)}
    public = {item.port for item in plan.floating_ips if item.name in plan.access.public}
    return bool(ports) and ports <= public


def _malformed_cause(group: SecurityGroupFact, rule: Filter, why: str) -> Cause:
    return Cause(
        key=(group.name, shown(rule), why),
        message=f"security group {group.name}: {shown(rule)}: {why}",
        witness=(f"security group {group.name}", f"{rule.direction} {shown(rule)}", why),
        hint="name tcp or udp where ports are meant, with both ends of the range, and prefixes of the rule's ethertype",
        specificity=36,
        about=resources(group.name, shown_group(rule)),
    )


def _world_cause(group: SecurityGroupFact, rule: Filter) -> Cause:
    return Cause(
        key=(group.name, shown(rule)),
        message=f"security group {group.name} lets the whole world in: {shown(rule)}",
        witness=("outside", f"security group {group.name}", shown(rule)),
        hint="name the prefixes from which it is needed (`access.ssh_from` for ssh)",
        specificity=35,
        about=resources(group.name, shown_group(rule)),
    )


def _opening_cause(opening: Opening) -> Cause:
    told = tuple(f"security group {name}: {shown(rule)}" for name, rule in opening.filters)
    return Cause(
        key=frozenset(told),
        message=f"security group {' and '.join(opening.groups)} lets the whole world in"
        + (f" by {len(told)} filters" if len(told) > 1 else f": {told[0]}"),
        witness=("outside", *told),
        hint="name the prefixes from which it is needed (`access.ssh_from` for ssh)",
        specificity=35,
        about=resources(*opening.groups),
    )


def _group_cause(group: SecurityGroupFact, rule: Filter, who: Member) -> Cause:
    told = "may let others in by group" if who.missing else f"lets {who.owner} in by group"
    return Cause(
        key=(group.name, rule.remote_group, who.missing),
        message=f"security group {group.name} {told}: {shown(rule)}",
        witness=(who.why, f"security group {rule.remote_group}", f"security group {group.name}", shown(rule)),
        hint="let in a group of the stack's own, all of whose ports are on its own networks, or name prefixes",
        missing=who.missing,
        specificity=36,
        about=resources(group.name, shown_group(rule), *who.named, rule.remote_group),
    )


# L3-12


def _same_for_both(model: Model, _: Names) -> RuleAnswer:
    groups = model.plan.security_groups
    return RuleAnswer(len(groups), tuple(cause for group in groups for cause in _one_sided(group)))


def _one_sided(group: SecurityGroupFact) -> Iterator[Cause]:
    """A restriction for one ethertype, where the other lets everything through at the same ports."""
    found: defaultdict[tuple[object, ...], list[Filter]] = defaultdict(list)
    for rule in group.rules:
        found[rule.direction, rule.protocol, rule.port_min, rule.port_max].append(rule)
    for rules in found.values():
        wide = {rule.ethertype for rule in rules if is_open(rule)}
        narrow = [rule for rule in rules if rule.ethertype not in wide]
        if wide and narrow:
            # Of two ethertypes one is left.
            yield _one_sided_cause(group, narrow[0], *wide)


def _one_sided_cause(group: SecurityGroupFact, rule: Filter, wide: str) -> Cause:
    return Cause(
        key=(group.name, shown(rule)),
        message=f"security group {group.name} restricts {rule.ethertype} and lets every {wide} address through",
        witness=(f"security group {group.name}", f"{rule.direction} {shown(rule)}", f"{wide}: any address"),
        hint=f"give {wide} the same restriction, or no rule",
        specificity=22,
        about=resources(group.name, shown_group(rule)),
    )


L3_11 = Rule(
    id="L3-11",
    title="security groups are well formed, and admit neither the whole world undeclared nor another owner by group",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a rule with ports and no protocol filters something else than it says; a group lets in whoever joins it later",
    source="OSSA-2019-001, OSSA-2019-002: invalid security group rules stopped filtering for whole hosts",
    needs=("security groups", "ports", "networks", "rights", "floating addresses", "the request's declarations"),
    ask=_well_formed,
)
L3_12 = Rule(
    id="L3-12",
    title="each restriction for IPv4 or IPv6 exists for both",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="a server with both is reached by the one that nobody thought of",
    source="OSSA-2021-001: anti-spoofing that IPv6 passed by",
    needs=("security groups",),
    ask=_same_for_both,
)
