"""`interlock audit` and what InfiniBand subnets are cabled like: each form of the report, and how it ends.

What is found where is asked of a real subnet manager in tests/subnet_manager/test_subnet_manager_cables.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

import interlock.provider.clouds as interlock_clouds
from infra.audit import subnets
from infra.audit.comparison import Audit
from infra.switches import survey
from infra.switches.survey import Survey
from interlock.store.ledger import Ledger
from interlock.ufm.findings import CableFinding, CableFindingKind
from tests.builders.paper import Paper
from tests.builders.paper_cloud import PaperCloud
from tests.infra.conftest import Interlock, Lyon

SWAPPED = CableFinding(
    CableFindingKind.OTHER_PEER, "compute", "cable leaf-1:1 to n1:compute1", "the site has it", "leaf-1:1 with nothing",
    nodes=("n1",), guids=("0002c903000a0101",), stacks=("lyon-acme",),
)  # fmt: skip
TOLD = (
    "compute: cable leaf-1:1 to n1:compute1 (at lyon-acme): the site has it; the subnet manager has discovered "
    "leaf-1:1 with nothing"
)


@pytest.fixture
def finding(lyon: Lyon, store: Ledger, monkeypatch: pytest.MonkeyPatch) -> Callable[[CableFinding], None]:
    """A cloud on which all is as planned, beside a subnet of which this is found."""
    gate = lyon.gate().with_applied()
    paper = Paper.of(gate.plan(tenant) for tenant in gate.stacks())
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: PaperCloud(paper))
    monkeypatch.setattr(survey, "survey_of_audit", lambda gate, *_: Survey(gate.workspace.site.name, {}, {}))

    def with_it(one: CableFinding) -> None:
        def with_subnets(found: Audit, *_: object) -> Audit:
            return replace(found, cables=(one,))

        monkeypatch.setattr(subnets, "with_subnets", with_subnets)

    return with_it


def test_a_cable_that_leads_elsewhere_is_drift_in_every_form(
    interlock: Interlock, finding: Callable[[CableFinding], None]
) -> None:
    finding(SWAPPED)
    ended = interlock("audit")
    assert ended.code == 1
    assert f"CABLE {TOLD}\n  next: put the cables where the site file has them" in ended.out
    assert ended.out.splitlines()[-1].startswith("lyon: drift; ")
    (found,) = json.loads(interlock("audit", "-f", "json").out)["cables"]
    assert (found["found"], found["drift"], found["stacks"]) == ("other peer", True, ["lyon-acme"])
    assert found["guids"] == ["0002c903000a0101"]
    results = json.loads(interlock("audit", "-f", "sarif").out)["runs"][0]["results"]
    assert [item["message"]["text"] for item in results if item["ruleId"] == "cable"] == [f"{TOLD}; {SWAPPED.hint}"]
    assert TOLD in interlock("audit", "-f", "junit").out


def test_a_node_that_is_off_is_told_and_no_drift(interlock: Interlock, finding: Callable[[CableFinding], None]) -> None:
    off = replace(SWAPPED, found=CableFindingKind.ABSENT, where="node n1")
    finding(off)
    ended = interlock("audit")
    assert ended.code == 0
    assert "OFF compute: node n1" in ended.out
    (found,) = json.loads(interlock("audit", "-f", "json").out)["cables"]
    assert (found["found"], found["drift"]) == ("absent", False)
    for form in ("sarif", "junit"):
        assert "node n1" not in interlock("audit", "-f", form).out
