"""What `interlock controllers` prints: of each V-IPU controller how it is set, and never a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.cli import colour as paint
from infra.controllers.survey import AskedController, ControllerSurvey
from interlock.model.evidence.values import moment_text

from .recorded_files import RecordedFiles, Shown, with_recorded


def controllers_as_table(found: ControllerSurvey, *, colour: bool = False) -> str:
    """The report for people. The same survey gives the same text."""
    lines = list[str]()
    for name, item in found.controllers.items():
        lines += [*_controller(name, item, colour), ""]
    for error in found.unread.values():
        lines += [paint.painted("unread", paint.RED, colour) + f"  {error.what}", f"  next: {error.hint}"]
    lines += ["", _summary(found)] if found.unread else [_summary(found)]
    return "\n".join(lines) + "\n"


def _controller(name: str, item: AskedController, colour: bool) -> Iterator[str]:
    said = item.said
    releases = sorted({release or "not said" for release in said.agents.values()})
    yield f"{name}: V-IPU {said.release or 'of a release that it does not say'}, read {moment_text(said.at)}"
    yield f"  {len(said.agents)} agents: {', '.join(releases) or 'none'}"
    if said.backup is not None and said.backup.state is not None:
        yield f"  backup of its state: {moment_text(said.backup.state)}"
    for finding in item.findings:
        text = f"{finding.about}: {finding.why}"
        yield f"  {paint.painted(text, paint.RED if finding.value is False else paint.YELLOW, colour)}"


def _summary(found: ControllerSurvey) -> str:
    wrong = sum(finding.value is False for finding in found.findings)
    unknown = sum(finding.value is None for finding in found.findings)
    parts = [f"{len(found.controllers)} of {len(found.controllers) + len(found.unread)} controllers read"]
    parts += [f"{wrong} not as it should be"] if wrong else []
    return "; ".join([*parts, f"{unknown} not known"] if unknown else parts)


def controllers_as_json(found: ControllerSurvey, kept: RecordedFiles | None, shown: Shown) -> dict[str, Any]:
    """The same for programs; what nobody said is null. What was recorded only where somebody asked for it."""
    document = {
        "site": found.site,
        "controllers": {name: _controller_json(item) for name, item in found.controllers.items()},
        "findings": [
            {"controller": item.controller, "about": item.about, "holds": item.value, "why": item.why}
            for item in found.findings
        ],
        "unread": {name: {"why": error.what, "next": error.hint} for name, error in found.unread.items()},
    }
    return with_recorded(document, kept, shown)


def _controller_json(item: AskedController) -> dict[str, Any]:
    said, backup, admin = item.said, item.said.backup, item.said.admin_api
    state = None if backup is None or backup.state is None else moment_text(backup.state)
    return {
        "tenant": item.planned.tenant,
        "release": said.release,
        "read_at": moment_text(said.at),
        "agents": dict(said.agents),
        "keys_asked": said.keys.asked,
        "certificates": said.certificates,
        "forwarding_off": dict(said.forwarding_off),
        "backup": None if backup is None else {"state": state, "certificates": backup.certificates},
        "admin_api": None if admin is None else {"port": admin.port, "addresses": list(admin.addresses)},
        "user_data_clean": said.user_data_clean,
    }
