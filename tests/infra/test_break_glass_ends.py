"""How entries end where something is missing: the request, the store's answer, or the process that closes them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from infra.break_glass.acts import ActsOf
from infra.break_glass.known import KnownObject, KnownStack
from infra.program.break_glass import break_glass_of
from interlock.provider.markers import marker
from interlock.resources import Project, RoleAssignment
from interlock.store import folder
from interlock.store.break_glass import BreakGlass, GlassEntry, MaybeRecorded
from interlock.store.folder import FolderStore
from interlock.store.history import History, Settlement
from interlock.store.ledger import Ledger
from interlock.store.objects import ObjectStore, StoreFailed
from interlock.vocabulary.owners import OwnerId
from tests.builders.paper import Paper, ident
from tests.infra.conftest import Ended, Interlock, Lyon
from tests.infra.test_break_glass import Killed, an_opening
from tests.infra.test_break_glass_closing import ACME, GLOBEX, LOOKED, POPLAR, closed, no_key, no_port, paper

__all__ = ["paper"]


def entries(lyon: Lyon) -> tuple[GlassEntry, ...]:
    return break_glass_of(lyon.gate()).of(ACME).entries


# The request is gone.


@pytest.fixture
def left(lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper) -> OwnerId:
    """The tenant has left, request and lock are deleted, and an entry is open. Its owner id is given."""
    gate = lyon.gate()
    owner = gate.plan("acme").owner
    History(store.store).settled(ACME, "acme", owner, Settlement(at="2026-11-26T03:00:00Z", things=()))
    others = Paper.of(gate.plan(tenant) for tenant in gate.stacks() if tenant != "acme")
    vars(paper).update(vars(others))
    for file in ("acme.yaml", "acme.lock.json"):
        lyon.file(f"tenants/{file}").unlink()
    return owner


def judged_of(done: Ended) -> dict[str, dict[str, Any]]:
    assert done.out, done.err
    return {item["object"]: item for item in json.loads(done.out)["differences"]}


def test_an_entry_without_a_request_is_closed_by_who_looked(lyon: Lyon, interlock: Interlock, left: OwnerId) -> None:
    done = closed(interlock)
    assert done.code == 3, done.err
    assert f"NOT SEEN {ACME}: neither its request" in done.out
    assert [entry.is_open for entry in entries(lyon)] == [True]
    assert closed(interlock, *LOOKED).code == 0
    (entry,) = entries(lyon)
    assert entry.closing is not None
    assert (entry.closing.left, entry.closing.looked) == ((), LOOKED[1])
    assert interlock("break-glass", "list").code == 0
    slip = interlock("break-glass", "close", "acmee")
    assert (slip.code, slip.out) == (2, "")


def a_port(owner: OwnerId, paper: Paper, network: str) -> None:
    """What somebody plugged for the tenant that left, and marked."""
    port = dict(paper.one("Port", ident(GLOBEX, "globex-research-poplar-0-control")))
    port |= {"id": "by-hand", "description": marker(owner, "acme-train-port"), "device_id": "", "network_id": network}
    port |= {"project_id": "of-acme"}
    paper.lists["Port"].append(port)


@pytest.mark.parametrize(
    ("network", "verdict"), [("of-nobody", "not judged"), (ident(GLOBEX, "globex-research-control"), "leak")]
)
def test_what_a_tenant_without_a_request_left_is_never_closed(
    lyon: Lyon, interlock: Interlock, paper: Paper, left: OwnerId, network: str, verdict: str
) -> None:
    a_port(left, paper, network)
    (port,) = judged_of(closed(interlock, "--dry-run", "--json")).values()
    assert (port["object"], port["verdict"]) == ("Port by-hand", verdict)
    assert bool(port["findings"]) is (verdict == "leak")
    assert closed(interlock, *LOOKED, "--undo", "all").code == 1
    assert [entry.is_open for entry in entries(lyon)] == [True]
    # Its twin of another owner is nobody's whom this entry is about.
    paper.lists["Port"][-1]["description"] = marker(OwnerId("0" * 6), "acme-train-port")
    paper.lists["Port"][-1]["network_id"] = "of-nobody"
    assert closed(interlock, *LOOKED).code == 0


def test_without_an_owner_id_it_is_said_that_markers_are_not_known(
    lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper, left: OwnerId
) -> None:
    for key, stored in list(store.store.items("history/")):
        store.store.remove(key, stored.version)
    a_port(left, paper, "of-nobody")
    done = closed(interlock)
    assert done.code == 3
    assert f"NOT SEEN objects of {ACME}: the claims store has no owner id of it" in done.out


# What cannot be set back by one refresh of the stack.


def test_a_key_that_was_revoked_is_made_again_before_what_rests_on_it(interlock: Interlock, paper: Paper) -> None:
    """A refresh of the whole stack fails while it is gone; what else differs has to wait for it."""
    no_port(paper)
    before = judged_of(closed(interlock, "--dry-run", "--json"))
    no_key(paper)
    found = judged_of(closed(interlock, "--dry-run", "--json"))
    refresh = f"pulumi refresh --stack {ACME} --target '**S3Credential::acme-train-s3-key'"
    first = f"`{refresh}` and then `pulumi up --stack {ACME}`"
    whole = f"`pulumi up --refresh` on {ACME} sets it as planned"
    port = f"Server {POPLAR}"
    assert found["S3Credential acme-train-s3-key"]["undo"] == f"{first}, once this is closed"
    assert before[port]["undo"] == f"{whole}, once this is closed"
    assert found[port]["undo"] == f"{whole}, after {first}, once this is closed"


# The process is killed.

#: Where it is killed: of what the call, and whether that was done.
POINTS: dict[str, tuple[Any, str, bool]] = {
    "before the write": (FolderStore, "put_over", False),
    "before the record has its name": (folder, "_write", True),
    "before its name is on the disk": (folder, "_sync", False),
    "after the write": (FolderStore, "put_over", True),
}


@pytest.mark.parametrize("point", POINTS)
def test_whoever_is_killed_while_closing_closed_all_or_none_and_goes_on(
    lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    BreakGlass(store.store).add(ACME, an_opening)
    place, name, is_done = POINTS[point]
    called: Callable[..., Any] = getattr(place, name)

    def kill(*arguments: Any) -> None:
        if is_done:
            called(*arguments)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(place, name, kill)
        with pytest.raises(Killed):
            closed(interlock, *LOOKED, "--everybody")
    written = point in ("before its name is on the disk", "after the write")
    assert [entry.is_open for entry in entries(lyon)] == [not written, not written]
    assert interlock("break-glass", "list").code == (0 if written else 1)
    again = closed(interlock, *LOOKED, "--everybody")
    assert again.code == 0, again.err
    assert again.err == f"{ACME}: no entry is open\n" if written else f"{ACME}: closed" in again.err
    assert [entry.closing is not None and entry.closing.looked for entry in entries(lyon)] == [LOOKED[1], LOOKED[1]]


# The store does not answer.


class SilentStore:
    """A store that does not answer a write, which it does or does not, and answers no read after it."""

    def __init__(self, inner: ObjectStore, *, writes: bool, reads: bool) -> None:
        self.inner, self.writes, self.reads, self.asked = inner, writes, reads, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def get(self, key: str) -> Any:
        if self.asked and not self.reads:
            raise StoreFailed("it is silent", "wait")
        return self.inner.get(key)

    def put_new(self, key: str, body: bytes) -> str:
        self.asked = True
        if self.writes:
            self.inner.put_new(key, body)
        raise StoreFailed("it is silent", "wait")


@pytest.mark.parametrize(
    ("writes", "reads", "raised"),
    [(True, True, None), (False, True, StoreFailed), (True, False, MaybeRecorded), (False, False, MaybeRecorded)],
)
def test_an_entry_is_neither_denied_nor_claimed_where_nobody_knows(
    store: Ledger, *, writes: bool, reads: bool, raised: type[StoreFailed] | None
) -> None:
    silent = BreakGlass(SilentStore(store.store, writes=writes, reads=reads))
    if raised is None:
        assert silent.add(ACME, an_opening).opening.number == 1
    else:
        with pytest.raises(StoreFailed) as caught:
            silent.add(ACME, an_opening)
        assert type(caught.value) is raised
    assert len(BreakGlass(store.store).of(ACME).entries) == int(writes)


def falls_silent(patch: pytest.MonkeyPatch, name: str) -> None:
    """The folder is written, and says no more."""
    put: Callable[..., Any] = getattr(FolderStore, name)

    def silent(*_: Any) -> Any:
        raise StoreFailed("no answer", "wait for it")

    def written(*arguments: Any) -> Any:
        put(*arguments)
        patch.setattr(FolderStore, "get", silent)
        silent()

    patch.setattr(FolderStore, name, written)


def test_whoever_gets_no_answer_is_told_how_to_see_what_became_of_it(
    lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        falls_silent(patch, "put_new")
        done = interlock("break-glass", "open", "globex", "--reason", "x")
    assert done.code == 4
    assert "nobody knows whether it is recorded" in done.err
    assert "`interlock break-glass list globex` shows it" in " ".join(done.err.split())
    assert "1: open, by" in interlock("break-glass", "list", "globex").out
    with monkeypatch.context() as patch:
        falls_silent(patch, "put_over")
        done = closed(interlock, *LOOKED)
    assert done.code == 4
    assert "nobody knows whether its entries are closed" in done.err
    assert closed(interlock).err == f"{ACME}: no entry is open\n"


# An act without a state.


@pytest.mark.parametrize("stated", [True, False])
def test_a_role_is_taken_at_the_project_of_one_domain(*, stated: bool) -> None:
    """A name is a project's in one domain only: which it is comes from the plan, or is asked for."""
    role = RoleAssignment(project="acme-project", user="cloud:User/alice@ops", role="cloud:Role/reader")
    project = KnownObject("Project", "acme-project", Project(name="acme", domain="lab one"))
    member = KnownObject("RoleAssignment", "acme-member-alice", role)
    (act,) = ActsOf(KnownStack(ACME, (project, member) if stated else (member,)), {}).all()
    script = "\n".join(('openstack() { for word; do echo "$word"; done; }', *act.commands))
    done = subprocess.run(["sh", "-eu", "-c", script], env={}, capture_output=True, text=True, check=False)
    if stated:
        words = ["role", "remove", "--project-domain", "lab one", "--user", "alice", "--user-domain", "ops"]
        assert done.stdout.splitlines() == [*words, "--project", "acme", "reader"]
    else:
        assert done.returncode != 0
        assert done.stderr.rstrip().endswith("not set")
