"""What the store holds, as frozen records in canonical JSON."""

from __future__ import annotations

from interlock.model.lock.record import Footprint
from interlock.resources import Admitted, Frozen, digest_of
from interlock.vocabulary.owners import OwnerId


class FootprintRecord(Frozen):
    """One footprint of a stack that is applied, or may be: an `up` that has begun counts."""

    footprint: Footprint
    #: Boundary nodes that the footprint mentions; the store keeps a record for each.
    nodes: tuple[str, ...]
    #: Identities of the footprint that were settled since: free again, though nothing was applied again.
    released: tuple[str, ...] = ()

    @property
    def held(self) -> tuple[str, ...]:
        """The exclusive identities that the entry claims, sorted."""
        return tuple(sorted(set(self.footprint.exclusive) - set(self.released)))

    @property
    def digest(self) -> str:
        """The version of the footprint: what others' proofs name."""
        return digest_of(self.footprint.model_dump(mode="json"))


class SiteUse(Frozen):
    """One field of a resource of a tenant's stack that names an object of the operator's stack."""

    kind: str
    name: str
    field: str
    #: As the plan has it: `site:Image/poplar`.
    reference: str


class StackRecord(Frozen):
    """What is known of one stack of the site."""

    stack: str
    #: None: the operator's own stack.
    tenant: str | None
    owner: OwnerId
    #: Minted with the first claim, and kept in the stack's state: a state without it is not this stack's.
    lineage: str
    #: Serial of the newest lock that was applied: an older commit is refused.
    serial: int
    #: False until the first object after the claims is made: until then a state that was lost holds nothing.
    confirmed: bool
    #: True from `interlock recover` until the next object is made: a state without claims may take them, as at first.
    recovered: bool = False
    #: Oldest first; more than one while an `up` runs, or after one that did not end well.
    entries: tuple[FootprintRecord, ...]
    #: When the entries last changed, in UTC: what was let go was in use until then. Empty: an older version wrote this.
    changed: str = ""
    #: Person -> id at Keystone, of all whom the stack gave a right or is about to: names are given anew, ids are not.
    persons: dict[str, str] = {}
    #: What of the operator's stack it uses, or may use while an `up` runs; None: an older version wrote this.
    uses: tuple[SiteUse, ...] | None = None
    #: Of the operator's stack: what it has, or may have, that tenants can use, as it was planned when it was applied.
    offers: tuple[Admitted, ...] = ()
    #: Of these, by reference, what an `up` that has begun takes away or recreates: nobody begins to use it.
    leaving: tuple[str, ...] = ()
    #: Who wrote this last, for people: user@host, process id, UTC time.
    written_by: str


class CloudRecord(Frozen):
    """The cloud and region that everything in the store is about, as a `CloudFingerprint`."""

    cloud: str


class ClaimRecord(Frozen):
    """One exclusive identity, and whose it is."""

    identity: str
    stack: str
    owner: OwnerId


class NodeRecord(Frozen):
    """Who has what at one boundary node: stack -> digests of its entries that mention the node."""

    node: str
    holders: dict[str, tuple[str, ...]]


class Taking(Frozen):
    """What a stack wants: everything that an `up` has to know about the store."""

    stack: str
    tenant: str | None
    owner: OwnerId
    serial: int
    entry: FootprintRecord
    #: Every boundary node in the classes that the proof met, those of `entry` included.
    met: tuple[str, ...]
    #: Stack -> digests of its footprints that the proof took into account.
    known: dict[str, tuple[str, ...]]
    #: What of the operator's stack the plan uses; of the operator's own plan, what tenants can use of it.
    uses: tuple[SiteUse, ...] = ()
    offers: tuple[Admitted, ...] = ()
