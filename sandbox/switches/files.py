"""A switch whose state is a file, and that is all there is of it: the backend of the sandbox."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.switches import vlans
from sandbox.switches.table import PortState, SwitchState


@dataclass(frozen=True)
class FileBackend:
    """Keeps the running configuration in a file, which is whole whenever the process is killed."""

    path: Path
    initial: SwitchState

    def load(self) -> SwitchState:
        """What the file says, or the initial state when there is none."""
        if not self.path.exists():
            return self.initial
        return decoded(json.loads(self.path.read_text(encoding="utf-8")))

    def apply(self, before: SwitchState, after: SwitchState) -> None:
        """Write the file."""
        if before == after and self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        whole = self.path.with_suffix(".new")
        whole.write_text(json.dumps(encoded(after), indent=1) + "\n", encoding="utf-8")
        whole.replace(self.path)


def encoded(state: SwitchState) -> dict[str, Any]:
    """A state as JSON data; lists of VLANs as EOS writes them."""
    ports = {
        name: {
            "enabled": port.enabled,
            "mode": port.mode,
            "access_vlan": port.access_vlan,
            "native_vlan": port.native_vlan,
            "allowed": vlans.listed(port.allowed),
        }
        for name, port in state.ports.items()
    }
    return {"name": state.name, "vlans": {str(vlan): name for vlan, name in state.vlans.items()}, "ports": ports}


def decoded(data: dict[str, Any]) -> SwitchState:
    """The state that was encoded."""
    ports = {
        name: PortState(**{**port, "allowed": (vlans.parsed(port["allowed"]) or ()) if port["allowed"] else ()})
        for name, port in data["ports"].items()
    }
    return SwitchState(data["name"], ports, {int(vlan): name for vlan, name in data["vlans"].items()})
