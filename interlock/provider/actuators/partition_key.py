"""Partitions of InfiniBand, which UFM makes. The id is the name of the subnet and the key, so it is known beforehand.

UFM drops a partition with its last member, and some releases make everybody full where each member has a membership of
its own. So members that share one are added by POST, which takes out nobody; anything mixed is a PUT of the whole set,
written only after a look that found nobody in it who is not ours; and what was written is read back. Where members
come and go, those that go are out before any comes in, unless nobody stays: then one PUT, and the partition is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.provider.fabrics import asking
from interlock.provider.partition_ownership import (
    NOT_OURS,
    guids_held,
    holds_key,
    in_words,
    memberships,
    not_adoptable,
    strangers,
)
from interlock.provider.turns import ClaimsPlace
from interlock.resources import PartitionKey, Resource
from interlock.ufm.answers import DEFAULT_KEY, KEY_BITS, FabricPartition, Membership, UfmMisread, guid_of
from interlock.vocabulary.pair_ids import PartitionId

from .base import Actuator, Observed, Target
from .shared_partition import SharedPart

if TYPE_CHECKING:
    from interlock.ufm.client import UfmClient

#: Settings of a partition that a change of members does not touch.
_SETTINGS = frozenset({"index0", "ip_over_ib"})

#: What to do where a stack that is destroyed does not know a member.
_STOPPED = f"if an `up` of this stack was stopped, run `pulumi up` once more, which completes it. Else {NOT_OURS}"


class PartitionKeyActuator(Actuator[PartitionKey]):
    """Partitions. Who else may be in one, and what is adopted, is in `partition_ownership`."""

    KIND: ClassVar[type[Resource]] = PartitionKey
    SERVICE: ClassVar[str] = "infiniband"
    PATIENCE: ClassVar[float] = 90.0
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "prefix": "prefix of the subnet that the UFM said it manages",
        "guids": "GUIDs that this stack has put into it, or may have: a change takes out no other",
        "store": "the claims store: there its key and ports are claimed, and writers of a shared one take turns",
        "stack": "the stack, as it claims there",
        "lineage": "whose state this is, as the claims store has it",
    }

    def find(self, cloud: Cloud, target: Target[PartitionKey]) -> Sequence[str]:
        spec = target.spec
        with asking():
            partition = cloud.fabrics.of(spec.infiniband).partition(spec.key)
        if partition is None:
            return []
        if spec.shared:
            return [str(_ident(spec))] if SharedPart(cloud, target, _what(target)).is_there(partition) else []
        # Without a proof nothing is adopted: it is looked at once more whether it is there.
        if target.folder is not None and (why := not_adoptable(partition, spec, cloud.held_before())):
            raise refused(f"{_what(target)} is there already: {why}", NOT_OURS)
        return [str(_ident(spec))]

    def create(self, cloud: Cloud, target: Target[PartitionKey]) -> str:
        spec = target.spec
        wanted = _wanted(target)
        with asking():
            client = cloud.fabrics.of(spec.infiniband)
            if spec.shared:
                SharedPart(cloud, target, _what(target)).write(lambda guids: _check_discovered(client, target, guids))
                return str(_ident(spec))
            _check_discovered(client, target, wanted.keys())
            _write(client, spec, wanted)
        return str(_ident(spec))

    def read(self, cloud: Cloud, ident: str, target: Target[PartitionKey] | None = None) -> Observed | None:
        named = PartitionId.parse(ident)
        _check_subnet(cloud, named, target)
        with asking():
            partition = cloud.fabrics.of(named.infiniband).partition(named.number)
        if partition is None:
            return None
        if target is not None and target.spec.shared:
            return _part_of(cloud, ident, named, target, partition)
        outputs: dict[str, Any] = {"prefix": cloud.fabrics.prefix(named.infiniband)}
        if target is not None and target.folder is not None:
            # Not in a refresh: what it finds is not ours for that.
            planned, known = memberships(target.spec).keys(), target.recorded.get("guids") or ()
            outputs["guids"] = sorted(planned if partition.guids == planned else {*planned, *known})
            outputs |= place.outputs if (place := cloud.claims_place()) is not None else {}
        return Observed(ident, "", _fields(named, partition, target), outputs=outputs)

    def update(self, cloud: Cloud, target: Target[PartitionKey], seen: Observed, changed: frozenset[str]) -> None:
        spec = target.spec
        wanted = _wanted(target)
        with asking():
            client = cloud.fabrics.of(spec.infiniband)
            if spec.shared:
                part = SharedPart(cloud, target, _what(target))
                part.write(lambda guids: _check_discovered(client, target, guids), changed)
                return
            # Looked at once more, as near to the writing as it can be.
            partition = client.partition(spec.key)
            present: dict[str, Membership] = {} if partition is None else partition.memberships
            known = {*wanted, *(target.recorded.get("guids") or ()), *guids_held(cloud.held_before())}
            if partition is not None and (others := strangers(partition, known)):
                raise refused(f"{_what(target)} has members that are not this stack's: {in_words(others)}", NOT_OURS)
            new = {guid: membership for guid, membership in wanted.items() if guid not in present}
            _check_discovered(client, target, new)
            gone = present.keys() - wanted.keys()
            if new and gone and present.keys() - gone:
                # An adapter that was replaced is out before the new one is in: it may hang elsewhere by now.
                _take_out(client, target, gone, known)
                present = {guid: membership for guid, membership in present.items() if guid not in gone}
                gone = gone - gone
            kept = all(wanted[guid] == present[guid] for guid in present.keys() & wanted.keys())
            if not present or not kept or changed & _SETTINGS or (new and gone):
                _write(client, spec, wanted, alone=not present)
            elif new:
                _write(client, spec, new if len(set(new.values())) == 1 else wanted, alone=len(set(new.values())) == 1)
            elif gone:
                client.remove(spec.key, gone)

    def delete(self, cloud: Cloud, ident: str, target: Target[PartitionKey]) -> None:
        named = PartitionId.parse(ident)
        if target.spec.shared:
            SharedPart(cloud, target, _what(target)).remove()
            return
        with asking():
            client = cloud.fabrics.of(named.infiniband)
            partition = client.partition(named.number)
            if partition is None:
                return
            known = set(target.recorded.get("guids") or memberships(target.spec))
            if strangers(partition, known):
                known |= _stopped(cloud, target, named)
            if others := strangers(partition, known):
                raise refused(
                    f"{_what(target)} has members that this stack did not put in: {in_words(others)}", _STOPPED
                )
            # FabricMember by member: who comes in meanwhile stays, and keeps the partition.
            client.remove(named.number, partition.guids)
            left = client.partition(named.number)
            if left is not None and not left.members:
                client.delete(named.number)
            elif left is not None and (others := strangers(left, known)):
                # They stay for ever: nobody should wait for that.
                raise refused(f"{_what(target)}: meanwhile others came in, who stay: {in_words(others)}", NOT_OURS)

    def left_behind(self, cloud: Cloud, target: Target[PartitionKey]) -> str:
        if target.spec.shared:
            SharedPart(cloud, target, _what(target)).mend()
        return ""


def _part_of(
    cloud: Cloud, ident: str, named: PartitionId, target: Target[PartitionKey], partition: FabricPartition
) -> Observed | None:
    """A stack's part of a shared one; None if nothing of it is there."""
    part = SharedPart(cloud, target, _what(target))
    fields = part.fields(partition)
    if fields is None:
        return None
    outputs = {"prefix": cloud.fabrics.prefix(named.infiniband), **part.outputs(partition)}
    return Observed(ident, "", fields, outputs=outputs)


def _stopped(cloud: Cloud, target: Target[PartitionKey], named: PartitionId) -> frozenset[str]:
    """GUIDs that a run of this stack which was stopped may have put in, of which the state knows nothing.

    They are the stack's as long as it claims them, and the key: nobody else puts them in, or may have it meanwhile.
    """
    place = cloud.claims_place() or ClaimsPlace.recorded(target.recorded)
    held = frozenset[str]() if place is None else cloud.held_by_state(place).held
    return guids_held(held) if holds_key(held, cloud.fabrics.prefix(named.infiniband), named.number) else frozenset()


def _ident(spec: PartitionKey) -> PartitionId:
    return PartitionId.of(spec.infiniband, spec.key)


def _what(target: Target[PartitionKey]) -> str:
    return f"PartitionKey {target.name}: P_Key {_ident(target.spec).key} of {target.spec.infiniband}"


def _wanted(target: Target[PartitionKey]) -> dict[str, Membership]:
    """GUID -> membership. Raises `Failure` for what UFM could not hold, or what would be everybody's."""
    spec = target.spec
    try:
        wanted = {guid_of(member.guid): member.membership for member in spec.members}
    except UfmMisread as error:
        raise refused(f"{_what(target)}: {error}", "correct the GUIDs in the site file") from error
    if len(wanted) != len(spec.members):
        raise refused(f"{_what(target)}: a GUID is there twice", "correct the GUIDs in the site file")
    if not wanted:
        raise refused(f"{_what(target)} has no members, and UFM keeps no partition without any", "leave it out")
    if spec.key & KEY_BITS in (0, DEFAULT_KEY):
        raise refused(f"{_what(target)}: that key is no tenant's", "give one from 0x0001 to 0x7ffe")
    return wanted


def _check_discovered(client: UfmClient, target: Target[PartitionKey], guids: Collection[str]) -> None:
    if guids and (unknown := sorted(set(guids) - client.ports())):
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        raise refused(
            f"{_what(target)}: the subnet manager has discovered no port {', '.join(unknown[:8])}{more}",
            "see that node, HCA and cable are up, or correct the GUIDs in the site file",
        )


def _check_subnet(cloud: Cloud, named: PartitionId, target: Target[PartitionKey] | None) -> None:
    """Raises `Failure` if it was made on another subnet: there nothing of it would be found, and all be forgotten."""
    recorded = None if target is None else target.recorded.get("prefix")
    if recorded and (present := cloud.fabrics.prefix(named.infiniband)) != recorded:
        raise refused(
            f"PartitionKey {named.key} was made on the subnet {recorded}, and the UFM of {named.infiniband} in "
            f"fabrics.yaml manages {present}",
            "correct `url` there",
        )


def _write(client: UfmClient, spec: PartitionKey, wanted: Mapping[str, Membership], *, alone: bool = True) -> None:
    """By POST where all have one membership and none is to go (`alone`), else the whole set by PUT."""
    settings = {"index0": spec.index0, "ip_over_ib": spec.ip_over_ib}
    kinds = set(wanted.values())
    if alone and len(kinds) == 1:
        client.add(spec.key, wanted, kinds.pop(), **settings)
    else:
        client.replace(spec.key, [*wanted.items()], **settings)


def _take_out(client: UfmClient, target: Target[PartitionKey], gone: Collection[str], known: Collection[str]) -> None:
    """Raises `Failure` if they are still there afterwards, or if somebody else came in meanwhile."""
    client.remove(target.spec.key, gone)
    left = client.partition(target.spec.key)
    if left is not None and (others := strangers(left, known)):
        raise refused(f"{_what(target)} has members that are not this stack's: {in_words(others)}", NOT_OURS)
    if left is not None and (still := sorted(left.guids & set(gone))):
        what = f"{_what(target)} still has {', '.join(still)}, which were taken out"
        raise Failure(Trouble.NOT_READY, what, "run `pulumi up` again; nothing was put in yet")


def _fields(named: PartitionId, partition: FabricPartition, target: Target[PartitionKey] | None) -> dict[str, Any]:
    spelt = {} if target is None else {guid_of(member.guid): member.guid for member in target.spec.members}
    fields: dict[str, Any] = {
        "infiniband": named.infiniband,
        "members": [
            {"guid": spelt.get(member.guid, member.guid), "membership": member.membership}
            for member in partition.members
        ],
    }
    if partition.ip_over_ib is not None:
        fields["ip_over_ib"] = partition.ip_over_ib
    said = {member.index0 for member in partition.members} - {None}
    if len(said) == 1:
        fields["index0"] = said.pop()
    elif said and target is not None:
        # Of some ports and not of others: neither is what is wanted.
        fields["index0"] = not target.spec.index0
    return fields
