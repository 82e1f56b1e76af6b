"""What a machine needs for a simulated InfiniBand subnet, and the one line that gets it."""

from __future__ import annotations

import shutil
from pathlib import Path

#: Program -> the Debian package that has it.
PROGRAMS = {
    "opensm": "opensm",
    "ibsim": "ibsim-utils",
    "ibnetdiscover": "infiniband-diags",
    "saquery": "infiniband-diags",
    "smpquery": "infiniband-diags",
}
#: Where Debian keeps programs that are not on everybody's PATH.
_SYSTEM = "/usr/sbin:/sbin"
#: The library through which programs reach ibsim in place of a kernel module; a folder for each architecture.
_PRELOADED = "*/umad2sim/libumad2sim.so"


class SubnetLacks(Exception):
    """The machine cannot have a simulated subnet; says why, and the one line to run."""


def program(name: str) -> str:
    """The path of a program. Raises SubnetLacks."""
    found = _found(name)
    if found is None:
        raise SubnetLacks(_install([name]))
    return found


def preloaded() -> str:
    """The library that stands between programs and ibsim. Raises SubnetLacks."""
    found = sorted(Path("/usr/lib").glob(_PRELOADED))
    if not found:
        raise SubnetLacks(_install(["ibsim"]))
    return str(found[0])


def require_subnet() -> None:
    """Raise SubnetLacks unless all programs are there."""
    absent = [name for name in PROGRAMS if _found(name) is None]
    if absent:
        raise SubnetLacks(_install(absent))
    preloaded()


def _found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_SYSTEM)


def _install(absent: list[str]) -> str:
    packages = " ".join(dict.fromkeys(PROGRAMS[name] for name in absent))
    return (
        f"a simulated InfiniBand subnet needs {', '.join(absent)}. "
        f"Run: sudo apt-get install -y --no-install-recommends {packages}"
    )
