"""States of machines and hosts: names that exist, each once, and a reason for all that is not in service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.model.rack.names import host_names, machine_names
from interlock.model.text.errors import Code
from interlock.model.text.values import names

from .physical import ServiceState
from .places import Path
from .service_states import StateTable
from .view import SiteView


def check_states(view: SiteView) -> None:
    """Adds faults of states and their reasons."""
    for path, word, known, table in _tables(view):
        _check_names(view, path, word, known, table)
        for key, entry in table.items():
            check_reason(view, (*path, key), entry.state, entry.reason)
    for name, machine in view.file.machines.items():
        check_reason(view, ("machines", name), machine.state, machine.reason)
    for name, host in view.file.hosts.items():
        check_reason(view, ("hosts", name), host.state, host.reason)


def _tables(view: SiteView) -> Iterator[tuple[Path, str, Sequence[str], StateTable]]:
    for index, rack in enumerate(view.file.racks):
        path = ("racks", index)
        yield (*path, "machines", "states"), "an IPU-Machine", machine_names(rack), rack.machines.states
        yield (*path, "poplar", "states"), "a Poplar host", host_names(rack), rack.poplar.states


def _check_names(view: SiteView, path: Path, word: str, known: Sequence[str], table: StateTable) -> None:
    seen = set[str]()
    for key in table:
        for name in names(key):
            view.faults.need_name((*path, key), name, known, f"`{name}` is not {word} of this rack")
            if name in seen:
                hint = "a device has one state: keep it in one of the lines"
                view.faults.add(Code.TWICE, (*path, key), f"the state of `{name}` stands here twice", hint)
            seen.add(name)


def check_reason(view: SiteView, path: Path, state: ServiceState, reason: str | None) -> None:
    """Adds a fault if a device is out of service and nobody says why, or the other way round."""
    if state != "ok" and reason is None:
        hint = "say why, for whoever asks next: `reason: RNIC dead, ticket 123`"
        view.faults.add(Code.MISSING_KEY, path, f"`reason` is missing: `state` is `{state}`", hint)
    if state == "ok" and reason is not None:
        hint = "leave the reason out, or write the state: `failed` or `maintenance`"
        view.faults.add(Code.CONTRADICTION, (*path, "reason"), "a reason, and the state is `ok`", hint)
