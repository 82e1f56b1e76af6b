"""A stack's part of an InfiniBand partition that several stacks fill: its own members, and nobody else's.

UFM reads, merges and writes a partition, so of two requests at once one may lose members of the other. Whoever writes
has the fabric's turn in the claims store. Members are added by POST, all with one membership, never by a PUT of the
whole set, and read back before the turn ends: own ones must be there as planned, and those of others still there.

So a creation looks and waits after its request, as no other kind's does: it holds the turn until that is seen. Its id
is known beforehand, and what a run leaves that breaks off is found by the GUIDs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.provider.fabrics import asking
from interlock.provider.partition_ownership import (
    NOT_OURS,
    SERVERS_FIRST,
    guids_held,
    in_words,
    memberships,
    not_shareable,
    outsiders,
    unheard,
)
from interlock.provider.turns import ClaimsPlace, writing
from interlock.resources import PartitionKey
from interlock.ufm.answers import FabricPartition, Membership

from .base import Target

if TYPE_CHECKING:
    from interlock.store.turns import Turn
    from interlock.ufm.client import UfmClient

#: Settings of a member that a change of members does not touch.
_SETTINGS = frozenset({"index0"})
#: Seconds after which it is read back once more: a subnet manager takes its time to tell all ports.
_LOOKS_AGAIN = (0.5, 1.0, 2.0)


class SharedPart:
    """What one stack has in a shared partition. `what`: the partition, as messages call it."""

    def __init__(self, cloud: Cloud, target: Target[PartitionKey], what: str) -> None:
        self.cloud, self.target, self.spec, self.what = cloud, target, target.spec, what
        self.place = cloud.claims_place() or ClaimsPlace.recorded(target.recorded)
        #: GUID -> membership, as planned.
        self.wanted = memberships(target.spec)

    @property
    def recorded(self) -> frozenset[str]:
        """GUIDs that this stack has there by its state."""
        return frozenset(self.target.recorded.get("guids") or ())

    @property
    def known(self) -> set[str]:
        """GUIDs that this stack has put in, or may have."""
        return {*self.wanted, *self.recorded}

    def is_there(self, partition: FabricPartition | None) -> bool:
        """Whether anything of this stack's is in it. Raises `Failure` if it may not be taken up."""
        if partition is None:
            return False
        # Without a proof nothing is adopted.
        if self.target.folder is not None and (why := not_shareable(partition, self.spec, self.recorded)):
            raise refused(f"{self.what}: {why}", NOT_OURS)
        return not partition.guids.isdisjoint(self.known)

    def write(self, check: Callable[[Collection[str]], None], changed: frozenset[str] = frozenset()) -> None:
        """Make it as planned, if it is not. `check`: raises for GUIDs that cannot be put in."""
        with self._turn() as (client, turn):
            before = client.partition(self.spec.key)
            self._check(before)
            present: dict[str, Membership] = {} if before is None else before.memberships
            # Not all that an earlier footprint has: another cluster of the stack has members under the same key.
            ours = {*self.known, *guids_held(self.cloud.held_no_more())} & present.keys()
            again = {guid for guid in ours & self.wanted.keys() if present[guid] != self.wanted[guid]}
            again |= ours & self.wanted.keys() if changed & _SETTINGS else set()
            gone = (ours - self.wanted.keys()) | again
            new = (self.wanted.keys() - present.keys()) | again
            check(new)
            if gone:
                turn.still()
                client.remove(self.spec.key, gone)
            for membership in sorted({self.wanted[guid] for guid in new}):
                turn.still()
                guids = [guid for guid in new if self.wanted[guid] == membership]
                settings = {"index0": self.spec.index0, "ip_over_ib": self.spec.ip_over_ib}
                client.add(self.spec.key, guids, membership, **settings)  # type: ignore[arg-type]
            if gone or new:
                self._read_back(client, self.wanted, present.keys() - ours)
                turn.still()

    def remove(self) -> None:
        """Take this stack's members out; the operator's not while others hear them."""
        with self._turn() as (client, turn):
            before = client.partition(self.spec.key)
            if before is None:
                return
            ours = self.known | (self._in_doubt() if before.guids - self.known else frozenset())
            others = before.guids - ours
            if "full" in self.wanted.values() and others:
                left = in_words(member for member in before.members if member.guid in others)
                raise refused(
                    f"{self.what} is still used by others: {left}",
                    "destroy the clusters of all tenants first, or take these members out at UFM if nobody has them",
                )
            turn.still()
            client.remove(self.spec.key, before.guids & ours)
            after = self._read_back(client, {}, others, ours)
            if after is not None and not after.members:
                client.delete(self.spec.key)
            turn.still()

    def mend(self) -> None:
        """Take out what a run left there that was stopped, where nothing is there that the state knows."""
        if doubt := self._in_doubt():
            with asking():
                partition = self.cloud.fabrics.of(self.spec.infiniband).partition(self.spec.key)
            if partition is not None and partition.guids & doubt:
                self.remove()

    def fields(self, partition: FabricPartition) -> dict[str, Any] | None:
        """What is seen of this stack's part; None if nothing of it is there."""
        spelt = {member.guid.lower(): member.guid for member in self.spec.members}
        own = [member for member in partition.members if member.guid in self.known]
        if not own:
            return None
        fields: dict[str, Any] = {
            "infiniband": self.spec.infiniband,
            "members": [
                {"guid": spelt.get(member.guid, member.guid), "membership": member.membership} for member in own
            ],
        }
        said = {member.index0 for member in own} - {None}
        if said:
            fields["index0"] = said.pop() if len(said) == 1 else not self.spec.index0
        return fields

    def outputs(self, partition: FabricPartition) -> dict[str, Any]:
        """What the state records of it."""
        place = self.place
        if self.target.folder is None or place is None:
            return {}
        here = partition.guids & self.known
        guids = self.wanted.keys() if here == self.wanted.keys() else self.known
        return {"guids": sorted(guids), **place.outputs}

    @contextmanager
    def _turn(self) -> Iterator[tuple[UfmClient, Turn]]:
        subject = f"the shared partitions of InfiniBand subnet {self.spec.infiniband}"
        with asking(), writing(self.cloud, subject, self.place) as turn:
            yield self.cloud.fabrics.of(self.spec.infiniband).undisturbed(), turn

    def _in_doubt(self) -> frozenset[str]:
        """GUIDs that a run of this stack which was stopped may have put in, of which no state knows anything.

        Not all that it holds: another of its clusters has members under the same key.
        """
        return frozenset() if self.place is None else guids_held(self.cloud.held_by_state(self.place).in_doubt)

    def _check(self, before: FabricPartition | None) -> None:
        if before is not None and (why := not_shareable(before, self.spec, self.recorded)):
            raise refused(f"{self.what}: {why}", NOT_OURS)
        if why := unheard(before, self.spec):
            raise refused(f"{self.what}: {why}", SERVERS_FIRST)

    def _read_back(
        self, client: UfmClient, wanted: Mapping[str, str], others: Collection[str], gone: Collection[str] = ()
    ) -> FabricPartition | None:
        """The partition once it is as written. `gone`: GUIDs that are not to be in it any more.

        Raises `Failure` if it does not come to that.
        """
        wrong = ""
        for wait in (*_LOOKS_AGAIN, None):
            after = client.partition(self.spec.key)
            wrong = self._wrong(after, wanted, others, gone)
            if not wrong:
                return after
            if wait is not None:
                self.cloud.retry_policy.sleep(wait)
        raise Failure(Trouble.NOT_READY, f"{self.what} was written, and {wrong}", "run `pulumi up` again")

    def _wrong(
        self, after: FabricPartition | None, wanted: Mapping[str, str], others: Collection[str], gone: Collection[str]
    ) -> str:
        seen: Mapping[str, str] = {} if after is None else after.memberships
        if lost := sorted(set(others) - seen.keys()):
            return f"members of others are gone: {', '.join(lost)}; who has them runs `pulumi up`"
        wrong = [
            f"{guid} is {seen.get(guid, 'not in it')}" for guid in sorted(wanted) if seen.get(guid) != wanted[guid]
        ]
        if wrong:
            return f"read back it is otherwise: {', '.join(wrong[:8])}"
        if left := sorted(seen.keys() & set(gone)):
            return f"{', '.join(left[:8])} is still in it"
        return f"somebody is full in it: {in_words(found)}" if after and (found := outsiders(after, self.spec)) else ""
