"""A GPU node is given out again only cleaned and accepted: each step measured, enough, of this node, and in time.

acme gives su01-n01 up ── cleaned ── firmware-attested, diagnosed, bandwidth-measured, fabric-checked ── handed out
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer

from infra.reports.settling_report import Findings, document, refuse
from infra.reports.site_summary import document as site_document
from infra.stack import handing_over as settling
from infra.stack.acceptance import unattested
from infra.stack.handing_over import Handover, demands
from interlock.model.evidence.steps import ACCEPTANCE, SeenStep
from interlock.model.evidence.values import moment_text
from interlock.model.lock.record import Released, Replaced
from interlock.model.site.inventory import Assumption, EvidenceTerms, Site
from tests.builders.accepted import ACCEPTED, CLEANED, FIRST, NOON, SINCE, accepting_site, entries, read, terms
from tests.builders.gpu_sites import gpu_site, guid_of, node_name
from tests.builders.pod64 import bare_metal_pod64

Entry = dict[str, Any]
Change = Callable[[Entry], None]


def given_up(*names: str) -> tuple[Released, ...]:
    released = names or (node_name(1, 1),)
    return tuple(Released(vpod="train", claim="hosts", value=name, since=moment_text(SINCE)) for name in released)


def handing_over(site: Site, seen: tuple[Any, ...] = (), *released: Released) -> Handover:
    return Handover(site, "acme", demands(site, released or given_up(), (), (), None), seen, NOON)


def lacking(folder: Path, seen: list[Entry], site: Site | None = None) -> dict[str, str]:
    """Step -> why nobody is known to have seen it, of evidence that stands in a file."""
    site = site or accepting_site()
    found = read(folder, site, seen)
    assert found.faults == ()
    return {one.step: "; ".join((*one.because, *one.missing)) for one in handing_over(site, found.seen).lacking()}


def changed(step: str, change: Change) -> list[Entry]:
    """Enough of everything, but for one step."""
    seen = copy.deepcopy(entries())
    (entry,) = [one for one in seen if one["step"] == step]
    change(entry)
    return seen


def set_to(path: str, value: Any) -> Change:
    """Another value at a path; `None` takes it away."""

    def change(entry: Entry) -> None:
        *way, last = path.split("/")
        for part in way:
            entry = entry[part]
        if value is None:
            del entry[last]
        else:
            entry[last] = value

    return change


def test_a_node_that_was_cleaned_and_accepted_is_handed_out(tmp_path: Path) -> None:
    assert lacking(tmp_path, entries()) == {}


def test_cleaning_alone_is_not_enough(tmp_path: Path) -> None:
    cleaned = [one for one in entries() if one["step"] in CLEANED]
    assert list(lacking(tmp_path, cleaned)) == list(ACCEPTED)


@pytest.mark.parametrize("step", [*CLEANED, *ACCEPTED])
def test_each_step_is_missed(step: str, tmp_path: Path) -> None:
    assert step in lacking(tmp_path, [one for one in entries() if one["step"] != step])


#: What is less than a DGX H100 has to show: the step, what is different, and why it does not count.
LESS: dict[str, tuple[str, Change, str]] = {
    "an adapter is left out": ("firmware-attested", set_to("firmware/hca/devices", 9), "attests 9 of 10 hca"),
    "no NVSwitch": ("firmware-attested", set_to("firmware/nvswitch", None), "attests no nvswitch"),
    "another VBIOS": (
        "firmware-attested", set_to("firmware/gpu/versions", ["96.00.89.00.01", "66.6"]), "attests gpu firmware 66.6"
    ),
    "a short run": ("diagnosed", set_to("diagnostics/level", 2), "is of level 2"),
    "a GPU is missing": ("diagnosed", set_to("diagnostics/gpus", 7), "is about 7 of 8 GPUs"),
    "a test failed": ("diagnosed", set_to("diagnostics/tests/memory", "fail"), "says `fail` of memory"),
    "a test was left out": ("diagnosed", set_to("diagnostics/tests/pcie", "skip"), "says `skip` of pcie"),
    "a test is not told": ("diagnosed", set_to("diagnostics/tests/targeted_power", None), "nothing of targeted_power"),
    "another test warns": ("diagnosed", set_to("diagnostics/tests/nvbandwidth", "warn"), "says `warn` of nvbandwidth"),
    "slow": ("bandwidth-measured", set_to("all_reduce/busbw", 459.9), "says 459.9 GB/s, and 460 are wanted"),
    "over fewer GPUs": ("bandwidth-measured", set_to("all_reduce/gpus", 4), "is about 4 of 8 GPUs"),
    "in small messages": ("bandwidth-measured", set_to("all_reduce/message", 1 << 30), "is of messages of 1073741824"),
    "wrong results": ("bandwidth-measured", set_to("all_reduce/wrong", 1), "has 1 wrong results"),
    "symbol errors": (
        "fabric-checked", set_to("fabric/ports/compute3/symbol_errors", 1), "of compute3 1 symbol errors, and 0 are"
    ),
    "a link went down": ("fabric-checked", set_to("fabric/ports/compute3/link_downed", 2), "went down 2 times"),
    "one lane": ("fabric-checked", set_to("fabric/ports/compute8/width", 1), "of compute8 1x, and 4x is wanted"),
    "half the rate": ("fabric-checked", set_to("fabric/ports/compute8/speed", 200), "200 Gb/s, and 400 are wanted"),
    "a port is not told": ("fabric-checked", set_to("fabric/ports/compute5", None), "says nothing of compute5"),
    "a port of another node": (
        "fabric-checked", set_to("fabric/ports/compute1/guid", guid_of(1, 2, 1)), "and the site has"
    ),
    "counted from after the load": (
        "fabric-checked", set_to("fabric/cleared", moment_text(FIRST + timedelta(hours=5, minutes=1))), "counts only"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LESS)
def test_less_never_passes(case: str, tmp_path: Path) -> None:
    step, change, why = LESS[case]
    found = lacking(tmp_path, changed(step, change))
    assert list(found) == [step]
    assert why in found[step]


#: What makes an entry of any step one that says nothing of this release of this node.
NOT_OF_IT: dict[str, tuple[Change, str]] = {
    "another serial": (set_to("serial", "SN-spare"), "is about another serial"),
    "another node": (lambda one: one.update(host=node_name(1, 2), serial=f"SN-{node_name(1, 2)}"), ""),
    "before the release": (set_to("at", moment_text(SINCE - timedelta(seconds=1))), "is older than the last use"),
    "too old": (set_to("at", moment_text(NOON - timedelta(hours=24, seconds=1))), "is older than 1d"),
    "to come": (set_to("at", moment_text(NOON + timedelta(seconds=1))), "is of a time to come"),
}


@pytest.mark.parametrize("step", ACCEPTED)
@pytest.mark.parametrize("case", NOT_OF_IT)
def test_what_is_not_of_this_release_of_this_node_does_not_count(case: str, step: str, tmp_path: Path) -> None:
    change, why = NOT_OF_IT[case]
    found = lacking(tmp_path, changed(step, change))
    assert why in found[step]


@pytest.mark.parametrize("step", ACCEPTED)
def test_what_was_measured_before_the_wipe_does_not_count(step: str, tmp_path: Path) -> None:
    early = set_to("at", moment_text(FIRST + timedelta(hours=1, minutes=30)))
    found = lacking(tmp_path, changed(step, early))
    assert "comes before it was" in found[step]


def test_evidence_of_another_tenants_release_does_not_count(tmp_path: Path) -> None:
    site = accepting_site()
    seen = read(tmp_path, site, entries(), by="globex").seen
    assert [one.step for one in handing_over(site, seen).lacking()] == [*CLEANED, *ACCEPTED]


@pytest.mark.parametrize("case", LESS)
def test_a_later_failure_undoes_what_was_enough(case: str, tmp_path: Path) -> None:
    """Passed, measured again and too little: it waits until it passes after that."""
    step, change, _ = LESS[case]
    again = {"at": moment_text(NOON - timedelta(hours=1))}
    (failed,) = [one for one in changed(step, change) if one["step"] == step]
    assert list(lacking(tmp_path, [*entries(), failed | again])) == [step]
    passed = {"at": moment_text(NOON - timedelta(minutes=30))}
    following = ACCEPTED[ACCEPTED.index(step) :]
    renewed = [one | passed for one in entries() if one["step"] in following]
    assert lacking(tmp_path, [*entries(), failed | again, *renewed]) == {}


# Limits: the catalogue's, the operator's, and none.


def test_the_site_file_goes_before_the_catalogue(tmp_path: Path) -> None:
    slow = changed("bandwidth-measured", set_to("all_reduce/busbw", 430.0))
    assert list(lacking(tmp_path, slow)) == ["bandwidth-measured"]
    assert lacking(tmp_path, slow, accepting_site(terms(busbw=430.0))) == {}
    assert list(lacking(tmp_path, entries(), accepting_site(terms(busbw=475.0)))) == ["bandwidth-measured"]
    noisy = changed("fabric-checked", set_to("fabric/ports/compute2/symbol_errors", 10))
    assert lacking(tmp_path, noisy, accepting_site(terms(symbol_errors=10))) == {}
    assert list(lacking(tmp_path, noisy, accepting_site(terms(symbol_errors=9)))) == ["fabric-checked"]


def test_a_limit_that_nobody_states_is_unknown(tmp_path: Path) -> None:
    """No document gives one for a DGX B200, and firmware versions are the operator's everywhere."""
    site = gpu_site(1, 2, node_type="dgx-b200", evidence=EvidenceTerms(max_age_h=24))
    found = lacking(tmp_path, entries(), site)
    head = "evidence.acceptance.dgx-b200"
    assert found["bandwidth-measured"] == f"{head}.busbw; {head}.message"
    assert found["firmware-attested"] == "; ".join(f"{head}.firmware.{kind}" for kind in ("hca", "gpu", "nvswitch"))


def test_a_port_without_a_guid_is_unknown(tmp_path: Path) -> None:
    site = accepting_site()
    node, other = site.gpu_nodes
    bare = node.model_copy(update={"ports": (node.ports[0].model_copy(update={"guid": None}), *node.ports[1:])})
    found = lacking(tmp_path, entries(), site.with_parts(gpu_nodes=(bare, other)))
    assert found == {"fabric-checked": "gpu_nodes.su01-n01.compute1.guid"}
    fewer = node.model_copy(update={"ports": node.ports[1:]})
    found = lacking(tmp_path, entries(), site.with_parts(gpu_nodes=(fewer, other)))
    assert found == {"fabric-checked": "gpu_nodes.su01-n01.ports"}


def test_a_node_of_which_nothing_is_known_is_not_handed_out(tmp_path: Path) -> None:
    site = accepting_site()
    found = lacking(tmp_path, entries(), site.with_parts(gpu_nodes=site.gpu_nodes[1:]))
    assert found == dict.fromkeys(ACCEPTED, "gpu_nodes.su01-n01.node_type")


def test_nodes_without_a_fabric_have_none_to_check(tmp_path: Path) -> None:
    site = gpu_site(1, 2, node_type="gcore-l40s", evidence=EvidenceTerms(max_age_h=24))
    bare = site.with_parts(gpu_nodes=tuple(node.model_copy(update={"ports": ()}) for node in site.gpu_nodes))
    stated = [one.step for one in handing_over(bare).lacking()]
    assert stated == [*CLEANED, *ACCEPTED[:-1]]
    firmware = next(one for one in handing_over(bare).lacking() if one.step is SeenStep.FIRMWARE_ATTESTED)
    assert not any("nvswitch" in fact for fact in firmware.missing)


# Firmware that nobody attests.


@pytest.mark.parametrize(("kept", "wanted"), [(True, False), (False, True), (None, True)])
def test_who_answers_for_the_firmware(kept: bool | None, wanted: bool, tmp_path: Path) -> None:
    site = accepting_site(terms(firmware={}))
    held = Assumption(id="A25", guards={"gpu_firmware_kept": kept})
    stated = site.with_parts(assumptions=(*site.assumptions, held))
    without = [one for one in entries() if one["step"] != "firmware-attested"]
    assert ("firmware-attested" in lacking(tmp_path, without, stated)) is wanted
    notes = unattested(stated, [one.identity for one in handing_over(stated).demands])
    assert (notes == ()) is wanted
    assert wanted or "rests on assumptions.A25.gpu_firmware_kept" in notes[0]


def test_with_the_assumption_all_else_is_wanted_still(tmp_path: Path) -> None:
    site = accepting_site()
    held = Assumption(id="A25", guards={"gpu_firmware_kept": True})
    cleaned = [one for one in entries() if one["step"] in CLEANED]
    found = lacking(tmp_path, cleaned, site.with_parts(assumptions=(*site.assumptions, held)))
    assert list(found) == list(ACCEPTED[1:])


# Whom it is not asked of.


def test_hosts_that_are_no_gpu_nodes_have_nothing_to_show() -> None:
    for site in (accepting_site(), bare_metal_pod64()):
        for host in site.hosts:
            if host.role != "gpu":
                released = given_up(host.name)
                steps = {one.step for one in handing_over(site, (), *released).lacking()}
                assert not steps & set(ACCEPTANCE)


def test_a_node_that_stands_where_another_stood_is_accepted_before_it_is_used(tmp_path: Path) -> None:
    site = accepting_site()
    new = Replaced(
        vpod="train",
        claim="hosts",
        device=node_name(1, 1),
        before="SN-old",
        serial="SN-su01-n01",
        since=moment_text(SINCE),
    )
    (demand,) = settling.tests_before_use(site, (new,))
    assert demand.steps == (SeenStep.SELF_TESTED, *ACCEPTANCE)
    tested = entries()[0] | {"step": "self-tested"}
    seen = read(tmp_path, site, [tested, *entries()[len(CLEANED) :]]).seen
    asked = Handover(site, "acme", (demand,), seen, NOON)
    assert asked.lacking() == ()
    assert [one.step for one in replace(asked, seen=seen[:1]).lacking()] == list(ACCEPTANCE)


# What is told.


def test_it_says_which_step_of_which_node_is_missing_and_what_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = accepting_site()
    cleaned = [one for number in (1, 2) for one in entries(number) if one["step"] in CLEANED]
    seen = read(tmp_path, site, [*cleaned, *entries(2)[len(CLEANED) : -1]]).seen
    found = handing_over(site, seen, *given_up(node_name(1, 1), node_name(1, 2))).lacking()
    findings = Findings("hall-acme", (), found, "stacks/hall/evidence/acme.yaml")
    with pytest.raises(typer.Exit) as refused:
        refuse(findings)
    assert refused.value.exit_code == 3
    said = capsys.readouterr().err
    assert "evidence: host su01-n01 (serial SN-su01-n01): nobody is known to have seen it diagnosed\n" in said
    assert "host su01-n02 (serial SN-su01-n02): nobody is known to have seen it diagnosed" not in said
    assert "next: diagnosed: on su01-n01 run `dcgmi diag --run 3 --json` (NVIDIA, DCGM" in said
    assert "next: bandwidth-measured: on su01-n01 run `all_reduce_perf -b 16G -e 16G" in said
    assert "next: fabric-checked: on su01-n01, su01-n02 run `perfquery -G <guid>" in said
    assert "`ibqueryerrors -r -G <guid>`" in said
    assert "or state assumptions.A25.gpu_firmware_kept: true" in said
    assert "step: bandwidth-measured, at: <when>, by: <who>, all_reduce: {gpus: <n>" in said
    runs = [one.get("run") for one in document(findings, None, None)["evidence"]]  # type: ignore[attr-defined]
    assert ("dcgmi diag --run 3 --json",) in runs


def test_the_summary_of_a_site_says_what_is_not_stated_yet() -> None:
    rows = site_document(accepting_site())["evidence"]
    assert ["dgx-h100", f"accepted by {', '.join(ACCEPTED)}"] in [list(row) for row in rows]
    bare = gpu_site(1, 1, node_type="dgx-b200", evidence=EvidenceTerms(max_age_h=24))
    (told,) = [row[1] for row in site_document(bare)["evidence"] if row[0] == "dgx-b200"]
    assert "not provable until stated: evidence.acceptance.dgx-b200.firmware.hca" in told
    assert told.endswith("evidence.acceptance.dgx-b200.busbw, evidence.acceptance.dgx-b200.message")
    assert [row[0] for row in site_document(bare_metal_pod64())["evidence"]] == []
