"""What has become of everything that a tenant was given, as text for a terminal and as Markdown for a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from infra.stack.leaving_document import LeavingReport, ReportedThing

#: Verdict -> what it says.
_VERDICTS = {
    "present": "the tenant is present",
    "leaving": "the tenant is leaving; not all is done",
    "not known": "not known: not everything was recorded or looked at",
    "complete": "complete: everything was deleted, and what others may have was seen clean",
}


def leaving_text(report: LeavingReport) -> str:
    """For a terminal."""
    lines = [f"{report.stack}: {_VERDICTS[report.verdict]}", *(f"  {line}" for line in _head(report))]
    for group, things in groupby(report.things, key=lambda one: one.group):
        lines.append(group)
        for one in things:
            lines.append(f"  {one.name}: {_state(one)}")
            lines += [f"    {line}" for line in _details(one)]
    return "\n".join(lines)


def leaving_markdown(report: LeavingReport) -> str:
    """For the tenant's file."""
    lines = [f"# {_safe(report.tenant)} at {_safe(report.site)}", "", f"**{_VERDICTS[report.verdict]}**", ""]
    lines += [f"- {_safe(line)}" for line in (f"made {report.made_at}", f"owner id {report.owner}", *_head(report))]
    for group, things in groupby(report.things, key=lambda one: one.group):
        lines += ["", f"## {group}", "", "| thing | state | seen | to do |", "| --- | --- | --- | --- |"]
        for one in things:
            seen = "<br>".join(_safe(line) for line in _seen(one))
            to_do = "<br>".join(_safe(line) for line in _to_do(one))
            lines.append(f"| {_safe(one.name)} | {_safe(_state(one))} | {seen or '–'} | {to_do or '–'} |")
    return "\n".join(lines)


def _head(report: LeavingReport) -> Iterator[str]:
    lock = "no lock" if report.lock_serial is None else f"lock serial {report.lock_serial}"
    yield f"request: {report.request}; {lock}"
    yield f"objects since {report.given_since or 'not known'}, all deleted {report.left_at or 'not known, or not yet'}"
    yield f"state and cloud seen without any of them: {report.nothing_left_at or 'never'}"
    again = report.free_again
    counts = f"{again.free} free, {again.waiting} not yet, {again.not_known} not known"
    yield f"machines and hosts: {counts}" + (f"; the last since {again.since}" if again.since else "")
    yield from (f"they wait for {wait}" for wait in again.waits_for)
    if again.settle_before:
        yield f"settle before {again.settle_before}: then the oldest evidence is too old to count"
    yield from (f"not known: {line}" for line in report.not_known)


def _state(one: ReportedThing) -> str:
    at = f" {one.at}" if one.at else ""
    return f"{one.state}{at}" + (f" ({one.note})" if one.note else "")


def _details(one: ReportedThing) -> Iterator[str]:
    yield from (f"seen {line}" for line in _seen(one))
    yield from (f"to do: {line}" for line in _to_do(one))


def _seen(one: ReportedThing) -> Iterator[str]:
    for step in one.steps:
        signed = f", signed by {' or '.join(step.signed_by)}" if step.signed_by else ""
        yield f"{step.step} {step.at} by {step.by}{signed} ({step.position})"


def _to_do(one: ReportedThing) -> Iterator[str]:
    for wait in one.waits_for:
        yield f"{wait.what}: {wait.who}" + (f"; {wait.why}" if wait.why else "")


def _safe(text: str) -> str:
    """Names are people's: none ends a cell of a table, or begins a tag."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
