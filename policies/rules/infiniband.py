"""InfiniBand: ISO-19 the default partition, ISO-20 keys of one owner, ISO-21 shared keys, ISO-23 the manager's keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from interlock.vocabulary.nodes import PartitionKeyNode, parse
from policies.about import components, resources
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts.guards import GuardState, assumption
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer, by_guard


@dataclass(frozen=True)
class _Member:
    """A port in a partition, and whose it is."""

    port: str
    full: bool
    owners: frozenset[str]

    @property
    def is_tenants(self) -> bool:
        """True unless it is the operator's alone."""
        return bool(self.owners - {ids.OPERATOR})


@dataclass(frozen=True)
class _Key:
    """A partition of one subnet with every member that any plan or lock names."""

    node: str
    fabric: str
    members: tuple[_Member, ...]

    @property
    def bits(self) -> int:
        """The 15 bits."""
        node = parse(self.node)
        return node.key if isinstance(node, PartitionKeyNode) else 0

    @property
    def owners(self) -> frozenset[str]:
        """Everybody with a port in it."""
        return frozenset(owner for member in self.members for owner in member.owners)


def _keys(model: Model) -> list[_Key]:
    """The partitions of the subnets on which the plan has ports; the operator's plan answers for all."""
    found: defaultdict[tuple[str, str], list[_Member]] = defaultdict(list)
    for node, port, membership, fabric in model.union.facts(Relation.KEY):
        found[node, fabric].append(_Member(port, membership == "full", model.label(port)))
    mine = _fabrics(model)
    return [_Key(*key, tuple(members)) for key, members in sorted(found.items()) if key[1] in mine]


def _fabrics(model: Model) -> frozenset[str]:
    """The subnets that the plan has to do with."""
    prefixes = {item.name: item.prefix for item in model.site.site.infiniband}
    if model.plan.is_tenant:
        return frozenset(ids.fabric(prefixes.get(key.infiniband, key.infiniband)) for key in model.plan.keys)
    named = {fabric for *_, fabric in model.union.facts(Relation.KEY)}
    return frozenset(named | {ids.fabric(prefix) for prefix in prefixes.values()})


def _is_shared(model: Model, key: _Key) -> bool:
    """True for a partition that the operator gives to several: with a port of its own, or a key held back for it."""
    prefixes = {item.name: ids.fabric(item.prefix) for item in model.site.site.infiniband}
    pools = [pool for pool in model.site.site.pools.partition_keys if prefixes.get(pool.infiniband) == key.fabric]
    held_back = any(key.bits == ids.KEY_BITS & reserved for pool in pools for reserved in pool.reserved)
    return ids.OPERATOR in key.owners or held_back


def _cause(names: Names, key: _Key, members: tuple[_Member, ...], message: str, hint: str) -> Cause:
    listed = (
        f"{names.of(item.port)} [{', '.join(sorted(item.owners))}], {'full' if item.full else 'limited'}"
        for item in members
    )
    return Cause(
        key=(key.node, message),
        message=message,
        witness=(f"{names.of(key.node)} on {names.of(key.fabric)}", *listed),
        hint=hint,
        specificity=93,
        about=components(*sorted({owner for item in members for owner in item.owners})),
    )


def _unless_held(model: Model, names: Names, held: GuardState, what: str) -> RuleAnswer:
    """One cause for each subnet if a guard of A6 is not known to hold."""
    fabrics = sorted(_fabrics(model))
    causes = (
        Cause(
            key=(fabric, what),
            message=f"{names.of(fabric)}: {what if held.broken else f'nobody states whether {what}'}",
            witness=(names.of(fabric), *map(str, (*held.broken, *held.missing)), *_denied(model, held)),
            hint="set it at the subnet manager, and state the guard of A6 in the site file",
            missing=held.missing,
            specificity=62,
        )
        for fabric in fabrics
    )
    return by_guard(len(fabrics), held, causes)


def _denied(model: Model, held: GuardState) -> Iterator[str]:
    """Of guards that do not hold by evidence: whose subnet manager said so, and when."""
    for fact in held.broken:
        yield from model.site.denied.get(str(fact), ())


def _asked(model: Model, of: Callable[[_Key], Iterator[Cause]]) -> RuleAnswer:
    keys = [key for key in _keys(model) if key.bits != ids.DEFAULT_KEY]
    return RuleAnswer(len(keys), violated=tuple(cause for key in keys for cause in of(key)))


# ISO-19


def _limited_in_default(model: Model, names: Names) -> RuleAnswer:
    held = assumption(model.site.site, "A6", only="default_partition_limited")
    answer = _unless_held(model, names, held, "ports are full members of the default partition unless told otherwise")
    keys = [key for key in _keys(model) if key.bits == ids.DEFAULT_KEY]
    full = tuple(cause for key in keys for cause in _full_in_default(names, key))
    return RuleAnswer(answer.count, answer.violated + full, answer.unknown)


def _full_in_default(names: Names, key: _Key) -> Iterator[Cause]:
    for item in key.members:
        if item.full and item.is_tenants:
            whose = " and ".join(sorted(item.owners))
            what = f"{names.of(item.port)} of {whose} is a full member of the default partition and hears all of it"
            yield _cause(names, key, (item,), what, "make it a limited member: the subnet manager alone is full")


# ISO-20


def _keys_of_one(model: Model, names: Names) -> RuleAnswer:
    answer = _asked(model, lambda key: _in_two_hands(model, names, key))
    return RuleAnswer(answer.count, (*answer.violated, *_illegal(model, names), *_ports_of_two(model, names)))


def _in_two_hands(model: Model, names: Names, key: _Key) -> Iterator[Cause]:
    """One full member is enough to join all; limited members alone hear nobody."""
    if len(key.owners) > 1 and any(item.full for item in key.members) and not _is_shared(model, key):
        what = f"{names.of(key.node)} is that of {' and '.join(sorted(key.owners))}: the same 15 bits"
        yield _cause(names, key, key.members, what, "take another key: the highest bit is the membership, no id")


def _illegal(model: Model, names: Names) -> Iterator[Cause]:
    """Keys of the plan that are none, or stand in no pool of their subnet."""
    pools = {pool.infiniband: pool for pool in model.site.site.pools.partition_keys}
    for key in _keys(model):
        if key.bits == 0:
            yield _cause(names, key, key.members, f"{names.of(key.node)} is no key", "take one from 0x0001 to 0x7ffe")
    for item in model.plan.keys if model.plan.is_tenant else ():
        pool, bits = pools.get(item.infiniband), item.key & ids.KEY_BITS
        if pool is None or bits in (0, ids.DEFAULT_KEY, *(ids.KEY_BITS & reserved for reserved in pool.reserved)):
            continue
        if not any(low <= bits <= high for low, high in pool.keys):
            what = f"{item.name}: {bits:#06x} is not in the pool of {item.infiniband}"
            hint = "take one of the pool that nobody else has: nothing gives out keys by itself"
            yield Cause(item.name, what, (item.name, what), hint, specificity=93, about=resources(item.name))


def _ports_of_two(model: Model, names: Names) -> Iterator[Cause]:
    """A port is in the hands of one: of two, each could join it to the other's."""
    for key in _keys(model):
        for item in key.members:
            if len(item.owners) > 1:
                whose = " and ".join(sorted(item.owners))
                yield _cause(names, key, (item,), f"{names.of(item.port)} is that of {whose}", "a port has one holder")


# ISO-21


def _clients_limited(model: Model, names: Names) -> RuleAnswer:
    keys = [key for key in _keys(model) if key.bits != ids.DEFAULT_KEY and _is_shared(model, key)]
    return RuleAnswer(len(keys), violated=tuple(cause for key in keys for cause in _full_clients(names, key)))


def _full_clients(names: Names, key: _Key) -> Iterator[Cause]:
    for item in key.members:
        if item.full and item.is_tenants:
            whose = " and ".join(sorted(item.owners))
            what = f"{names.of(item.port)} of {whose} is a full member of {names.of(key.node)}, which is shared"
            yield _cause(names, key, key.members, what, "clients are limited members, the operator alone full")


# ISO-23


def _manager_keys_set(model: Model, names: Names) -> RuleAnswer:
    held = assumption(model.site.site, "A6", without="default_partition_limited")
    what = "anybody may play the subnet manager, or members are told apart by adapters"
    return _unless_held(model, names, held, what)


ISO_19 = Rule(
    id="ISO-19",
    title="no tenant's port is a full member of the default partition",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a rule of its own, as every port of a subnet is in 0x7fff: a full member there talks to all and forwards",
    source="NVIDIA UFM Enterprise 6.20.2, partitioning; docs/design/semantics.md §11, example 25",
    needs=("partition keys", "locks of all tenants", "A6"),
    ask=_limited_in_default,
)
ISO_20 = Rule(
    id="ISO-20",
    title="a P_Key and a port in it have one owner, by their 15 bits",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="the highest bit says full or limited: 0x0005 and 0x8005 are one partition. That a key is one, and from the "
    "pool of its subnet, is a rule of its own",
    source="InfiniBand architecture, partition keys; NVIDIA Config Manager, P_Key creation",
    needs=("partition keys", "locks of all tenants", "pools.partition_keys"),
    ask=_keys_of_one,
)
ISO_21 = Rule(
    id="ISO-21",
    title="clients of a shared partition are limited members",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="limited members hear full ones only: a client that is full hears all other clients. A rule of its own even "
    "where it is the only client yet",
    source="NVIDIA MLNX-OS 3.12, subnet manager, partitions; docs/design/semantics.md §11, example 26",
    needs=("partition keys", "locks of all tenants", "pools.partition_keys.reserved"),
    ask=_clients_limited,
)
ISO_23 = Rule(
    id="ISO-23",
    title="the subnet manager's keys are set, and P_Keys enforced at the switch",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a rule of its own: with a default M_Key or SA_Key any root on the subnet rewrites all partitions",
    source="NVIDIA infrastructure controller, InfiniBand partitioning: M_Key, SA_Key; docs/design/semantics.md §7, A6",
    needs=("partition keys", "infiniband", "A6"),
    ask=_manager_keys_set,
)
