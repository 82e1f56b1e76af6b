"""`interlock preflight`: what its exit code and its lines say. The looks themselves are tests/provider's."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from infra.locking.making import keep, next_site_lock
from infra.program import recorded
from infra.program.gate import Gate
from infra.program.places import ROOT
from interlock.provider import preflight as module
from interlock.provider.preflight.faults import Fault
from interlock.resources import Admission
from interlock.resources.existing import STATED, IdForm
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.vocabulary import CloudFingerprint
from tests.builders.paper import LOGIN
from tests.infra.conftest import Interlock, Lyon


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stacks that the cloud was asked about; it has the faults that `FAULTS` names for them."""
    stacks: list[str] = []

    def ask(admission: Admission) -> list[Fault]:
        stacks.append(admission.stack)
        return FAULTS.get(admission.stack, [])

    monkeypatch.setattr(module, "preflight", ask)
    return stacks


FAULTS = {"lyon-acme": [Fault("referred", "no image poplar"), Fault("quotas", "2 cores too few", "raise the quota")]}


def test_without_faults_it_is_0(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    done = interlock("preflight")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert asked == ["lyon-site"]


def test_faults_are_4_and_stand_on_stdout(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    done = interlock("preflight", "acme")
    assert (done.code, done.out.splitlines()) == (4, ["no image poplar", "2 cores too few", "  next: raise the quota"])
    assert asked == ["lyon-acme"]


def test_faults_as_json(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    told = [
        {"code": "referred", "message": "no image poplar", "hint": ""},
        {"code": "quotas", "message": "2 cores too few", "hint": "raise the quota"},
    ]
    for arguments, faults in ((("acme",), told), ((), [])):
        done = interlock("preflight", *arguments, "--format", "json")
        document = json.loads(done.out)
        assert (done.code, document["version"], document["faults"]) == (4 if faults else 0, 1, faults)
        assert document["stack"] == asked[-1]
        assert document["proof"].startswith("sha256:")


def test_what_is_not_proved_is_not_asked_for(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    lyon.replace("site.yaml", "    vlan_lists_enforced: true\n", "")
    interlock("lock")
    done = interlock("preflight", "acme")
    assert done.code == 3
    assert "vlan_lists_enforced" in done.err
    assert asked == []


def test_every_key_of_the_page_can_be_named_and_is_handed_over_for_comparison(
    lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/reference/site-file.md").read_text(encoding="utf-8").partition("generated: existing-keys")[2]
    keys = re.findall(r"`([A-Z][A-Za-z]+/[a-z0-9._-]+)`", page.partition("<!-- end")[0])
    forms = {IdForm.UUID: "{:032x}", IdForm.NUMBER: "{}", IdForm.TEXT: "m1.{}"}
    ids = {key: forms[STATED[key.partition("/")[0]].ids].format(number) for number, key in enumerate(keys, 1)}
    told = "".join(f'  {key}: "{ident}"\n' for key, ident in ids.items())
    lyon.replace("site.yaml", "\nexternal:\n", f"\nexisting:\n{told}external:\n")
    assert interlock("lock").code == 0
    handed: list[Admission] = []

    def ask(admission: Admission) -> list[Fault]:
        handed.append(admission)
        return []

    monkeypatch.setattr(module, "preflight", ask)
    for stack in ((), ("acme",)):
        assert interlock("preflight", *stack).code == 0
    for admission in handed:
        assert admission.existing == ids
        assert {f"{item.kind}/{item.name}" for item in admission.stated} == {*keys}


def test_a_key_that_is_no_object_of_the_site_is_2(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    named = "existing: {Network/nobody: 0b5c9a4e-7f4b-4c0e-9f0e-6d1f6a2b3c4d}"
    lyon.replace("site.yaml", "\nexternal:\n", f"\n{named}\nexternal:\n")
    line = (lyon.folder / "site.yaml").read_text(encoding="utf-8").splitlines().index(named) + 1
    written = lyon.file("site.lock.json").read_bytes()
    told = f"site.yaml:{line}:12: PL-001 `existing` names Network/nobody, which is no object of this site"
    locking = (("lock",), ("lock", "acme"), ("lock", "--check"))
    for command in locking:
        done = interlock(*command)
        assert (done.code, told in done.err) == (2, True), done.err
    assert lyon.file("site.lock.json").read_bytes() == written
    gate = Gate.open("lyon")
    # As locks of before were written.
    keep(gate, gate.workspace.site_lock, next_site_lock(gate, (), "2026-11-20T10:00:00Z"))
    for command in (("check",), ("check", "acme"), ("preflight", "acme"), ("audit",), *locking):
        done = interlock(*command)
        assert (done.code, told in done.err) == (2, True), done.err
    assert asked == []


def test_an_unknown_tenant_is_2(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    assert interlock("preflight", "acne").code == 2
    assert asked == []


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The claims store of lyon, of a cloud on paper; its acme gave a right to another alice than Keystone knows."""
    (tmp_path / "clouds.yaml").write_text("clouds: {sandbox: {}}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    monkeypatch.setattr(recorded, "Cloud", lambda _, **of_site: SimpleNamespace(login=LOGIN))
    monkeypatch.setattr(recorded, "persons", lambda *_: {"alice": "4a", "anne": "5b"})
    return Ledger(open_store("", "lyon"))


def test_a_recreated_user_is_a_fault(lyon: Lyon, interlock: Interlock, asked: list[str], store: Ledger) -> None:
    gate = Gate.open("lyon").with_applied()
    taken = gate.taking(gate.prove("globex"))
    assert taken is not None
    store.take(taken, None, LOGIN.fingerprint, {"alice": "4a"})
    assert interlock("preflight", "globex").code == 0
    stacks = store.stacks()
    store.confirm("lyon-globex", stacks[0].lineage, persons={"anne": "77"})
    done = interlock("preflight", "globex")
    assert done.code == 4
    assert "user anne is another than the one that got the right: its id was 77, and is 5b now" in done.out


def test_changes_by_hand_are_a_fault_of_their_stack(
    lyon: Lyon, interlock: Interlock, asked: list[str], store: Ledger
) -> None:
    assert interlock("break-glass", "open", "site", "--reason", "INC-1207").code == 0
    done = interlock("preflight")
    assert done.code == 4
    assert done.out.startswith("break-glass 1 of lyon-site is open: ")
    assert "next: `interlock break-glass close site`" in " ".join(done.out.split())


def test_claims_of_another_region_are_a_fault(
    lyon: Lyon, interlock: Interlock, asked: list[str], store: Ledger
) -> None:
    store.keep_cloud(CloudFingerprint(LOGIN.fingerprint.identity_service, "RegionTwo"))
    done = interlock("preflight")
    assert done.code == 4
    assert "are about cloud paper (region RegionTwo)" in done.out


CLOUDS = """\
clouds:
  sandbox:
    region_name: RegionOne
    auth: {{auth_url: "http://127.0.0.1:{port}/v3", username: u, password: p, project_name: x,
            user_domain_name: Default, project_domain_name: Default}}
"""


def test_a_cloud_that_is_not_there_is_one_message(lyon: Lyon, tmp_path: Path) -> None:
    """Libraries warn of what follows from it; their words are for `--debug`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text(CLOUDS.format(port=port), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "infra.cli", "preflight", "acme"], cwd=ROOT, check=False, text=True,
        capture_output=True, env=os.environ | {"OS_CLIENT_CONFIG_FILE": str(clouds)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (4, "")
    what, hint = done.stdout.splitlines()
    assert what.startswith("cloud 'sandbox': ")
    assert what.endswith(f"the connection was refused at 127.0.0.1:{port}")
    assert hint.startswith("  next: nothing listens there")
