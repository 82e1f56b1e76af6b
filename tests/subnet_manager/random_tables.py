"""Random partition tables: plans of three tenants and of the operator, in one half of which somebody meets another.

    n0          the operator's storage, declared as shared: full member of the storage partition
    n1          another host of the operator's, declared as nothing
    n2 …        dealt out to acme, globex and initech

Each draft is whole at first: keys of one owner each, clients of storage limited. Then things are done to it that join
nobody, and in every other draft one that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from interlock.resources.fabric import PartitionKey, PartitionMember
from sandbox.infiniband.partitions import Membership, member_lines
from sandbox.infiniband.topology import SubnetTopology, hex16

TENANTS = ("acme", "globex", "initech")
OPERATOR = "op"
INFINIBAND = "ib-1"
#: Key of the storage partition, which the pool holds back, and the highest of the others.
STORAGE_KEY, HIGHEST_KEY = 0x0100, 0x00FF
DEFAULT_KEY = 0x7FFF


@dataclass
class DraftedTables:
    """A draft while it is made. Ports are GUIDs of 16 hex digits."""

    #: Owner -> the ports that were dealt to it.
    dealt: dict[str, list[str]]
    terminals: tuple[str, ...]
    #: Owner -> key as its plan writes it -> port -> membership.
    keys: dict[str, dict[int, dict[str, Membership]]] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def plans(self, owner: str) -> tuple[PartitionKey, ...]:
        """The resources of one owner's plan."""
        return tuple(
            PartitionKey(
                infiniband=INFINIBAND,
                key=key,
                members=tuple(PartitionMember(guid=guid, membership=kind) for guid, kind in sorted(members.items())),
            )
            for key, members in sorted(self.keys.get(owner, {}).items())
            if members
        )

    @property
    def owners(self) -> dict[str, frozenset[str]]:
        """Port -> the tenants in whose plans it stands; the operator where it stands in no tenant's.

        Whom the operator lets into a key of its own stays its tenant's.
        """
        named: dict[str, set[str]] = {}
        for owner, keys in self.keys.items():
            for guid in (guid for members in keys.values() for guid in members):
                named.setdefault(guid, set()).update({owner} - {OPERATOR})
        return {guid: frozenset(owners or {OPERATOR}) for guid, owners in named.items()}

    def named(self, owner: str) -> list[str]:
        """The ports that stand in an owner's plan."""
        return sorted({guid for members in self.keys[owner].values() for guid in members})

    @property
    def configuration(self) -> str:
        """partitions.conf, a line for each key of each plan: where two name one key, OpenSM puts them together."""
        lines = ["Default=0x7fff : ALL=limited, SELF=full ;"]
        for owner in sorted(self.keys):
            for number, item in enumerate(self.plans(owner)):
                members = {int(member.guid, 16): member.membership for member in item.members}
                bits = item.key & DEFAULT_KEY
                name = "Default" if bits == DEFAULT_KEY else f"{owner}-{number}"
                lines += member_lines(f"{name}={bits:#06x}", members)
        return "\n".join(lines) + "\n"

    def put(self, owner: str, key: int, members: dict[str, Membership]) -> None:
        """Members more in a key of an owner's plan."""
        self.keys.setdefault(owner, {}).setdefault(key, {}).update(members)


Change = Callable[[Random, DraftedTables], None]


def drafted(random: Random, topology: SubnetTopology, *, leaking: bool) -> DraftedTables:
    """One draft."""
    nodes: dict[str, list[str]] = {}
    for hca in topology.hosts:
        nodes.setdefault(hca.name.partition("-")[0], []).append(hex16(hca.guid))
    others = [name for name in nodes if name not in ("n0", "n1")]
    random.shuffle(others)
    # Each has one node at least; the rest as it falls.
    of = [*TENANTS, *(random.choice(TENANTS) for _ in others[len(TENANTS) :])]
    dealt: dict[str, list[str]] = {owner: [] for owner in (*TENANTS, OPERATOR)}
    for name, owner in zip(others, of, strict=True):
        dealt[owner] += nodes[name]
    dealt[OPERATOR] += nodes["n1"]
    made = DraftedTables(dealt, tuple(nodes["n0"]))
    _own_keys(random, made)
    for change in random.sample(HARMLESS, random.randint(0, 3)):
        change(random, made)
    if leaking:
        _do(random.choice(LEAKING), random, made)
    return made


def _do(change: Change, random: Random, made: DraftedTables) -> None:
    made.done.append(change.__name__.strip("_"))
    change(random, made)


def _written(random: Random, key: int) -> int:
    """15 bits as somebody may write them: the sixteenth is the membership, and no part of the key."""
    return key | random.choice((0, 0x8000))


def _own_keys(random: Random, made: DraftedTables) -> None:
    free = random.sample(range(1, HIGHEST_KEY + 1), 8)
    for owner in (*TENANTS, OPERATOR):
        for _ in range(random.randint(1, 2)):
            members = random.sample(made.dealt[owner], random.randint(1, len(made.dealt[owner])))
            kinds: dict[str, Membership] = {guid: random.choice(("full", "full", "limited")) for guid in members}
            # One full one, so that whoever comes is met.
            kinds[members[0]] = "full"
            made.put(owner, _written(random, free.pop()), kinds)
    made.put(OPERATOR, STORAGE_KEY, dict.fromkeys(made.terminals, "full"))


def _two(random: Random) -> tuple[str, str]:
    first, second = random.sample(TENANTS, 2)
    return first, second


def _key_of(random: Random, made: DraftedTables, owner: str) -> int:
    """A key of an owner's own with a full member."""
    return random.choice([
        key
        for key, members in made.keys[owner].items()
        if "full" in members.values() and key & DEFAULT_KEY not in (STORAGE_KEY, DEFAULT_KEY)
    ])  # fmt: skip


def _some(random: Random, ports: Sequence[str]) -> list[str]:
    return random.sample(ports, random.randint(1, len(ports)))


# Nobody meets another by these


def _clients_of_storage(random: Random, made: DraftedTables) -> None:
    for owner in random.sample(TENANTS, random.randint(1, 3)):
        made.put(OPERATOR, STORAGE_KEY, dict.fromkeys(_some(random, made.named(owner)), "limited"))


def _one_key_limited_alone(random: Random, made: DraftedTables) -> None:
    """Two tenants in one partition of the operator's without a full member."""
    for owner in _two(random):
        made.put(OPERATOR, 0x0F00, dict.fromkeys(_some(random, made.named(owner)), "limited"))


def _limited_in_the_default(random: Random, made: DraftedTables) -> None:
    owner = random.choice(TENANTS)
    made.put(owner, _written(random, DEFAULT_KEY), dict.fromkeys(_some(random, made.dealt[owner]), "limited"))


def _another_key_of_its_own(random: Random, made: DraftedTables) -> None:
    owner = random.choice(TENANTS)
    made.put(owner, random.randint(0x0200, 0x0EFF), dict.fromkeys(_some(random, made.dealt[owner]), "full"))


HARMLESS: tuple[Change, ...] = (
    _clients_of_storage,
    _one_key_limited_alone,
    _limited_in_the_default,
    _another_key_of_its_own,
)


# Somebody meets another by each of these


def _full_member_of_anothers_key(random: Random, made: DraftedTables) -> None:
    guest, host = _two(random)
    made.put(guest, _written(random, _key_of(random, made, host)), {random.choice(made.dealt[guest]): "full"})


def _limited_member_of_anothers_key(random: Random, made: DraftedTables) -> None:
    guest, host = _two(random)
    made.put(guest, _written(random, _key_of(random, made, host)), {random.choice(made.dealt[guest]): "limited"})


def _the_same_15_bits(random: Random, made: DraftedTables) -> None:
    """Written with the sixteenth bit by one, without it by the other."""
    first, second = _two(random)
    key = _key_of(random, made, first)
    made.put(second, key ^ 0x8000, dict.fromkeys(_some(random, made.dealt[second]), "full"))


def _anothers_port_in_ones_own_key(random: Random, made: DraftedTables) -> None:
    host, guest = _two(random)
    kind: Membership = random.choice(("full", "limited"))
    made.put(host, _key_of(random, made, host), {random.choice(made.named(guest)): kind})


def _two_full_in_a_shared_key(random: Random, made: DraftedTables) -> None:
    for owner in _two(random):
        made.put(OPERATOR, 0x0F01, {random.choice(made.named(owner)): "full"})


def _one_full_in_a_shared_key(random: Random, made: DraftedTables) -> None:
    first, second = _two(random)
    made.put(OPERATOR, 0x0F02, {random.choice(made.named(first)): "full"})
    made.put(OPERATOR, 0x0F02, dict.fromkeys(_some(random, made.named(second)), "limited"))


def _full_in_the_default(random: Random, made: DraftedTables) -> None:
    owner = random.choice(TENANTS)
    made.put(owner, _written(random, DEFAULT_KEY), {random.choice(made.dealt[owner]): "full"})


def _full_client_of_storage(random: Random, made: DraftedTables) -> None:
    first, second = _two(random)
    made.put(OPERATOR, STORAGE_KEY, {random.choice(made.named(first)): "full"})
    made.put(OPERATOR, STORAGE_KEY, {random.choice(made.named(second)): "limited"})


def _the_operators_other_host(random: Random, made: DraftedTables) -> None:
    """It is declared as nothing, so it may pass on: a full member before a tenant's limited one."""
    host, client = random.choice(made.dealt[OPERATOR]), random.choice(made.named(random.choice(TENANTS)))
    made.put(OPERATOR, 0x0F03, {host: "full", client: "limited"})


def _storage_in_a_tenants_key(random: Random, made: DraftedTables) -> None:
    """Declared storage as a limited member among a tenant's full ones: it is no longer the one that serves."""
    tenant = random.choice(TENANTS)
    made.put(OPERATOR, _key_of(random, made, tenant), {random.choice(made.terminals): "limited"})


#: The one that shows by a limited member alone.
ONE_FULL: Change = _one_full_in_a_shared_key

LEAKING: tuple[Change, ...] = (
    _full_member_of_anothers_key,
    _limited_member_of_anothers_key,
    _the_same_15_bits,
    _anothers_port_in_ones_own_key,
    _two_full_in_a_shared_key,
    _one_full_in_a_shared_key,
    _full_in_the_default,
    _full_client_of_storage,
    _the_operators_other_host,
    _storage_in_a_tenants_key,
)
