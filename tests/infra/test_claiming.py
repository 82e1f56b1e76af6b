"""Fences: what the claims store says goes into the proof, and what a proved stack takes comes out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.program import looking
from infra.program.claiming import version
from infra.program.gate import Gate
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import Fault, NotLookedAt
from interlock.resources import Admission, Claims
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import Taking
from policies import NotProved
from tests.infra.conftest import Interlock, Lyon

CLOUDS = """\
clouds:
  sandbox: {auth: {auth_url: "http://127.0.0.1:5000/v3", username: u, password: p, project_name: p}}
"""


@pytest.fixture(autouse=True)
def clouds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clouds.yaml, beside which the store lies; nothing listens at its address."""
    file = tmp_path / "clouds.yaml"
    file.write_text(CLOUDS)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))


def ledger() -> Ledger:
    return Ledger(open_store("", "lyon"))


def taking(tenant: str | None) -> Taking:
    gate = Gate.open("lyon").with_applied()
    taken = gate.taking(gate.prove(tenant))
    assert taken is not None
    return taken


def test_stacks_that_know_each_other_are_claimed_side_by_side(lyon: Lyon) -> None:
    for tenant in (None, "acme", "globex"):
        taken = taking(tenant)
        ledger().take(taken, None)
        assert set(taken.entry.nodes) <= set(taken.met)
    assert [record.stack for record in ledger().stacks()] == ["lyon-acme", "lyon-globex", "lyon-site"]


def test_the_first_resource_names_the_footprint_and_the_identities(lyon: Lyon) -> None:
    gate = Gate.open("lyon").with_applied()
    proof = gate.prove("acme")
    first, *others = gate.admission(proof).resources
    lock = gate.workspace.locks["acme"]
    assert (first.kind, first.name) == ("Claims", "acme-claims")
    assert Claims.model_validate(first.spec).footprint == version(lock.footprint)
    assert first.spec["identities"] == list(lock.footprint.exclusive)
    assert "Claims" not in {item.kind for item in others}
    assert "Claims" not in {item.resource.KIND for item in proof.plan.resources}


def test_what_is_applied_of_another_counts_though_no_lock_here_says_so(lyon: Lyon) -> None:
    """A checkout without globex gives what globex has applied to acme."""
    ledger().take(taking(None), None)
    ledger().take(taking("globex"), None)
    applied = Gate.open("lyon").with_applied()
    lyon.file("tenants/globex.yaml").unlink()
    lyon.file("tenants/globex.lock.json").unlink()
    alone = Gate.open("lyon").with_applied()
    assert [lock.id for lock in alone.locks] == ["acme", "globex", "site"]
    assert alone.locks[1].footprint == applied.workspace.locks["globex"].footprint


def test_one_that_takes_what_another_has_applied_is_not_proved(lyon: Lyon, interlock: Interlock) -> None:
    ledger().take(taking(None), None)
    ledger().take(taking("acme"), None)
    for file in lyon.file("tenants").iterdir():
        file.unlink()
    lyon.file("tenants/hooli.yaml").write_text(
        "name: Hooli\naccess: {ssh_public_key: ssh-ed25519 "
        "AAAAC3NzaC1lZDI1NTE5AAAAIMsAxaldJ2ZLmLrPrmDqqF94/GAaD/cgmdcqurRurRxG}\n"
        "vpods: {lab: {machines: 1, poplar: {servers: 1, flavor: poplar.quarter, volume: 10GiB}}}\n"
    )
    assert interlock("lock", "hooli").code == 0
    assert interlock("check", "hooli").code == 0
    with pytest.raises(NotProved):
        Gate.open("lyon").with_applied().prove("hooli")
    looked = interlock("check", "hooli", "--store")
    assert looked.code == 1


def test_an_up_under_way_counts_old_and_new(lyon: Lyon, interlock: Interlock) -> None:
    ledger().take(taking(None), None)
    ledger().take(taking("acme"), None)
    before = Gate.open("lyon").workspace.locks["acme"].footprint
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    assert interlock("lock", "acme").code == 0
    gate = Gate.open("lyon").with_applied()
    assert gate.applied is not None
    planned = gate.workspace.locks["acme"].footprint
    assert gate.applied.of("lyon-acme", planned) == before
    assert gate.applied.of("lyon-acme", before).classes == ()
    assert "proved together with the plan" in gate.judge("acme").judgement.applied_state
    ledger().take(taking("acme"), None)
    record = ledger().stack("lyon-acme")
    assert record is not None
    assert [entry.digest for entry in record.entries] == [version(before), version(planned)]


#: What tenants do to a request that is applied: the place that changes, and what stands there then.
EDITS = {
    "smaller": ("machines: 4", "machines: 2"),
    "larger": ("machines: 4", "machines: 8"),
    "another vPOD besides": (
        "vpods:\n",
        "vpods:\n  lab: {machines: 1, poplar: {servers: 1, flavor: poplar.quarter}}\n",
    ),
    "another name": ("  train:\n", "  learn:\n"),
    "gone": ("name: ", "state: gone\nname: "),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_proves_alone_proves_beside_what_is_applied(lyon: Lyon, interlock: Interlock, edit: str) -> None:
    for tenant in (None, "acme", "globex"):
        ledger().take(taking(tenant), None)
    request = lyon.file("tenants/acme.yaml")
    old, new = EDITS[edit]
    assert old in request.read_text()
    request.write_text(request.read_text().replace(old, new, 1))
    locked = interlock("lock", "acme")
    assert locked.code == 0, locked.err
    alone, beside = interlock("check", "acme"), interlock("check", "acme", "--store")
    assert (alone.code, beside.code) == (0, 0), alone.out[-2000:] + beside.out[-2000:]


def test_check_says_whether_it_looked(lyon: Lyon, interlock: Interlock) -> None:
    assert "not looked at" in interlock("check", "acme").out
    assert "nothing else is applied" in interlock("check", "acme", "--store").out


def test_with_the_store_it_says_what_an_up_would_refuse(
    lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[Fault] = [NotLookedAt("quotas", "no answer"), Fault("credential", "no role", "use another")]
    asked: list[str] = []

    def ask(admission: Admission, _: Cloud, creates: frozenset[str]) -> list[Fault]:
        assert creates == frozenset()
        asked.append(admission.stack)
        return faults

    monkeypatch.setattr(looking, "preflight", ask)
    done = interlock("check", "acme", "--store")
    assert (done.code, done.err.splitlines()) == (
        4, ["not looked at: no answer", "lyon-acme: no role", "  next: use another"],
    )  # fmt: skip
    faults.pop()
    done = interlock("check", "--store")
    assert (done.code, done.err.splitlines()) == (0, ["not looked at: no answer"])
    faults[:] = [NotLookedAt("cloud", "nothing answers")]
    assert interlock("check", "--store").code == 0
    assert asked == ["lyon-acme", "lyon-site", "lyon-acme", "lyon-globex", "lyon-site"]
    asked.clear()
    assert interlock("check").code == 0
    assert asked == []


def test_with_the_store_it_says_that_nobody_looked_where_there_is_no_cloud(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "acme", "--store")
    assert done.code == 0
    assert done.err.startswith("not looked at: cloud 'sandbox': ")
    assert len(done.err.splitlines()) == 1


def test_a_store_that_cannot_be_read_is_no_pass(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(
        "site.yaml", "cloud: sandbox", "cloud: sandbox\nclaims: s3://claims?endpoint=http://127.0.0.1:1&region=r"
    )
    failed = interlock("check", "acme", "--store")
    assert failed.code == 4, failed.out + failed.err
    assert "s3://claims" in failed.err
    assert interlock("check", "acme").code == 0


def test_a_place_that_is_none_is_refused_where_it_stands(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "cloud: sandbox", "cloud: sandbox\nclaims: ftp://claims")
    failed = interlock("check")
    assert failed.code == 2
    assert "site.yaml:" in failed.err
    assert "no place for claims" in failed.err
