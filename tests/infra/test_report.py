"""`interlock report`: what became of all that a tenant had, and that less knowledge never makes it complete."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.commands import settle as settle_command
from infra.program.gate import Gate
from interlock.provider.claims import _let_go
from interlock.store.history import GivenObject, History, HistoryRecord, Settlement, Stay
from interlock.store.ledger import Ledger
from interlock.store.objects import ObjectStore
from interlock.vocabulary import ClaimsId
from interlock.vocabulary.owners import OwnerId
from tests.builders.paper import LOGIN
from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import STEPS, now, write
from tests.infra.signing import SigningSite

MACHINES = ("ipum-01", "ipum-02", "ipum-03", "ipum-04")
pytestmark = pytest.mark.usefixtures("store")


def applied(store: Ledger) -> str:
    """acme is applied as its lock says; returns the lineage. Objects as the provider lists them."""
    gate = Gate.open("lyon").with_applied()
    proof = gate.prove("acme")
    taken = gate.taking(proof)
    assert taken is not None
    lineage = store.take(taken, None).lineage
    given = [
        GivenObject(kind=item.resource.KIND, name=item.name, on_delete=str(getattr(item.resource, "on_delete", "")))
        for item in proof.plan.resources
    ]
    History(store.store).given(taken, given)
    store.confirm(taken.stack, lineage)
    return lineage


@pytest.fixture
def nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cloud and the engine's state have nothing of anybody."""
    monkeypatch.setattr(settle_command, "Cloud", lambda _, **of_site: SimpleNamespace(login=LOGIN))
    monkeypatch.setattr(settle_command, "census", lambda _: [])
    monkeypatch.setattr(settle_command, "made_with", lambda *_: iter(()))
    monkeypatch.setattr(settle_command, "_deployment", lambda _: None)


def asked(interlock: Interlock, code: int) -> dict[str, Any]:
    ended = interlock("report", "acme", "--format", "json")
    assert ended.code == code, (ended.out, ended.err)
    found: dict[str, Any] = json.loads(ended.out)
    return found


def states(document: dict[str, Any], group: str) -> set[str]:
    return {one["state"] for one in document["things"] if one["group"] == group}


def let_go(store: Ledger) -> None:
    """As the engine deletes the claims, after everything else."""
    record = store.stack("lyon-acme")
    assert record is not None
    (entry,) = record.entries
    _let_go(store, ClaimsId("lyon-acme", entry.digest), record.lineage)


def evidence(interlock: Interlock, lyon: Lyon) -> list[dict[str, Any]]:
    """An entry for each step that settling asks for."""
    asked_for = json.loads(interlock("settle", "acme", "--dry-run", "--format", "json").out)["evidence"]
    return [{**one["about"], "step": one["step"], "at": now(seconds=1), "by": "Anne"} for one in asked_for]


@pytest.fixture
def gone(lyon: Lyon, interlock: Interlock, store: Ledger, nothing_there: None) -> Lyon:
    """acme was applied, asked to be gone, and everything is deleted."""
    applied(store)
    file = lyon.file("tenants/acme.yaml")
    file.write_text(f"state: gone\n{file.read_text()}")
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    let_go(store)
    return lyon


def settle_all(gone: Lyon, interlock: Interlock) -> None:
    write(gone, evidence(interlock, gone))
    done = interlock("settle", "acme")
    assert done.code == 0, done.err


def test_from_present_to_complete(lyon: Lyon, interlock: Interlock, store: Ledger, nothing_there: None) -> None:
    applied(store)
    present = asked(interlock, 1)
    assert (present["verdict"], states(present, "machines")) == ("present", {"in use"})
    assert states(present, "volumes") == {"in use"}

    file = lyon.file("tenants/acme.yaml")
    file.write_text(f"state: gone\n{file.read_text()}".replace("on_delete: erase", "on_delete: keep"))
    assert interlock("lock", "acme").code == 0
    leaving = asked(interlock, 1)
    assert (leaving["verdict"], states(leaving, "buckets")) == ("leaving", {"to be deleted"})

    let_go(store)
    cleaning = asked(interlock, 1)
    assert (states(cleaning, "volumes"), states(cleaning, "machines")) == ({"deleted"}, {"cleaning"})
    assert cleaning["free_again"]["waiting"] == len(MACHINES)
    assert [wait["what"] for wait in of(cleaning, "machine ipum-01")["waits_for"]] == list(STEPS)

    settle_all(lyon, interlock)
    done = asked(interlock, 0)
    assert done["verdict"] == "complete"
    assert {one["state"] for one in done["things"]} == {"free", "deleted"}
    assert [step["step"] for step in of(done, "machine ipum-01")["steps"]] == list(STEPS)
    assert done["free_again"]["since"]


def of(document: dict[str, Any], start: str) -> dict[str, Any]:
    (found,) = (one for one in document["things"] if one["name"].startswith(start))
    return dict(found)


def test_a_year_later_the_store_alone_tells(gone: Lyon, interlock: Interlock) -> None:
    settle_all(gone, interlock)
    for file in ("tenants/acme.yaml", "tenants/acme.lock.json", "evidence/acme.yaml"):
        gone.file(file).unlink()
    told = interlock("report", "acme")
    assert told.code == 0, (told.out, told.err)
    assert "lyon-acme: complete" in told.out
    assert "request: absent; no lock" in told.out
    assert "wiped" in told.out
    unknown = interlock("report", "acmee")
    assert unknown.code == 2
    assert "nothing is known of a tenant `acmee`" in unknown.err


def test_claims_that_a_killed_run_left_end_when_they_are_settled(
    lyon: Lyon, interlock: Interlock, store: Ledger, nothing_there: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle_command, "_deployment", lambda _: {"resources": []})
    applied(store)
    file = lyon.file("tenants/acme.yaml")
    file.write_text(f"state: gone\n{file.read_text()}")
    assert interlock("lock", "acme").code == 0
    settle_all(lyon, interlock)
    assert store.stack("lyon-acme") is None
    assert asked(interlock, 0)["verdict"] == "complete"


def test_what_the_request_keeps_is_said_to_be_kept(lyon: Lyon, interlock: Interlock, store: Ledger) -> None:
    lyon.replace("tenants/acme.yaml", "on_delete: erase", "on_delete: keep")
    assert interlock("lock", "acme").code == 0
    applied(store)
    file = lyon.file("tenants/acme.yaml")
    file.write_text(f"state: gone\n{file.read_text()}")
    assert interlock("lock", "acme").code == 0
    kept = asked(interlock, 1)
    assert (states(kept, "buckets"), states(kept, "servers")) == ({"kept"}, {"to be deleted"})


def _without_a_step(one: Settlement) -> Settlement:
    return one.model_copy(
        update={"things": tuple(item.model_copy(update={"steps": item.steps[1:]}) for item in one.things)}
    )


#: What is forgotten of a past that was complete.
FORGOTTEN: dict[str, Callable[[HistoryRecord], HistoryRecord]] = {
    "the stay": lambda past: past.model_copy(update={"stays": ()}),
    "the settlement": lambda past: past.model_copy(update={"settlements": ()}),
    "that nothing was left": lambda past: past.model_copy(
        update={"settlements": tuple(one.model_copy(update={"nothing_left": False}) for one in past.settlements)}
    ),
    "one thing": lambda past: past.model_copy(
        update={
            "settlements": tuple(
                one.model_copy(update={"things": tuple(item for item in one.things if "M2000-03" not in item.identity)})
                for one in past.settlements
            )
        }
    ),
    "one step": lambda past: past.model_copy(update={"settlements": tuple(map(_without_a_step, past.settlements))}),
    "the end": lambda past: past.model_copy(
        update={"stays": tuple(one.model_copy(update={"left": ""}) for one in past.stays)}
    ),
    "which objects": lambda past: past.model_copy(
        update={"stays": tuple(one.model_copy(update={"since": "", "objects": ()}) for one in past.stays)}
    ),
}  # fmt: skip


def test_of_two_that_had_the_name_the_one_that_did_not_end_is_told_of(
    gone: Lyon, interlock: Interlock, store: Ledger
) -> None:
    settle_all(gone, interlock)
    for file in ("tenants/acme.yaml", "tenants/acme.lock.json"):
        gone.file(file).unlink()
    assert asked(interlock, 0)["verdict"] == "complete"
    later = Stay(since=now(), objects=(GivenObject(kind="Volume", name="acme-scratch"),))
    record = HistoryRecord(stack="lyon-acme", tenant="acme", owner=OwnerId("of-another-lock"), stays=(later,))
    store.store.put_new("history/lyon-acme@of-another-lock", record.model_dump_json().encode())
    told = asked(interlock, 3)
    assert (told["owner"], told["verdict"]) == ("of-another-lock", "not known")


def rewrite(store: ObjectStore, change: Callable[[HistoryRecord], HistoryRecord]) -> None:
    ((key, stored),) = store.items("history/")
    old = HistoryRecord.model_validate_json(stored.body)
    assert change(old) != old
    store.put_over(key, change(old).model_dump_json().encode(), stored.version)


@pytest.mark.parametrize("what", FORGOTTEN)
def test_less_knowledge_is_never_complete(gone: Lyon, interlock: Interlock, store: Ledger, what: str) -> None:
    settle_all(gone, interlock)
    assert asked(interlock, 0)["verdict"] == "complete"
    rewrite(store.store, FORGOTTEN[what])
    assert asked(interlock, 3)["verdict"] == "not known"


def test_a_claim_after_its_settlement_is_not_settled_by_it(gone: Lyon, interlock: Interlock, store: Ledger) -> None:
    settle_all(gone, interlock)

    def later(past: HistoryRecord) -> HistoryRecord:
        (stay,) = past.stays
        held = dict.fromkeys(stay.identities, "2999-01-01T00:00:00Z")
        return past.model_copy(update={"stays": (stay.model_copy(update={"identities": held}),)})

    rewrite(store.store, later)
    assert asked(interlock, 3)["verdict"] == "not known"


def test_cleaning_that_erases_no_more_is_not_complete(gone: Lyon, interlock: Interlock) -> None:
    settle_all(gone, interlock)
    gone.replace("site.yaml", "steps_erase: true", "steps_erase: false")
    assert interlock("lock").code == 0
    told = interlock("report", "acme")
    assert told.code == 3
    assert "A9.steps_erase is false" in told.out


def test_it_is_written_signed_and_never_beside_an_earlier_signature(
    gone: Lyon, interlock: Interlock, tmp_path: Path
) -> None:
    signing = SigningSite(gone, tmp_path)
    key, out = signing.key("anne"), tmp_path / "acme.md"
    assert interlock("report", "acme", "--out", str(out), "--key", str(key), "--format", "markdown").code == 1
    listed = tmp_path / "signers"
    listed.write_text(signing.line("anne") + "\n")
    signature = tmp_path / "acme.md.sig"
    command: list[str | Path] = [
        "ssh-keygen",
        "-Y",
        "verify",
        "-n",
        "interlock-evidence",
        "-I",
        "anne",
        "-f",
        listed,
        "-s",
        signature,
    ]
    assert subprocess.run(command, input=out.read_bytes(), capture_output=True, check=False).returncode == 0
    assert subprocess.run(command, input=out.read_bytes() + b"x", capture_output=True, check=False).returncode != 0
    assert "| machine ipum-01 (serial PLACEHOLDER-M2000-01) | cleaning |" in out.read_text()
    assert interlock("report", "acme", "--out", str(out)).code == 1
    assert not signature.exists()
    assert interlock("report", "acme", "--key", str(key)).code == 2
