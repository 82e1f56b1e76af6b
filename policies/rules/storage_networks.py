"""ISO-04: each vPOD has a storage VLAN, a storage subnet and an address of the appliance of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from interlock.vocabulary import NetworkRole
from policies.about import components, resources
from policies.edges.plan import PlanOnSite
from policies.facts import identities as ids
from policies.facts.kinds import NetworkFact
from policies.facts.prefixes import prefix_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer
from .unstated_roles import of_role


@dataclass(frozen=True)
class _Storage:
    """What one vPOD has of the storage network."""

    vpod: str
    #: Segments with their words: one VLAN on two switches is two.
    wires: dict[str, str]
    subnets: dict[str, str]
    addresses: frozenset[str]


def _unique_per_vpod(model: Model, _: Names) -> RuleAnswer:
    found = [_storage(model, vpod.name) for vpod in model.plan.vpods]
    within = (cause for a, b in combinations(found, 2) for cause in _shared(a, b))
    others = (cause for item in found for cause in _of_others(model, item))
    unsure = of_role(model.plan, NetworkRole.STORAGE, 86)
    return RuleAnswer(sum(bool(item.wires) for item in found), violated=(*within, *others), unknown=tuple(unsure))


def _storage(model: Model, vpod: str) -> _Storage:
    networks = model.plan.role(vpod, NetworkRole.STORAGE)
    names = {network.name for network in networks}
    return _Storage(
        vpod=vpod,
        wires=dict(_wires(model, networks)),
        subnets={item.name: item.cidr for item in model.plan.subnets if item.network in names},
        addresses=frozenset(item.vip for item in model.plan.accesses if item.network in names),
    )


def _wires(model: Model, networks: tuple[NetworkFact, ...]) -> Iterator[tuple[str, str]]:
    facts = PlanOnSite(model.site, model.plan)
    for network in networks:
        yield from ((wire, network.segment_name) for wire in facts.wires(network))


def _shared(a: _Storage, b: _Storage) -> Iterator[Cause]:
    for wire in sorted(a.wires.keys() & b.wires.keys()):
        yield _cause(a.vpod, b.vpod, "storage VLAN", a.wires[wire])
    for name, cidr in sorted(a.subnets.items()):
        for other, prefix in sorted(b.subnets.items()):
            if prefix_of(cidr).overlaps(prefix_of(prefix)):
                things = (f"{name} {cidr}", f"{other} {prefix}")
                yield _cause(a.vpod, b.vpod, "storage subnet", *things, named=(name, other))
    for address in sorted(a.addresses & b.addresses):
        yield _cause(a.vpod, b.vpod, "address of the appliance", address)


def _of_others(model: Model, item: _Storage) -> Iterator[Cause]:
    """Addresses of the appliance that another tenant holds; another's VLAN is ISO-01's and ISO-11's to tell."""
    for share in model.others:
        for address in sorted(item.addresses):
            if ids.share_address(model.site.site.cloud, address) in share.exclusive:
                yield _cause(item.vpod, share.owner, "address of the appliance", address)


def _cause(a: str, b: str, what: str, *things: str, named: tuple[str, ...] = ()) -> Cause:
    """`named`: the resources that the words for these things name."""
    return Cause(
        key=(a, b, what),
        message=f"{a} and {b} have one {what}: {' and '.join(things)}",
        witness=(a, *things, b),
        hint="pin another for one of the two and run `interlock lock`: without a pin a lock keeps what it has",
        specificity=86,
        about=(*resources(*named), *components(a, b)),
    )


ISO_04 = Rule(
    id="ISO-04",
    title="storage VLAN, subnet and address of the appliance are each vPOD's own",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="shares are granted by address: two vPODs with one subnet are one client. Of other tenants' subnets it says "
    "nothing: they lie on other VLANs",
    source="reference design, storage §6.1: a storage VLAN, subnet and VIP for each vPOD",
    needs=("storage networks", "subnets", "share accesses", "locks of all tenants"),
    ask=_unique_per_vpod,
    of=Of.TENANT,
)
