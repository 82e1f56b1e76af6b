"""`interlock settle`: what was given up is free once state, store and cloud have let go, and not before.

What evidence it wants besides is tested in `test_settle_evidence`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from infra.commands import settle as command
from infra.program.gate import Gate
from infra.stack.settling import LookedAt, freed
from interlock.model.lock.record import Footprint
from interlock.provider.census import Counted
from interlock.store.ledger import Ledger
from interlock.store.records import FootprintRecord, StackRecord
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from tests.builders.paper import LOGIN
from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import written
from tests.store.world import require_listed

OTHER_FOOTPRINT = "store: another footprint than the lock's is applied, or may be"
NONE = Footprint(classes=(), labels={}, exclusive=())
#: Whoever looks at the store finds an empty one.
pytestmark = pytest.mark.usefixtures("store")
URN = "urn:pulumi:lyon-acme::clusters::interlock:index:{kind}::{name}"


@pytest.fixture
def smaller(lyon: Lyon, interlock: Interlock) -> Lyon:
    """acme has given two of four machines up."""
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    assert interlock("lock", "acme").code == 0
    return lyon


def looked(**changes: Any) -> LookedAt:
    gate = Gate.open("lyon")
    given: dict[str, Any] = {"deployment": None, "record": None, "objects": ()}
    return LookedAt(plan=gate.plan("acme"), lock=gate.workspace.locks["acme"], **(given | changes))


def in_state(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": f"interlock:index:{kind}", "urn": URN.format(kind=kind, name=name), **more}


def claims_in_state(entry: FootprintRecord) -> dict[str, Any]:
    return in_state("Claims", "acme-claims", id=f"lyon-acme@{entry.digest}")


def recorded(ledger: Ledger) -> StackRecord:
    """What the store has once the committed plan of acme is applied."""
    gate = Gate.open("lyon").with_applied()
    taken = gate.taking(gate.prove("acme"))
    assert taken is not None
    return ledger.take(taken, None)


def test_nothing_anywhere_has_let_go(smaller: Lyon) -> None:
    assert looked().obstacles() == []
    assert looked(deployment={"resources": [in_state("Network", "acme-train-ipu-data")]}).obstacles() == []


OBSTACLES: dict[str, tuple[dict[str, Any], str]] = {
    "a resource that is not planned": (
        {"deployment": {"resources": [in_state("Server", "acme-old-0")]}},
        "state: Server acme-old-0 exists and is not in the plan",
    ),
    "a resource that is to be deleted": (
        {"deployment": {"resources": [in_state("Network", "acme-train-ipu-data", delete=True)]}},
        "state: Network acme-train-ipu-data is still to be deleted",
    ),
    "an interrupted run": (
        {"deployment": {"resources": [], "pending_operations": [{}]}},
        "state: an interrupted run left operations pending",
    ),
    "a run that is under way": (
        {"deployment": {"resources": []}, "running": ("process 7 on tower-1",)},
        "state: process 7 on tower-1 is using it",
    ),
    "an object that is not planned": (
        {"objects": (Counted("Server", "4f", OwnerId("x"), "acme-old-0"),)},
        "cloud: Server acme-old-0 (4f) exists and is not in the plan",
    ),
    "an object that nobody recorded": (
        {"objects": (Counted("Network", "4f", OwnerId("x"), "acme-train-ipu-data"),)},
        "cloud: Network acme-train-ipu-data (4f) exists, and the store has no record of an update",
    ),
}


@pytest.mark.parametrize("case", OBSTACLES)
def test_each_place_is_looked_at(smaller: Lyon, case: str) -> None:
    changes, said = OBSTACLES[case]
    (obstacle,) = looked(**changes).obstacles()
    assert obstacle.startswith(said)


def test_what_the_store_says_is_applied_counts(lyon: Lyon, interlock: Interlock, store: Ledger) -> None:
    before = recorded(store)
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    assert interlock("lock", "acme").code == 0
    old = {"deployment": {"resources": [claims_in_state(before.entries[0])]}}
    assert looked(record=before, **old).obstacles() == [OTHER_FOOTPRINT]
    after = before.model_copy(update={"entries": recorded(store).entries[-1:]})
    assert looked(record=after, deployment={"resources": [claims_in_state(after.entries[0])]}).obstacles() == []
    (obstacle,) = looked(record=after).obstacles()
    assert "the backend in use has no stack lyon-acme" in obstacle


def test_what_a_lost_state_had_applied_is_no_leftover(smaller: Lyon, store: Ledger) -> None:
    """The state was emptied: only what is on the cloud still tells, and it has the names of the plan."""
    record = recorded(store)
    other = record.model_copy(update={"entries": (record.entries[0].model_copy(update={"footprint": NONE}),)})
    emptied: dict[str, Any] = {"deployment": {"resources": []}, "record": other}
    network = Counted("Network", "4f", OwnerId("x"), "acme-train-ipu-data")
    assert looked(**emptied, objects=(network,)).obstacles() == [OTHER_FOOTPRINT]
    assert looked(**emptied).obstacles() == []
    assert looked(**emptied).leftover == other.entries


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what is found on the cloud and in the state."""

    def found(*objects: Counted, state: Any = None, agrees: bool = True) -> None:
        monkeypatch.setattr(command, "Cloud", lambda _, **of_site: SimpleNamespace(login=LOGIN))
        monkeypatch.setattr(command, "census", lambda _: list(objects))
        monkeypatch.setattr(command, "_deployment", lambda _: state)
        monkeypatch.setattr(command, "_agrees", lambda _: agrees)

    return found


def test_settling_frees_lock_and_store(
    smaller: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger
) -> None:
    looking()
    written(smaller, "ipum-03", "ipum-04")
    old = Gate.open("lyon").workspace.locks["acme"]
    before = smaller.locks()
    tried = interlock("settle", "acme", "--dry-run")
    assert tried.code == 0, tried.err
    assert "machines ipum-03" in tried.out
    assert smaller.locks() == before

    done = interlock("settle", "acme")
    assert (done.code, done.out) == (0, tried.out)
    new = Gate.open("lyon").workspace.locks["acme"]
    assert (new.released, new.serial, new.allocation) == ((), old.serial + 1, old.allocation)
    assert freed(old, new)
    assert interlock("lock", "--check").code == 0
    assert interlock("check").code == 0
    assert "nothing to settle" in interlock("settle", "acme").err


def test_in_another_region_nothing_is_found_and_nothing_is_freed(
    smaller: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger
) -> None:
    looking()
    store.keep_cloud(CloudFingerprint(LOGIN.fingerprint.identity_service, "RegionTwo"))
    before, held = smaller.locks(), store.stacks()
    refused = interlock("settle", "acme")
    assert refused.code != 0
    assert "about cloud paper (region RegionTwo)" in refused.err
    assert (smaller.locks(), store.stacks()) == (before, held)


def test_what_has_not_let_go_is_named_and_nothing_changes(
    smaller: Lyon, interlock: Interlock, looking: Callable[..., None]
) -> None:
    owner = Gate.open("lyon").workspace.locks["acme"].owner
    looking(Counted("Server", "4f", OwnerId(owner), "acme-old-0"), Counted("Server", "5a", OwnerId("somebody"), "x"))
    before = smaller.locks()
    refused = interlock("settle", "acme")
    assert refused.code == 1
    assert "cloud: Server acme-old-0 (4f)" in refused.err
    assert "5a" not in refused.err
    assert smaller.locks() == before


@pytest.fixture
def abandoned(lyon: Lyon, interlock: Interlock, store: Ledger) -> tuple[FootprintRecord, FootprintRecord]:
    """What is applied, and what a run claimed that was killed, before its request was edited back."""
    (applied,) = recorded(store).entries
    more = ("buckets:\n", "buckets:\n  logs: {}\n")
    lyon.replace("tenants/acme.yaml", *more)
    assert interlock("lock", "acme").code == 0
    _, killed = recorded(store).entries
    lyon.replace("tenants/acme.yaml", *reversed(more))
    assert interlock("lock", "acme").code == 0
    assert applied != killed
    return applied, killed


PLANNED = "acme-train-ipu-data"


def test_what_a_killed_run_claimed_leaves_the_store(
    lyon: Lyon,
    interlock: Interlock,
    looking: Callable[..., None],
    store: Ledger,
    abandoned: tuple[FootprintRecord, FootprintRecord],
) -> None:
    applied, killed = abandoned
    before, record = lyon.locks(), store.stack("lyon-acme")
    owner = Gate.open("lyon").workspace.locks["acme"].owner
    looking(Counted("Network", "4f", owner, PLANNED), state={"resources": [claims_in_state(applied)]})
    tried = interlock("settle", "acme", "--dry-run")
    assert tried.code == 0, tried.err
    assert f"acme: footprint {killed.digest} of an interrupted run" in tried.out
    assert store.stack("lyon-acme") == record

    done = interlock("settle", "acme")
    assert (done.code, done.out) == (0, tried.out)
    assert "the lock stays as it is" in done.err
    assert lyon.locks() == before
    left = store.stack("lyon-acme")
    assert left is not None
    assert left.entries == (applied,)
    require_listed(store.store)
    assert "nothing to settle" in interlock("settle", "acme").err


#: What the state holds the claims of, whether everything is there as planned -> what is said.
NOT_YET = {
    "what it changed in place may be there": (0, False, "`pulumi preview --refresh --expect-no-changes` finds"),
    "it is claimed in the state as well": (1, True, "acme: nothing to settle"),
}


@pytest.mark.parametrize("case", NOT_YET)
def test_what_a_killed_run_may_have_made_keeps_its_claims(
    lyon: Lyon,
    interlock: Interlock,
    looking: Callable[..., None],
    store: Ledger,
    abandoned: tuple[FootprintRecord, FootprintRecord],
    case: str,
) -> None:
    held, agrees, said = NOT_YET[case]
    looking(state={"resources": [*map(claims_in_state, abandoned[: held + 1])]}, agrees=agrees)
    record = store.stack("lyon-acme")
    # Where nothing is left over there is nothing to do, and where it may be, it is refused.
    refused = interlock("settle", "acme")
    assert said in refused.err, refused.err
    assert store.stack("lyon-acme") == record
