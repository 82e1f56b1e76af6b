"""Evidence for tests: every step seen of some machines, as an operator writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from interlock.model.evidence.values import moment_text
from tests.infra.conftest import Lyon

STEPS = ("deregistered", "unwired", "power-cycled", "wiped", "self-tested")
#: In the file of lyon: serials of machines are PLACEHOLDER-M2000-<number>.
SERIAL = "PLACEHOLDER-M2000-{}"


def now(**ago: float) -> str:
    """This moment, or so long ago, rounded up to a second."""
    return moment_text(datetime.now(UTC) - timedelta(**ago) + timedelta(microseconds=999_999))


def of_machine(name: str, **changes: Any) -> list[dict[str, Any]]:
    """Every step of one machine, seen just now."""
    start = {"machine": name, "serial": SERIAL.format(name.removeprefix("ipum-"))}
    return [{**start, "step": step, "at": now(seconds=1), "by": "Anne", **changes} for step in STEPS]


def write(lyon: Lyon, entries: Iterable[Mapping[str, Any]], released_by: str = "acme", name: str = "acme") -> None:
    """A file of evidence."""
    file = lyon.file(f"evidence/{name}.yaml")
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump({"released_by": released_by, "seen": [dict(entry) for entry in entries]}))


def written(lyon: Lyon, *machines: str) -> None:
    """Evidence of every step of these machines."""
    write(lyon, [entry for name in machines for entry in of_machine(name)])
