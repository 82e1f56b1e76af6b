"""`interlock preflight`: what its exit code and its lines say. The looks themselves are tests/provider's."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from infra.program.places import ROOT
from interlock.provider import preflight as module
from interlock.provider.preflight.faults import Fault
from interlock.resources import Admission
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


def test_an_unknown_tenant_is_2(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    assert interlock("preflight", "acne").code == 2
    assert asked == []


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
