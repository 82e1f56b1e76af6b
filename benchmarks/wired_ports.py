"""Whether the embedded cloud's switches say that the ports of a plan are wired, or that they rest."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.measure import BenchmarkFailed
from benchmarks.world import INSTANCE, SITE, TENANT
from infra.program.gate import Gate
from interlock.model.load import load_workspace
from interlock.resources import SwitchPort
from interlock.switches.loading import load_switches
from interlock.switches.observed import ObservedPort, ObservedSwitch
from interlock.switches.reading import SwitchTarget, read_switches
from tests.e2e.project import Project

#: The user as whom the driver sets switches.
DRIVER = "neutron"


@dataclass(frozen=True)
class WiredPorts:
    """The switch ports that a plan of one tenant sets."""

    wanted: tuple[SwitchPort, ...]
    #: Name of a switch -> its system MAC address, by which it is known.
    macs: Mapping[str, str | None]

    @classmethod
    def of(cls, project: Project) -> WiredPorts:
        """Those of the tenant, as the project's files have it."""
        gate = Gate(load_workspace(project.folder / "stacks", SITE))
        found = [item.resource for item in gate.plan(TENANT).resources]
        wanted = tuple(item for item in found if isinstance(item, SwitchPort) and item.is_declared)
        return cls(wanted, {switch.name: switch.mac for switch in gate.workspace.site.switches})

    def require_set(self) -> None:
        """Raises `BenchmarkFailed` unless each port is up, in access mode and in its VLAN."""
        self._require(lambda port, vlan: port.admin_up and port.mode == "access" and port.access_vlan == vlan, "wired")

    def require_rest(self) -> None:
        """Raises `BenchmarkFailed` unless each port has left its VLAN."""
        self._require(lambda port, vlan: port.mode == "access" and port.access_vlan != vlan, "at rest")

    def _require(self, holds: Callable[[ObservedPort, int | None], bool | None], state: str) -> None:
        said = self._read()
        for wanted in self.wanted:
            port = said[wanted.switch].ports[wanted.port_name or ""]
            if not holds(port, wanted.vlan):
                raise BenchmarkFailed(f"{wanted.switch} {wanted.port_name} is not {state}: its switch says {port}")

    def _read(self) -> dict[str, ObservedSwitch]:
        accesses = load_switches(INSTANCE / "switches.yaml").switches
        targets = [SwitchTarget(accesses[name], None, mac) for name, mac in self.macs.items()]
        said = dict[str, ObservedSwitch]()
        for name, found in read_switches(targets, lambda: datetime.datetime.now(datetime.UTC)).items():
            if not isinstance(found, ObservedSwitch):
                raise BenchmarkFailed(f"switch {name} was not read: {found.what}")
            said[name] = found
        return said

    def last_set(self) -> float:
        """When the driver told a switch something last, in seconds since 1970."""
        lines = (line.split(" ", 3) for line in (INSTANCE / "log" / "switches.log").read_text().splitlines())
        return max(float(when) for when, _, user, _ in lines if user == DRIVER)
