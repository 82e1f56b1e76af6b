"""Evidence of acceptance as a runner writes it, and what an operator states of it: read, refused with places, kept."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.model.evidence.measured import (
    MEASURED_KEY,
    AllReduceFile,
    DiagnosticsMeasured,
    FabricMeasured,
    FirmwareMeasured,
)
from interlock.model.evidence.reading import EvidenceRead
from interlock.model.evidence.steps import ACCEPTANCE
from interlock.model.site.full import full_form
from interlock.model.site.inventory import EvidenceTerms, Site
from interlock.model.site.loading import load_site
from tests.builders.accepted import ACCEPTED, accepting_site, entries, read, terms
from tests.builders.pod64 import bare_metal_pod64

BASE = Path(__file__).parents[1] / "errors/base"


def faults(found: EvidenceRead) -> list[str]:
    return [f"{fault.position}: {fault.message}" for fault in found.faults]


def of_step(step: str) -> dict[str, Any]:
    (found,) = [one for one in entries() if one["step"] == step]
    return found


def test_figures_are_read_as_they_stand(tmp_path: Path) -> None:
    found = read(tmp_path, accepting_site(), entries())
    assert found.faults == ()
    by_step = {one.step: one.measured for one in found.seen}
    assert [one.step for one in found.seen if one.measured is not None] == list(ACCEPTANCE)
    firmware, diagnostics, reduce, fabric = (by_step[step] for step in ACCEPTANCE)
    assert isinstance(firmware, FirmwareMeasured)
    assert [(kind, one.devices) for kind, one in firmware.of] == [("hca", 10), ("gpu", 8), ("nvswitch", 4)]
    assert isinstance(diagnostics, DiagnosticsMeasured)
    assert (diagnostics.level, diagnostics.gpus, dict(diagnostics.tests)["memory"]) == (3, 8, "pass")
    assert reduce == AllReduceFile(gpus=8, message=17179869184, busbw=460.0, wrong=0)
    assert isinstance(fabric, FabricMeasured)
    assert fabric.cleared == datetime(2026, 11, 23, 6, tzinfo=UTC)
    assert [(port.name, port.guid) for port in fabric.ports[:2]] == [
        ("compute1", "0002c90100010001"), ("compute2", "0002c90100010002"),
    ]  # fmt: skip


def test_json_and_yaml_are_one_form(tmp_path: Path) -> None:
    site = accepting_site()
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    by_json = read(tmp_path / "one", site, entries())
    by_yaml = read(tmp_path / "two", site, entries(), name="acme.yaml")
    assert [one.measured for one in by_json.seen] == [one.measured for one in by_yaml.seen]
    assert by_json.texts[0].name == "evidence/acceptance-1.json"


def test_other_files_of_json_are_no_evidence_of_it(tmp_path: Path) -> None:
    assert read(tmp_path, accepting_site(), entries(), name="report.json") == EvidenceRead()


@pytest.mark.parametrize("step", ACCEPTED)
def test_a_step_without_its_figures_is_refused(step: str, tmp_path: Path) -> None:
    key = MEASURED_KEY[next(one for one in ACCEPTANCE if one == step)]
    entry = {name: value for name, value in of_step(step).items() if name != key}
    found = read(tmp_path, accepting_site(), [entry])
    assert faults(found) == [f"evidence/acceptance-1.json:5:3: `{key}` is missing"]
    assert found.seen == ()


@pytest.mark.parametrize("step", ["wiped", *ACCEPTED])
def test_figures_of_another_step_are_refused(step: str, tmp_path: Path) -> None:
    for other in ACCEPTED:
        if other != step:
            key = MEASURED_KEY[next(one for one in ACCEPTANCE if one == other)]
            found = read(tmp_path, accepting_site(), [of_step(step) | {key: of_step(other)[key]}])
            assert [line.split(": ", 1)[1] for line in faults(found)] == [f"`{step}` has no `{key}`"]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("all_reduce/busbw", float("nan"), "not"),
        ("all_reduce/busbw", "460", "`busbw`"),
        ("all_reduce/gpus", 8.5, "gpus"),
        ("all_reduce/wrong", -1, "at least 0"),
        ("all_reduce/message", 0, "at least 1"),
        ("all_reduce/algbw", 1, "unknown key `algbw`"),
    ],
)
def test_a_figure_of_another_form_is_refused_at_its_place(path: str, value: Any, said: str, tmp_path: Path) -> None:
    entry = of_step("bandwidth-measured")
    head, last = path.split("/")
    found = read(tmp_path, accepting_site(), [entry | {head: {**entry[head], last: value}}])
    (told,) = faults(found)
    assert told.startswith("evidence/acceptance-1.json:")
    line = (tmp_path / "evidence/acceptance-1.json").read_text().splitlines()[int(told.split(":")[1]) - 1]
    assert f'"{last}"' in line
    assert found.seen == ()


def test_json_that_is_none_is_refused(tmp_path: Path) -> None:
    read(tmp_path, accepting_site(), [])
    (tmp_path / "evidence/acceptance-1.json").write_text('{"seen": [}')
    (told,) = faults(read(tmp_path, accepting_site(), [], name="acceptance-2.json"))
    assert told.startswith("evidence/acceptance-1.json:1:11")


def test_only_gpu_nodes_are_accepted(tmp_path: Path) -> None:
    """Of a host that stands nowhere any more nobody knows what it was; a site without GPU nodes has none."""
    site = accepting_site()
    plain = next(host for host in site.hosts if host.role != "gpu")
    entry = of_step("diagnosed")
    other = entry | {"host": plain.name, "serial": plain.serial}
    (told,) = faults(read(tmp_path, site, [other]))
    assert "`host` is never `diagnosed`" in told
    gone = entry | {"host": "su09-n09", "serial": "SN-gone"}
    assert faults(read(tmp_path, site, [gone])) == []
    assert "`host` is never `diagnosed`" in faults(read(tmp_path, bare_metal_pod64(), [gone]))[0]


# What the site file states.


def yard(folder: Path, more: str = "") -> Site:
    shutil.copytree(BASE, folder)
    file = folder / "yard/site.yaml"
    file.write_text(file.read_text().replace("assumptions:\n", f"{more}assumptions:\n"))
    return load_site(folder / "yard", folder.parent).site


def test_what_is_stated_comes_back_from_the_full_form(tmp_path: Path) -> None:
    stated = """evidence:
  max_age: 7d
  acceptance:
    dgx-b200: {busbw: 700.5, message: 17179869184, link: 400, symbol_errors: 2, hcas: 12}
    dgx-h100: {firmware: {hca: ["28.39.3560"]}}
"""
    site = yard(tmp_path / "stacks", stated)
    b200, h100 = site.evidence.acceptance
    assert (b200.node_type, b200.busbw, b200.message, b200.hcas) == ("dgx-b200", 700.5, 17179869184, 12)
    assert (h100.node_type, h100.firmware, h100.busbw) == ("dgx-h100", {"hca": ("28.39.3560",)}, None)
    (tmp_path / "again/yard").mkdir(parents=True)
    loaded = load_site(tmp_path / "stacks/yard", tmp_path)
    text = yaml.safe_dump(json.loads(json.dumps(full_form(loaded.site, loaded.defaults))))
    (tmp_path / "again/yard/site.yaml").write_text(text)
    assert load_site(tmp_path / "again/yard", tmp_path).site.evidence == site.evidence


def test_a_site_that_states_nothing_is_written_as_before(tmp_path: Path) -> None:
    site = yard(tmp_path / "stacks")
    assert site.evidence.model_dump() == {"max_age_h": None, "signers": None}
    assert EvidenceTerms(acceptance=(terms(),)).model_dump()["acceptance"][0]["node_type"] == "dgx-h100"
    assert "A25" not in {item.id for item in site.assumptions}


@pytest.mark.parametrize(("word", "value"), [("true", True), ("false", False), ("unknown", None)])
def test_a25_is_there_where_it_is_stated(word: str, value: bool | None, tmp_path: Path) -> None:
    shutil.copytree(BASE, tmp_path / "stacks")
    file = tmp_path / "stacks/yard/site.yaml"
    file.write_text(file.read_text().replace("assumptions:\n", f"assumptions:\n  A25: {{gpu_firmware_kept: {word}}}\n"))
    site = load_site(tmp_path / "stacks/yard", tmp_path).site
    assert {item.id: item.guards for item in site.assumptions}["A25"] == {"gpu_firmware_kept": value}
