"""Evidence of how subnet managers are set: of each that was asked and answered, a file for the proof."""

from __future__ import annotations

from infra.program.gate import Gate
from infra.reports.recorded_files import RecordedFiles
from interlock.model.evidence.fabric_reading import write_fabric_evidence

from .survey import ManagerSurvey, evidence_of_manager


def record_managers(gate: Gate, found: ManagerSurvey, by: str) -> RecordedFiles:
    """Write what each UFM said, good or not. Of one that was not read nothing is written, and older evidence stays."""
    space = gate.workspace
    files = {
        name: write_fabric_evidence(space.folder, evidence_of_manager(space.site, name, item, by))
        for name, item in found.subnets.items()
    }
    return RecordedFiles(files, {name: f"it could not be read: {error.what}" for name, error in found.unread.items()})
