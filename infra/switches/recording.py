"""Evidence that switches are as stated: of each that was read in full and differs in nothing, a file for the proof."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from infra.program.gate import Gate
from infra.reports.recorded_files import RecordedFiles
from interlock.model.evidence.sealed_files import FORMAT, UNSEALED
from interlock.model.evidence.switch_file import SwitchEvidenceFile
from interlock.model.evidence.switch_reading import StatedOfSwitches, write_switch_evidence
from interlock.model.site.inventory import Site
from interlock.switches.commands import EOS_LLDP, EOS_VLANS, NVUE_LLDP, NVUE_VLANS
from interlock.switches.findings import DIFFERENCES, FindingKind

from .survey import Survey, Surveyed

#: What has to be read of a switch besides what makes it count as read. PFC and ECN are no part of what is stated.
NEEDED = frozenset(command.about for command in (EOS_LLDP, EOS_VLANS, NVUE_LLDP, NVUE_VLANS))


def record(gate: Gate, found: Survey, by: str) -> RecordedFiles:
    """Write evidence of the switches of a survey that was made against what is applied. Other evidence stays."""
    plans = {plan.stack: plan.hash for plan in map(gate.plan, gate.stacks()) if plan.stack in applied_stacks(gate)}
    files, lacking = dict[str, Path](), dict[str, str]()
    for name, item in found.switches.items():
        if why := "; ".join(_not_as_stated(gate.workspace.site, name, item)):
            lacking[name] = why
        else:
            files[name] = write_switch_evidence(gate.workspace.folder, evidence(gate, name, item, plans, by))
    lacking |= {name: f"it could not be read: {error.what}" for name, error in found.unread.items()}
    return RecordedFiles(files, lacking)


def applied_stacks(gate: Gate) -> frozenset[str]:
    """The stacks that the operator's store has a record of: their ports are set, those of others are not yet."""
    return frozenset(gate.applied.records) if gate.applied is not None else frozenset()


def evidence(gate: Gate, name: str, item: Surveyed, plans: dict[str, str], by: str) -> SwitchEvidenceFile:
    """What is to be written of one switch."""
    site, seen = gate.workspace.site, item.observed
    if seen.at is None:
        raise ValueError(f"{name} was read, and nobody noted when")
    return SwitchEvidenceFile(
        format=FORMAT,
        site=site.name,
        switch=name,
        serial=seen.serial,
        system_mac=seen.system_mac,
        model=seen.model,
        read=seen.at.replace(microsecond=0),
        by=by,
        configuration=StatedOfSwitches(site).digest(site.switch[name]),
        plans=dict(sorted(plans.items())),
        ports=len(item.names),
        unheard=sum(finding.found is FindingKind.UNHEARD for finding in item.findings),
        result="as stated",
        digest=UNSEALED,
    ).sealed()


def _not_as_stated(site: Site, name: str, item: Surveyed) -> Iterator[str]:
    differ = sum(finding.found in DIFFERENCES for finding in item.findings)
    unknown = sum(finding.found is FindingKind.UNKNOWN for finding in item.findings)
    if differ:
        yield f"{differ} difference{'' if differ == 1 else 's'}"
    if unknown:
        yield f"{unknown} unknown"
    yield from (f"not read: {about}" for about in item.observed.unread if about in NEEDED)
    yield from (f"not compared: {about}" for about in _not_compared(site, name))


def _not_compared(site: Site, name: str) -> Iterator[str]:
    """What is stated of a switch and no reading is compared with: of it nobody knows whether it is as stated."""
    switch = site.switch[name]
    if switch.vteps:
        yield "its VTEPs"
    if any(bundle.device == name for bundle in site.lags):
        yield "its bundles of ports"
