"""`interlock wiring`: what is printed for whom, what is not, and that nothing in it can become another command."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infra.commands.schema import wiring_schema
from infra.reports.wiring_text import LONGEST_DESCRIPTION, SYNTAX_OF, NotPasteable, Syntax, wiring_text
from infra.reports.wiring_words import wiring_words
from interlock.hardware.switches import SWITCHES
from interlock.model.site.switch_file import port_pattern
from interlock.model.text.names import (
    MOST_OTHER,
    MOST_PART,
    MOST_TENANT,
    device_name,
    interface,
    part_name,
    tenant_name,
)
from interlock.planning import Plan
from interlock.planning.wiring import LONGEST_VLAN_NAME, SiteWiring, vlan_name, wiring_of
from tests.builders.pod64 import pod64
from tests.infra.conftest import Interlock, Lyon
from tests.infra.wiring_worlds import EOS_NAMES, NVUE_NAMES, plans_of, site_of, wiring, with_whole_hosts
from tests.planning.golden import plans

#: Every line that may be pasted, in either language.
COMMAND = re.compile(r" *[A-Za-z0-9._:/@,-]+(?: [A-Za-z0-9._:/@,-]+)*")


def wired_by(lyon: Lyon, interlock: Interlock, tor: str, management: str = "neutron") -> None:
    """Let others wire the switches of lyon."""
    text = lyon.file("site.yaml").read_text()
    first, second, third = text.split("wired_by: neutron")
    lyon.file("site.yaml").write_text(f"{first}wired_by: {tor}{second}wired_by: {management}{third}")
    done = interlock("lock")
    assert done.code == 0, done.err


def switches(out: str) -> list[str]:
    return [item["name"] for item in json.loads(out)["switches"]]


def test_a_switch_that_is_wired_by_hand_is_told_in_commands(lyon: Lyon, interlock: Interlock) -> None:
    wired_by(lyon, interlock, "hand")
    done = interlock("wiring", "acme")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "! tor-1 (arista-7060x, serial PLACEHOLDER-7060X-1): 4 ports, 2 VLANs"
    assert (lines[1], lines[-2:]) == ("configure", ["end", "write memory"])
    # Storage is on the trunks of the hosts alone, and has to exist all the same.
    assert [line for line in lines if line.startswith("vlan ")] == ["vlan 1000", "vlan 2000"]
    first = lines.index("interface Ethernet1/1")
    assert lines[first + 1 : first + 5] == [
        "   description acme-train:ipum-01:rnic",
        "   switchport mode access",
        "   switchport access vlan 1000",
        "   no shutdown",
    ]
    assert sum(line.startswith("interface ") for line in lines) == 4
    assert "mgmt-1" not in done.out
    assert "shutdown" not in [line.strip() for line in lines]


def test_all_tenants_are_in_it_where_none_is_named(lyon: Lyon, interlock: Interlock) -> None:
    wired_by(lyon, interlock, "hand")
    named = interlock("wiring", "globex", "acme", "acme").out
    assert interlock("wiring").out == named
    assert named.count("interface ") == 12


def test_what_rests_regards_every_tenant(lyon: Lyon, interlock: Interlock) -> None:
    """A port of another tenant is not shut because only one was named."""
    wired_by(lyon, interlock, "hand")
    lines = interlock("wiring", "acme", "--rest").out.splitlines()
    ports = [line.removeprefix("interface ") for line in lines if line.startswith("interface ")]
    assert ports == [f"Ethernet{number}/1" for number in range(1, 9)]
    resting = lines[lines.index("interface Ethernet5/1") :]
    assert [line.strip() for line in resting[1:5]] == [
        "shutdown", "no description", "switchport mode access", "switchport access vlan 4000"
    ]  # fmt: skip


def test_a_bmc_rests_where_the_operator_reaches_it_and_an_rnic_nowhere() -> None:
    tor, management = (
        {item.name: item for item in wiring(site_of(EOS_NAMES)).switches}[name] for name in ("tor-1", "mgmt-1")
    )
    assert {(port.vlan, port.enabled) for port in tor.rest} == {(None, False)}
    assert {(port.vlan, port.enabled) for port in management.rest} == {(4000, True)}


def test_ports_that_the_site_file_gives_a_vlan_do_not_rest() -> None:
    site = site_of(EOS_NAMES)
    tor = site.switch["tor-1"]
    ports = tuple(
        port.model_copy(update={"untagged": 77}) if port.port == 9 else port for port in tor.ports if port.port != 10
    )
    changed = pod64(switches=(tor.model_copy(update={"ports": ports}), site.switch["mgmt-1"]))
    (found,) = wiring_of(changed, (), ["tor-1"], ()).switches
    assert [port.number for port in found.rest] == [number for number in range(1, 17) if number != 9]


def test_of_a_switch_that_neutron_wires_only_who_asks_is_told_and_warned(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("wiring")
    assert (done.code, done.out) == (0, "")
    assert done.err == "no switch of lyon is wired by hand: --all shows every one\n"
    asked = interlock("wiring", "--switch", "tor-1").out
    assert asked.splitlines()[1] == (
        "! Neutron wires tor-1 by its driver: what is pasted here is undone by it, or fights with it."
    )
    assert "mgmt-1" not in asked
    assert "! mgmt-1 (" in interlock("wiring", "--all").out


def test_json_is_for_pipelines_too(lyon: Lyon, interlock: Interlock) -> None:
    wired_by(lyon, interlock, "export")
    assert switches(interlock("wiring", "--format", "json").out) == ["tor-1"]
    assert interlock("wiring").out == ""
    told = interlock("wiring", "--switch", "tor-1").out
    assert "! A pipeline owns the configuration of tor-1: its next push undoes what is pasted here." in told
    wired_by_all = interlock("wiring", "--all", "--format", "json").out
    assert switches(wired_by_all) == ["mgmt-1", "tor-1"]
    document = json.loads(wired_by_all)
    assert (document["version"], document["site"], document["tenants"]) == (1, "lyon", ["acme", "globex"])
    assert [port["number"] for port in document["switches"][1]["rest"]] == [5, 6, 7, 8]


def test_json_follows_its_schema() -> None:
    validator = Draft202012Validator(wiring_schema())
    for found in (wiring(site_of(EOS_NAMES)), wiring(pod64()), with_whole_hosts()):
        document = json.loads(json.dumps(found.model_dump(mode="json")))
        assert [error.message for error in validator.iter_errors(document)] == []
        document["switches"][0]["a key of a later release"] = 1
        assert validator.is_valid(document)
        document["switches"][0]["ports"][0]["vlan"] = "1000"
        assert not validator.is_valid(document)


def test_the_order_does_not_depend_on_that_of_the_plans() -> None:
    site = site_of(EOS_NAMES)
    there, back = plans_of(site), plans_of(site)[::-1]
    names = list(site.switch)
    assert wiring_of(site, there, names, there) == wiring_of(site, back, names[::-1] * 2, back)


def test_a_file_is_written_once(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    file = tmp_path / "wiring.json"
    first = interlock("wiring", "--all", "-f", "json", "--out", str(file))
    assert (first.code, first.out, first.err) == (0, "", f"{file}: written\n")
    before = file.stat()
    again = interlock("wiring", "--all", "-f", "json", "--out", str(file))
    assert again.err == f"{file}: unchanged\n"
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert file.read_text() == interlock("wiring", "--all", "-f", "json").out
    changed = interlock("wiring", "acme", "--all", "-f", "json", "--out", str(file))
    assert changed.err == f"{file}: written\n"
    assert json.loads(file.read_text())["tenants"] == ["acme"]
    assert list(tmp_path.glob(".wiring.json*")) == []


def test_a_crash_leaves_the_old_file(
    lyon: Lyon, interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "wiring.json"
    file.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(file))

    monkeypatch.setattr("interlock.whole_files.os.fsync", full)
    done = interlock("wiring", "--all", "--out", str(file))
    assert (done.code, file.read_text()) == (4, "old")
    assert list(tmp_path.glob(".wiring.json*")) == []


def test_what_is_no_file_is_written_to(lyon: Lyon, interlock: Interlock) -> None:
    """`--out /dev/stdout`: no file comes in the place of a device."""
    done = interlock("wiring", "--all", "--out", os.devnull)
    assert (done.code, done.err) == (0, f"{os.devnull}: written\n")
    assert not Path(os.devnull).is_file()


def test_a_file_that_cannot_be_written_is_4(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    for name in (tmp_path / "nowhere" / "wiring.json", tmp_path):
        done = interlock("wiring", "--all", "--out", str(name))
        assert done.code == 4
        assert done.err.startswith(f"{name}: ")
        assert "next: name a file in a folder that you may write to" in done.err


def test_a_link_stays_a_link(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    interlock("wiring", "--all", "--out", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text().startswith("! mgmt-1 ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("acne",), "did you mean `acme`?"),
        (("--switch", "tor-11"), "lyon has no switch `tor-11`: did you mean `tor-1`?"),
        (("--syntax", "nvue", "--format", "json"), "JSON has no commands in it"),
        (("--format", "yaml"), "there are: text, json"),
        (("--site", "lion"), "lyon"),
    ],
)
def test_what_is_wrong_is_2(lyon: Lyon, interlock: Interlock, arguments: tuple[str, ...], said: str) -> None:
    done = interlock("wiring", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_lock_that_is_old_is_2(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 4")
    # What is proved of acme rests on what globex holds.
    for arguments in (("globex", "--all"), ("acme", "--all"), ("acme", "--all", "--rest"), ("--all", "-f", "json")):
        done = interlock("wiring", *arguments)
        assert (done.code, done.out) == (2, "")
        assert "run `interlock lock globex`" in done.err


@pytest.mark.parametrize(("value", "code", "word"), [("false", 1, "violated"), ("unknown", 3, "not provable")])
def test_nothing_is_printed_of_what_is_not_proved(
    lyon: Lyon, interlock: Interlock, tmp_path: Path, value: str, code: int, word: str
) -> None:
    lyon.replace("site.yaml", "iommu: true", f"iommu: {value}")
    assert interlock("lock").code == 0
    done = interlock("wiring", "acme", "--all", "--out", str(tmp_path / "file"))
    assert (done.code, done.out) == (code, "")
    assert f"lyon-acme is {word}: nothing has been touched" in done.err
    assert not (tmp_path / "file").exists()


def test_every_model_of_the_catalogue_has_a_language() -> None:
    assert set(SYNTAX_OF) == set(SWITCHES)
    # The option is about other models only: one command shows a site with switches of two makers.
    assert wiring_text(wiring(site_of(EOS_NAMES)), syntax=Syntax.NVUE) == wiring_text(wiring(site_of(EOS_NAMES)))


def test_without_names_of_ports_there_is_a_table_that_says_why() -> None:
    text = wiring_text(wiring(pod64()))
    assert "Nobody states what tor-1 calls its ports, so there are no commands to paste: state `port_names`" in text
    assert "configure" not in text
    assert "1     ?     access  1000  enabled   ipum-01:rnic  acme-train" in text


#: Names that files allow, up to the longest.
TENANTS = st.from_regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", fullmatch=True).filter(lambda text: len(text) <= MOST_TENANT)
DEVICES = st.from_regex(r"[a-z0-9]+([.-][a-z0-9]+)*", fullmatch=True).filter(lambda text: len(text) <= MOST_OTHER)
INTERFACES = st.from_regex(r"[a-z0-9]+([._-][a-z0-9]+)*", fullmatch=True).filter(lambda text: len(text) <= MOST_OTHER)
PATTERNS = st.from_regex(r"[A-Za-z][A-Za-z0-9/:._-]{0,20}\{\}[A-Za-z0-9/:._-]{0,20}", fullmatch=True)
MODELS = st.text(max_size=40) | st.just("x\nno vlan 1000\n`reboot`'\"; $(x)\x1b[2J")


def renamed(tenant: str, device: str, plug: str, pattern: str, model: str, syntax: Syntax) -> SiteWiring:
    """A wiring with these names in every place."""
    found = wiring(site_of(EOS_NAMES)).model_dump()
    for switch in found["switches"]:
        switch |= {"name": device, "model": model, "serial": f"{device.upper()}"}
        for port in (*switch["ports"], *switch["rest"]):
            port |= {"name": pattern.format(port["number"]), "device": device, "interface": plug}
        for item in (*switch["ports"], *switch["vlans"]):
            item |= {"tenant": tenant, "vpod": f"{tenant}-{tenant}", "network": f"{tenant}-{tenant}-ipu-data"}
        for vlan in switch["vlans"]:
            vlan["name"] = vlan_name(vlan["network"], tenant, vlan["vlan"])
    return SiteWiring.model_validate(found)


@given(TENANTS, DEVICES, INTERFACES, PATTERNS, MODELS, st.sampled_from(Syntax))
def test_no_name_that_files_allow_ends_a_command(
    tenant: str, device: str, plug: str, pattern: str, model: str, syntax: Syntax
) -> None:
    named = renamed(tenant, device, plug, pattern, model, syntax)
    plain = renamed("acme", "a", "b", "Ethernet{}", "sn3700", syntax)
    text, usual = (wiring_text(item, syntax=syntax).splitlines() for item in (named, plain))
    assert len(text) == len(usual)
    comment = "!" if syntax is Syntax.EOS else "#"
    for line, other in zip(text, usual, strict=True):
        assert line.isascii()
        assert line.isprintable()
        assert line.startswith(comment) == other.startswith(comment)
        assert line.startswith(comment) or COMMAND.fullmatch(line) or not line
        # The words of the commands are the same, in the same places.
        assert len(line.split()) == len(other.split()) or line.startswith(comment)


def test_the_widest_names_fit() -> None:
    tenant, part = "t" * MOST_TENANT, "p" * MOST_PART
    assert (tenant_name(tenant), part_name(part)) == (tenant, part)
    device, plug = "d" * MOST_OTHER, "e" * MOST_OTHER
    assert (device_name(device), interface(plug)) == (device, plug)
    assert len(f"{tenant}-{part}:{device}:{plug}") <= LONGEST_DESCRIPTION
    assert vlan_name("acme-train-ipu-data", "acme", 1000) == "acme-train-ipu-data"
    short = vlan_name(f"{tenant}-{part}-ipu-data", tenant, 4094)
    assert short == f"{tenant}-vlan-4094"
    assert len(short) <= LONGEST_VLAN_NAME


@pytest.mark.parametrize(
    "wrong", ["a\nreload", "a reload", 'a"', "a'", "a;b", "$(a)", "a`", "a|b", "a\x1b", "-a", "!", "é", ""]
)
def test_a_name_that_files_do_not_allow_is_refused_all_the_same(wrong: str) -> None:
    usual = wiring(site_of(EOS_NAMES))
    for field in ("device", "interface", "vpod", "name"):
        document = usual.model_dump()
        document["switches"][0]["ports"][0][field] = wrong
        if field in ("device", "interface", "vpod") and wrong in ("-a", ""):
            continue  # inside of a description these end nothing
        with pytest.raises(NotPasteable):
            wiring_text(SiteWiring.model_validate(document))
    for pattern in (f"Ethernet{{}}{wrong}", wrong):
        if wrong not in ("", "-a"):
            with pytest.raises(Exception, match="is no pattern of port names"):
                port_pattern(pattern)


def test_people_are_told_how_many_ports_and_by_which_command() -> None:
    by_hand = plans_of(site_of(NVUE_NAMES))[0]
    exported = plans_of(site_of(NVUE_NAMES, wired_by="export"))[0]
    assert wiring_words(by_hand) == ("4 switch ports to wire by hand: `interlock wiring acme`",)
    assert wiring_words(by_hand, "paris") == ("4 switch ports to wire by hand: `interlock wiring acme --site paris`",)
    assert wiring_words(exported) == (
        "4 switch ports for the pipeline that owns their switches: `interlock wiring acme --format json`",
    )
    neutron: Plan = plans_of(site_of(NVUE_NAMES, wired_by="neutron"))[0]
    assert wiring_words(neutron) == ()
    assert wiring_words(plans()["gone"]) == ()


def test_check_plan_and_json_say_it_in_their_words(lyon: Lyon, interlock: Interlock) -> None:
    wired_by(lyon, interlock, "hand")
    words = "4 switch ports to wire by hand: `interlock wiring acme`"
    (line,) = interlock("check", "acme").out.splitlines()[:1]
    assert line.endswith(f"; 8 planned that `pulumi up` does not make; {words}")
    assert interlock("plan", "acme").out.splitlines()[0].endswith(f"; {words}")
    judged = json.loads(interlock("check", "acme", "-f", "json").out)["stacks"][0]
    assert len(judged["without_actuator"]) == 12
