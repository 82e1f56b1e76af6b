"""What the claims store has of earlier footprints of a stack, as an actuator may ask for it."""

from __future__ import annotations

from pathlib import Path

from interlock.provider.admitted import AdmissionGate
from interlock.provider.claims import ClaimsLifecycle
from interlock.provider.pools import ThreadPools
from interlock.provider.preview_token import PreviewTokens
from interlock.provider.turns import ClaimsPlace, StackHolding
from interlock.resources import Admission, Admitted, Claims
from interlock.store.folder import FolderStore
from interlock.store.ledger import Ledger
from interlock.vocabulary.owners import OwnerId
from tests.store.world import entry, taking
from tests.ufm.partition_stack import STACK, identities

STORE = "file:///claims"
FIRST, SECOND = entry(identities(0, 1)), entry(identities(0, 5))


def asked(ledger: Ledger, folder: Path, *, proof: bool = True) -> frozenset[str]:
    """What a provider process with a proof of the second footprint is told."""
    return lifecycle(ledger, folder, proof=proof).held_before()


def lifecycle(ledger: Ledger, folder: Path, *, proof: bool = True) -> ClaimsLifecycle:
    """That of a provider process with a proof of the second footprint."""
    gate = AdmissionGate()
    wanted = taking(STACK, SECOND, ledger)
    spec = {"store": STORE, "claims": [], "footprint": "", "version": ""}
    claims = Admitted(name="claims", kind=Claims.KIND, spec=spec)
    admission = Admission(
        stack=STACK, cloud="paper", owner=wanted.owner, site_owner=OwnerId("5172e0"), plan_hash="", proof_hash="",
        site_folder=str(folder), resources=(claims,), claims=wanted.model_dump(mode="json"),
    )  # fmt: skip
    if proof:
        gate.admit(admission, PreviewTokens(folder), preview=True)
    return ClaimsLifecycle(gate, ThreadPools(), lambda *_: ledger)


def test_earlier_footprints_count_and_the_present_one_does_not(tmp_path: Path) -> None:
    ledger = Ledger(FolderStore(tmp_path / "store"))
    assert asked(ledger, tmp_path) == frozenset()
    record = ledger.take(taking(STACK, FIRST, ledger), None)
    assert asked(ledger, tmp_path) == identities(0, 1)
    ledger.confirm(STACK, record.lineage)
    ledger.take(taking(STACK, SECOND, ledger), record.lineage)
    assert asked(ledger, tmp_path) == identities(0, 1)
    # What the present one has as well is some part's of the stack.
    assert lifecycle(ledger, tmp_path).held_no_more() == identities(1) - identities()
    assert lifecycle(ledger, tmp_path, proof=False).held_no_more() == frozenset()
    ledger.drop(STACK, record.lineage, FIRST.digest)
    assert asked(ledger, tmp_path) == frozenset()
    assert asked(ledger, tmp_path, proof=False) == frozenset()


def test_a_destroy_has_no_proof_and_finds_all_that_its_state_holds(tmp_path: Path) -> None:
    """Whatever a run has claimed that was stopped; nothing for the state of another backend."""
    ledger = Ledger(FolderStore(tmp_path / "store"))
    destroying, nobody = lifecycle(ledger, tmp_path, proof=False), StackHolding()
    assert destroying.held_by_state(ClaimsPlace(STORE, STACK, "minted")) == nobody
    record = ledger.take(taking(STACK, FIRST, ledger), None)
    ledger.confirm(STACK, record.lineage)
    ledger.take(taking(STACK, SECOND, ledger), record.lineage)
    ours = ClaimsPlace(STORE, STACK, record.lineage)
    everything = identities(0, 1) | identities(0, 5)
    assert destroying.held_by_state(ours) == (everything, identities(1, 5) - identities())
    # An `up` of the second footprint wants what that one has.
    assert lifecycle(ledger, tmp_path).held_by_state(ours) == (everything, identities(1) - identities())
    assert destroying.held_by_state(ours._replace(lineage="another")) == nobody
    assert destroying.held_by_state(ours._replace(lineage="")) == nobody
    ledger.release(STACK, identities(0, 5) - identities(0))
    assert destroying.held_by_state(ours).held == identities(0, 1)
    ledger.drop(STACK, record.lineage, FIRST.digest)
    assert destroying.held_by_state(ours) == nobody


def test_an_older_copy_of_the_state_holds_nothing_after_a_run_that_ended_well(tmp_path: Path) -> None:
    """Its lineage is the same, and it does not know the ports that came since: a cluster that runs has those."""
    ledger = Ledger(FolderStore(tmp_path / "store"))
    record = ledger.take(taking(STACK, FIRST, ledger), None)
    copied = ClaimsPlace(STORE, STACK, record.lineage)
    ledger.confirm(STACK, record.lineage)
    ledger.take(taking(STACK, SECOND, ledger), record.lineage)
    ledger.drop(STACK, record.lineage, FIRST.digest)
    assert lifecycle(ledger, tmp_path, proof=False).held_by_state(copied) == StackHolding()
    # An `up` of it is refused before: its claims are of an older footprint.
    assert lifecycle(ledger, tmp_path).held_by_state(copied).held == identities(0, 5)


def test_where_a_stack_claims_is_known_with_a_proof_alone(tmp_path: Path) -> None:
    """A destroy has none: turns are then taken where the state says."""
    ledger = Ledger(FolderStore(tmp_path / "store"))
    assert lifecycle(ledger, tmp_path).place() == ClaimsPlace(STORE, STACK)
    assert lifecycle(ledger, tmp_path, proof=False).place() is None
