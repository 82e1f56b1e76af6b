"""Whose a partition of InfiniBand is.

UFM has no field for an owner, and names of partitions are made up by it or by anybody. What counts is who holds the
key in the claims store, which every change here has to hold first, and who is in the partition: the members that the
plan has, some of them where a request broke in the middle, or such as this stack holds from an earlier plan. One
other GUID, or one planned member that is full instead of limited, and nothing of it is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from interlock.resources import PartitionKey
from interlock.ufm.answers import KEY_BITS, FabricMember, FabricPartition, guid_of
from interlock.vocabulary import nodes

#: What to do about a partition of our key that somebody else has filled.
NOT_OURS = (
    "nothing of it was changed: ask who administers UFM whose it is; take these members out there, or give another key "
    "(a key that others use is `reserved` in its pool)"
)


def memberships(spec: PartitionKey) -> dict[str, str]:
    """GUID -> membership, as planned. Raises `UfmMisread` for what is no GUID."""
    return {guid_of(member.guid): member.membership for member in spec.members}


def guids_held(identities: Iterable[str]) -> frozenset[str]:
    """GUIDs among exclusive identities of a stack."""
    found = (nodes.parse(text) for text in identities)
    return frozenset(node.guid for node in found if isinstance(node, nodes.InfinibandPortNode))


def holds_key(identities: Iterable[str], prefix: str, key: int) -> bool:
    """Whether a P_Key of the subnet with this prefix is among exclusive identities of a stack."""
    return any(node.prefix == prefix and node.key & KEY_BITS == key & KEY_BITS for node in _keys(identities))


def prefixes_claimed(claims: Mapping[str, Any] | None, key: int) -> frozenset[str]:
    """Prefixes of the subnets on which a footprint claims a P_Key; empty if nothing is claimed."""
    identities = [] if claims is None else claims["entry"]["footprint"]["exclusive"]
    return frozenset(node.prefix for node in _keys(identities) if node.key & KEY_BITS == key & KEY_BITS)


def _keys(identities: Iterable[str]) -> Iterable[nodes.PartitionKeyNode]:
    found = (nodes.parse(text) for text in identities)
    return (node for node in found if isinstance(node, nodes.PartitionKeyNode))


def strangers(partition: FabricPartition, known: Collection[str]) -> tuple[FabricMember, ...]:
    """Members that are not among these GUIDs."""
    return tuple(member for member in partition.members if member.guid not in known)


def not_adoptable(partition: FabricPartition, spec: PartitionKey, held_before: Collection[str]) -> str:
    """Why a partition that no state records is not ours, in words; empty if it is.

    `held_before`: identities that the claims store has of earlier footprints of the stack. A run of one of them that
    was stopped may have left its members, which are then all among its GUIDs.
    """
    if spec.shared:
        return not_shareable(partition, spec)
    wanted = memberships(spec)
    if partition.members and partition.memberships.items() <= wanted.items():
        return ""
    had_key = any(node.key & KEY_BITS == partition.key for node in _keys(held_before))
    others = strangers(partition, wanted.keys() | (guids_held(held_before) if had_key else frozenset()))
    if had_key and partition.members and not others:
        return ""
    if not partition.members:
        return "it has no members, and this stack makes none such"
    if others:
        return f"it has members that are not this stack's: {in_words(others)}"
    return f"it has other members than are planned: {in_words(partition.members)}"


def outsiders(partition: FabricPartition, spec: PartitionKey, held: Collection[str] = ()) -> tuple[FabricMember, ...]:
    """Members that have no business in it: of a shared one full members that are no servers, which hear everybody.

    Whose its limited members are no stack knows but their own; they hear the servers alone. `held`: GUIDs that this
    stack has there by its state, and corrects.
    """
    if not spec.shared:
        return strangers(partition, memberships(spec).keys())
    known = {*held, *(guid_of(guid) for guid in spec.servers)}
    return tuple(item for item in partition.members if item.membership == "full" and item.guid not in known)


def not_shareable(partition: FabricPartition, spec: PartitionKey, held: Collection[str] = ()) -> str:
    """Why no stack may put its members in, or take up those that are there; empty if it may."""
    found = outsiders(partition, spec, held)
    return f"full members are in it that are no servers of the site file: {in_words(found)}" if found else ""


def unheard(partition: FabricPartition | None, spec: PartitionKey) -> str:
    """Why clients of a shared partition would hear nobody; empty if they hear a server, or the servers come now."""
    servers = {guid_of(guid) for guid in spec.servers} - memberships(spec).keys()
    full = set() if partition is None else {item.guid for item in partition.members if item.membership == "full"}
    missing = spec.shared and servers and servers.isdisjoint(full)
    return "the appliance is not in it, so its clients would hear nobody" if missing else ""


#: What to do about that.
SERVERS_FIRST = "run `pulumi up` of the operator's own stack first: it puts the appliance in"


def in_words(members: Iterable[FabricMember]) -> str:
    """The first few members, and how many more."""
    listed = [f"{member.guid} ({member.membership})" for member in members]
    more = f" and {len(listed) - 8} more" if len(listed) > 8 else ""
    return ", ".join(listed[:8]) + more
