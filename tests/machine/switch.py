"""The Top-of-Rack switch of the machines: what its table says of their ports, and what somebody sets there by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.launcher.layout import Instance
from sandbox.switches import keys
from sandbox.switches.files import FileBackend
from sandbox.switches.table import PortState
from tests.sandbox.switch_sessions import QUARANTINE, TOR, clients

#: What somebody types at a port of a machine: another VLAN, shut, all VLANs.
BY_HAND = (f"switchport access vlan {QUARANTINE}", "shutdown", "switchport mode trunk")

#: Ports with the RNIC of a machine behind them.
MACHINES_PORTS = frozenset(name for name, seen in TOR.neighbors.items() if seen.port == "rnic")


@dataclass(frozen=True)
class TopOfRack:
    """`tor-1` of a running sandbox."""

    sandbox: Path

    def ports(self) -> Mapping[str, PortState]:
        """Its own table, not what it shows: each port by the maker's name."""
        file = Instance(self.sandbox).state / "switches" / f"{TOR.name}.json"
        return FileBackend(file, TOR.initial).load().ports

    def set_by_hand(self, port: str, pick: int) -> None:
        """Past Neutron, with the key of its driver; `pick`: what is typed."""
        key = keys.user_key_file(Instance(self.sandbox).state / "switches", keys.WRITER)
        typed = "\n".join(("configure", f"interface {port}", BY_HAND[pick % len(BY_HAND)]))
        said = clients(self.sandbox)[TOR.name].answers(typed, username=keys.WRITER, key_file=str(key))
        assert said == [(0, "")]


def is_at_rest(port: PortState) -> bool:
    """Shut, and in quarantine all the same."""
    return not port.enabled and (port.mode, port.access_vlan) == ("access", QUARANTINE)


def is_open_to(port: PortState, vlan: int) -> bool:
    """Open to untagged frames of this VLAN, and to no others."""
    return port.enabled and (port.mode, port.access_vlan) == ("access", vlan)
