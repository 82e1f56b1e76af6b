"""What a machine may lack, and how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from toolchain.progress import say, step


class MachineLacks(Exception):
    """The machine lacks something, or a tool failed; says what, why and what to do next. Exit code 4."""


@dataclass(frozen=True)
class DebianPackage:
    """A package of the system, the test that tells whether its content is there, and who needs it."""

    name: str
    present: Callable[[], bool]
    why: str
    #: True if on a machine that systemd runs it starts a service, or takes over a real InfiniBand subnet: left to
    #: whoever has the machine.
    serves: bool = False


def _has_git() -> bool:
    return shutil.which("git") is not None


def _has_venv() -> bool:
    return find_spec("venv") is not None and find_spec("ensurepip") is not None


def _venv_package() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}-venv"


def debian_packages() -> tuple[DebianPackage, ...]:
    """Every system package that the project itself needs."""
    return (
        DebianPackage("git", _has_git, "the demo checks that the work tree stays clean"),
        DebianPackage(_venv_package(), _has_venv, "everything runs in a virtual environment"),
    )


#: Where Debian keeps programs that are not on everybody's PATH.
_SYSTEM = "/usr/sbin:/sbin"


#: There while systemd runs the machine.
_SYSTEMD = Path("/run/systemd/system")


def _has(program: str) -> bool:
    return shutil.which(program) is not None or shutil.which(program, path=_SYSTEM) is not None


def _has_slurm() -> bool:
    return all(_has(program) for program in ("slurmctld", "slurmd", "srun", "scontrol"))


def packages_of_tests() -> tuple[DebianPackage, ...]:
    """Every system package that only tests need. Frames, logins and Slurm need root as well, InfiniBand subnets not."""
    return (
        DebianPackage("openvswitch-switch", lambda: _has("ovs-vswitchd"), "tests/packets sends real frames"),
        DebianPackage("iproute2", lambda: _has("ip"), "tests/packets makes network namespaces"),
        DebianPackage("openssh-client", lambda: _has("ssh-keygen"), "tests/access signs certificates and logs in"),
        DebianPackage("openssh-server", lambda: _has("sshd"), "tests/access logs in to a real sshd", serves=True),
        DebianPackage("opensm", lambda: _has("opensm"), "tests/subnet_manager runs a real subnet manager", serves=True),
        DebianPackage("ibsim-utils", lambda: _has("ibsim"), "tests/subnet_manager simulates InfiniBand fabrics"),
        DebianPackage("infiniband-diags", lambda: _has("smpquery"), "tests/subnet_manager asks fabrics"),
        DebianPackage(
            "munge", lambda: _has("munged"), "tests/slurm: what daemons of Slurm know each other by", serves=True
        ),
        DebianPackage("slurm-wlm", _has_slurm, "tests/slurm runs jobs on a real Slurm", serves=True),
        DebianPackage("slurmdbd", lambda: _has("slurmdbd"), "tests/slurm starts a real slurmdbd", serves=True),
        DebianPackage("mariadb-server-core", lambda: _has("mariadbd"), "tests/slurm: the database of slurmdbd"),
    )


def get_packages_of_tests() -> None:
    """As root on Debian, install what only tests need. Elsewhere, or if that fails, these tests say themselves what is
    missing and which line gets it.
    """
    wanted = (package for package in packages_of_tests() if not (package.serves and _SYSTEMD.is_dir()))
    absent = [package.name for package in wanted if not package.present()]
    if absent and _may_install():
        _apt_install(absent, options=("--no-install-recommends",), output=subprocess.DEVNULL)


def require_packages(*, install: bool) -> None:
    """Raise EnvironmentFailed naming all that is missing; with `install`, as root on Debian, get it first."""
    absent = [package for package in debian_packages() if not package.present()]
    if absent and install and _may_install():
        _apt_install([package.name for package in absent])
        absent = [package for package in absent if not package.present()]
    if absent:
        raise MachineLacks(_explain(absent))


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _apt_install(names: list[str], options: tuple[str, ...] = (), output: int | TextIO | None = None) -> None:
    """`output`: where apt-get writes what it does; stderr by default."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with step(f"system packages {' '.join(names)}"):
        for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", *options, *names]):
            done = subprocess.run(
                command, env=environment, stdout=sys.stderr if output is None else output, check=False
            )
            if done.returncode:
                say(f"  {' '.join(command)} ended with exit code {done.returncode}")


def _explain(absent: list[DebianPackage]) -> str:
    lines = ["This machine lacks:"]
    lines += [f"  {package.name}: {package.why}" for package in absent]
    lines.append("On Debian or Ubuntu: sudo apt-get install -y " + " ".join(package.name for package in absent))
    return "\n".join(lines)
