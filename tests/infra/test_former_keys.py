"""A login key that a request no longer names stays its tenant's, while a server that was made with it may be there.

request: key A ── lock ── up ── key B ── lock: A is a former key ── no server made with A ── settle: A is free
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from infra.commands import settle as command
from infra.program.gate import Gate
from interlock.model.lock.files import dump_lock
from interlock.model.lock.record import FormerKey, Lock
from interlock.planning.former_keys import login_keys_of
from interlock.provider.made_with import MadeWith
from interlock.store.ledger import Ledger
from interlock.store.records import FootprintRecord
from interlock.vocabulary.ssh_keys import fingerprints
from policies import NotProved
from tests.builders.paper import LOGIN
from tests.builders.pod64 import ssh_key
from tests.infra.conftest import Interlock, Lyon
from tests.infra.test_settle import claims_in_state, in_state, recorded

REQUEST, OTHERS = "tenants/acme.yaml", "tenants/globex.yaml"
ACMES = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKr02uEjnP4eKInAoZpd9RjVn5+oETOPEk/TeADGI9jM anne@acme.example"
GLOBEXS = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK5LwnoymeFtwg6PSrWsUi6uqNZWKXtREdKhjcgSHCzs bob@globex.example"
NEW = ssh_key("anne's second")
(OLD_PRINT,), (NEW_PRINT,) = fingerprints(ACMES), fingerprints(NEW)
SERVER = "acme-train-poplar-0"
#: Whoever looks at the store finds an empty one.
pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def rotated(lyon: Lyon, interlock: Interlock) -> Lyon:
    """acme has another key in its request, and is locked again."""
    lyon.replace(REQUEST, ACMES, NEW)
    locked(interlock, "acme")
    return lyon


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what is found on the cloud and in the state."""

    def found(*made: MadeWith, state: Any = None, agrees: bool = True) -> None:
        monkeypatch.setattr(command, "Cloud", lambda _, **of_site: SimpleNamespace(login=LOGIN))
        monkeypatch.setattr(command, "census", lambda _: [])
        monkeypatch.setattr(command, "made_with", lambda _cloud, _owner: iter(made))
        monkeypatch.setattr(command, "_deployment", lambda _: state)
        monkeypatch.setattr(command, "_agrees", lambda _: agrees)

    return found


def locked(interlock: Interlock, *tenants: str) -> str:
    done = interlock("lock", *tenants)
    assert done.code == 0, done.err
    return done.err


def lock_of(tenant: str = "acme") -> Lock:
    return Gate.open("lyon").workspace.locks[tenant]


def former(tenant: str = "acme") -> list[str]:
    return [one.fingerprint for one in lock_of(tenant).former_keys]


def made(**changes: Any) -> MadeWith:
    return replace(MadeWith("Server", SERVER, "4f", public_key=NEW), **changes)


def moved_to_globex(lyon: Lyon) -> None:
    lyon.replace(OTHERS, GLOBEXS, ACMES)


def test_a_key_that_was_taken_out_stays_in_lock_and_footprint(rotated: Lyon, interlock: Interlock) -> None:
    lock = lock_of()
    assert former() == [OLD_PRINT]
    assert lock.former_keys[0].since
    assert login_keys_of(lock.footprint) == {OLD_PRINT, NEW_PRINT}
    before = rotated.locks()
    locked(interlock)
    assert rotated.locks() == before
    assert interlock("lock", "--check").code == 0
    assert interlock("check").code == 0


def test_lock_and_plan_say_what_it_opens_and_what_ends_it(lyon: Lyon, interlock: Interlock) -> None:
    assert "former keys" not in interlock("plan", "acme").out
    lyon.replace(REQUEST, ACMES, NEW)
    assert f"warning: ssh key {OLD_PRINT} was taken out: servers that were made with it" in locked(interlock, "acme")
    assert OLD_PRINT not in locked(interlock, "acme")
    told = interlock("plan", "acme").out
    opened = "acme-train-poplar-0, acme-train-poplar-1"
    assert f"ssh key {OLD_PRINT}, taken out {lock_of().former_keys[0].since}, may still open {opened}\n" in told
    assert "`interlock settle acme --dry-run` says which" in told
    shown = json.loads(interlock("plan", "acme", "--format", "json").out)
    assert [one["fingerprint"] for one in shown["former_keys"]] == [OLD_PRINT]


def test_it_stays_from_lock_to_lock_with_its_time(rotated: Lyon, interlock: Interlock) -> None:
    first = lock_of().former_keys
    rotated.replace(REQUEST, NEW, ssh_key("a third"))
    locked(interlock, "acme")
    assert {one.fingerprint for one in lock_of().former_keys} == {OLD_PRINT, NEW_PRINT}
    assert set(first) < set(lock_of().former_keys)


def test_a_key_that_comes_back_is_no_former_one(rotated: Lyon, interlock: Interlock) -> None:
    rotated.replace(REQUEST, NEW, ACMES)
    locked(interlock, "acme")
    assert former() == [NEW_PRINT]


@pytest.mark.parametrize("again", [True, False], ids=["locked", "not locked yet"])
def test_another_tenant_that_gets_it_is_refused(lyon: Lyon, interlock: Interlock, again: bool) -> None:
    """Moved in one commit, be the lock of whom it was taken from made again or not."""
    lyon.replace(REQUEST, ACMES, NEW)
    moved_to_globex(lyon)
    locked(interlock, *(["acme"] if again else []), "globex")
    told = interlock("check", "globex")
    assert told.code == 1, told.out + told.err
    assert "SEC-05" in told.out
    assert "one ssh key is globex's and acme's" in told.out
    assert interlock("check", "acme").code == (1 if again else 2)


def test_whichever_plan_is_judged_names_both(rotated: Lyon, interlock: Interlock) -> None:
    moved_to_globex(rotated)
    locked(interlock, "globex")
    for tenant in ("acme", "globex"):
        told = interlock("check", tenant)
        assert told.code == 1
        assert "SEC-05" in told.out
        assert "acme" in told.out
        assert "globex" in told.out


def test_a_tenant_that_is_gone_keeps_its_keys(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(REQUEST, "vpods:", "state: gone\nvpods:")
    locked(interlock, "acme")
    assert former() == [OLD_PRINT]
    moved_to_globex(lyon)
    locked(interlock, "globex")
    assert interlock("check", "globex").code == 1


def test_a_lock_with_nothing_but_a_key_needs_its_request(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(REQUEST, "vpods:", "state: gone\nvpods:")
    locked(interlock, "acme")
    bare = lock_of().model_copy(update={"released": ()})
    dump_lock(bare, lyon.file("tenants/acme.lock.json"))
    lyon.file(REQUEST).unlink()
    told = interlock("check", "globex")
    assert told.code == 2
    assert "the lock of `acme` holds claims" in told.err


def noted() -> dict[str, list[str]]:
    """What the operator's lock notes, by tenant."""
    lock = Gate.open("lyon").workspace.site_lock
    assert lock is not None
    return {name: [one.fingerprint for one in keys] for name, keys in lock.former_keys.items()}


def test_the_operators_lock_notes_it_and_no_other(lyon: Lyon, interlock: Interlock) -> None:
    assert noted() == {}
    lyon.replace(REQUEST, ACMES, NEW)
    before = lyon.file("site.lock.json").read_bytes()
    assert "site: written" in locked(interlock, "acme")
    assert noted() == {"acme": [OLD_PRINT]}
    assert lyon.file("site.lock.json").read_bytes() != before
    assert "site: unchanged" in locked(interlock)
    lyon.replace(REQUEST, NEW, ACMES)
    locked(interlock, "acme")
    assert noted() == {"acme": [NEW_PRINT]}


@pytest.mark.parametrize("is_asked", ["acme", "globex"])
def test_without_the_lock_nobody_is_judged(rotated: Lyon, interlock: Interlock, is_asked: str) -> None:
    rotated.file("tenants/acme.lock.json").unlink()
    moved_to_globex(rotated)
    locked(interlock, "globex")
    told = interlock("check", is_asked)
    assert told.code == 2
    if is_asked == "globex":
        assert "the lock of `acme` is not there, and with it went former ssh key " + OLD_PRINT in told.err
        assert "run `interlock lock acme`, which takes the key over" in told.err
    assert noted()["acme"] == [OLD_PRINT]


def test_a_lock_that_was_deleted_forgets_no_key(rotated: Lyon, interlock: Interlock) -> None:
    """Made again it has another owner id, and what the operator's lock noted; no claims store is asked."""
    before = lock_of()
    rotated.file("tenants/acme.lock.json").unlink()
    assert f"warning: ssh key {OLD_PRINT} was taken out" in locked(interlock, "acme")
    assert lock_of().owner != before.owner
    assert lock_of().former_keys == before.former_keys
    moved_to_globex(rotated)
    locked(interlock, "globex")
    told = interlock("check", "globex")
    assert told.code == 1
    assert "SEC-05" in told.out
    assert "one ssh key is globex's and acme's" in told.out


def test_a_lock_that_was_made_again_without_it_is_refused(lyon: Lyon, interlock: Interlock) -> None:
    """By a version that did not look, or by hand and sealed."""
    lyon.replace(REQUEST, ACMES, NEW)
    locked(interlock, "acme")
    bare = lock_of().model_copy(update={"former_keys": ()})
    dump_lock(bare, lyon.file("tenants/acme.lock.json"))
    told = interlock("check", "globex")
    assert told.code == 2
    assert f"the lock of `acme` does not note former ssh key {OLD_PRINT}" in told.err
    assert interlock("lock", "--check").code == 1
    locked(interlock, "acme")
    assert former() == [OLD_PRINT]
    assert interlock("check", "globex").code == 0


def test_a_tenant_that_never_had_a_lock_hinders_nobody(rotated: Lyon, interlock: Interlock) -> None:
    text = rotated.file(OTHERS).read_text().replace("globex", "initech").replace(GLOBEXS, ssh_key("initech"))
    rotated.file("tenants/initech.yaml").write_text(text)
    assert interlock("check", "globex").code == 0


def test_request_and_lock_that_are_both_gone_are_asked_for(rotated: Lyon, interlock: Interlock) -> None:
    rotated.file(REQUEST).unlink()
    rotated.file("tenants/acme.lock.json").unlink()
    for command_line in (["check", "globex"], ["lock", "globex"]):
        told = interlock(*command_line)
        assert told.code == 2
        assert "former ssh keys of `acme` are noted, and `stacks/lyon/tenants/acme.yaml` is not there" in told.err


def test_the_operators_lock_is_asked_for_and_filled_again(rotated: Lyon, interlock: Interlock) -> None:
    """So is one of before, which noted nothing."""
    rotated.file("site.lock.json").unlink()
    told = interlock("check", "globex")
    assert told.code == 2
    assert "the site has no lock" in told.err
    locked(interlock, "globex")
    assert noted() == {"acme": [OLD_PRINT]}


def test_a_lock_that_was_deleted_forgets_nothing_of_what_is_applied(
    lyon: Lyon, interlock: Interlock, store: Ledger
) -> None:
    """The store has the footprint, with the key of the day; and a lock with another owner id gets nothing from it."""
    recorded(store)
    lyon.file("tenants/acme.lock.json").unlink()
    lyon.replace(REQUEST, ACMES, NEW)
    locked(interlock, "acme")
    assert former() == []
    moved_to_globex(lyon)
    locked(interlock, "globex")
    assert interlock("check", "globex").code == 0
    with pytest.raises(NotProved) as refused:
        Gate.open("lyon").with_applied().prove("globex")
    assert [found.rule for found in refused.value.judgement.findings] == ["SEC-05"]


# What frees it.


def applied(store: Ledger) -> tuple[FootprintRecord, dict[str, Any]]:
    """The lock as it is, applied, with one server in the state."""
    entry = recorded(store).entries[-1]
    return entry, {"resources": [claims_in_state(entry), in_state("Server", SERVER)]}


def test_a_key_that_no_server_has_is_free(
    rotated: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger
) -> None:
    _, state = applied(store)
    looking(made(), state=state)
    before = rotated.locks()
    tried = interlock("settle", "acme", "--dry-run")
    assert tried.code == 0, tried.err
    assert f"acme: ssh key {OLD_PRINT}, given up" in tried.out
    assert rotated.locks() == before
    done = interlock("settle", "acme")
    assert (done.code, done.out) == (0, tried.out)
    assert former() == []
    assert noted() == {}
    assert "site: lock serial" in done.err
    assert login_keys_of(lock_of().footprint) == {NEW_PRINT}
    assert interlock("lock", "--check").code == 0
    moved_to_globex(rotated)
    locked(interlock, "globex")
    assert interlock("check", "globex").code == 0
    assert "nothing to settle" in interlock("settle", "acme").err


SERVERS: dict[str, tuple[MadeWith, str]] = {
    "its user data say so": (made(user_data=f"#cloud-config\nssh_authorized_keys:\n  - {ACMES}\n"), "was made with"),
    "its key pair is the old one": (made(public_key=ACMES), "was made with"),
    "it is older than its key pair": (made(public_key="", unknown="it is older"), "may have"),
    "it fetches keys": (made(user_data="#cloud-config\nssh_import_id: [gh:eve]\n"), "may have"),
    "a whole host": (made(kind="BareMetalServer", unknown="it is older"), "may have"),
    "only the state has it": (made(name="acme-train-poplar-1"), "the cloud does not show it"),
}


@pytest.mark.parametrize("case", SERVERS)
def test_a_key_that_a_server_may_have_stays(
    rotated: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger, case: str
) -> None:
    server, said = SERVERS[case]
    looking(server, state=applied(store)[1])
    before = rotated.locks()
    told = interlock("settle", "acme")
    assert told.code == 1
    assert OLD_PRINT in told.err
    assert said in told.err
    assert "recreate these servers" in told.err
    assert rotated.locks() == before
    shown = json.loads(interlock("settle", "acme", "--dry-run", "--format", "json").out)
    assert shown["exit_code"] == 1
    assert [one["fingerprint"] for one in shown["former_keys"]] == [OLD_PRINT]
    assert shown["former_keys"][0]["still_opens"]


def test_of_two_keys_one_may_be_free(
    rotated: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger
) -> None:
    rotated.replace(REQUEST, NEW, ssh_key("a third"))
    locked(interlock, "acme")
    looking(made(), state=applied(store)[1])
    told = interlock("settle", "acme")
    assert told.code == 1
    assert f"ssh key {OLD_PRINT}, given up" in told.out
    assert f"was made with ssh key {NEW_PRINT}" in told.err
    assert former() == [NEW_PRINT]
    assert noted() == {"acme": [NEW_PRINT]}


def test_before_it_is_applied_nothing_is_free(
    lyon: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger
) -> None:
    """What is applied still gives the key to each server that is made."""
    _, state = applied(store)
    lyon.replace(REQUEST, ACMES, NEW)
    locked(interlock, "acme")
    looking(state=state)
    before = lyon.locks()
    assert interlock("settle", "acme").code == 1
    assert lyon.locks() == before


@pytest.mark.parametrize(("of", "code"), [(NEW, 1), (ACMES, 0)], ids=["made with it", "made with the other"])
def test_a_key_of_a_killed_run_stays_while_a_server_has_it(
    lyon: Lyon, interlock: Interlock, looking: Callable[..., None], store: Ledger, of: str, code: int
) -> None:
    """The run took its claims and made a server; then request and locks were taken back, so that no lock tells."""
    (old,), kept = recorded(store).entries, lyon.file("tenants/acme.lock.json").read_bytes()
    of_site = lyon.file("site.lock.json").read_bytes()
    lyon.replace(REQUEST, ACMES, NEW)
    locked(interlock, "acme")
    recorded(store)
    lyon.replace(REQUEST, NEW, ACMES)
    lyon.file("tenants/acme.lock.json").write_bytes(kept)
    lyon.file("site.lock.json").write_bytes(of_site)
    looking(made(public_key=of), state={"resources": [claims_in_state(old), in_state("Server", SERVER)]})
    told = interlock("settle", "acme")
    assert told.code == code, told.err
    record = store.stack("lyon-acme")
    assert record is not None
    assert len(record.entries) == (2 if code else 1)
    assert (NEW_PRINT in told.err) is bool(code)


def test_what_a_lock_of_before_has_in_its_footprint_is_not_forgotten() -> None:
    assert "former_keys" not in Lock.model_validate(lock_document()).model_dump(mode="json")
    one = FormerKey(fingerprint=OLD_PRINT, since="2026-11-23T10:00:00Z")
    assert Lock.model_validate(lock_document(former_keys=[one.model_dump()])).former_keys == (one,)


def lock_document(**more: Any) -> dict[str, Any]:
    mark: dict[str, Any] = {"classes": [], "labels": {}, "exclusive": []}
    hashes = {"request": "sha256:0", "site": "sha256:0"}
    owner = {"id": "acme", "owner": "0" * 32, "serial": 1}
    return {**owner, **hashes, "allocation": {"vpods": {}}, "footprint": mark, **more}
