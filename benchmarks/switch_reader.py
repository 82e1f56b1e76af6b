"""Reads one switch as `interlock switches` does, compares nothing, and prints the VLAN of each port as JSON.

python -m benchmarks.switch_reader SWITCHES_YAML SERIAL
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

from interlock.switches.commands import COMMANDS
from interlock.switches.loading import load_switches
from interlock.switches.observed import ObservedSwitch
from interlock.switches.reading import SwitchTarget, read_switches


def vlans(file: Path, serial: str) -> dict[str, int | None]:
    """Port -> access VLAN of the one switch of the file. Raises `SystemExit` if it was not read."""
    ((name, access),) = load_switches(file).switches.items()
    found = read_switches([SwitchTarget(access, serial)], lambda: datetime.datetime.now(datetime.UTC))[name]
    if not isinstance(found, ObservedSwitch):
        raise SystemExit(f"{name} was not read: {found.what}")
    if refused := [command.text for command in COMMANDS[access.platform] if command.about in found.unread]:
        raise SystemExit(f"{name} was read in part: it does not answer {', '.join(refused)}")
    return {port.name: port.access_vlan for port in found.ports.values()}


if __name__ == "__main__":
    json.dump(vlans(Path(sys.argv[1]), sys.argv[2]), sys.stdout)
