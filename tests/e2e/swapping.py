"""A machine of the rack fails and another board stands in its place; what a person says to have seen of machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from interlock.model.evidence.values import moment_text
from sandbox.vipu.racks import changed, read_racks, write_racks
from sandbox.vipu.stations import MACHINES
from tests.e2e.project import Project

#: How lyon's site file lists what a board brings with it, for positions 1 to 16: (before, of one, after).
_SERIALS = "serials: PLACEHOLDER-M2000-[01-16]"
_MACS = {"bmc": "02:00:00:00:01", "gw": "02:00:00:00:02", "rnic": "02:00:00:00:03"}


@contextmanager
def boards_put_back(instance: Path) -> Iterator[None]:
    """Whatever is swapped meanwhile, the racks are as they were afterwards."""
    file = instance / "state" / "vipu" / MACHINES
    before = read_racks(file)
    try:
        yield
    finally:
        write_racks(file, before)


def swap_machine(instance: Path, name: str, serial: str) -> None:
    """Another board in the same position of the simulated rack: cables stay, serial and state do not."""
    file = instance / "state" / "vipu" / MACHINES
    write_racks(file, changed(read_racks(file), name, serial=serial, replaced=1, answers=True))


def swap_in_site_file(project: Project, file: str, name: str, serial: str) -> None:
    """Its serial and MAC addresses, as the operator writes them; the position stays."""
    number = int(name.removeprefix("ipum-"))
    project.edit(file, _SERIALS, f"serials: {_listed('PLACEHOLDER-M2000-', '02d', number, serial)}")
    for port, prefix in _MACS.items():
        listed = _listed(f"{prefix}:", "02x", number, f"02:00:00:00:77:{prefix[-2:]}")
        project.edit(file, f'{port}: "{prefix}:[01-10]"', f"{port}: {listed}")


def settled_as_seen(project: Project, tenant: str) -> None:
    """Settled. What a step has to come after may be read in between, so a person looks more than once."""
    said = ""
    for _ in range(4):
        done = project.interlock("settle", tenant)
        if done.code == 0:
            return
        said = done.text
        seen_by_a_person(project, tenant, lambda _: True)
    raise AssertionError(said)


def seen_by_a_person(project: Project, tenant: str, which: Callable[[Mapping[str, Any]], bool]) -> None:
    """Evidence of every step of these that settling asks for, of what it could not read itself."""
    asked = json.loads(project.interlock("settle", tenant, "--dry-run", "--format", "json").out)["evidence"]
    at = moment_text(datetime.now(UTC) + timedelta(microseconds=999_999))
    entries = [{**one["about"], "step": one["step"], "at": at, "by": "Anne"} for one in asked if which(one["about"])]
    assert entries, f"settling asks for nothing of these: {asked}"
    path = project.folder / "stacks" / "lyon" / "evidence" / f"{tenant}.yaml"
    path.parent.mkdir(exist_ok=True)
    known = yaml.safe_load(path.read_text(encoding="utf-8"))["seen"] if path.exists() else []
    path.write_text(yaml.safe_dump({"released_by": tenant, "seen": [*known, *entries]}), encoding="utf-8")


def _listed(prefix: str, form: str, number: int, other: str) -> str:
    """`["p-[01-02]", other, "p-[04-10]"]`, with the other in the place of the number."""
    parts = [(1, number - 1), (0, 0), (number + 1, 16)]
    words = [
        f'"{other}"' if not first else f'"{prefix}[{first:{form}}-{last:{form}}]"'
        for first, last in parts
        if not first or first <= last
    ]
    return f"[{', '.join(words)}]"
