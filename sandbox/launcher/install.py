"""The virtual environment with the whole OpenStack stack, made once and shared by all instances."""

import os
import subprocess
import sys
from pathlib import Path

from sandbox.launcher import stamps
from sandbox.launcher.errors import SandboxError, with_log
from sandbox.launcher.layout import BASE, REQUIREMENTS, UV_VENV, VENV
from sandbox.launcher.making import making
from sandbox.launcher.progress import step

UV_VERSION = "0.13.8"


def python() -> Path:
    """The interpreter that runs the services."""
    return VENV / "bin" / "python"


def run_logged(command: list[str], log: Path, what: str, environment: dict[str, str] | None = None) -> None:
    """Run a command with its output in a log file; an error quotes that file's end."""
    environment = environment or dict(os.environ, UV_PYTHON_DOWNLOADS="never", UV_NO_PROGRESS="1")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        done = subprocess.run(
            command, stdout=output, stderr=output, env=environment, stdin=subprocess.DEVNULL, check=False
        )
    if done.returncode:
        raise with_log(f"{what} failed (exit code {done.returncode}): {' '.join(command[:4])} ...", log)


def ensure_uv() -> Path:
    """The package installer: the one that is there, else a small virtual environment that holds it."""
    uv = UV_VENV / "bin" / "uv"
    if uv.is_file():
        return uv
    log = BASE / "uv.log"
    with step(f"installer uv {UV_VERSION}"), making(UV_VENV) as folder:
        run_logged([sys.executable, "-m", "venv", str(folder)], log, "making a virtual environment for uv")
        run_logged([str(folder / "bin" / "python"), "-m", "pip", "install", f"uv=={UV_VERSION}"], log, "installing uv")
    return uv


def ensure_venv() -> bool:
    """Install the locked packages unless they are there. Returns whether anything was done."""
    if stamps.carries(VENV, stamps.pins()):
        return False
    if sys.version_info < (3, 11):  # noqa: UP036  (nothing else checks: this runs uninstalled)
        raise SandboxError(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")
    uv = str(ensure_uv())
    log = BASE / "install.log"
    with step("packages of OpenStack 2026.2"), making(VENV) as folder:
        run_logged(
            [uv, "venv", "--relocatable", "--clear", "--python", sys.executable, str(folder)],
            log,
            "making the virtual environment",
        )
        run_logged(
            [uv, "pip", "sync", "--require-hashes", "--python", str(folder / "bin" / "python"), str(REQUIREMENTS)],
            log,
            "installing the locked packages",
        )
        stamps.put(folder, stamps.pins())
    return True
