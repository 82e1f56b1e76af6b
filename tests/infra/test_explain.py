"""`interlock explain`, the places of findings, and waivers as `interlock check` meets them."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from infra.program.gate import Gate
from infra.program.places import ROOT
from interlock.vocabulary import entries
from interlock.vocabulary.entries import SpecEntry
from policies import RULES
from policies.findings.report import EntryPlace
from tests.builders.leaky import LEAKS, Leak
from tests.e2e.witness_texts import WITNESSES, witness
from tests.infra.conftest import STACKS, Interlock, Lyon

OPEN = ("tenants/acme.yaml", "ssh_from: [198.51.100.0/24]", "ssh_from: [0.0.0.0/0]")


def leaking(lyon: Lyon, interlock: Interlock, case: str) -> str:
    """A leaky example, locked, below the stacks of the test."""
    shutil.copytree(STACKS / "leaky" / case, lyon.stacks / "leaky" / case)
    done = interlock("lock", "--site", f"leaky/{case}")
    assert done.code == 0, done.err
    return f"leaky/{case}"


def judged(interlock: Interlock, site: str, tenant: str) -> dict[str, Any]:
    document = json.loads(interlock("check", tenant, "--site", site, "--format", "json").out)
    assert len(document["stacks"]) == 1
    return dict(document["stacks"][0])


def line_of(leak: Leak) -> tuple[str, int]:
    lines = (leak.folder / leak.file).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, start=1) if "# LEAK" in line]
    return f"{leak.folder.relative_to(ROOT).as_posix()}/{leak.file}", number


def lines(places: list[dict[str, Any]]) -> set[tuple[str, int]]:
    return {(place["file"], place["line"]) for place in places}


# Rules


def test_a_rule_is_told(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("explain", "iso-05")
    assert done.code == 0
    assert done.out.startswith("ISO-05  no tenant's server reaches a machine's gateway or BMC\n")
    for part in ("severity  B", "claims ", "why ", "source ", "looks at ", "asked of ", "to do "):
        assert f"\n{part}" in done.out


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_every_rule_can_be_told(interlock: Interlock, rule: str) -> None:
    told = json.loads(interlock("explain", rule, "--format", "json").out)
    assert told["id"] == rule
    assert all(told.values())


def test_without_a_name_every_rule_is_listed(interlock: Interlock) -> None:
    listed = [line.split()[0] for line in interlock("explain").out.splitlines()]
    assert listed == [rule.id for rule in RULES]


@pytest.mark.parametrize(("name", "meant"), [("ISO-5", "ISO-05"), ("TOP-66", "TOP-26"), ("nonsense", "there are:")])
def test_an_unknown_rule_is_2_with_the_nearest(interlock: Interlock, name: str, meant: str) -> None:
    done = interlock("explain", name)
    assert done.code == 2
    assert done.out == ""
    assert f"there is no rule `{name}`" in done.err
    assert meant in done.err


# Findings


def test_a_finding_is_told_step_by_step(lyon: Lyon, interlock: Interlock) -> None:
    site = leaking(lyon, interlock, "poplar-on-management")
    table = interlock("check", "acme", "--site", site).out
    name = next(line.split()[-3] for line in table.splitlines() if "more: interlock explain ISO-05-" in line)
    assert f"    more: interlock explain {name} --site {site}" in table
    done = interlock("explain", name.lower(), "--site", site)
    assert done.code == 0, done.err
    assert done.out.startswith(f"{name}  leakymgmt-acme, violated\n")
    assert "E1: cabled switches carry the same tagged VLAN" in done.out
    assert "E6: a virtual function with a VLAN set by the host reaches that VLAN only" in done.out
    assert f"at stacks/{site}/site.yaml:30:15  switches.tor-1.ports.33" in done.out
    assert "smallest change, after which no path joins the two:" in done.out
    told = json.loads(interlock("explain", name, "--site", site, "--format", "json").out)
    assert [step["rule"] for step in told["steps"]] == ["", "E9", "E6", "E4", "E1", "E5", "E9"]
    assert len(told["path"]) == len(told["steps"])


def test_a_finding_without_a_path_is_told(lyon: Lyon, interlock: Interlock) -> None:
    site = leaking(lyon, interlock, "machines-with-a-hole")
    name = judged(interlock, site, "acme")["findings"][0]["id"]
    done = interlock("explain", name, "--site", site)
    assert done.code == 0
    assert "no IPU-Link cable to" in done.out
    assert f"at stacks/{site}/tenants/acme.yaml:13:" in done.out


def test_a_finding_that_is_no_more_is_2(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("explain", "ISO-05-0000")
    assert done.code == 2
    assert "lyon has no finding `ISO-05-0000` (any more)" in done.err


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.case)
def test_a_leaky_example_is_found_at_its_bad_line(lyon: Lyon, interlock: Interlock, leak: Leak) -> None:
    """Where owners meet by a path, the smallest change is that line and nothing else."""
    site = leaking(lyon, interlock, leak.case)
    finding = judged(interlock, site, leak.tenant)["findings"][0]
    assert line_of(leak) in lines(finding["places"])
    if finding["rule"] in ("L3-04", "TOP-03"):
        assert finding["fix"] == []  # nobody meets anybody: there is no path to cut
    else:
        assert (lines(finding["fix_places"]), finding["fix_kind"]) == ({line_of(leak)}, "smallest")


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.case)
def test_a_leaky_example_is_told_as_approved(lyon: Lyon, interlock: Interlock, leak: Leak) -> None:
    """By the words with which `pulumi up` refuses it."""
    leaking(lyon, interlock, leak.case)
    assert witness(leak.case, leak.tenant) == (WITNESSES / f"{leak.case}.txt").read_text(encoding="utf-8")


def test_a_claim_without_a_line_of_the_request_is_found_in_the_lock(lyon: Lyon, interlock: Interlock) -> None:
    gate = lyon.gate()
    (place,) = gate.places(gate.plan("acme"))((entries.of_resource("acme-train-ipu-data"),))
    assert place.file == "stacks/lyon/tenants/acme.lock.json"
    assert '"ipu_data_vlan": 1000' in lyon.file("tenants/acme.lock.json").read_text().splitlines()[place.line - 1]


def test_places_of_every_kind(lyon: Lyon) -> None:
    def at(entry: SpecEntry, tenant: str | None = "acme") -> str:
        gate = Gate.open("lyon")
        (place,) = gate.places(gate.plan(tenant))((entry,))
        assert isinstance(place, EntryPlace)
        assert place.entry == entry
        return lyon.stacks.parent.joinpath(place.file).read_text().splitlines()[place.line - 1].strip()

    assert at(entries.of_resource("acme-train-poplar-ssh")).startswith("ssh_from:")
    assert at(entries.of_resource("acme-train")).startswith("machines:")
    assert at(entries.of_resource("acme-train-poplar-0")).startswith("poplar:")
    assert at(entries.of_site("assumptions.A3.no_forwarding")).startswith(("A3:", "no_forwarding:", "{no_forwarding"))
    assert at(entries.of_lock("globex")) == '"allocation": {'
    assert at(entries.of_resource("anything"), None) != ""


@pytest.mark.parametrize("stack", [None, "acme", "globex"])
def test_everything_planned_has_a_place(lyon: Lyon, stack: str | None) -> None:
    gate = lyon.gate()
    for item in gate.plan(stack).resources:
        (place,) = gate.places(gate.plan(stack))((entries.of_resource(item.name),))
        assert (lyon.stacks.parent / place.file).is_file(), item.name


# Waivers


def waive(lyon: Lyon, rule: str, expires: str = "2999-12-31") -> None:
    with lyon.file("tenants/acme.yaml").open("a") as file:
        file.write(f"waivers:\n  {rule}: {{owner: ops@lyon.example, reason: a demo, expires: {expires}}}\n")


def test_a_waived_rule_lets_the_stack_pass(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(*OPEN)
    interlock("lock")
    assert interlock("check", "acme").code == 1
    waive(lyon, "L3-11")
    interlock("lock")
    done = interlock("check", "acme")
    assert done.code == 0, done.out
    assert "lyon-acme  proved with 1 waiver  " in done.out
    assert lyon.gate().prove("acme").judgement.waivers[0].rule == "L3-11"


def test_an_expired_waiver_lets_nothing_pass(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(*OPEN)
    waive(lyon, "L3-11", "2020-01-01")
    interlock("lock")
    done = interlock("check", "acme")
    assert done.code == 1
    assert "up to 2020-01-01: expired, so the rule counts" in done.out


@pytest.mark.parametrize("rule", ["ISO-01", "L3-08"])
def test_a_waiver_of_a_theorem_is_wrong_input(lyon: Lyon, interlock: Interlock, rule: str) -> None:
    waive(lyon, rule)
    interlock("lock")
    done = interlock("check", "acme")
    assert done.code == 2
    assert f": IN-007 {rule} cannot be waived: " in done.err
    assert "stacks/lyon/tenants/acme.yaml:" in done.err


def test_a_waiver_of_a_rule_that_there_is_not_is_wrong_input(lyon: Lyon, interlock: Interlock) -> None:
    waive(lyon, "ISO-99")
    interlock("lock")
    done = interlock("check", "acme")
    assert (done.code, done.out) == (2, "")
    assert "stacks/lyon/tenants/acme.yaml:" in done.err
    assert ": IN-008 there is no rule `ISO-99`\n  hint: did you mean `ISO-" in done.err


# Waivers of the operator's own stack


def waive_on_site(lyon: Lyon, rule: str, expires: str = "2999-12-31") -> None:
    with lyon.file("site.yaml").open("a") as file:
        file.write(f"waivers:\n  {rule}: {{owner: ops@lyon.example, reason: until the visit, expires: {expires}}}\n")


WEAK = ("site.yaml", "feeds: {a: 43kW, b: 43kW}", "feeds: {a: 15kW, b: 15kW}")


def of_site(lyon: Lyon, interlock: Interlock) -> list[str]:
    """What `interlock check` says of the operator's stack, line by line."""
    said = interlock("check", "--verbose").out
    return said[said.index("lyon-site: ") : said.index("lyon-acme: ")].splitlines()


def test_a_rule_that_is_waived_for_the_site_lets_its_stack_pass(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(*WEAK)
    assert interlock("lock").code == 0
    assert of_site(lyon, interlock)[0] == "lyon-site: violated"
    locks = lyon.locks()
    waive_on_site(lyon, "PWR-02")
    assert interlock("lock").code == 0
    assert lyon.locks() == locks  # no plan rests on what is waived
    done = interlock("check")
    assert done.code == 0, done.out
    assert "lyon-site    proved with 1 waiver  " in done.out
    assert "lyon-acme    proved                " in done.out  # a tenant's stack has no part in it
    assert lyon.gate().prove(None).judgement.waivers[0].owner == "ops@lyon.example"


def test_a_waiver_of_the_site_that_is_expired_or_unused_says_so(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(*WEAK)
    waive_on_site(lyon, "PWR-02", "2020-01-01")
    with lyon.file("site.yaml").open("a") as file:
        file.write("  SEC-12: {owner: ops@lyon.example, reason: not needed any more, expires: 2999-12-31}\n")
    assert interlock("lock").code == 0
    said = of_site(lyon, interlock)
    assert said[0] == "lyon-site: violated"
    assert any("up to 2020-01-01: expired, so the rule counts" in line for line in said)
    assert any("waiver of SEC-12" in line and "warning: unused" in line for line in said)


def test_a_waiver_of_the_site_that_nobody_may_have_is_refused_where_it_stands(lyon: Lyon, interlock: Interlock) -> None:
    waive_on_site(lyon, "ISO-02")
    line = len(lyon.file("site.yaml").read_text().splitlines())
    done = interlock("check")
    assert done.code == 2
    assert f"stacks/lyon/site.yaml:{line}:11: IN-007 ISO-02 cannot be waived: " in done.err


def test_a_waiver_of_the_site_in_full_form(lyon: Lyon, interlock: Interlock) -> None:
    waive_on_site(lyon, "PWR-02")
    said = interlock("site", "--full").out
    assert said.endswith(
        "waivers:\n  PWR-02: {owner: ops@lyon.example, reason: until the visit, expires: '2999-12-31'}\n"
    )
