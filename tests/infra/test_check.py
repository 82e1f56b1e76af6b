"""`interlock check`: its exit codes, and the two forms of its report."""

from __future__ import annotations

import json
import shutil

import pytest

from infra.commands import check
from infra.program.gate import Gate, Judged
from infra.reports.check_report import Checked, summary
from infra.reports.ci_reports import check_sarif
from interlock.planning import Plan
from policies import Judgement
from policies.about import Alike
from policies.findings.report import as_table, finding_json, nowhere
from policies.judging import Seen
from tests.infra.conftest import STACKS, Interlock, Lyon


def test_proved_is_0_with_a_line_for_each_stack(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("check")
    assert done.code == 0, done.err
    heads = [line.split("  ") for line in done.out.splitlines() if line.startswith("lyon-")]
    assert [(head[0].strip(), "proved" in head) for head in heads] == [
        ("lyon-site", True), ("lyon-acme", True), ("lyon-globex", True)
    ]  # fmt: skip
    assert done.out.count("applied state: not looked at") == 1
    assert len(done.out.splitlines()) <= 12
    assert "3 stacks: 3 proved; 0 findings" in done.out
    assert "\033" not in done.out
    assert done.err == ""


def test_one_tenant_alone(lyon: Lyon, interlock: Interlock) -> None:
    for arguments in (("globex",), ("--tenant", "globex"), ("-t", "globex")):
        done = interlock("check", *arguments)
        assert done.code == 0
        assert done.out.startswith("lyon-globex  proved  ")
        assert "lyon-acme" not in done.out
        assert "1 stack: 1 proved" in done.out


def test_the_operators_stack_alone(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "site", "--format", "json")
    assert done.code == 0
    assert [item["stack"] for item in json.loads(done.out)["stacks"]] == ["lyon-site"]
    both = interlock("check", "site", "globex", "--format", "json")
    assert [item["stack"] for item in json.loads(both.out)["stacks"]] == ["lyon-site", "lyon-globex"]
    assert interlock("plan", "site").out == interlock("plan").out


def test_a_tenant_named_twice_is_judged_once(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "acme", "-t", "acme")
    assert done.out.count("lyon-acme  proved") == 1


def test_each_stack_is_planned_once(lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str | None] = []
    plan = Gate.plan

    def listening(self: Gate, tenant: str | None) -> Plan:
        planned.append(tenant)
        return plan(self, tenant)

    monkeypatch.setattr(Gate, "plan", listening)
    assert interlock("check").code == 0
    assert planned == [None, "acme", "globex"]


def test_tenants_are_judged_beside_the_operators_plan(lyon: Lyon) -> None:
    gate = lyon.gate()
    assert [lock.id for lock in gate.locks] == ["acme", "globex", "site"]
    assert list(gate.neighbours.hashes) == ["acme", "globex", "site"]
    assert gate.judge("acme").judgement.footprints == gate.prove("acme").judgement.footprints


def test_json_holds_a_judgement_for_each_stack(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "--format", "json")
    document = json.loads(done.out)
    judgements = document["stacks"]
    assert document["version"] == 1
    assert [item["stack"] for item in judgements] == ["lyon-site", "lyon-acme", "lyon-globex"]
    assert {item["exit_code"] for item in judgements} == {0}


def test_what_a_rule_says_of_many_things_alike_is_one_line() -> None:
    """Of one rack other words are true: it keeps its line. Programs, and whoever asks for it, are told everything."""
    found = Gate.open("superpod").judge(None).judgement
    whole = [finding for finding in found.findings if finding.rule == "PWR-04"]
    other = whole[2].model_copy(update={"message": "it is another one", "alike": Alike("another", "one")})
    results = (
        result.model_copy(update={"findings": (*whole[:2], other, *whole[3:])}) if result.rule == "PWR-04" else result
        for result in found.results
    )
    judgement = found.model_copy(update={"results": tuple(results)})
    lines = [line for line in summary([Checked(judgement, nowhere)]).splitlines() if line.startswith("PWR-04")]
    assert lines == [
        f"{other.id} not provable (severity W, does not count): it is another one",
        (
            "PWR-04 not provable 31 times (severity W, does not count): what this rack carries is not stated: rack "
            "pod-su01-rack01 in hall-1, rack pod-su01-rack02 in hall-1, rack pod-su01-rack04 in hall-1 and 28 more; "
            f"the first is {whole[0].id}, --verbose tells all"
        ),
    ]
    assert "96 findings of severity W" in summary([Checked(found, nowhere)])
    assert len(check_sarif([Checked(found, nowhere)])["runs"][0]["results"]) == 96
    assert as_table(found).count("what this rack carries is not stated") == 32
    assert "alike" not in finding_json(found, whole[0])


def test_what_nothing_can_make_is_noted_and_changes_no_verdict(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/acme.yaml", "machines: 4 # or", "partitions: {big: {ipus: 8}}\n    machines: 4 # or")
    interlock("lock", "acme")
    done = interlock("check", "acme", "globex")
    assert done.code == 0, done.err
    assert "lyon-acme    proved  " in done.out
    assert done.err.splitlines()[0] == (
        "note: lyon-acme: planned and proved, but nothing can make it yet: `pulumi up` refuses"
    )
    assert "vpods.train.partitions.big: VipuPartition acme-train-partition-big" in done.err
    assert "globex" not in done.err


def test_violated_is_1(lyon: Lyon, interlock: Interlock) -> None:
    shutil.copytree(STACKS / "leaky" / "vlan-of-another", lyon.stacks / "leaky" / "vlan-of-another")
    locked = interlock("lock", "--site", "leaky/vlan-of-another")
    assert locked.code == 0, locked.err
    done = interlock("check", "--site", "leaky/vlan-of-another")
    assert done.code == 1
    assert "ISO-01" in done.out


def test_a_guard_that_nobody_states_is_3_and_named(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "    vlan_lists_enforced: true\n", "")
    interlock("lock")
    done = interlock("check")
    assert done.code == 3
    assert "vlan_lists_enforced" in done.out


def test_a_missing_lock_is_2_and_named_once(unlocked: Lyon, interlock: Interlock) -> None:
    done = interlock("check")
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("the site has no lock") == 1
    assert "run `interlock lock`" in done.err


def test_every_old_lock_is_named(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    lyon.file("tenants/globex.lock.json").unlink()
    done = interlock("check")
    assert done.code == 2
    assert "IN-031" in done.err
    assert "run `interlock lock acme`" in done.err
    assert "`globex` has no lock" in done.err


def test_an_unknown_tenant_is_2(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "acne")
    assert done.code == 2
    assert "did you mean `acme`?" in done.err


def test_an_unknown_tenant_is_told_before_a_missing_lock(unlocked: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "acne")
    assert "did you mean `acme`?" in done.err
    assert "has no lock" not in done.err


def test_a_tenant_that_left_is_told_that_its_claims_count(lyon: Lyon, interlock: Interlock) -> None:
    lyon.file("tenants/acme.yaml").unlink()
    done = interlock("check", "acme")
    assert done.code == 2
    assert "IN-035 the lock of `acme` holds claims" in done.err


@pytest.mark.parametrize(
    ("codes", "ends"), [((0, 3, 1), 1), ((0, 3, 0), 3), ((0, 0, 0), 0)], ids=["violated", "unknown", "proved"]
)
def test_the_worst_verdict_decides(
    lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], ends: int
) -> None:
    rest = list(codes)

    class Ending(Judgement):
        """A judgement that ends as it is told."""

        ends: int

        @property
        def exit_code(self) -> int:
            return self.ends

    look = Gate.look

    def ending(self: Gate, tenant: str | None) -> tuple[Judged, Seen]:
        told = Ending(site="lyon", stack="s", plan_hash="", footprints="", results=(), ends=rest.pop(0))
        return Judged(self.plan(tenant), told), look(self, tenant)[1]

    monkeypatch.setattr(Gate, "look", ending)
    monkeypatch.setattr(check, "_print", lambda gate, judged, form, verbose: None)
    assert interlock("check").code == ends
