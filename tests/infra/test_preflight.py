"""`interlock preflight`: what its exit code and its lines say. The looks themselves are tests/provider's."""

from __future__ import annotations

import json

import pytest

from interlock.provider import preflight as module
from interlock.resources import Admission
from tests.infra.conftest import Interlock, Lyon


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stacks that the cloud was asked about; it has the faults that `FAULTS` names for them."""
    stacks: list[str] = []

    def ask(admission: Admission) -> list[str]:
        stacks.append(admission.stack)
        return FAULTS.get(admission.stack, [])

    monkeypatch.setattr(module, "preflight", ask)
    return stacks


FAULTS = {"lyon-acme": ["no image poplar", "quota of acme: 2 cores too few"]}


def test_without_faults_it_is_0(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    done = interlock("preflight")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert asked == ["lyon-site"]


def test_faults_are_4_and_stand_on_stdout(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    done = interlock("preflight", "acme")
    assert (done.code, done.out.splitlines()) == (4, FAULTS["lyon-acme"])
    assert asked == ["lyon-acme"]


def test_faults_as_json(lyon: Lyon, interlock: Interlock, asked: list[str]) -> None:
    for arguments, faults in ((("acme",), FAULTS["lyon-acme"]), ((), [])):
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
