"""Grants on data: SEC-11 buckets are for the tenant's own users, SEC-14 shares for exactly one subnet of its own."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from interlock.vocabulary import NetworkRole
from policies.about import Fact, Reason, SiteFact, resources
from policies.edges.shape import Relation
from policies.facts.data import EVERYBODY, BucketFact, BucketPolicyFact, ShareAccessFact
from policies.facts.guards import GuardState, assumption
from policies.facts.kinds import NetworkFact, PlanFacts, SubnetFact
from policies.facts.prefixes import prefix_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer
from .unstated_roles import lacking, unstated_roles

#: What networks are for on which the appliance may have an address: nodes of a cluster are in-band alone.
MOUNTED_ON = (NetworkRole.STORAGE, NetworkRole.CLUSTER)


def _held_by_the_service(held: GuardState, what: str, count: int) -> Iterator[Cause]:
    """What to say unless the service behind grants is known to keep to them (A11): till then they say nothing."""
    if count:
        yield Cause(
            key=what,
            message=f"whether {what} is enforced is {'false' if held.broken else 'not known'}",
            witness=tuple(map(str, (*held.broken, *held.missing))),
            hint="state the guard of A11 in the site file, if it is held",
            missing=held.missing,
            specificity=67,
        )


def _answer(held: GuardState, what: str, count: int, causes: tuple[Cause, ...]) -> RuleAnswer:
    service = tuple(_held_by_the_service(held, what, count))
    return RuleAnswer(count, causes + (service if held.value is False else ()), service if held.value is None else ())


# SEC-11


def _own_principals(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    causes = tuple(cause for item in plan.buckets for cause in _bucket_faults(plan, item))
    causes += tuple(cause for item in plan.bucket_policies for cause in _policy_faults(plan, item))
    held = assumption(model.site.site, "A11", only="bucket_rules_enforced")
    answer = _answer(held, "a bucket policy", len(plan.bucket_policies), causes)
    return RuleAnswer(len(plan.buckets) + len(plan.bucket_policies), answer.violated, answer.unknown)


def _bucket_faults(plan: PlanFacts, item: BucketFact) -> Iterator[Cause]:
    if item.owner != plan.owner:
        yield _bucket_cause(item.name, f"lies in a project of {item.owner}")
    yield from _key_faults(plan, item.name, item.credential)


def _policy_faults(plan: PlanFacts, item: BucketPolicyFact) -> Iterator[Cause]:
    if item.bucket not in {bucket.name for bucket in plan.buckets}:
        yield _bucket_cause(item.name, f"is for {item.bucket}, no bucket of this plan", item.bucket)
    yield from _key_faults(plan, item.name, item.credential)
    own = {user.name for user in plan.users if user.owner == plan.owner}
    for principals, actions in item.grants:
        for principal in principals:
            if principal == EVERYBODY and set(actions) <= {"read"} and item.bucket in plan.access.public:
                continue  # a public bucket, as its request declares it: an exposure, not a grant to somebody
            if principal not in own:
                who = "everybody" if principal == EVERYBODY else f"{principal}, no user of {plan.owner},"
                yield _bucket_cause(item.name, f"lets {who} {' and '.join(actions)}", principal)


def _key_faults(plan: PlanFacts, name: str, credential: str) -> Iterator[Cause]:
    key = next((item for item in plan.credentials if item.name == credential), None)
    users = {user.name for user in plan.users if user.owner == plan.owner}
    if key is None or key.owner != plan.owner or key.user not in users:
        yield _bucket_cause(name, f"is made with {credential}, no key of a user of {plan.owner}", credential)


def _bucket_cause(name: str, why: str, *named: str) -> Cause:
    """`named`: the resources that the reason names."""
    return Cause(
        key=(name, why),
        message=f"{name} {why}",
        witness=(name, why),
        hint="grant to vPODs and clusters of this tenant only; `public: true` gives everybody read access, and no more",
        specificity=88,
        about=resources(name, *named),
    )


# SEC-14


def _exact_prefixes(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    causes = tuple(_share_cause(item, why) for item in plan.accesses if (why := tuple(_access_faults(plan, item))))
    alike, unknown = overlapping(model)
    causes += tuple(_alike_cause(*pair) for pair in alike if not unknown)
    held = assumption(model.site.site, "A11", only="storage_rules_enforced")
    answer = _answer(held, "a grant by address", len(plan.accesses), causes)
    doubtful = tuple(_alike_cause(*pair, unknown) for pair in alike if unknown)
    unsure = lacking(plan, (item.network for item in plan.accesses))
    doubtful += tuple(unstated_roles(unsure, "whether a share may be mounted there", 89))
    return RuleAnswer(answer.count, answer.violated, answer.unknown + doubtful)


def overlapping(model: Model) -> tuple[tuple[tuple[ShareAccessFact, str, str], ...], tuple[Fact, ...]]:
    """(own grant, another's prefix, another's grant) that one client address can present, and what nobody states.

    Empty while the appliance looks at its own address too, and not at the client's alone.
    """
    broken, missing = _by_client_alone(model)
    if not (broken or missing):
        return (), ()
    own = {access.name for access in model.plan.accesses}
    others = [(prefix, why) for *_, prefix, why in model.union.facts(Relation.MOUNTS) if why not in own]
    pairs = tuple(
        (access, prefix, why)
        for access in model.plan.accesses
        for prefix, why in others
        if prefix_of(prefix).overlaps(prefix_of(access.prefix))
    )
    return pairs, () if broken else missing


def _by_client_alone(model: Model) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """The guards that say so, and those that nobody states."""
    guard = "access_by_vip_and_client"
    appliances = [item for item in model.site.site.sharing if item.kind == "storage-appliance"]
    facts = [(SiteFact(f"sharing.{item.name}.guards.{guard}"), item.guards.get(guard)) for item in appliances]
    held = [tuple(fact for fact, value in facts if value is wanted) for wanted in (False, None)]
    return held[0], held[1]


def _alike_cause(item: ShareAccessFact, prefix: str, why: str, missing: tuple[Fact, ...] = ()) -> Cause:
    return Cause(
        key=(item.name, why),
        message=f"{item.name} and {why} are for {item.prefix} and {prefix}, and the appliance looks at clients alone",
        witness=(f"{item.name}: {item.prefix} at {item.vip}", "the storage appliance", f"{why}: {prefix}"),
        hint="let the appliance decide by its own address too, or give one of the two another prefix",
        missing=missing,
        specificity=89,
        about=resources(item.name, why),
    )


def _access_faults(plan: PlanFacts, item: ShareAccessFact) -> Iterator[Reason]:
    if not any(share.name == item.share and share.owner == plan.owner for share in plan.shares):
        yield Reason(f"{item.share} is no share of {plan.owner}", resources(item.share))
    if not item.root_squash:
        yield Reason("root_squash is off: root of any client is root on the share")
    network = plan.network.get(item.network)
    if network is not None and plan.lacks_role(network):
        return  # `unstated_roles` says so.
    if network is None or network.role not in MOUNTED_ON or network.owner != plan.owner:
        what = f"no storage network of a vPOD of {plan.owner}, and no in-band network of a cluster of its"
        yield Reason(f"{item.network} is {what}", resources(item.network))
        return
    subnets = [subnet for subnet in plan.subnets if subnet.network == network.name]
    if item.prefix not in {subnet.cidr for subnet in subnets}:
        known = ", ".join(subnet.cidr for subnet in subnets) or "none"
        yield Reason(f"it is for {item.prefix}, and the subnet of {network.name} is {known}", resources(network.name))
        return
    yield from _address_faults(plan, item, network, subnets)


def _address_faults(
    plan: PlanFacts, item: ShareAccessFact, network: NetworkFact, subnets: list[SubnetFact]
) -> Iterator[Reason]:
    if ip_address(item.vip) not in prefix_of(item.prefix):
        yield Reason(f"the appliance's address {item.vip} is not in {item.prefix}")
    ports = plan.ports_on(network.name)
    taken: dict[str | None, Reason] = {port.address: Reason(port.name, resources(port.name)) for port in ports}
    for subnet in subnets:
        taken[subnet.gateway] = Reason(f"gateway of {subnet.name}", resources(subnet.name))
    if item.vip in taken:
        yield Reason(f"the appliance's address {item.vip} is that of {taken[item.vip]}", taken[item.vip].about)
    others = (other for other in plan.accesses if other.network != item.network)
    elsewhere = sorted(other.network for other in others if other.vip == item.vip)
    if elsewhere:
        yield Reason(f"the appliance's address {item.vip} stands on {elsewhere[0]} too", resources(elsewhere[0]))


def _share_cause(item: ShareAccessFact, why: tuple[Reason, ...]) -> Cause:
    named = (subject for reason in why for subject in reason.about)
    return Cause(
        key=item.name,
        message=f"{item.name}: {'; '.join(map(str, why))}",
        witness=(f"share {item.share}", f"network {item.network}", f"{item.prefix} at {item.vip}"),
        hint="each vPOD mounts a share from its own storage subnet, each cluster from its in-band subnet, the whole of "
        "it, at the appliance's address there",
        specificity=89,
        about=(*resources(item.name), *named, *resources(item.share, item.network)),
    )


SEC_11 = Rule(
    id="SEC-11",
    title="buckets are made and used by the tenant's own users, or declared public",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="a policy is a way around every network: whoever it names reads from anywhere",
    source="docs/design/semantics.md §6, Auth, and §11, example 32; OpenStack Swift, S3 bucket policies",
    needs=("buckets", "bucket policies", "S3 keys", "A11"),
    ask=_own_principals,
    of=Of.TENANT,
)
SEC_14 = Rule(
    id="SEC-14",
    title="a share is granted to exactly the storage subnet of a vPOD, or in-band subnet of a cluster, of its tenant",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a grant by address holds for whoever can present the address",
    source="reference design, storage §6.1: filesystem access limited to subnets; OSSN-0087",
    needs=("shares", "share accesses", "networks", "subnets", "A11", "guards of storage-appliance"),
    ask=_exact_prefixes,
    of=Of.TENANT,
)
