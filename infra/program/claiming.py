"""The operator's store and the proof: what is applied goes in, what a stack takes comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interlock.model.lock.record import Allocation, Footprint, Lock
from interlock.planning.site_uses import offers_of, uses_of
from interlock.resources import Admitted, Claims, digest_of
from interlock.store.ledger import Ledger
from interlock.store.objects import StoreFailed
from interlock.store.places import first_region, open_store
from interlock.store.records import FootprintRecord, StackRecord, Taking
from interlock.store.refusals import other_region
from interlock.vocabulary import CloudFingerprint, StackName
from policies import Proof
from policies.facts.site import SiteFacts
from policies.footprints.applied import NOTHING, joined
from policies.footprints.boundary import OPERATORS_LOCK, footprint_share
from policies.footprints.versions import boundary_nodes


@dataclass(frozen=True)
class Applied:
    """What the store holds of every stack of a site, read once."""

    records: Mapping[str, StackRecord]
    #: None: read from nowhere, or nothing is recorded of the cloud.
    ledger: Ledger | None = None
    #: Where the site has claims though it has none in the region that it states.
    only_in: CloudFingerprint | None = None

    @classmethod
    def read(cls, url: str, site: str, region: str = "") -> Applied:
        """Raises `StoreFailed` if the store cannot be read."""
        ledger = Ledger(open_store(url, site, region))
        records = {record.stack: record for record in ledger.stacks()}
        return cls(records, ledger, None if records else first_region(url, site, region))

    def check_cloud(self, present: CloudFingerprint) -> None:
        """Raises `Foreign` if the claims are about another cloud, or another region of this one.

        Also where there are none in the region at hand and some in another: a region that is stated wrongly looks like
        one in which everything is gone.
        """
        if self.only_in is not None:
            raise other_region(self.only_in, present)
        if self.ledger is not None:
            self.ledger.check_cloud(present)

    def newest_serial(self, stack: str) -> int | None:
        """Serial of the newest lock of a stack that was applied, or began to be; None: nothing of it is applied.

        Raises `StoreFailed` where the claims of the site are about another region: nothing of it follows from these.
        """
        if self.only_in is not None:
            raise StoreFailed(
                f"what is applied of {stack} is not known: the claims of the site are about {self.only_in}",
                "state that region in site.yaml",
            )
        record = self.records.get(stack)
        return record.serial if record else None

    def of(self, stack: str, planned: Footprint) -> Footprint:
        """What else of a stack is applied, or may be; empty if that is what is planned, or nothing."""
        record = self.records.get(stack)
        entries = record.entries if record else ()
        return joined([entry.footprint for entry in entries if entry.digest != version(planned)])

    def beside(self, locks: Iterable[Lock], site: str) -> list[Lock]:
        """The locks, each with what is applied of its stack besides; and one for each stack that has none here."""
        known = {str(StackName.of_lock(site, lock.id)): lock for lock in locks}
        found = [self._with_applied(stack, lock) for stack, lock in known.items()]
        strangers = (record for stack, record in self.records.items() if stack not in known and record.tenant)
        return sorted([*found, *map(_unknown_here, strangers)], key=lambda lock: lock.id)

    def versions(self, locks: Iterable[Lock], site: str) -> dict[str, tuple[str, ...]]:
        """Stack -> versions of its footprints that a proof beside these locks took into account."""
        planned = {str(StackName.of_lock(site, lock.id)): {version(lock.footprint)} for lock in locks}
        for stack, record in self.records.items():
            planned.setdefault(stack, set()).update(entry.digest for entry in record.entries)
        return {stack: tuple(sorted(digests)) for stack, digests in sorted(planned.items())}

    def _with_applied(self, stack: str, lock: Lock) -> Lock:
        other = self.of(stack, lock.footprint)
        if other == NOTHING:
            return lock
        return lock.model_copy(update={"footprint": joined([lock.footprint, other]), "hash": ""}).sealed()


def _unknown_here(record: StackRecord) -> Lock:
    """A stack that is applied and has no lock in this checkout: its footprint counts all the same."""
    footprint = joined([entry.footprint for entry in record.entries])
    return Lock(
        id=record.tenant or "", owner=record.owner, serial=record.serial, request="", site="",
        allocation=Allocation(vpods={}), footprint=footprint,
    ).sealed()  # fmt: skip


def version(footprint: Footprint) -> str:
    """The digest by which stores and proofs name a footprint."""
    return digest_of(footprint.model_dump(mode="json"))


def taking(
    site: SiteFacts, proof: Proof, serial: int, footprint: Footprint, known: Mapping[str, tuple[str, ...]]
) -> Taking:
    """What a proved stack takes in the store: with the boundary nodes in the classes that its proof met."""
    plan = proof.plan
    nodes = tuple(sorted(boundary_nodes(site, footprint_share(plan.tenant or OPERATORS_LOCK, footprint))))
    return Taking(
        stack=plan.stack,
        tenant=plan.tenant,
        owner=plan.owner,
        serial=serial,
        entry=FootprintRecord(footprint=footprint, nodes=nodes),
        met=tuple(sorted({*proof.met, *nodes})),
        known=dict(known),
        uses=uses_of(plan),
        offers=offers_of(plan),
    )


def declared(taken: Taking, store: str) -> Admitted:
    """The first resource of the stack."""
    entry = taken.entry
    objects = digest_of([item.model_dump(mode="json") for item in (*taken.uses, *taken.offers)])
    spec = Claims(store=store, footprint=entry.digest, identities=entry.footprint.exclusive, objects=objects)
    name = f"{taken.tenant or 'site'}-claims"
    return Admitted(name=name, kind=Claims.KIND, spec=spec.canonical())
