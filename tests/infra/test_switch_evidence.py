"""`A1.configuration_matches` on evidence: what `interlock switches --record` writes, and what the proof takes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from infra.program.gate import Gate
from interlock.switches import commands
from policies import NotProved
from policies.facts.site import SiteFacts
from tests.infra.answering import Switches, answering_switches, setting
from tests.infra.conftest import Ended, Interlock, Lyon
from tests.infra.recorded import GUARD, MGMT, TOR, Files, rest_on_evidence


@pytest.fixture
def site(unlocked: Lyon, interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lyon:
    """The shipped site, whose guard rests on evidence of thirty days. Nothing is applied: the claims store is empty."""
    rest_on_evidence(unlocked)
    (tmp_path / "clouds.yaml").write_text("clouds: {}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    assert interlock("lock").code == 0
    return unlocked


@pytest.fixture
def switches(site: Lyon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Switches]:
    """Its switches, at rest."""
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(tmp_path / "switches.yaml"))
    with answering_switches(site.gate(), {}, tmp_path) as found:
        yield found


@pytest.fixture
def recorded(switches: Switches, site: Lyon, interlock: Interlock) -> Files:
    """Both switches were read just now."""
    done = interlock("switches", "--record", "--by", "the tests")
    assert (done.code, done.err) == (0, "")
    return Files(site)


def why(ended: Ended) -> set[str]:
    """What `check --format json` says in its hints of evidence."""
    stacks = json.loads(ended.out)["stacks"]
    hints = {item["hint"] for found in stacks for item in found["findings"] if GUARD in item["missing"]}
    return {hint.partition(": run `")[0] for hint in hints}


def test_what_is_recorded(recorded: Files, site: Lyon) -> None:
    found = recorded.read(TOR)
    expected = {
        "format": 1, "site": "lyon", "switch": "tor-1", "serial": "PLACEHOLDER-7060X-1",
        "system_mac": "02:1c:73:00:00:01", "by": "the tests", "plans": {}, "result": "as stated",
    }  # fmt: skip
    assert {key: found[key] for key in expected} == expected
    age = datetime.now(UTC) - datetime.fromisoformat(found["read"])
    assert timedelta() <= age < timedelta(minutes=10)
    assert (found["ports"], found["unheard"]) == (34, 25)
    assert recorded.read(MGMT)["configuration"] != found["configuration"]
    assert {file.name for file in site.file("evidence").iterdir()} == {"switches-tor-1.json", "switches-mgmt-1.json"}


def test_with_it_all_is_proved_and_without_it_nothing_is_known(
    recorded: Files, site: Lyon, interlock: Interlock
) -> None:
    assert interlock("check").code == 0
    assert site.gate().prove("acme").judgement.exit_code == 0
    site.file(MGMT).unlink()
    ended = interlock("check", "acme", "--format", "json")
    assert ended.code == 3
    assert why(ended) == {"there is no evidence of mgmt-1"}
    with pytest.raises(NotProved):
        site.gate().prove("acme")
    told = interlock("check", "acme").out
    assert f"not stated: {GUARD}" in told
    assert "next: there is no evidence of mgmt-1: run `interlock switches --record`; else " in told


def test_too_old(recorded: Files, interlock: Interlock) -> None:
    """A proof of yesterday passes nothing today: nothing but the clock differs."""
    recorded.age(TOR, days=30, minutes=-5)
    assert interlock("check", "acme").code == 0
    read = recorded.age(TOR, days=30, minutes=5)
    ended = interlock("check", "acme", "--format", "json")
    assert (ended.code, why(ended)) == (3, {f"the evidence of tor-1 is of {read}, older than 30d"})


def test_the_same_files_a_month_later(recorded: Files, site: Lyon) -> None:
    space = site.gate().workspace
    now = datetime.now(UTC)
    held = {days: SiteFacts(space.site, now + timedelta(days=days)).assumption("A1") for days in (0, 29, 31)}
    assert {days: state.value for days, state in held.items()} == {0: True, 29: True, 31: None}
    assert [str(fact) for fact in held[31].missing] == [GUARD]


def test_a_renewal_is_another_proof(recorded: Files, site: Lyon) -> None:
    """An update applies what its preview proved: by the same evidence, whatever the clock says meanwhile."""
    first = site.gate().prove("acme").hash
    assert site.gate().prove("acme").hash == first
    recorded.age(TOR, days=3)
    assert site.gate().prove("acme").hash != first


def test_yet_to_come(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    read = recorded.age(TOR, hours=-1)
    ended = interlock("check")
    assert ended.code == 2
    assert f"{TOR}:1:" in ended.err
    assert f"IN-043 {read} is yet to come\n" in ended.err
    assert "set the clock of this machine right, or delete the file, and run `interlock switches --record`" in ended.err


def test_of_another_site(recorded: Files, interlock: Interlock) -> None:
    recorded.change(TOR, site="paris")
    ended = interlock("check")
    assert ended.code == 2
    assert "IN-042 it is evidence of the site `paris`, and this is `lyon`" in ended.err


def test_an_edited_file(recorded: Files, interlock: Interlock) -> None:
    recorded.change(TOR, sealed=False, read="2026-01-01T00:00:00Z")
    ended = interlock("check")
    assert ended.code == 2
    assert "IN-041 the digest is not that of the rest: somebody edited it" in ended.err


def test_an_unreadable_file(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    site.file(TOR).write_text('{"format": 1, "site": ')
    ended = interlock("check")
    assert ended.code == 2
    assert f"{TOR}:1:23: IN-022 not JSON\n  hint: delete the file, and run `interlock switches --record`" in ended.err


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"format": 2}, "IN-007"),
        ({"result": "different"}, "IN-007"),
        ({"read": "2026-11-23T10:05:00"}, "IN-007"),
        ({"ports": 0}, "IN-007"),
        ({"host": "mine"}, "IN-001"),
    ],
)
def test_a_file_of_another_form(recorded: Files, interlock: Interlock, values: dict[str, object], code: str) -> None:
    recorded.change(TOR, sealed=False, **values)
    ended = interlock("check")
    assert ended.code == 2
    assert code in ended.err


def test_another_switch_under_the_name(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    site.file(TOR).rename(site.file("evidence/switches-tor-2.json"))
    ended = interlock("check")
    assert ended.code == 2
    assert "IN-010 it is evidence of `tor-1`, and its name says another switch\n" in ended.err
    assert "hint: call it switches-tor-1.json" in ended.err
    site.file("evidence/switches-tor-2.json").unlink()
    site.file(TOR).write_text("{}")
    assert "IN-002" in interlock("check").err


def test_a_switch_that_is_gone(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    site.file(TOR).rename(site.file("evidence/switches-tor-2.json"))
    recorded.change("evidence/switches-tor-2.json", switch="tor-2")
    ended = interlock("check")
    assert ended.code == 2
    assert "IN-008 `tor-2` is not a switch of this site" in ended.err


def test_another_configuration(recorded: Files, interlock: Interlock) -> None:
    """Sealed again with another digest of what it was compared with, as of another state of the site file."""
    recorded.change(TOR, configuration=recorded.read(MGMT)["configuration"])
    ended = interlock("check", "acme", "--format", "json")
    expected = "the evidence of tor-1 is about another configuration than that of the site file"
    assert (ended.code, why(ended)) == (3, {expected})


def test_another_device(recorded: Files, interlock: Interlock) -> None:
    recorded.change(TOR, serial="OTHER")
    ended = interlock("check", "acme", "--format", "json")
    assert (ended.code, why(ended)) == (
        3, {"the evidence of tor-1 is of serial OTHER, and the site has PLACEHOLDER-7060X-1"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "lacking"),
    [
        ("servers: trunk 1000-2999", "servers: trunk 1000-3000", {"tor-1"}),
        ("49-50: trunk 110-199", "49-50: trunk 110-200", {"mgmt-1"}),
        ("[mgmt-1:49, infra-1:ens1f0]", "[mgmt-1:48, infra-1:ens1f0]", {"mgmt-1"}),
        ("reserved_vlans: [1, 4000-4094]", "reserved_vlans: [1, 3999-4094]", {"tor-1", "mgmt-1"}),
        ("quarantine_vlan: 4000 # `ngs", "quarantine_vlan: 4001 # `ngs", {"tor-1"}),
        ("disk: 20GiB", "disk: 21GiB", set()),
    ],
)
def test_what_of_the_site_it_is_about(recorded: Files, site: Lyon, old: str, new: str, lacking: set[str]) -> None:
    site.replace("site.yaml", old, new)
    facts = SiteFacts(site.gate().workspace.site)
    words = "about another configuration than that of the site file"
    assert facts.lacking.get(GUARD, ()) == tuple(
        f"the evidence of {switch} is {words}" for switch in ("tor-1", "mgmt-1") if switch in lacking
    )
    assert facts.assumption("A1").value is (None if lacking else True)


Spoil = Callable[[Switches], None]


def other_vlan(switches: Switches) -> None:
    switches["tor-1"].ports["Ethernet31/1"] = setting("access", access=1999)
    switches["tor-1"].states["Ethernet31/1"] = {"linkStatus": "connected"}
    switches["tor-1"].tell()


def no_list_of_vlans(switches: Switches) -> None:
    switches["tor-1"].server.answers.pop(commands.EOS_VLANS.text)


def no_neighbours(switches: Switches) -> None:
    switches["tor-1"].server.answers.pop(commands.EOS_LLDP.text)


def other_neighbour(switches: Switches) -> None:
    heard = {"systemName": "globex-leaf", "chassisId": "02:00:00:00:99:01", "neighborInterfaceInfo": {}}
    told = {"lldpNeighbors": {"Ethernet1/1": {"lldpNeighborInfo": [heard]}}}
    switches["tor-1"].server.answers[commands.EOS_LLDP.text] = json.dumps(told)


def another_device(switches: Switches) -> None:
    answer = {"serialNumber": "OTHER", "systemMacAddress": "02:1c:73:00:00:01"}
    switches["tor-1"].server.answers[commands.EOS_VERSION.text] = json.dumps(answer)


def address_in_red(switches: Switches) -> None:
    """The ToR has an address in VLAN 5, in a VRF of its own."""
    interface = {
        "name": "Vlan5", "vrf": "red", "lineProtocolStatus": "up", "interfaceStatus": "connected",
        "interfaceAddress": {"primaryIp": {"address": "192.0.2.1", "maskLen": 24}, "secondaryIpsOrderedList": []},
    }  # fmt: skip
    switches["tor-1"].server.answers[commands.EOS_ADDRESSES.text] = json.dumps({"interfaces": {"Vlan5": interface}})


def test_a_switch_with_vrfs_that_are_as_stated(switches: Switches, site: Lyon, interlock: Interlock) -> None:
    """None of a VRF that the site does not state, or states otherwise."""
    stated = site.file("site.yaml")
    text = stated.read_text()
    assert text.count("      routed_vlans: []\n") == 2
    for vrfs, code in (("{red: [5]}", 0), ("{red: [5, 6]}", 1), ("{blue: [5]}", 1)):
        stated.write_text(text.replace("      routed_vlans: []\n", f"      routed_vlans: []\n      vrfs: {vrfs}\n", 1))
        assert interlock("lock").code == 0
        address_in_red(switches)
        ended = interlock("switches", "--record")
        assert (ended.code, "no evidence of tor-1" in ended.out) == (code, code != 0)


@pytest.mark.parametrize(
    ("spoil", "code", "told"),
    [
        (address_in_red, 1, "1 difference"),
        (other_vlan, 1, "1 difference"),
        (no_list_of_vlans, 3, "not read: list of VLANs"),
        (no_neighbours, 3, "not read: LLDP neighbours"),
        (another_device, 4, "it could not be read: another device answers"),
    ],
)
def test_of_a_switch_that_is_not_as_stated_nothing_is_written(
    recorded: Files, switches: Switches, interlock: Interlock, spoil: Spoil, code: int, told: str
) -> None:
    """What there was stays, and the other switch has new evidence."""
    before = recorded.site.file(TOR).read_bytes()
    recorded.age(MGMT, days=2)
    spoil(switches)
    ended = interlock("switches", "--record")
    assert ended.code == code
    (line,) = (line for line in ended.out.splitlines() if line.startswith("no evidence of tor-1"))
    assert line.startswith("no evidence of tor-1, and none that there was is changed: ")
    assert told in line
    assert recorded.site.file(TOR).read_bytes() == before
    assert "evidence of mgmt-1: stacks/lyon/evidence/switches-mgmt-1.json; commit it" in ended.out
    assert datetime.now(UTC) - datetime.fromisoformat(recorded.read(MGMT)["read"]) < timedelta(minutes=10)


def test_for_programs(switches: Switches, interlock: Interlock) -> None:
    other_vlan(switches)
    found = json.loads(interlock("switches", "--record", "--format", "json").out)
    assert found["recorded"] == {
        "files": {"mgmt-1": "stacks/lyon/evidence/switches-mgmt-1.json"}, "without": {"tor-1": "1 difference"},
    }  # fmt: skip
    assert "recorded" not in json.loads(interlock("switches", "--format", "json").out)


def test_a_plan_that_is_not_applied_is_no_difference(switches: Switches, interlock: Interlock) -> None:
    """Its ports are set by the `up` that the evidence is to allow."""
    assert interlock("switches").code == 1
    assert interlock("switches", "--record").code == 0


def test_who_answers_for_it(switches: Switches, site: Lyon, interlock: Interlock) -> None:
    refused = interlock("switches", "--by", "me")
    assert (refused.code, site.file("evidence").exists()) == (2, False)
    assert "who answers for evidence is said with --record" in refused.err
    assert interlock("switches", "--record", "--by", "a\nb").code == 2
    assert interlock("switches", "--record", "--by", "").code == 2
    assert not site.file("evidence").exists()


def test_locks_do_not_grow_old_with_it(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    before = site.locks()
    recorded.age(TOR, days=40)
    assert interlock("lock", "--check").code == 0
    site.file(MGMT).unlink()
    assert interlock("lock").code == 0
    assert site.locks() == before
    assert "note:" not in interlock("check").err


def test_who_says_so_is_shown(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    read = recorded.read(TOR)["read"]
    recorded.age(MGMT, days=31)
    rows = json.loads(interlock("site", "--format", "json").out)["switches_as_stated"]
    name = "A1.configuration_matches"
    assert rows[0] == [name, "tor-1", f"{read} by the tests", "counts for 30d from then"]
    assert rows[1][3].endswith("older than 30d")
    site.file(MGMT).unlink()
    shown = [" ".join(line.split()) for line in interlock("site").out.splitlines()]
    assert f"{name} mgmt-1 no evidence there is no evidence of mgmt-1" in shown
    recorded.change(TOR, site="paris")
    assert interlock("site").code == 2


def test_the_full_form_says_what_it_rests_on(recorded: Files, site: Lyon, interlock: Interlock) -> None:
    text = interlock("site", "--full").out
    assert "configuration_matches: {by: evidence, max_age: 30d}" in text
    before = site.gate().workspace.site
    site.file("site.yaml").write_text(text)
    assert site.gate().workspace.site == before


def test_what_stands_by_hand_needs_none(lyon: Lyon, interlock: Interlock) -> None:
    assert SiteFacts(lyon.gate().workspace.site).assumption("A1").value is True
    assert json.loads(interlock("site", "--format", "json").out)["switches_as_stated"] == [
        ["A1.configuration_matches", "true", "stated by a person", ""]
    ]
    assert Gate.open("lyon").judge("acme").judgement.exit_code == 0
