"""Fences: what the claims store says goes into the proof, and what a proved stack takes comes out of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from infra.program import looking, recorded
from infra.program.claiming import version
from infra.program.gate import Gate
from interlock.provider import clouds as clouds_module
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import Fault, NotLookedAt
from interlock.resources import Admission, Claims
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import Taking
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from policies import NotProved
from tests.builders.paper import LOGIN
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


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The (cloud, region of the site) that each look was given: a cloud on paper, on which all is well."""
    given: list[tuple[str, str]] = []

    def cloud(name: str, *, site_region: str = "") -> SimpleNamespace:
        return SimpleNamespace(name=name, site_region=site_region, login=LOGIN)

    def ask(_: Admission, cloud: Cloud, creates: frozenset[str]) -> list[Fault]:
        given.append((cloud.name, cloud.site_region))
        return []

    monkeypatch.setattr(clouds_module, "Cloud", cloud)
    monkeypatch.setattr(looking, "preflight", ask)
    monkeypatch.setattr(recorded, "persons", lambda *_: {"alice": "4a", "anne": "5b"})
    return given


def test_with_the_store_it_looks_in_the_region_of_the_site(
    lyon: Lyon, interlock: Interlock, looked: list[tuple[str, str]]
) -> None:
    """Claims of another region than the site's are another part of the store, and decide nothing."""
    taken = taking("acme")
    ledger().take(taken.model_copy(update={"owner": OwnerId("f" * 32)}), None, CloudFingerprint("paper", "RegionOne"))
    assert interlock("check", "acme", "--store").code == 4
    lyon.replace("site.yaml", "cloud: sandbox", "cloud: sandbox\nregion: RegionTwo")
    assert interlock("lock").code == 0
    looked.clear()
    done = interlock("check", "acme", "--store")
    assert (done.code, looked) == (0, [("sandbox", "RegionTwo")]), done.err


@pytest.mark.parametrize(
    ("fingerprint", "words"),
    [
        (LOGIN.fingerprint, ""),
        (CloudFingerprint(LOGIN.fingerprint.identity_service, "RegionTwo"), "are about cloud paper (region RegionTwo)"),
        (CloudFingerprint("another", LOGIN.fingerprint.region), "are about cloud another"),
    ],
)
def test_with_the_store_claims_of_another_cloud_or_region_are_an_obstacle(
    lyon: Lyon, interlock: Interlock, looked: list[tuple[str, str]], fingerprint: CloudFingerprint, words: str
) -> None:
    ledger().keep_cloud(fingerprint)
    done = interlock("check", "acme", "--store")
    assert (done.code, bool(done.err)) == ((4, True) if words else (0, False))
    assert words in done.err


def test_with_the_store_a_recreated_user_is_an_obstacle(
    lyon: Lyon, interlock: Interlock, looked: list[tuple[str, str]]
) -> None:
    ledger().take(taking("globex"), None, LOGIN.fingerprint, {"alice": "4a"})
    assert interlock("check", "globex", "--store").code == 0
    (record,) = ledger().stacks()
    ledger().confirm("lyon-globex", record.lineage, persons={"anne": "77"})
    done = interlock("check", "globex", "--store")
    assert done.code == 4
    assert "user anne is another than the one that got the right: its id was 77, and is 5b now" in done.err


def test_with_the_store_it_says_once_that_there_is_no_cloud(lyon: Lyon, interlock: Interlock) -> None:
    """Also where claims name a cloud, which would be asked once more."""
    ledger().keep_cloud(LOGIN.fingerprint)
    done = interlock("check", "acme", "--store")
    assert (done.code, len(done.err.splitlines())) == (0, 1), done.err
    assert done.err.startswith("not looked at: cloud 'sandbox': ")


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
