"""V-IPU controllers by their API: SEC-01 keys and TLS, SEC-02 where it can be called, SEC-03 one tenant each."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware.gpu.software import numbers
from interlock.hardware.vipu_software import ASKS_FOR_KEYS
from interlock.model.site.controller_readings import RENEW_CONTROLLERS
from interlock.resources import SecurityGroupRule as Filter
from interlock.vocabulary import NetworkRole
from policies.about import Reason, SaidFact, SiteFact, resources
from policies.authority.closure import Leak
from policies.edges.premises import Way
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts import principals as who
from policies.facts.controllers import ControllerFacts, controllers_of, controllers_read
from policies.facts.fabric import AllocationFact
from policies.facts.guards import assumption
from policies.facts.kinds import PlanFacts, PortFact
from policies.facts.prefixes import prefix_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .authority import leak_cause, leaking
from .controller_listening import admin_api_open, stated_by
from .remote_groups import holders
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_guard
from .unstated_roles import lacking, unstated_roles

# SEC-01


def _with_keys(model: Model, _: Names) -> RuleAnswer:
    controllers = controllers_of(model.plan)
    held = assumption(model.site.site, "A4", only="secure_tls")
    known = "false" if held.broken else "not known"
    causes = (
        Cause(
            key=item.name,
            message=f"whether {item.name} takes calls only with a key and over TLS is {known}",
            witness=(f"everybody on the networks of {item.name}", item.name, *_witness(model.plan, item.name)),
            hint="start controllers with --secure and TLS, and state `secure_tls` of A4",
            missing=held.missing,
            specificity=91,
            about=resources(item.name, *(given.name for given in _allocations(model.plan, item.name))),
        )
        for item in controllers
    )
    stated = by_guard(len(controllers), held, causes)
    read = [(item, *_open_by_reading(item)) for item in controllers_read(model.plan, model.site)]
    wrong = tuple(
        read_cause(model.plan, item, why, SiteFact("assumptions.A4.secure_tls")) for item, why, _ in read if why
    )
    unsure = tuple(_unsure_cause(model.plan, item, why) for item, _, why in read if why)
    return RuleAnswer(stated.count, stated.violated + wrong, stated.unknown + unsure)


def _open_by_reading(item: ControllerFacts) -> tuple[str, str]:
    """(what was seen to be open, what nobody can tell): a reading makes nothing better than it is stated."""
    seen = item.last
    if seen is None:
        return "", ""
    if seen.keys_asked is False:
        return "answered a call with a wrong key", ""
    if seen.certificates is False:
        return "has no certificates, so that it cannot take calls over TLS", ""
    if seen.keys_asked is None and seen.release is not None and numbers(seen.release)[:2] < ASKS_FOR_KEYS.value:
        since = ".".join(map(str, ASKS_FOR_KEYS.value))
        return "", f"is of release {seen.release}, which asks for keys only if it is told to (before {since})"
    return "", ""


def read_cause(plan: PlanFacts, item: ControllerFacts, why: str, *stated: SiteFact) -> Cause:
    """What was read is not what the site states."""
    assert item.last is not None  # without a reading nothing is wrong by it
    return Cause(
        key=(item.name, why, "read"),
        message=f"{item.name} {why}, seen at {item.last.read}",
        witness=(*item.last_witness, *_witness(plan, item.name)),
        hint=f"correct it on the controller, then run `{RENEW_CONTROLLERS}`",
        specificity=95,
        about=(*resources(item.name), *stated),
    )


def _unsure_cause(plan: PlanFacts, item: ControllerFacts, why: str) -> Cause:
    return Cause(
        key=(item.name, "release"),
        message=f"{item.name} {why}, and whether it does was not seen",
        witness=(*item.last_witness, *_witness(plan, item.name)),
        hint=f"start it with --secure, and run `{RENEW_CONTROLLERS}` where it can be tried",
        missing=(SaidFact(f"that {item.name} refuses a wrong key"),),
        specificity=90,
        about=resources(item.name),
    )


def _witness(plan: PlanFacts, controller: str) -> tuple[str, ...]:
    return tuple(f"allocation {item.name}" for item in _allocations(plan, controller))


def _allocations(plan: PlanFacts, controller: str) -> tuple[AllocationFact, ...]:
    return tuple(item for item in plan.allocations if item.controller == controller)


# SEC-02


def _api_for_its_own_vpod(model: Model, _: Names) -> RuleAnswer:
    plan, controller = model.plan, model.site.site.controller
    ports = [plan.port[name] for item in controllers_of(plan) for name in item.ports if name in plan.port]
    seen = tuple(cause for item in controllers_read(plan, model.site) for cause in _by_reading(model, item))
    if controller is None:
        return RuleAnswer(len(ports), seen, tuple(map(_which_port, ports)))
    causes = (*(cause for port in ports for cause in _faults(plan, port, controller.user_api_port)), *seen)
    unsure = lacking(plan, (port.network for port in ports))
    return RuleAnswer(len(ports), causes, tuple(unstated_roles(unsure, "what may be let in there", 74)))


def _by_reading(model: Model, item: ControllerFacts) -> Iterator[Cause]:
    """What was seen on the controller's machine that the site states otherwise."""
    for family, name in (("IPv4", "ipv4"), ("IPv6", "ipv6")):
        if item.last is not None and item.last.forwarding_off.get(name) is False:
            stated = stated_by(model, f"{name}_forwarding_off")
            yield read_cause(model.plan, item, f"forwards packets of {family}", *stated)
    if where := admin_api_open(model.plan, item):
        yield read_cause(model.plan, item, where, *stated_by(model, "listeners_listed"))


def _which_port(port: PortFact) -> Cause:
    return Cause(
        key=(port.name, "controller"),
        message=f"which port of controller {port.server} is the user API is not stated",
        witness=(f"controller {port.server}", f"port {port.name} on {port.network}"),
        hint="state `controller:` in the site file",
        specificity=74,
        about=resources(port.name, port.server),
        missing=(SiteFact("controller"),),
    )


def _faults(plan: PlanFacts, port: PortFact, user_api: int) -> Iterator[Cause]:
    """Sep keeps other tenants away; filters keep the tenant's own servers at the user API, and off the admin API."""
    groups = {item.name: item for item in plan.security_groups}
    if port.owner != ids.OPERATOR:
        yield _open_cause(port, Reason(f"lies in a project of {port.owner}'s, who may change what it lets in"))
    if not port.port_security or not port.security_groups:
        yield _open_cause(port, Reason("has no security group that filters"))
    for name in port.security_groups:
        if name not in groups:
            yield _open_cause(port, Reason(f"has the group {name}, which is not of this plan", resources(name)))
            continue
        if groups[name].owner != ids.OPERATOR:
            why = f"has the group {name} of {groups[name].owner}, who may change what it lets in"
            yield _open_cause(port, Reason(why, resources(name)))
        rules = [rule for rule in groups[name].rules if rule.direction == "ingress"]
        reasons = (_too_open(plan, port, rule, user_api) for rule in rules)
        yield from (_open_cause(port, why) for why in reasons if why is not None)


def _too_open(plan: PlanFacts, port: PortFact, rule: Filter, user_api: int) -> Reason | None:
    network = plan.network.get(port.network)
    if network is not None and plan.lacks_role(network):
        return None  # `unstated_roles` says so.
    if network is None or network.role is not NetworkRole.CONTROL:
        return _lets_in(rule, "and nothing but the user API is called there")
    if rule.protocol != "tcp" or (rule.port_min, rule.port_max) != (user_api, user_api):
        return _lets_in(rule, f"and the user API is tcp {user_api}")
    own = [prefix_of(subnet.cidr) for subnet in plan.subnets if subnet.network == network.name]
    if rule.remote_group is not None:
        return _group_too_wide(plan, rule, rule.remote_group, network.name)
    asked = prefix_of(rule.remote_prefix) if rule.remote_prefix is not None else None
    if asked not in own:
        return _lets_in(rule, f"and the control subnet of its vPOD is {', '.join(map(str, own)) or 'none'}")
    return None


def _lets_in(rule: Filter, and_yet: str, *named: str) -> Reason:
    return Reason(f"lets {shown(rule)} in, {and_yet}", resources(shown_group(rule), *named))


def _group_too_wide(plan: PlanFacts, rule: Filter, name: str, control: str) -> Reason | None:
    """A group is as good as the control subnet while all its members are there."""
    if all(name != group.name for group in plan.security_groups):
        return _lets_in(rule, "which is not of this plan")
    beside = sorted(port.name for port in holders(plan, name) if port.network != control)
    return _lets_in(rule, f"of which {', '.join(beside)} is not on {control}", *beside, control) if beside else None


def shown(rule: Filter) -> str:
    """A filter in words: `tcp 22-22 from 203.0.113.0/24`."""
    ports = "" if rule.port_min is None else f" {rule.port_min}-{rule.port_max}"
    group = f"group {rule.remote_group}" if rule.remote_group is not None else None
    return (
        f"{rule.protocol or 'everything'}{ports} from {rule.remote_prefix or group or f'any {rule.ethertype} address'}"
    )


def shown_group(rule: Filter) -> str | None:
    """The group that these words name; None if they name none."""
    return rule.remote_group if not rule.remote_prefix else None


def _open_cause(port: PortFact, why: Reason) -> Cause:
    return Cause(
        key=(port.name, str(why)),
        message=f"port {port.name} of controller {port.server} {why}",
        witness=(f"controller {port.server}", f"port {port.name} on {port.network}", str(why)),
        hint="let in the user API from the vPOD's own control subnet, and nothing else, by groups of the operator's",
        specificity=74,
        about=(*resources(port.name, port.server), *why.about, *resources(port.network)),
    )


# SEC-03


def _one_tenant_each(model: Model, _: Names) -> RuleAnswer:
    controllers = {node for node, *_ in model.union.facts(Relation.LISTENS)}
    own = {who.thing("server", model.plan.owner, item.name) for item in controllers_of(model.plan)}
    looked_at = controllers & own if model.plan.is_tenant else controllers

    # Where packets of two tenants meet anyway, other rules say so: here each comes by a wire of its own.
    def told(leak: Leak) -> Cause | None:
        if leak.follows or not any(grant.way is Way.SERVES for grant in leak.grants):
            return None
        return leak_cause(leak, hint="one controller for each tenant, on that tenant's networks only", specificity=93)

    return leaking(model, len(looked_at), told)


SEC_01 = Rule(
    id="SEC-01",
    title="V-IPU controllers take calls only with a key and over TLS",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="an API without users obeys everybody who meets one of its ports, and holds every allocation",
    source="docs/design/semantics.md §11, example 21; Graphcore, V-IPU administrator guide, security",
    needs=("allocations", "A4.secure_tls", "readings of controllers"),
    ask=_with_keys,
    of=Of.TENANT,
)
SEC_02 = Rule(
    id="SEC-02",
    title="a controller admits only its own vPOD's control subnet, at the user API",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="the admin API of a controller gives machines away, and another vPOD's servers have no business there",
    source="Graphcore, V-IPU administrator guide, security: user and admin API",
    needs=("ports of controllers", "security groups", "subnets", "controller.user_api_port", "readings of controllers"),
    ask=_api_for_its_own_vpod,
    of=Of.TENANT,
)
SEC_03 = Rule(
    id="SEC-03",
    title="one controller serves one tenant",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="two tenants at one controller are kept apart by its user list alone",
    source="docs/design/semantics.md §11, example 20; reference design: a control instance for each vPOD",
    needs=("allocations", "ports of controllers", "everything that joins"),
    ask=_one_tenant_each,
)
