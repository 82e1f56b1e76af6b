"""What a machine needs for real frames, and the one line that gets it."""

from __future__ import annotations

import os
import shutil

#: Program -> the Debian package that has it.
PROGRAMS = {
    "ovs-vsctl": "openvswitch-switch",
    "ovs-vswitchd": "openvswitch-switch",
    "ovsdb-server": "openvswitch-switch",
    "ovsdb-tool": "openvswitch-switch",
    "ip": "iproute2",
}
#: Where Debian keeps programs that are not on everybody's PATH.
_SYSTEM = "/usr/sbin:/sbin"


class FabricLacks(Exception):
    """The machine cannot have a fabric; says why, and the one line to run."""


def program(name: str) -> str:
    """The path of a program. Raises FabricLacks."""
    found = _found(name)
    if found is None:
        raise FabricLacks(_install([name]))
    return found


def require_fabric(command: str = "sudo ./run test tests/packets") -> None:
    """Raise FabricLacks unless this process is root and all programs are there. `command`: what root is to run."""
    absent = [name for name in PROGRAMS if _found(name) is None]
    if absent:
        raise FabricLacks(_install(absent))
    if os.geteuid() != 0:
        raise FabricLacks(f"network namespaces and switches that forward frames need root. Run: {command}")


def _found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_SYSTEM)


def _install(absent: list[str]) -> str:
    packages = " ".join(dict.fromkeys(PROGRAMS[name] for name in absent))
    missing = ", ".join(absent)
    return (
        f"switches that forward frames need {missing}. Run: sudo apt-get install -y --no-install-recommends {packages}"
    )
