"""Guards of A6 on evidence: what `interlock fabrics --record` writes, and what the proof takes of it.

The UFM is a double over real TLS. A real OpenSM is asked the same in tests/subnet_manager.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.audit.comparison import Audit
from infra.audit.subnet_managers import with_managers
from infra.fabrics.survey import managers_of_audit
from infra.program.gate import Gate
from infra.verifying.subnet_managers import said_of_subnets
from interlock.model.evidence.fabric_file import FabricEvidenceFile
from interlock.model.evidence.fabric_reading import limited_guids
from interlock.model.evidence.values import moment_text
from interlock.model.site.storage_fabric import StorageFabric
from interlock.retry import RetryBudget, RetryPolicy
from policies.facts.site import SiteFacts
from tests.certificate.altering import sealed
from tests.infra.conftest import STACKS, Ended, Interlock
from tests.ufm.certificates import issue
from tests.ufm.double import PASSWORD, Double, access, listening

SUBNET, PREFIX = "compute", "fe80000000000001"
FILE = f"evidence/fabrics-{SUBNET}.json"
KEYS, DEFAULT = "assumptions.A6.subnet_manager_keys_set", "assumptions.A6.default_partition_limited"
#: Keys of a subnet manager, which nobody may read in a report, a file or a certificate.
CANARIES = ("0x5ec12e7000000001", "0x5ec12e7000000002", "0x5ec12e7000000003")
SET = dict(zip(("m_key", "sm_key", "sa_key"), CANARIES, strict=True)) | {"m_key_per_port": True}


@dataclass(frozen=True)
class Hall:
    """The shipped hall in a folder of the test's own, with both guards on evidence of thirty days, and its UFM."""

    folder: Path
    double: Double

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / FILE).read_text())
        return found

    def change(self, *, sealed: bool = True, **values: object) -> None:
        """Other values in the file, with the digest that belongs to them."""
        document = self.read() | values
        if sealed:
            document["digest"] = FabricEvidenceFile.model_validate(document).expected_digest
        (self.folder / FILE).write_text(json.dumps(document))

    def age(self, **back: float) -> None:
        """Make the reading so much older."""
        self.change(read=moment_text(datetime.now(UTC) - timedelta(**back)))

    def held(self, days: int = 0) -> list[bool | None]:
        """What keys and default partition are so many days from now."""
        site = Gate.open("hall").workspace.site
        facts = SiteFacts(site, datetime.now(UTC) + timedelta(days=days))
        return [
            facts.assumption("A6", only=guard.rpartition(".")[2]).value for guard in (KEYS, DEFAULT)
        ]  # fmt: skip

    def port(self) -> str:
        """GUID of a compute port of one of its nodes."""
        return str(Gate.open("hall").workspace.site.gpu_nodes[0].ports_for("compute")[0].guid)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return issue(tmp_path_factory.mktemp("ufm"))


@pytest.fixture
def hall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: tuple[Path, Path], interlock: Interlock
) -> Iterator[Hall]:
    stacks = tmp_path / "stacks"
    folder = stacks / "hall"
    shutil.copytree(STACKS / "hall", folder)
    file = folder / "site.yaml"
    text = file.read_text()
    for guard in ("subnet_manager_keys_set", "default_partition_limited"):
        assert text.count(f"{guard}: true") == 1
        text = text.replace(f"{guard}: true", f"{guard}: {{by: evidence, max_age: 30d}}")
    file.write_text(text)
    monkeypatch.setenv("INTERLOCK_STACKS", str(stacks))
    monkeypatch.setenv("INTERLOCK_SITE", "hall")
    assert interlock("lock").code == 0
    double = Double(frozenset(), ca=authority[0], prefix=PREFIX, configuration=SET)
    double.default = {"partition": "management", "membership": "limited", "guids": []}
    with listening(double, authority[1]):
        way = access(double, tmp_path)
        entry = {
            "url": double.url, "username": way.username, "password_file": str(way.secret_file),
            "ca_file": str(way.ca_file),
        }  # fmt: skip
        (tmp_path / "fabrics.yaml").write_text(yaml.safe_dump({"fabrics": {SUBNET: entry}}))
        monkeypatch.setenv("INTERLOCK_FABRICS", str(tmp_path / "fabrics.yaml"))
        yield Hall(folder, double)


@pytest.fixture
def recorded(hall: Hall, interlock: Interlock) -> Hall:
    """Its subnet manager was asked just now, and is set as it should be."""
    done = interlock("fabrics", "--record", "--by", "the tests")
    assert (done.code, done.err) == (0, "")
    assert f"evidence of {SUBNET}: stacks/hall/{FILE}; commit it" in done.out
    return hall


def found(ended: Ended, rule: str) -> list[dict[str, Any]]:
    """What `check --format json` finds of a rule, in all stacks."""
    stacks = json.loads(ended.out)["stacks"]
    return [item for stack in stacks for item in stack["findings"] if item["rule"] == rule]


def test_what_is_recorded_has_no_key(recorded: Hall, interlock: Interlock, tmp_path: Path) -> None:
    said = recorded.read()
    expected = {
        "site": "hall", "infiniband": SUBNET, "prefix": PREFIX, "release": "6.23.1-6", "by": "the tests",
        "keys": dict.fromkeys(("m_key", "sm_key", "sa_key", "m_key_per_port"), True),
        "default_limited": True, "full_in_default": [],
    }  # fmt: skip
    assert {key: said[key] for key in expected} == expected
    certificate = tmp_path / "acme.json"
    outs = [
        interlock("fabrics", "--debug"), interlock("fabrics", "--format", "json"),
        interlock("check", "acme", "--certificate", str(certificate)),
    ]  # fmt: skip
    told = "".join([one.out + one.err for one in outs]) + (recorded.folder / FILE).read_text() + certificate.read_text()
    assert [one for one in (*CANARIES, PASSWORD) if one in told or one.removeprefix("0x") in told] == []


def test_with_it_the_hall_is_proved_and_without_it_nothing_is_known(recorded: Hall, interlock: Interlock) -> None:
    """And a second derivation from the same files says the same."""
    certificate = recorded.folder / "acme.json"
    assert interlock("check").code == 0
    assert interlock("check", "acme", "--certificate", str(certificate)).code == 0
    said = json.loads(certificate.read_text())["statement"]
    assert said["evidence"][KEYS] == [[SUBNET, FILE, recorded.read()["read"], "30d", recorded.read()["digest"]]]
    assert interlock("verify", str(certificate), "acme", "--site", "hall").code == 0
    (recorded.folder / FILE).unlink()
    ended = interlock("check", "acme", "--format", "json")
    assert ended.code == 3
    (item,) = found(ended, "ISO-23")
    assert item["hint"].startswith(f"there is no evidence of {SUBNET}: run `interlock fabrics --record`; else ")
    assert (
        f"{KEYS}: it does not rest on the evidence" in interlock("verify", str(certificate), "acme", "-s", "hall").out
    )


#: What UFM says that is not as it should be -> the rule that says so, and words of it.
UNSET: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "no M_Key": ({"m_key": "0x0"}, {}, "ISO-23", "M_Key not set"),
    "the SM_Key of OpenSM": ({"sm_key": "0x1"}, {}, "ISO-23", "SM_Key not set"),
    "the SA_Key of OpenSM": ({"sa_key": "1"}, {}, "ISO-23", "SA_Key not set"),
    "one M_Key for all": ({"m_key_per_port": "false"}, {}, "ISO-23", "an M_Key for each port not set"),
    "full by default": ({}, {"membership": "full"}, "ISO-19", "full members of the default partition unless told"),
}


@pytest.mark.parametrize("defect", UNSET)
def test_a_manager_that_is_not_set_is_a_violation_and_its_twin_none(
    recorded: Hall, interlock: Interlock, defect: str
) -> None:
    """The twin is `recorded`. Nobody can prove the other rules of what the whole subnet joins, either."""
    configuration, default, rule, words = UNSET[defect]
    recorded.double.configuration = SET | configuration
    recorded.double.default = {**(recorded.double.default or {}), **default}
    done = interlock("fabrics", "--record")
    assert done.code == 1
    assert words in done.out
    ended = interlock("check", "acme", "--format", "json")
    assert ended.code == 1
    (item,) = found(ended, rule)
    assert item["verdict"] == "violated"
    assert f"{SUBNET} said so at {recorded.read()['read']} ({FILE})" in item["witness"]
    other = "ISO-19" if rule == "ISO-23" else "ISO-23"
    assert found(ended, other) == []
    # Old enough, nobody knows any more.
    assert [recorded.held(days) for days in (0, 31)] == [[rule != "ISO-23", rule != "ISO-19"], [None, None]]


def test_a_port_of_a_node_that_is_a_full_member_all_the_same(recorded: Hall, interlock: Interlock) -> None:
    """One that is no node's, such as the manager's own, may be."""
    for guid, holds in (("0002c903e0000011", True), (recorded.port(), False)):
        full = {"guid": f"0x{guid}", "membership": "full", "index0": True}
        recorded.double.default = {"membership": "limited", "guids": [full]}
        assert interlock("fabrics", "--record").code == (0 if holds else 1)
        assert recorded.held() == [True, holds]


@pytest.mark.parametrize("listed", ["", "storage-appliance", "object-store"])
def test_a_port_of_an_appliance_that_is_a_full_member_all_the_same(recorded: Hall, listed: str) -> None:
    """It would meet every port of the subnet, whatever partition tenants share it in; a filer without GUID is none."""
    recorded.change(full_in_default=["0002ca00000000c1"])
    site = Gate.open("hall").workspace.site
    (filer,) = (item for item in site.sharing if item.kind == "storage-appliance")
    (subnet,) = site.infiniband
    storage = StorageFabric(access="shared", appliance=("0002ca00000000c1",), key=0x64)
    changed: dict[str, Any] = {"infiniband": (subnet.model_copy(update={"storage": storage}),)}
    if listed:
        named = (filer.model_copy(update={"kind": listed, "node": "0002CA00000000C1"}),)
        changed = {"sharing": (*(item for item in site.sharing if item != filer), *named)}
    file = FabricEvidenceFile.model_validate(recorded.read())
    for found, holds in ((site, True), (site.model_copy(update=changed), False)):
        assert file.said("default_partition_limited", limited_guids(found, SUBNET)) is holds
        plain = json.loads(found.model_dump_json())
        assert said_of_subnets(plain, {FILE: recorded.read()}, "default_partition_limited") == {SUBNET: holds}


def test_a_full_member_may_be_the_port_whose_guid_nobody_states(recorded: Hall, interlock: Interlock) -> None:
    """With the GUID it does not hold; so without it nobody knows, in either derivation."""
    full = {"guid": f"0x{recorded.port()}", "membership": "full", "index0": True}
    nodes = recorded.folder / "nodes.csv"
    whole = nodes.read_text()
    without = whole.replace(f"0x{recorded.port()}", "")
    for text, guids, holds in ((whole, [full], False), (without, [full], None), (without, [], True)):
        nodes.write_text(text)
        recorded.double.default = {"membership": "limited", "guids": guids}
        done = interlock("fabrics", "--record")
        assert done.code == {True: 0, False: 1, None: 3}[holds]
        assert ("any of which may be a port whose GUID is not stated" in done.out) == (holds is None)
        assert recorded.held() == [True, holds]
        site = json.loads(Gate.open("hall").workspace.site.model_dump_json())
        again = said_of_subnets(site, {FILE: recorded.read()}, "default_partition_limited")[SUBNET]
        assert (again if isinstance(again, bool) else None) == holds


@pytest.mark.parametrize(
    ("configuration", "default", "held"),
    [
        ({"m_key": SET["m_key"]}, {"membership": "limited", "guids": []}, [None, True]),
        (SET, {"guids": []}, [True, None]),
        (SET, {"membership": "limited"}, [True, None]),
        (SET, None, [True, None]),
        (SET | {"sa_key": ""}, {"membership": "limited", "guids": []}, [None, True]),
        ({"m_key": "0x0"}, None, [False, None]),
    ],
)
def test_what_a_ufm_does_not_say_is_unknown(
    hall: Hall, interlock: Interlock, configuration: dict[str, Any], default: Any, held: list[bool | None]
) -> None:
    hall.double.configuration, hall.double.default = configuration, default
    done = interlock("fabrics", "--record")
    assert done.code == (1 if False in held else 3)
    assert "UFM does not say" in done.out
    assert hall.held() == held


def test_a_ufm_that_cannot_be_read_changes_no_evidence(recorded: Hall, interlock: Interlock) -> None:
    before = (recorded.folder / FILE).read_bytes()
    recorded.double.prefix = "fe80000000000009"
    done = interlock("fabrics", "--record", "--format", "json")
    assert done.code == 4
    what = f"the UFM of {SUBNET} manages fe80000000000009, and the site file states {PREFIX}"
    assert json.loads(done.out)["recorded"]["without"] == {SUBNET: f"it could not be read: {what}"}
    recorded.double.prefix, recorded.double.configuration = PREFIX, {"m_key": "not-a-number-but-a-key"}
    done = interlock("fabrics", "--record")
    assert done.code == 4
    assert "its M_Key is no number" in done.out
    assert "not-a-number" not in done.out + done.err
    assert (recorded.folder / FILE).read_bytes() == before


def test_evidence_of_another_subnet_and_too_old_counts_for_nothing(recorded: Hall) -> None:
    assert [recorded.held(days) for days in (29, 31)] == [[True, True], [None, None]]
    recorded.change(prefix="fe80000000000009")
    assert recorded.held() == [None, None]


@pytest.mark.parametrize(
    ("values", "sealed", "words"),
    [
        ({"default_limited": True, "by": "me"}, False, "IN-041"),
        ({"site": "paris"}, True, "IN-042"),
        ({"read": "2101-01-01T00:00:00Z"}, True, "IN-043"),
        ({"infiniband": "storage"}, True, "its name says another subnet"),
        ({"keys": {"m_key": "0x1"}}, False, "IN-003"),
    ],
)
def test_a_wrong_file(recorded: Hall, interlock: Interlock, values: dict[str, Any], sealed: bool, words: str) -> None:
    recorded.change(sealed=sealed, **values)
    ended = interlock("check")
    assert ended.code == 2
    assert words in ended.err
    assert f"{FILE}:1:" in ended.err


def test_a_file_of_a_subnet_that_is_gone(recorded: Hall, interlock: Interlock) -> None:
    (recorded.folder / FILE).rename(recorded.folder / "evidence/fabrics-storage.json")
    document = json.loads((recorded.folder / "evidence/fabrics-storage.json").read_text()) | {"infiniband": "storage"}
    document["digest"] = FabricEvidenceFile.model_validate(document).expected_digest
    (recorded.folder / "evidence/fabrics-storage.json").write_text(json.dumps(document))
    ended = interlock("check")
    assert (ended.code, "`storage` is not an InfiniBand subnet of this site" in ended.err) == (2, True)


def _as_if_it_held(said: dict[str, Any]) -> None:
    said["guards"][KEYS] = True


def _as_if_it_did_not(said: dict[str, Any]) -> None:
    said["guards"][DEFAULT] = False


def _of_another_file(said: dict[str, Any]) -> None:
    said["evidence"][KEYS][0][4] = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_as_if_it_held, f"{KEYS} is True in it, and its evidence says otherwise"),
        (_as_if_it_did_not, f"{DEFAULT} is False in it, and its evidence says otherwise"),
        (_of_another_file, f"{KEYS}: it does not rest on the evidence of {SUBNET} in the site"),
    ],
)
def test_a_forged_statement(
    hall: Hall, interlock: Interlock, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    """Of a hall whose manager has no M_Key. As it was written it is about the site."""
    hall.double.configuration = SET | {"m_key": "0x0"}
    assert interlock("fabrics", "--record").code == 1
    file = hall.folder / "acme.json"
    interlock("check", "acme", "--certificate", str(file))
    assert "its evidence says otherwise" not in interlock("verify", str(file), "acme", "--site", "hall").out
    document = json.loads(file.read_text())
    change(document["statement"])
    file.write_text(json.dumps(sealed(document)))
    done = interlock("verify", str(file), "acme", "--site", "hall")
    assert (done.code, words in done.out) == (1, True), done.out


def test_an_audit_asks_too(hall: Hall, interlock: Interlock) -> None:
    """What the site does not say to hold is no drift."""
    at_once = RetryPolicy(RetryBudget(), sleep=lambda _: None)
    empty = Audit("hall", "sandbox-hall", (), (), {}, 0, 0)

    def audited() -> Audit:
        gate = Gate.open("hall")
        return with_managers(empty, gate, managers_of_audit(gate, at_once))

    assert interlock("fabrics", "--record").code == 0
    assert (audited().has_drifted, audited().unread) == (False, {})
    hall.double.configuration = SET | {"m_key": "0x0"}
    assert audited().managers == (f"{SUBNET}: A6.subnet_manager_keys_set is not so: M_Key not set",)
    assert audited().has_drifted
    hall.double.instead["GET", "/app/smconf"] = (401, {}, "no")
    assert list(audited().unread) == [f"subnet manager of {SUBNET}"]
    del hall.double.instead["GET", "/app/smconf"]
    assert interlock("fabrics", "--record").code == 1
    assert not audited().has_drifted


def test_names_and_words(hall: Hall, interlock: Interlock) -> None:
    ended = interlock("fabrics", "storage")
    assert (ended.code, "`storage` is not an InfiniBand subnet of this site" in ended.err) == (2, True)
    assert "who answers for evidence is said with --record" in interlock("fabrics", "--by", "me").err
    assert not (hall.folder / "evidence").exists()


def test_who_says_so_is_shown(recorded: Hall, interlock: Interlock) -> None:
    rows = json.loads(interlock("site", "--format", "json").out)["switches_as_stated"]
    read = recorded.read()["read"]
    mine = [row for row in rows if row[0].startswith("A6.")]
    assert mine == [
        [f"A6.{guard}", SUBNET, f"{read} by the tests", "counts for 30d from then"]
        for guard in ("default_partition_limited", "subnet_manager_keys_set")
    ]
    text = interlock("site", "--full").out
    assert "subnet_manager_keys_set: {by: evidence, max_age: 30d}" in text
