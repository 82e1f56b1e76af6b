"""Keeps what switches said as evidence: that a device was unwired has to be seen before its power cycle.

A file of its own in the site's `evidence/`, committed like those that people write; nothing in theirs is touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from infra.stack.handing_over import Handover, first_lacking
from infra.stack.signatures import RECORDED
from interlock.model.evidence.reading import FOLDER, Sighting
from interlock.model.evidence.values import moment_text
from interlock.whole_files import write_at_once

#: Most that `by` takes.
LONGEST_NAME = 80
HEAD = """\
# What `interlock settle` read from switches. Commit it: a power cycle counts if it came after that.
released_by: {tenant}
seen:
"""
#: The line that a signature needs, which files of before have not.
_SITE = re.compile(r"^site:", re.MULTILINE)
_RELEASED_BY = re.compile(r"^(?=released_by:)", re.MULTILINE)


def to_record(before: Handover, seen: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """The sightings that a device wants next: of one that is not, a later reading will do."""
    # What was recorded and is not signed yet is there: another line would only break the next signature.
    file = file_of_readings(before.tenant)
    waiting = {
        (one.demand.identity, one.step)
        for one in before.lacking()
        if any(entry.file.endswith(f"/{file}") for entry in one.unsigned)
    }
    wanted = first_lacking(before) - waiting
    steps = {demand.identity: len(demand.steps) for demand in before.demands}
    # One of this very second is recorded as of the next, and counts from then on.
    fresh = {(one.identity, one.step) for one in before.seen if one.at > before.now}
    keys = wanted - fresh
    return tuple(one for one in seen if (one.identity, one.step) in keys and steps[one.identity] > 1)


def file_of_readings(tenant: str) -> str:
    """Below the site's folder."""
    return f"{FOLDER}/{tenant}-read.yaml"


def keep_readings(file: Path, handover: Handover, seen: Collection[Sighting]) -> None:
    """Add these to the file; it was read and found well-formed when the site was loaded, or is not there."""
    text = file.read_text(encoding="utf-8") if file.exists() else HEAD.format(tenant=handover.tenant)
    if handover.site.evidence.signers is not None and not _SITE.search(text):
        text = _RELEASED_BY.sub(f"site: {handover.site.name}\n", text, count=1)
    entries = {demand.identity: demand.entry for demand in handover.demands}
    file.parent.mkdir(exist_ok=True)
    write_at_once(file, text.rstrip() + "\n" + "".join(f"  - {_line(entries[one.identity], one)}\n" for one in seen))


def _line(entry: Mapping[str, str | int], one: Sighting) -> str:
    # Rounded up: a power cycle in the second of the reading may have come before it.
    at = moment_text(one.at + timedelta(microseconds=999_999))
    by = f"{RECORDED}{one.position}"[:LONGEST_NAME]
    return json.dumps({**entry, "step": str(one.step), "at": at, "by": by}, ensure_ascii=False)
