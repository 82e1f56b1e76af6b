"""What the embedded cloud's databases say of servers and ports, read and never written: far cheaper than its APIs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

#: How names of servers end in which a controller runs: the plan name of a vPOD's controller.
CONTROLLER_NAME = "-controller"


@dataclass(frozen=True)
class FoundServer:
    """A server as Nova has it."""

    uuid: str
    name: str
    active: bool

    @property
    def is_controller(self) -> bool:
        """True if a V-IPU controller runs in it."""
        return self.name.endswith(CONTROLLER_NAME)


@dataclass(frozen=True)
class ServerNetwork:
    """A network that a server has a port on; `vlan` is None where the network is no VLAN."""

    network: str
    physical_network: str | None
    vlan: int | None


@dataclass(frozen=True)
class BoundPort:
    """A port at Neutron that stands for a switch port, by the maker's name. Addresses are ascending."""

    network: str
    #: Its name, or its MAC where the port says no name.
    switch: str
    port: str
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class SandboxCloud:
    """Reads the databases of one instance. All methods raise sqlite3.Error."""

    folder: Path

    def server(self, uuid: str) -> FoundServer | None:
        """A server that is not deleted, nor being deleted."""
        rows = self._rows(
            "nova",
            "SELECT display_name, vm_state, task_state FROM instances WHERE uuid = ? AND deleted = 0",
            uuid,
        )
        for name, state, task in rows:
            return FoundServer(uuid, str(name), state == "active" and task != "deleting")
        return None

    def named(self, ending: str) -> tuple[FoundServer, ...]:
        """Servers whose name is this, or ends so; of some name there may be several."""
        rows = self._rows("nova", "SELECT uuid, display_name FROM instances WHERE deleted = 0")
        found = (self.server(uuid) for uuid, name in rows if str(name).endswith(ending))
        return tuple(item for item in found if item is not None)

    def networks(self, server: str) -> tuple[ServerNetwork, ...]:
        """Networks on which a server has a port that is not disabled."""
        rows = self._rows(
            "neutron",
            "SELECT p.network_id, s.network_type, s.physical_network, s.segmentation_id FROM ports p "
            "JOIN networksegments s ON s.network_id = p.network_id WHERE p.device_id = ? AND p.admin_state_up",
            server,
        )
        return tuple(
            ServerNetwork(network, physical, int(number) if kind == "vlan" else None)
            for network, kind, physical, number in rows
        )

    def bound_ports(self) -> tuple[BoundPort, ...]:
        """All ports that name a switch port."""
        addresses: dict[str, list[str]] = {}
        for port, address in self._rows("neutron", "SELECT port_id, ip_address FROM ipallocations"):
            addresses.setdefault(port, []).append(address)
        rows = self._rows(
            "neutron",
            "SELECT p.id, p.network_id, b.profile FROM ports p JOIN ml2_port_bindings b ON b.port_id = p.id "
            "WHERE b.profile LIKE '%local_link_information%'",
        )
        return tuple(
            BoundPort(
                network,
                str(link.get("switch_info") or link.get("switch_id")),
                str(link.get("port_id")),
                tuple(sorted(addresses.get(port, []), key=lambda text: int(ip_address(text)))),
            )
            for port, network, profile in rows
            for link in json.loads(profile)["local_link_information"]
        )

    def _rows(self, database: str, query: str, *values: str) -> list[tuple[Any, ...]]:
        with _opened(self.folder / "state" / "db" / f"{database}.db") as connection:
            return list(connection.execute(query, values))


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
        yield connection
