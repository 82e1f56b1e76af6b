"""`interlock break-glass`: what may be done by hand, and the record of it, on files alone."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from infra.break_glass.acts import ActsOf
from infra.break_glass.known import KnownObject, KnownStack, known_stack
from infra.break_glass.manual_act import ManualAct
from infra.program.break_glass import VARIABLE, ChangedByHand, break_glass_of, require_closed
from infra.program.gate import Gate
from infra.program.places import PROJECT
from interlock.model.evidence.values import moment, moment_text
from interlock.resources import PartitionKey
from interlock.resources.fabric import PartitionMember
from interlock.store.break_glass import BreakGlass, GlassEntry, GlassOpening
from interlock.store.ledger import Ledger
from interlock.store.objects import ObjectStore
from tests.builders.paper import ident
from tests.infra.conftest import Interlock, Lyon
from tests.infra.signing import SigningSite, lists_signers

ACME, POPLAR = "lyon-acme", "acme-train-poplar-0"


def in_state(lyon: Lyon, stack: str, tenant: str, *names: str) -> dict[str, Any]:
    """What an engine's state has of these objects, in the form of its checkpoint."""
    plan = lyon.gate().plan(tenant)
    resources = [
        {
            "urn": f"urn:pulumi:{stack}::{PROJECT}::interlock:index:{item.resource.KIND}::{item.name}",
            "type": f"interlock:index:{item.resource.KIND}",
            "id": ident(stack, item.name),
            "inputs": item.resource.canonical() | {"owner": plan.owner, "id_of_project": "x"},
        }
        for item in plan.resources
        if item.name in names
    ]
    return {"version": 3, "checkpoint": {"latest": {"resources": resources}}}


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a local backend keeps its stacks; nothing is in it."""
    folder = tmp_path / "state" / ".pulumi" / "stacks" / PROJECT
    folder.mkdir(parents=True)
    monkeypatch.setenv("PULUMI_BACKEND_URL", (tmp_path / "state").as_uri())
    return folder


def acts(interlock: Interlock, *arguments: str) -> list[dict[str, Any]]:
    done = interlock("break-glass", "plan", *arguments, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["acts"]
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_commands_have_the_ids_that_the_state_has(
    lyon: Lyon, interlock: Interlock, backend: Path, packed: bool
) -> None:
    """Neither a cloud nor a claims store is there."""
    names = (POPLAR, f"{POPLAR}-storage")
    text = json.dumps(in_state(lyon, ACME, "acme", *names)).encode()
    (backend / f"{ACME}.json{'.gz' if packed else ''}").write_bytes(gzip.compress(text) if packed else text)
    found = {act["act"]: act for act in acts(interlock, "acme", f"{POPLAR}-storage")}
    server, port = (ident(ACME, name) for name in names)
    assert found["detach-port"]["commands"] == [f"openstack server remove port {server} {port}"]
    assert found["detach-port"]["back"] == [f"openstack server add port {server} {port}"]
    assert found.keys() == {"detach-port"}


def test_without_a_state_ids_are_asked_for_and_an_empty_answer_stops_the_command(
    lyon: Lyon, interlock: Interlock, backend: Path, tmp_path: Path
) -> None:
    done = interlock("break-glass", "plan", "acme")
    assert f"note: the backend in use has no stack {ACME}" in done.out
    asked = [act for act in acts(interlock, "acme") if any("$(" in line for line in act["commands"])]
    assert len(asked) > 10
    client = tmp_path / "openstack"
    client.write_text(f'#!/bin/sh\ncase "$*" in *list*) ;; *) echo "$@" >> {tmp_path / "done"} ;; esac\n')
    client.chmod(0o755)
    for act in asked:
        script = "\n".join(act["commands"])
        ended = subprocess.run(
            ["sh", "-c", script], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False
        )
        assert "not found" in ended.stderr, script
    assert not (tmp_path / "done").exists()


def test_where_the_request_was_edited_the_state_is_what_counts(lyon: Lyon, interlock: Interlock, backend: Path) -> None:
    (backend / f"{ACME}.json").write_text(json.dumps(in_state(lyon, ACME, "acme", "acme-router")))
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    done = interlock("break-glass", "plan", "acme")
    assert done.code == 0
    assert f"openstack router set --disable {ident(ACME, 'acme-router')}" in done.out
    assert "the stack cannot be planned, so this is what its state has" in done.out
    (backend / f"{ACME}.json").unlink()
    assert interlock("break-glass", "plan", "acme").code == 2


def test_a_name_of_nothing_is_told_the_nearest(lyon: Lyon, interlock: Interlock, backend: Path) -> None:
    done = interlock("break-glass", "plan", "acme", "acme-rooter")
    assert (done.code, done.out) == (2, "")
    assert "did you mean `acme-router`?" in " ".join(done.err.split())


def test_every_act_says_what_it_does_and_none_makes_or_opens_anything() -> None:
    found = list[ManualAct]()
    for site in ("lyon", "hall"):
        gate = Gate.open(site)
        found += ActsOf(known_stack(gate.stack("acme"), gate.plan("acme"), None), {}).all()
    words = {word for act in found for line in act.commands for word in shlex.split(line, comments=True)}
    assert words & {"delete", "remove", "stop", "--disable"} == {"delete", "remove", "stop", "--disable"}
    assert not words & {"create", "add", "start", "--enable", "on", "up", "PUT", "POST"}
    assert {act.act for act in found} >= {"empty-partition", "power-off", "stop-server", "remove-vipu-user"}
    assert all(act.does and act.isolation and act.objects for act in found)
    # Of a variable that nobody set none means another controller, or no host.
    lines = [line for act in found for line in act.commands if re.search(r"\$\{?(UFM|VIPU)", line)]
    assert len(lines) > 2
    for line in lines:
        ended = subprocess.run(["/bin/sh", "-c", line], env={"PATH": "/nowhere"}, capture_output=True, check=False)
        assert ended.stderr.rstrip().endswith(b"not set"), line


def test_a_controller_is_told_as_its_file_says(
    lyon: Lyon, store: Ledger, interlock: Interlock, backend: Path, tmp_path: Path
) -> None:
    (tmp_path / "vipu.yaml").write_text(
        "controllers: {default: {run: local, command: [/opt/vipu-admin], config: '/etc/{name}.hcl', "
        "flags: {remove: delete}}}\n"
    )
    (act, *_) = (act for act in acts(interlock, "acme") if act["act"] == "remove-vipu-user")
    assert act["commands"] == [f"/opt/vipu-admin --config /etc/acme-train-controller.hcl delete user {POPLAR}"]


def test_a_path_of_ufm_names_no_more_guids_than_a_server_takes_in_a_line() -> None:
    members = tuple(PartitionMember(guid=f"{number:016x}", membership="full") for number in range(1, 131))
    for some in (members, ()):
        spec = PartitionKey(infiniband="compute", key=7, members=some)
        stack = KnownStack("hall-acme", (KnownObject("PartitionKey", "acme-train-compute", spec),))
        acts = list(ActsOf(stack, {}).all())
        assert [len(act.commands) for act in acts] == ([3] if some else [])
        said = "".join(line for act in acts for line in act.commands)
        assert [member for member in some if member.guid not in said] == []
        assert all(len(line) < 2_000 for act in acts for line in act.commands)


# The record.


def opened(interlock: Interlock, *arguments: str) -> dict[str, Any]:
    done = interlock("break-glass", "open", "acme", "--reason", "INC-1207: a flood", *arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_an_open_entry_stops_up_of_its_stack_alone_until_its_number_is_said(
    lyon: Lyon, store: Ledger, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = opened(interlock)
    assert moment(entry["until"]) - moment(entry["since"]) == timedelta(hours=4)
    gate = lyon.gate()
    with pytest.raises(ChangedByHand, match=r"(?s)break-glass 1 of lyon-acme is open: .*INC-1207.*close acme"):
        require_closed(gate, "acme")
    require_closed(gate, "globex")
    require_closed(gate, None)
    opened(interlock)
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(ChangedByHand, match="break-glass 2 of lyon-acme"):
        require_closed(gate, "acme")
    monkeypatch.setenv(VARIABLE, "1,2")
    require_closed(gate, "acme")


def test_what_is_open_is_listed(lyon: Lyon, store: Ledger, interlock: Interlock) -> None:
    assert interlock("break-glass", "list").out == "lyon: no entry is open\n"
    opened(interlock, "--hours", "1")
    done = interlock("break-glass", "list", "--json")
    (entry,) = json.loads(done.out)["entries"]
    assert (done.code, entry["open"], entry["expired"], entry["closing"]) == (1, True, False, None)
    assert interlock("break-glass", "list", "globex").code == 0
    slip = interlock("break-glass", "list", "acmee")
    assert (slip.code, slip.out) == (2, "")
    assert "did you mean `acme`?" in " ".join(slip.err.split())
    for file in ("acme.yaml", "acme.lock.json"):
        lyon.file(f"tenants/{file}").unlink()
    assert interlock("break-glass", "list", "acme").code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--reason", " "), "the reason must not be empty"),
        (("--reason", "x", "--hours", "73"), "--hours"),
        (("--reason", "x", "--since", "2099-01-01T00:00:00Z"), "it is to come"),
        (("--reason", "x", "--since", "yesterday"), "is no moment"),
        (("--reason", "x", "--key", "/nowhere"), "lists no `evidence.signers`"),
        ((), "--reason"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_entry_without_reason_or_end_is_refused(
    lyon: Lyon, store: Ledger, interlock: Interlock, arguments: tuple[str, ...], said: str
) -> None:
    done = interlock("break-glass", "open", "acme", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert interlock("break-glass", "list").code == 0


def test_without_a_store_nothing_is_said_to_be_recorded_and_the_command_for_later_is(
    lyon: Lyon, store: Ledger, interlock: Interlock, tmp_path: Path
) -> None:
    (tmp_path / "claims").write_text("no folder")
    done = interlock("break-glass", "open", "acme", "--reason", "it's a flood")
    assert done.code == 4
    assert "no record could be made" in done.err
    (tmp_path / "claims").unlink()
    later = shlex.split(done.err.rpartition("store is there: ")[2].strip())
    assert later[:3] == ["interlock", "break-glass", "open"]
    assert interlock(*later[1:]).code == 0
    (entry,) = break_glass_of(lyon.gate()).of(ACME).open_entries
    assert entry.opening.reason == "it's a flood"
    assert entry.opening.since == later[-1]


def test_whoever_opens_is_told_of_a_run_that_applies_the_stack(
    lyon: Lyon, store: Ledger, interlock: Interlock, backend: Path
) -> None:
    """It is past its refusal, and sets back what is changed now."""
    locks = backend.parents[1] / "locks" / "organization" / PROJECT / ACME
    locks.mkdir(parents=True)
    lock = {"pid": 7, "username": "anne", "hostname": "another-host", "timestamp": "2026-11-26T03:00:00Z"}
    (locks / "x.json").write_text(json.dumps(lock))
    done = interlock("break-glass", "open", "acme", "--reason", "x")
    assert done.code == 0
    assert done.err.startswith(f"{ACME}: process 7 on another-host is applying it: wait for it")
    assert interlock("break-glass", "open", "globex", "--reason", "x").err == ""


def an_opening(number: int, by: str = "anne@tower") -> GlassEntry:
    now = datetime.now(UTC)
    return GlassEntry(
        opening=GlassOpening(
            site="lyon", stack=ACME, number=number, by=by, reason="x", since=moment_text(now),
            until=moment_text(now + timedelta(hours=1)), written=moment_text(now),
        )
    )  # fmt: skip


def test_of_two_who_open_at_once_each_has_an_entry(store: Ledger) -> None:
    found = BreakGlass(store.store)

    def late(number: int) -> GlassEntry:
        if number == 1:
            found.add(ACME, lambda number: an_opening(number, "bob@tower"))
        return an_opening(number)

    assert found.add(ACME, late).opening.number == 2
    assert [entry.opening.by for entry in found.of(ACME).entries] == ["bob@tower", "anne@tower"]


class Killed(BaseException):
    """The process ends here."""


class KilledStore:
    """A store whose writer is killed before or after the write."""

    def __init__(self, inner: ObjectStore, *, after: bool) -> None:
        self.inner, self.after = inner, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def put_new(self, key: str, body: bytes) -> str:
        if self.after:
            self.inner.put_new(key, body)
        raise Killed


@pytest.mark.parametrize("after", [False, True])
def test_whoever_is_killed_while_opening_left_an_entry_or_none(store: Ledger, *, after: bool) -> None:
    with pytest.raises(Killed):
        BreakGlass(KilledStore(store.store, after=after)).add(ACME, an_opening)
    again = BreakGlass(store.store)
    assert len(again.of(ACME).open_entries) == (1 if after else 0)
    assert again.add(ACME, an_opening).opening.number == (2 if after else 1)


# Signers.


def test_where_the_site_lists_signers_an_entry_is_signed(
    lyon: Lyon, store: Ledger, interlock: Interlock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    signing = lists_signers(lyon, tmp_path_factory.mktemp("keys"))
    assert interlock("lock").code == 0
    done = interlock("break-glass", "open", "acme", "--reason", "x")
    assert done.code == 2
    assert "add `--key FILE`" in done.err
    stranger = interlock("break-glass", "open", "acme", "--reason", "x", "--key", str(signing.key("eve")))
    assert stranger.code == 2
    assert "for nobody who may sign" in stranger.err
    assert opened(interlock, "--key", str(signing.key("anne")))["by"] == "anne"
    assert opened(interlock, "--unsigned")["by"] != "anne"
    signed, unsigned = json.loads(interlock("break-glass", "list", "--json").out)["entries"]
    assert (signed["unsigned"], unsigned["unsigned"]) == ("", "its opening is not signed")
    falsify(lyon, store)
    changed = json.loads(interlock("break-glass", "list", "--json").out)["entries"][0]
    assert "has no good signature of anne" in changed["unsigned"]


def falsify(lyon: Lyon, store: Ledger) -> None:
    """Somebody with the store writes another end into anne's entry."""
    stored = store.store.get(f"break-glass/{ACME}")
    assert stored is not None
    document = json.loads(stored.body)
    document["entries"][0]["opening"]["until"] = "2099-01-01T00:00:00Z"
    store.store.put_over(f"break-glass/{ACME}", json.dumps(document).encode(), stored.version)


def test_a_signature_of_evidence_is_none_of_an_entry(
    lyon: Lyon, store: Ledger, interlock: Interlock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    signing: SigningSite = lists_signers(lyon, tmp_path_factory.mktemp("keys"))
    signing.allow(signing.line("anne", 'namespaces="interlock-evidence"'))
    assert interlock("lock").code == 0
    done = interlock("break-glass", "open", "acme", "--reason", "x", "--key", str(signing.key("anne")))
    assert done.code == 2
    assert 'namespaces="interlock-evidence,interlock-break-glass"' in done.err
    signing.allow(signing.line("anne", 'namespaces="interlock-evidence,interlock-break-glass"'))
    assert opened(interlock, "--key", str(signing.key("anne")))["by"] == "anne"
