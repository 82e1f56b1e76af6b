"""Pulumi: an official one where the machine has it, else one built from the Go module that the project pins.

The official Python language host is not published as a Go module, so it cannot be built along; beside a
command line that was built here stands `toolchain/language_host.py`. An official install brings its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from toolchain.go import LackingGo, find_go, go_build, pins_of
from toolchain.layout import CheckoutLayout
from toolchain.making import exclusive, is_made, replacing, write_executable, write_whole
from toolchain.missing import MachineLacks
from toolchain.progress import say, step

OLDEST = (3, 259)
"""The oldest official command line that is used: the one whose protocol the pinned SDK speaks."""

STAND_IN = "interlock's stand-in for Pulumi's Python language host"
"""Stands in the wrapper script and in `pulumi about`: nobody shall take it for the official one."""

_BUILT = "v3.259.0"
_FLAGS = (
    "-mod=readonly",
    "-trimpath",
    "-tags=osusergo grpcnotrace",
    # Without the -X the version is empty, and every check of a version fails.
    f"-ldflags=-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={_BUILT}",
)
_LACKING = LackingGo(
    f"Pulumi is missing: no `pulumi` >= {OLDEST[0]}.{OLDEST[1]} with `pulumi-language-python` on PATH,\n"
    "and to build it",
    "  install Pulumi: https://www.pulumi.com/docs/install/\n",
)


@dataclass(frozen=True)
class Pulumi:
    """A command line that can run Python programs."""

    executable: Path
    official: bool


def find_pulumi(layout: CheckoutLayout, search: str) -> Pulumi | None:
    """An official Pulumi on the path `search`, else the one built here, else None. Builds nothing."""
    official = _find_official(layout, search)
    if official:
        return Pulumi(official, official=True)
    if is_made(layout.built_pulumi, _source(layout)):
        return Pulumi(layout.built_pulumi / "bin" / "pulumi", official=False)
    return None


def ensure_pulumi(layout: CheckoutLayout, search: str) -> Pulumi:
    """Find a Pulumi or build one; EnvironmentFailed if neither is possible."""
    found = find_pulumi(layout, search)
    if not found:
        with exclusive(layout.lock):
            found = find_pulumi(layout, search) or _build(layout, search)
    if not found.official:
        write_executable(found.executable.with_name("pulumi-language-python"), language_host_script(layout))
    return found


def _source(layout: CheckoutLayout) -> str:
    return pins_of(layout.go_module, _FLAGS)


def _find_official(layout: CheckoutLayout, search: str) -> Path | None:
    for folder in search.split(os.pathsep):
        candidate = shutil.which("pulumi", path=folder) if folder else None
        if candidate and _has_official_host(Path(candidate), search) and _is_recent(layout, Path(candidate)):
            return Path(candidate)
    return None


def _has_official_host(cli: Path, search: str) -> bool:
    host = shutil.which("pulumi-language-python", path=os.pathsep.join((str(cli.resolve().parent), search)))
    if not host:
        return False
    with Path(host).open("rb") as file:
        return STAND_IN.encode() not in file.read(1024)


def _is_recent(layout: CheckoutLayout, cli: Path) -> bool:
    """Ask for the version once per executable: that takes longer than all else in a warm run."""
    status = cli.stat()
    key = f"{cli} {status.st_size} {status.st_mtime_ns}"
    memory = layout.made / "official-pulumi.json"
    known: dict[str, str] = json.loads(memory.read_text()) if memory.is_file() else {}
    if key not in known:
        known = {**known, key: _version_of(cli)}
        write_whole(memory, json.dumps(known))
    return _numbers(known[key]) >= OLDEST


def _version_of(cli: Path) -> str:
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            [cli, "version"], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _numbers(version: str) -> tuple[int, int]:
    match = re.match(r"v?(\d+)\.(\d+)\.", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _build(layout: CheckoutLayout, search: str) -> Pulumi:
    go = find_go(layout.go_module, search, _LACKING)
    say(f"  no official Pulumi >= {OLDEST[0]}.{OLDEST[1]} with its Python host on PATH:")
    say(f"  building {_BUILT} from toolchain/pulumi/go.mod (about three minutes the first time)")
    with step(f"Pulumi {_BUILT}"), replacing(layout.built_pulumi, _source(layout)) as fresh:
        go_build("Pulumi", go, layout.go_module, _FLAGS, fresh / "bin")
        built = _version_of(fresh / "bin" / "pulumi")
        if built != _BUILT:
            raise MachineLacks(
                f"The Pulumi just built says it is {built!r}, not {_BUILT!r}. See toolchain/pulumi_cli.py."
            )
    return Pulumi(layout.built_pulumi / "bin" / "pulumi", official=False)


def language_host_script(layout: CheckoutLayout) -> str:
    """The text of `pulumi-language-python`; the engine takes only an executable of this name."""
    host = layout.root / "toolchain" / "language_host.py"
    # Ignored until Python has a handler: the engine sends it, and before that Python would print a traceback.
    return f'#!/bin/sh\n# {STAND_IN}\ntrap "" INT\nexec "{layout.python}" -P -u "{host}" "$@"\n'
