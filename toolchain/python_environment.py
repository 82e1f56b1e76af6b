"""The project's virtual environment: what requirements.lock names, and the project itself, editable."""

from __future__ import annotations

import compileall
import ssl
import subprocess
import sys
from pathlib import Path

from toolchain.layout import CheckoutLayout
from toolchain.making import digest, exclusive, is_made, replacing
from toolchain.missing import MachineLacks
from toolchain.progress import step

PACKAGES = ("infra", "components", "policies", "interlock", "toolchain", "sandbox")
"""Top-level packages that commands and Pulumi start."""

_COMPILE = (
    "--universal",
    "--fork-strategy=fewest",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-annotate",
    "--no-header",
    "--no-emit-index-url",
    "--no-emit-find-links",
)


def ensure_environment(layout: CheckoutLayout) -> bool:
    """Make `.interlock/venv` if it is absent or was made from other files; True if it was made now."""
    source = _source(layout)
    if is_made(layout.venv, source):
        return False
    with exclusive(layout.lock):
        if is_made(layout.venv, source):
            return False
        uv = _ensure_uv(layout)
        with step("Python environment from requirements.lock"), replacing(layout.venv, source) as fresh:
            _fill(uv, layout, fresh)
    return True


def compile_sources(layout: CheckoutLayout) -> None:
    """Byte-compile the project's own modules where that is not done yet.

    Python does it by itself at the first import, but not where PYTHONDONTWRITEBYTECODE is set, as in most containers:
    there every process of every run would compile everything again, which takes longer than what it then does.
    """
    for package in PACKAGES:
        compileall.compile_dir(layout.root / package, quiet=2)


def lock_requirements(layout: CheckoutLayout) -> None:
    """Write requirements.lock again, of the product, its extra and what a checkout needs: no address of any index."""
    with exclusive(layout.lock):
        uv = _ensure_uv(layout)
        with step("requirements.lock from pyproject.toml and requirements-dev.in"):
            _run(
                [
                    uv,
                    "pip",
                    "compile",
                    "--quiet",
                    *_trust(),
                    *_COMPILE,
                    "--extra=fleet",
                    "pyproject.toml",
                    "requirements-dev.in",
                    "-o",
                    "requirements.lock",
                ],
                layout,
            )


def _source(layout: CheckoutLayout) -> str:
    """The root is part of it: an environment holds absolute paths and does not survive a move."""
    files = ("requirements.lock", "pyproject.toml")
    return digest(str(layout.root), *((layout.root / name).read_bytes() for name in files))


def _ensure_uv(layout: CheckoutLayout) -> Path:
    wanted = layout.root / "toolchain" / "uv.lock"
    source = digest(str(layout.root), wanted.read_bytes())
    if not is_made(layout.uv, source):
        with step("uv"), replacing(layout.uv, source) as fresh:
            _run([_base_python(), "-m", "venv", fresh], layout)
            _run(
                [fresh / "bin" / "python", "-m", "pip", "install", "-q", "--require-hashes", "-r", wanted],
                layout,
            )
    # Only the scripts of an environment name its folder; uv itself is a plain executable and may be moved.
    return layout.uv / "bin" / "uv"


def _fill(uv: Path, layout: CheckoutLayout, fresh: Path) -> None:
    """Relocatable, because the folder is renamed once it is complete."""
    _run([uv, "venv", "-q", "--allow-existing", "--relocatable", "--python", _base_python(), fresh], layout)
    python = fresh / "bin" / "python"
    lock = layout.root / "requirements.lock"
    # Compiled now, once: where PYTHONDONTWRITEBYTECODE is set, nothing else would ever keep the result.
    sync = ["sync", "-q", "--require-hashes", "--compile-bytecode"]
    _run([uv, "pip", *sync, *_trust(), "--python", python, lock], layout)
    # The build backend comes from the lock too, so there is no isolated build and nothing more to download.
    options = ["--no-deps", "--no-build-isolation", *_trust()]
    _run([uv, "pip", "install", "-q", "--python", python, *options, "--editable", layout.root], layout)


def _trust() -> list[str]:
    """The machine's own certificates where it has any, for a network with its own authority; else uv's."""
    places = ssl.get_default_verify_paths()
    folder = Path(places.capath) if places.capath else None
    return ["--system-certs"] if places.cafile or (folder and any(folder.iterdir())) else []


def _base_python() -> str:
    """The interpreter below all virtual environments: one of them may be the very one that is replaced."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


def _run(command: list[str | Path], layout: CheckoutLayout) -> None:
    done = subprocess.run(
        command, cwd=layout.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        spoken = " ".join(str(part) for part in command)
        raise MachineLacks(f"{spoken}\nended with exit code {done.returncode}:\n{done.stderr or done.stdout}")
