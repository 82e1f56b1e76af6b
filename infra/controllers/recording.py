"""Evidence of how V-IPU controllers are set: of each that was asked and answered, a file for the proof."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from infra.program.gate import Gate
from infra.reports.recorded_files import RecordedFiles
from interlock.model.evidence.controller_reading import write_controller_evidence

from .survey import ControllerSurvey, evidence_of_controller


def record_controllers(gate: Gate, found: ControllerSurvey, by: str) -> RecordedFiles:
    """Write what each said, good or not. Of one that was not read nothing is written, and older evidence stays."""
    folder, files = gate.workspace.folder, dict[str, Path]()
    lacking = {name: f"it could not be read: {error.what}" for name, error in found.unread.items()}
    for name, item in found.controllers.items():
        try:
            evidence = evidence_of_controller(found.site, item, by)
        except ValidationError as error:
            lacking[name] = f"what it said fits into no file: {'; '.join(one['msg'] for one in error.errors())}"
        else:
            files[name] = write_controller_evidence(folder, evidence)
    return RecordedFiles(files, lacking)
