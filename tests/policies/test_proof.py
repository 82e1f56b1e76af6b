"""Who makes proofs, and how judgements are reported."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from policies import NotProved, judge, prove
from policies.findings.report import as_json, as_message, as_table
from tests.builders.pod64 import tenant
from tests.policies.workspace import edited, full_site, made, pair

ROOT = Path(__file__).resolve().parents[2]
SITE = full_site()
MAKERS = {"Proof", "model_construct", "model_validate", "model_validate_json"}


def test_prove_returns_the_plan_with_its_judgement() -> None:
    acme, globex = pair(SITE)
    proof = prove(SITE, acme.plan, [globex.lock])
    assert proof.plan is acme.plan
    assert proof.judgement == judge(SITE, acme.plan, [globex.lock])
    assert proof.judgement.exit_code == 0


def test_prove_refuses() -> None:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-controller", project="acme-project")
    with pytest.raises(NotProved) as refused:
        prove(SITE, plan, [globex.lock])
    assert refused.value.judgement.exit_code == 1


def _makes_a_proof(call: ast.Call) -> bool:
    target = call.func
    if isinstance(target, ast.Name):
        return target.id == "Proof"
    if not isinstance(target, ast.Attribute):
        return False
    of_proof = isinstance(target.value, ast.Name) and target.value.id == "Proof"
    return target.attr == "Proof" or (of_proof and target.attr in MAKERS)


def test_only_prove_makes_a_proof() -> None:
    """Python cannot forbid a constructor; this looks for every other call of it in what is installed."""
    makers = []
    for room in ("policies", "components", "infra", "interlock"):
        for file in sorted((ROOT / room).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Module)):
                calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
                if isinstance(function, ast.FunctionDef) and any(_makes_a_proof(call) for call in calls):
                    makers.append(f"{file.relative_to(ROOT).as_posix()}:{function.name}")
    assert makers == ["policies/judging.py:prove"]


def test_a_lock_of_the_tenant_itself_is_left_out() -> None:
    acme, globex = pair(SITE)
    assert judge(SITE, acme.plan, [globex.lock, acme.lock]) == judge(SITE, acme.plan, [globex.lock])


@pytest.mark.parametrize("name", ["op", "world", "foreign"])
def test_a_tenant_may_not_be_called_like_another_owner(name: str) -> None:
    plan = made(SITE, tenant("acme")).plan.model_copy(update={"tenant": name})
    with pytest.raises(ValueError, match="cannot be called"):
        judge(SITE, plan, [])


def test_the_table_is_the_same_each_time_and_plain() -> None:
    acme, globex = pair(SITE)
    table = as_table(judge(SITE, acme.plan, [globex.lock]))
    assert table == as_table(judge(SITE, acme.plan, [globex.lock]))
    assert "\033" not in table
    assert "lyon-acme: proved\n" in table
    assert "applied state: not looked at" in table
    assert "acme-train-rnic-ipum-01" in table
    assert "\033[32m" in as_table(judge(SITE, acme.plan, [globex.lock]), colour=True)


def test_the_message_begins_with_the_most_specific_finding() -> None:
    acme = made(SITE, tenant("acme"))
    globex = made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], ipu_data_vlan=1000)
    message = as_message(judge(SITE, globex.plan, [acme.lock]))
    lines = message.splitlines()
    assert lines[0] == "lyon-globex is violated: nothing has been touched"
    assert lines[2].startswith("ISO-01 violated: one segment, tor-1 VLAN 1000, has the owners acme and globex")
    also = lines[lines.index("also:") + 1 :]
    assert [line.split()[0] for line in also if line.startswith("  ")] == ["AUTH-01", "ISO-02", "ISO-03", "ISO-11"]


def test_json_is_json() -> None:
    acme, globex = pair(SITE)
    found = json.loads(json.dumps(as_json(judge(SITE, acme.plan, [globex.lock]))))
    assert found["verdict"] == "proved"
    assert found["exit_code"] == 0
    assert {result["rule"] for result in found["results"]} >= {"ISO-02", "CAP-05"}
