"""Claims: the one kind that lies in the operator's store and not on the cloud.

`create` takes what the admission names, with what the store holds of others compared first; `delete` lets one
footprint go. Between the two `require` stands before every other change: nothing is made under a footprint that the
store does not hold.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from interlock.resources import Claims
from interlock.store import site_objects
from interlock.store.history import GivenObject, History
from interlock.store.ledger import Ledger, Refused
from interlock.store.objects import StoreFailed
from interlock.store.places import open_store
from interlock.store.records import Taking
from interlock.vocabulary import ClaimsId, CloudFingerprint, Reference, StackName
from interlock.vocabulary.owners import OwnerId

from .actuators import ACTUATORS
from .admitted import AdmissionGate
from .clouds import Cloud
from .codec import UNKNOWN
from .errors import Failure, Trouble, refused
from .pools import ThreadPools
from .references import persons
from .state import Declared
from .turns import ClaimsPlace, StackHolding

T = TypeVar("T")

#: What the provider computes of it, and what each means.
OUTPUTS: dict[str, str] = {
    "lineage": "minted with the first claims of the stack; a state without it is another's",
}


class ClaimsLifecycle:
    """The operations on the store of one stack. `asked`: plan names that the engine has asked about so far."""

    def __init__(
        self,
        gate: AdmissionGate,
        pools: ThreadPools,
        of: Callable[[str, str], Ledger] | None = None,
        asked: Container[str] = frozenset(),
    ) -> None:
        self._gate = gate
        self._pools = pools
        self._asked = asked
        #: Where it is claimed; None: the provider is not configured yet.
        self.cloud: Cloud | None = None
        # One for each store: an S3 server is tried, whether it honours conditions, once for each that is opened.
        self._of = functools.cache(of or self._open)
        #: Lineage in the engine's state, as a difference showed it or `create` took it; empty: it holds no claims.
        self._lineage = ""
        self._confirmed = False

    async def obstacles(self, *, reached: bool = True) -> list[str]:
        """What stands in the way of taking the claims; nothing is written. The lineage is not looked at, nor, where
        the cloud is not `reached`, whether the claims are about it."""
        taking = self._taking()
        if taking is None:
            return []
        try:
            if reached and self.cloud is not None:
                await self._run(lambda: self._ledger().check_cloud(self._present()))
            known = await self._persons() if reached else {}
            await self._run(lambda: self._ledger().check(taking, known))
        except Failure as failure:
            return [str(failure)]
        return []

    async def known(self, ident: str, olds: Mapping[str, Any]) -> tuple[str, ...]:
        """Learn what the state holds; the fields for which claims are taken anew, though nothing of them differs.

        Raises `Failure` if it is not the state that the store knows.
        """
        held = ClaimsId.parse(ident)
        self._lineage = _lineage(olds)
        lineage = self._lineage
        ledger = self._ledger_of(olds, held.stack)
        await self._run(lambda: ledger.check_state(held.stack, lineage, held.version))
        taking = self._taking() if self._gate.has_proof else None
        if taking is None:
            return ()
        record = await self._run(lambda: ledger.stack(held.stack))
        # A run was killed after it had told the store of other objects, and before its state knew of the claims: what
        # it told is dropped by the end of these, whose place new ones take.
        return ("objects",) if record is not None and site_objects.counted_more(taking, record) else ()

    async def create(self, item: Declared, *, preview: bool) -> tuple[str, dict[str, Any]]:
        """Take the claims. Raises `Failure`: then nothing is held that was not before."""
        if preview:
            return "", item.inputs() | dict.fromkeys(OUTPUTS, UNKNOWN)
        self._gate.open()
        taking = self._taking()
        if taking is None:
            raise refused(f"Claims {item.name}: the proof that was handed over names none")
        lineage, cloud = self._lineage or None, None if self.cloud is None else self._present()
        known = await self._persons()
        record = await self._run(lambda: self._ledger().take(taking, lineage, cloud, known))
        self._lineage = record.lineage
        return str(ClaimsId(taking.stack, taking.entry.digest)), _outputs(item, record.lineage)

    async def read(
        self, item: Declared, ident: str, values: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Inputs and outputs as recorded; None if the store holds nothing of this footprint any more."""
        held = ClaimsId.parse(ident)
        record = await self._run(lambda: self._ledger_of(values, held.stack).stack(held.stack))
        if record is None or held.version not in [entry.digest for entry in record.entries]:
            return None
        return item.inputs(), _outputs(item, record.lineage)

    async def update(self, item: Declared, ident: str, olds: Mapping[str, Any], *, preview: bool) -> dict[str, Any]:
        """Never for a field: every one is replaced or forbidden."""
        return {**olds, **item.inputs()}

    async def delete(self, item: Declared, ident: str, olds: Mapping[str, Any], stack: str) -> str:
        """The footprint counts no more. Called by the engine after everything that depended on it is gone.

        Nothing is to be told of it.
        """
        self._gate.open()
        held = ClaimsId.parse(ident)
        if left_out := self._left_out():
            raise refused(
                f"Claims {item.name}: the footprint that was applied before stays claimed: with --target, "
                f"{', '.join(left_out[:3])}{' …' if left_out[3:] else ''} may still be as it says",
                "run `pulumi up` on the whole stack: it then drops this footprint",
            )
        if not self._is_wanted(held.version):
            await self._run(lambda: _let_go(self._ledger_of(olds, held.stack), held, _lineage(olds)))
        taking = self._taking() if self._gate.has_proof else None
        if taking is not None:
            await self._run(lambda: self._ledger().settle_objects(taking, _lineage(olds)))
        return ""

    def without_use(self, kind: str, name: str, stack: str) -> frozenset[OwnerId]:
        """Owners of the tenants' stacks that are known not to use an object of the operator's stack, which is to go.

        Without a proof, in a destroy, nobody says where the store is: then none are. Blocks. Raises `Failure` if one
        of them uses it, or may.
        """
        taking = self._taking() if self._gate.has_proof else None
        if taking is None or taking.tenant is not None or kind not in site_objects.OFFERED:
            return frozenset()
        with _as_failure():
            records = self._ledger().stacks()
            site_objects.require_unused(Reference.site(kind, name), stack, records)
        return frozenset(record.owner for record in records if record.tenant is not None)

    def held_before(self) -> frozenset[str]:
        """Exclusive identities of the footprints of this stack that are, or may be, applied beside that of the proof.

        Blocks. Raises `Failure`.
        """
        taking = self._taking() if self._gate.has_proof else None
        if taking is None:
            return frozenset()
        with _as_failure():
            record = self._ledger().stack(taking.stack)
        others = [entry for entry in record.entries if entry.digest != taking.entry.digest] if record else []
        return frozenset(identity for entry in others for identity in entry.held)

    def held_no_more(self) -> frozenset[str]:
        """Those of `held_before` that the footprint of the proof has not: no other part of the stack is to have them.

        Blocks. Raises `Failure`.
        """
        taking = self._taking() if self._gate.has_proof else None
        return frozenset() if taking is None else self.held_before() - frozenset(taking.entry.held)

    def held_by_state(self, place: ClaimsPlace) -> StackHolding:
        """What the stack at this place holds, and nobody else; nothing if its state is another.

        Without a proof what only some of its footprints have is in doubt: a run that ended well leaves one of them, and
        its state then knows all. A state that does not is an older copy, which has the same lineage: to it nothing.
        Blocks. Raises `Failure`.
        """
        with _as_failure():
            record = self._of(place.store, site_of(place.stack)).stack(place.stack)
        if record is None or not place.lineage or record.lineage != place.lineage:
            return StackHolding()
        taking = self._taking() if self._gate.has_proof else None
        entries = [frozenset(entry.held) for entry in record.entries]
        if taking is None and len(entries) == 1:
            return StackHolding()
        held = frozenset[str]().union(*entries)
        wanted = frozenset(taking.entry.held) if taking is not None else held.intersection(*entries)
        return StackHolding(held, held - wanted)

    def place(self) -> ClaimsPlace | None:
        """Where the stack of the proof claims; None without a proof, and for a stack that claims nothing."""
        admission = self._gate.admission if self._gate.has_proof else None
        found = [item.spec for item in admission.resources if item.kind == Claims.KIND] if admission else []
        return ClaimsPlace(str(found[0]["store"]), admission.stack, self._lineage) if admission and found else None

    async def require(self) -> None:
        """Before any other change: the claims of this proof are held. Raises `Failure`."""
        self._gate.open()
        taking = self._taking()
        if taking is None or self._confirmed:
            return
        record = await self._run(lambda: self._ledger().stack(taking.stack))
        if record is None or taking.entry.digest not in [entry.digest for entry in record.entries]:
            raise refused(
                f"the claims of {taking.stack} are not in the store, so nothing else may be created or changed",
                "run `pulumi up` on the whole stack: with --target its claims are left out",
            )
        # Until this is confirmed another run of the stack may have taken over: then its lineage is in the record.
        lineage = self._lineage or record.lineage
        known = await self._persons()
        # Confirmed before this past begins: by a version that kept none, as is a stack whose uses nobody recorded.
        older = record.confirmed or record.uses is None
        await self._run(lambda: History(self._ledger().store).given(taking, self._objects(), had_others=older))
        await self._run(lambda: self._ledger().confirm(taking.stack, lineage, taking.serial, known))
        self._confirmed = True

    def _is_wanted(self, version: str) -> bool:
        """True of the footprint that this very update is about. The state holds it a second time, as still to be
        deleted, since a run of another request was killed and that request edited back."""
        taking = self._taking() if self._gate.has_proof else None
        return taking is not None and taking.entry.digest == version

    def _left_out(self) -> list[str]:
        """What this update leaves as it is, though the proof holds it: the engine asks about all the rest."""
        if not self._gate.has_proof:
            return []  # a destroy, where the engine itself lets nothing go before what rests on it
        return sorted(
            name for kind, name in self._gate.admission.by_name if kind in ACTUATORS and name not in self._asked
        )

    def _objects(self) -> Iterator[GivenObject]:
        for item in self._gate.admission.resources:
            if item.kind != Claims.KIND:
                yield GivenObject(kind=item.kind, name=item.name, on_delete=str(item.spec.get("on_delete") or ""))

    def _taking(self) -> Taking | None:
        claims = self._gate.admission.claims
        return None if claims is None else Taking.model_validate(claims)

    def _ledger(self) -> Ledger:
        admission = self._gate.admission
        spec = next(item.spec for item in admission.resources if item.kind == Claims.KIND)
        return self._of(str(spec["store"]), site_of(admission.stack))

    def _ledger_of(self, values: Mapping[str, Any], stack: str) -> Ledger:
        return self._of(str(values.get("store") or ""), site_of(stack))

    async def _persons(self) -> dict[str, str]:
        """Whom the proof gives a right, by the ids that they have now. Raises `Failure` if one is not there."""
        if self.cloud is None:
            return {}
        return await self._pools.run("identity", persons, self.cloud, self._gate.admission.resources)

    def _open(self, url: str, site: str) -> Ledger:
        return Ledger(open_store(url, site, self.cloud.site_region if self.cloud else ""))

    def _present(self) -> CloudFingerprint:
        assert self.cloud is not None
        return self.cloud.login.fingerprint

    async def _run(self, call: Callable[[], T]) -> T:
        with _as_failure():
            return await self._pools.run("claims", call)


@contextmanager
def _as_failure() -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise refused(error.what, error.hint) from error
    except StoreFailed as error:
        # What could not be taken back is noted on the error.
        what = "; ".join((error.what, *getattr(error, "__notes__", ())))
        raise Failure(Trouble.UNREACHABLE, what, error.hint) from error


def _let_go(ledger: Ledger, held: ClaimsId, lineage: str) -> None:
    """Drops one footprint; with the last one the stack is gone, and what it had is kept as its past."""
    record = ledger.stack(held.stack)
    if (
        record is not None
        and record.lineage == lineage
        and {entry.digest for entry in record.entries} == {held.version}
    ):
        History(ledger.store).left(record)
    ledger.drop(held.stack, lineage, held.version)


def site_of(stack: str) -> str:
    """The name of the site that a stack is of."""
    return StackName.parse(stack).site


def _lineage(values: Mapping[str, Any]) -> str:
    return str(values.get("lineage") or "")


def _outputs(item: Declared, lineage: str) -> dict[str, Any]:
    return item.inputs() | {"lineage": lineage}
