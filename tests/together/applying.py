"""One apply, as one of many processes runs it: the claims first, then whatever else there is."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from interlock.model.lock.record import Footprint
from interlock.provider.admitted import AdmissionGate
from interlock.provider.claims import ClaimsLifecycle
from interlock.provider.errors import Failure
from interlock.provider.pools import ThreadPools
from interlock.provider.preview_token import PreviewTokens
from interlock.provider.state import Declared
from interlock.resources import Admission, Admitted, Claims
from interlock.store.ledger import Ledger
from interlock.store.records import FootprintRecord, Taking
from interlock.vocabulary.owners import OwnerId

SITE = "lyon"


class Outcome(NamedTuple):
    """What came of an apply: the lineage that its state holds now, or the words of the refusal."""

    lineage: str
    words: str

    @property
    def won(self) -> bool:
        return not self.words


def wanted(tenant: str, identities: Iterable[str], nodes: Iterable[str] = ()) -> Taking:
    """What a tenant takes whose proof met nobody."""
    names = tuple(sorted(nodes))
    footprint = Footprint(classes=(), labels={}, exclusive=tuple(sorted(identities)))
    return Taking(
        stack=f"{SITE}-{tenant}", tenant=tenant, owner=OwnerId(f"owner-of-{tenant}"), serial=1,
        entry=FootprintRecord(footprint=footprint, nodes=names), met=names, known={},
    )  # fmt: skip


def claims(url: str, taking: Taking) -> Claims:
    """The resource that takes it."""
    return Claims(store=url, footprint=taking.entry.digest, identities=taking.entry.footprint.exclusive)


def admission(url: str, taking: Taking) -> Admission:
    """The proof of an apply that has nothing but claims."""
    spec = claims(url, taking)
    admitted = Admitted(name=f"{taking.tenant}-claims", kind="Claims", spec=spec.canonical())
    return Admission(
        stack=taking.stack, cloud="sandbox", owner=taking.owner, site_owner=OwnerId("site"), plan_hash="plan",
        proof_hash=taking.entry.digest, site_folder="/site", resources=(admitted,),
        claims=taking.model_dump(mode="json"),
    )  # fmt: skip


class Apply:
    """An `up` from a state that holds nothing, after its preview."""

    def __init__(self, url: str, taking: Taking, of: Callable[[str, str], Ledger] | None = None) -> None:
        gate, notes = AdmissionGate(), PreviewTokens(Path(tempfile.mkdtemp()))
        for preview in (True, False):
            assert gate.admit(admission(url, taking), notes, preview=preview) == []
        self._process = ClaimsLifecycle(gate, ThreadPools(), of)
        self._item = Declared("Claims", f"{taking.tenant}-claims", claims(url, taking), taking.owner, {})

    async def claim(self) -> str:
        """Takes the claims; the lineage that the state holds then. Raises `Failure`."""
        _, values = await self._process.create(self._item, preview=False)
        return str(values["lineage"])

    async def go_on(self) -> None:
        """What stands before the first other object. Raises `Failure`."""
        await self._process.require()


def take(url: str, tenant: str, identities: tuple[str, ...], nodes: tuple[str, ...] = ()) -> Outcome:
    """The claims, then what stands before the first other object."""
    apply = Apply(url, wanted(tenant, identities, nodes))
    try:
        return Outcome(asyncio.run(_whole(apply)), "")
    except Failure as failure:
        return Outcome("", str(failure))


async def _whole(apply: Apply) -> str:
    lineage = await apply.claim()
    await apply.go_on()
    return lineage
