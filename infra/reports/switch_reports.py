"""What `interlock switches` prints: of each switch its ports as it says them, and what differs, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from infra.cli import colour as paint
from infra.switches.survey import Survey, Surveyed
from interlock.switches.comparison import setting_text
from interlock.switches.errors import SwitchUnread
from interlock.switches.findings import DIFFERENCES, FindingKind, SwitchFinding
from interlock.switches.observed import Neighbour, ObservedPort

from .recorded_files import RecordedFiles, Shown, with_recorded

_STATES = {True: "up", False: "down", None: "?"}
_STYLES = {FindingKind.UNKNOWN: paint.YELLOW, **dict.fromkeys(DIFFERENCES, paint.RED)}
#: The order in which findings are told; those that are not in it are only counted.
_TOLD = (FindingKind.DIFFERENT, FindingKind.UNSTATED, FindingKind.CABLE, FindingKind.UNKNOWN)


def as_table(found: Survey, *, colour: bool = False) -> str:
    """The report for people. The same survey gives the same text."""
    lines = list[str]()
    for name, item in found.switches.items():
        lines += [*_switch(name, item), ""]
    told = [finding for kind in _TOLD for finding in found.findings if finding.found is kind]
    lines += [f"{paint.painted(str(one.found), _STYLES[one.found], colour)}  {one}" for one in told]
    lines += [paint.painted("unread", paint.RED, colour) + f"  {error}" for error in found.unread.values()]
    lines += ["", _result(found)] if told or found.unread else [_result(found)]
    return "\n".join(lines) + "\n"


def _switch(name: str, item: Surveyed) -> Iterator[str]:
    seen = item.observed
    identity = ", ".join(part for part in (seen.model, seen.serial, seen.system_mac) if part)
    yield f"{name}: {identity}" + (f", read {seen.at:%Y-%m-%d %H:%M:%SZ}" if seen.at else "")
    numbers = {port: number for number, port in item.names.items()}
    rows = [_row(numbers.get(port.name), port) for port in _ordered(item)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if seen.lossless is not None:
        yield f"  PFC on priorities {_numbers(seen.lossless.pfc_priorities)}, ECN in classes " + _numbers(
            seen.lossless.ecn_classes
        )
    for about, why in seen.unread.items():
        yield f"  not read: {about}: {why}"


def _ordered(item: Surveyed) -> list[ObservedPort]:
    """Ports by number, then those without one."""
    numbered = [item.observed.ports[name] for name in item.names.values() if name in item.observed.ports]
    known = set(item.names.values())
    return [*numbered, *(port for name, port in item.observed.ports.items() if name not in known)]


def _row(number: int | None, port: ObservedPort) -> tuple[str, ...]:
    state = f"{_STATES[port.admin_up]}/{_STATES[port.oper_up]}"
    heard = ", ".join(map(str, port.neighbours)) if port.neighbours else ""
    return (str(number or "–"), port.name, state, setting_text(port), heard)


def _numbers(found: tuple[int, ...] | None) -> str:
    return "?" if found is None else ",".join(map(str, found)) or "none"


def _result(found: Survey) -> str:
    count = Counter(finding.found for finding in found.findings)
    differ = sum(count[kind] for kind in DIFFERENCES)
    parts = [f"{len(found.switches)} of {len(found.switches) + len(found.unread)} switches read"]
    parts.append(f"{differ} difference{'' if differ == 1 else 's'}")
    if count[FindingKind.UNKNOWN]:
        parts.append(f"{count[FindingKind.UNKNOWN]} unknown")
    if count[FindingKind.UNHEARD]:
        parts.append(f"no LLDP neighbour heard at {count[FindingKind.UNHEARD]} cables, which are as stated or not")
    return "; ".join(parts)


def as_json(found: Survey, kept: RecordedFiles | None, shown: Shown) -> dict[str, Any]:
    """The same for programs; what is unknown is null. What was recorded only where somebody asked for it."""
    document = {
        "site": found.site,
        "switches": {name: _switch_json(item) for name, item in found.switches.items()},
        "findings": [_finding_json(finding) for finding in found.findings],
        "unread": {name: _unread_json(error) for name, error in found.unread.items()},
    }
    return with_recorded(document, kept, shown)


def _switch_json(item: Surveyed) -> dict[str, Any]:
    seen = item.observed
    numbers = {port: number for number, port in item.names.items()}
    return {
        "serial": seen.serial,
        "system_mac": seen.system_mac,
        "model": seen.model,
        "read_at": seen.at.isoformat() if seen.at else None,
        "vlans": None if seen.vlans is None else sorted(seen.vlans),
        "routed": None if seen.routed is None else [asdict(one) for one in seen.routed],
        "lossless": None if seen.lossless is None else asdict(seen.lossless),
        "ports": [{"port": numbers.get(port.name), **_port_json(port)} for port in _ordered(item)],
        "not_read": dict(seen.unread),
    }


def _port_json(port: ObservedPort) -> dict[str, Any]:
    heard = None if port.neighbours is None else [_neighbour_json(one) for one in port.neighbours]
    return {**vars(port), "neighbours": heard}


def _neighbour_json(heard: Neighbour) -> dict[str, Any]:
    return asdict(heard)


def _finding_json(finding: SwitchFinding) -> dict[str, Any]:
    return {**asdict(finding), "found": str(finding.found)}


def _unread_json(error: SwitchUnread) -> dict[str, str]:
    return {"why": error.what, "next": error.hint}
