"""The operations on a stack's claims, each in a provider process that a call of its store can kill."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.provider.admitted import AdmissionGate
from interlock.provider.claims import ClaimsLifecycle
from interlock.provider.errors import Failure
from interlock.provider.pools import ThreadPools
from interlock.provider.preview_token import PreviewTokens
from interlock.provider.state import Declared
from interlock.resources import Admission, Admitted, Claims
from interlock.store.folder import FolderStore
from interlock.store.ledger import Ledger
from interlock.store.objects import StoreFailed
from interlock.store.records import FootprintRecord, Taking
from interlock.vocabulary.owners import OwnerId
from tests.store.memory import AFTER, BEFORE, WatchedStore
from tests.store.world import entry, taking

STACK = "lyon-kay"
FIRST = entry(["machine:1", "segment:1"], ["tor:1", "port:1"])
SECOND = entry(["machine:1", "machine:2"], ["tor:1", "port:2"])

#: Clean children: a fork of a process in which gRPC has run is none.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


@dataclass(frozen=True)
class Call:
    """One operation of the provider: `take` an entry, `confirm` it, or `drop` it."""

    does: str
    entry: FootprintRecord


@dataclass(frozen=True)
class Stop:
    """At which call of the store, and how: `before`, `after`, `lost`."""

    at: int
    fault: str


#: Step -> what was done before, the operation that is interrupted, and what the engine does after it.
STEPS: dict[str, tuple[tuple[Call, ...], Call, tuple[Call, ...]]] = {
    "create": ((), Call("take", FIRST), (Call("confirm", FIRST),)),
    "update": ((Call("take", FIRST),), Call("confirm", FIRST), ()),
    "replace": (
        (Call("take", FIRST), Call("confirm", FIRST)),
        Call("take", SECOND),
        (Call("confirm", SECOND), Call("drop", FIRST)),
    ),
    "replace, old ones": (
        (Call("take", FIRST), Call("confirm", FIRST), Call("take", SECOND), Call("confirm", SECOND)),
        Call("drop", FIRST),
        (),
    ),
    "delete": ((Call("take", FIRST), Call("confirm", FIRST)), Call("drop", FIRST), ()),
}


def perform(folder: Path, calls: tuple[Call, ...], stop: Stop | None = None) -> int:
    """The exit code of a provider process that does this; -9 if it was killed, 1 if it stopped by itself."""
    process = _PROCESSES.Process(target=_provide, args=(folder, calls, stop))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def requests(folder: Path, call: Call) -> int:
    """How many calls of the store an operation makes; it is done then."""
    watched = WatchedStore(FolderStore(folder), lambda *_: None)
    asyncio.run(_do(_lifecycle(folder, watched, call.entry), folder, call))
    return watched.calls


def _provide(folder: Path, calls: tuple[Call, ...], stop: Stop | None) -> None:
    store = WatchedStore(FolderStore(folder), lambda *arguments: _strike(stop, *arguments))
    for call in calls:
        try:
            asyncio.run(_do(_lifecycle(folder, store, call.entry), folder, call))
        except Failure:
            os._exit(1)


def _strike(stop: Stop | None, number: int, name: str, key: str, when: str) -> None:
    if stop is None or number != stop.at:
        return
    if stop.fault == "lost" and when == AFTER:
        raise StoreFailed("no answer", "run the command again")
    if stop.fault == {BEFORE: "before", AFTER: "after"}[when]:
        os.kill(os.getpid(), signal.SIGKILL)


async def _do(lifecycle: ClaimsLifecycle, folder: Path, call: Call) -> None:
    """As the engine asks for it, with the lineage that its state holds by then."""
    ledger = Ledger(FolderStore(folder))
    record = ledger.stack(STACK)
    ident, olds = f"{STACK}@{call.entry.digest}", {"lineage": record.lineage if record else "", "store": ""}
    if call.does == "take":
        if call.entry != FIRST:
            await lifecycle.known(f"{STACK}@{FIRST.digest}", olds)
        await lifecycle.create(_item(call.entry), preview=False)
    elif call.does == "confirm":
        await lifecycle.require()
    else:
        await lifecycle.delete(_item(call.entry), ident, olds, STACK)


def _item(wanted: FootprintRecord) -> Declared:
    spec = Claims(store="", footprint=wanted.digest, identities=wanted.footprint.exclusive)
    return Declared(Claims.KIND, "claims", spec, OwnerId(f"owner-{STACK}"), {})


def _lifecycle(folder: Path, store: WatchedStore, wanted: FootprintRecord) -> ClaimsLifecycle:
    """Of a provider process that the proof of this entry was handed to, in an update after its preview."""
    proved: Taking = taking(STACK, wanted, Ledger(FolderStore(folder)))
    admitted = Admitted(name="claims", kind=Claims.KIND, spec=_item(wanted).spec.canonical())
    admission = Admission(
        stack=STACK, cloud="sandbox", owner=proved.owner, site_owner=OwnerId("site"), plan_hash="plan",
        proof_hash=wanted.digest, site_folder="", resources=(admitted,), claims=proved.model_dump(mode="json"),
    )  # fmt: skip
    gate, notes = AdmissionGate(), PreviewTokens(folder.with_name(f"{folder.name}-notes-{os.getpid()}"))
    assert gate.admit(admission, notes, preview=True) == []
    assert gate.admit(admission, notes, preview=False) == []
    return ClaimsLifecycle(gate, ThreadPools(), of=_ledger(store))


def _ledger(store: Any) -> Any:
    return lambda url, site: Ledger(store)
