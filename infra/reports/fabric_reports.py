"""What `interlock fabrics` prints: of each InfiniBand subnet how its manager is set, and never a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.cli import colour as paint
from infra.fabrics.survey import AskedManager, ManagerFinding, ManagerSurvey
from interlock.ufm.settings import NAMES

from .recorded_files import RecordedFiles, Shown, with_recorded

_SAID = {True: "set", False: "not set", None: "not said"}


def managers_as_table(found: ManagerSurvey, *, colour: bool = False) -> str:
    """The report for people. The same survey gives the same text."""
    lines = list[str]()
    for name, item in found.subnets.items():
        lines += [*_subnet(name, item, colour), ""]
    for error in found.unread.values():
        lines += [paint.painted("unread", paint.RED, colour) + f"  {error.what}", f"  next: {error.hint}"]
    lines += ["", _summary(found)] if found.unread else [_summary(found)]
    return "\n".join(lines) + "\n"


def _subnet(name: str, item: AskedManager, colour: bool) -> Iterator[str]:
    yield f"{name}: subnet {item.said.prefix}, UFM {item.release}, read {item.at:%Y-%m-%d %H:%M:%SZ}"
    for key, value in item.said.keys.items():
        yield f"  {NAMES[key]}: {_SAID[value]}"
    for finding in item.findings:
        style = {False: paint.RED, None: paint.YELLOW}.get(finding.value)
        text = str(finding).removeprefix(f"{name}: ")
        yield f"  {paint.painted(text, style, colour) if style else text}"


def _summary(found: ManagerSurvey) -> str:
    differ = sum(finding.value is False for finding in found.findings)
    unknown = sum(finding.value is None for finding in found.findings)
    parts = [f"{len(found.subnets)} of {len(found.subnets) + len(found.unread)} subnet managers read"]
    parts += [f"{differ} guard{'' if differ == 1 else 's'} of A6 not so"] if differ else []
    parts += [f"{unknown} not known"] if unknown else []
    return "; ".join([*parts, "what switches enforce, and `allowed_sm_guids`, no UFM says"])


def managers_as_json(found: ManagerSurvey, kept: RecordedFiles | None, shown: Shown) -> dict[str, Any]:
    """The same for programs; what UFM does not say is null. What was recorded only where somebody asked for it."""
    document = {
        "site": found.site,
        "subnets": {name: _subnet_json(item) for name, item in found.subnets.items()},
        "findings": [_finding_json(finding) for finding in found.findings],
        "unread": {name: {"why": error.what, "next": error.hint} for name, error in found.unread.items()},
    }
    return with_recorded(document, kept, shown)


def _subnet_json(item: AskedManager) -> dict[str, Any]:
    full = item.said.full_in_default
    return {
        "prefix": item.said.prefix,
        "release": item.release,
        "read_at": item.at.isoformat(),
        "keys": dict(item.said.keys),
        "default_limited": item.said.default_limited,
        "full_in_default": None if full is None else sorted(full),
    }


def _finding_json(finding: ManagerFinding) -> dict[str, Any]:
    return {"subnet": finding.infiniband, "guard": f"A6.{finding.guard}", "holds": finding.value, "why": finding.why}
