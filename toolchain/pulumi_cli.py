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

from toolchain.layout import CheckoutLayout
from toolchain.making import digest, exclusive, is_made, replacing, write_executable, write_whole
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
_GO_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin", "/snap/bin")


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
    files = (layout.go_module / "go.mod", layout.go_module / "go.sum")
    return digest(*_FLAGS, *(file.read_bytes() for file in files))


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
    go = _find_go(layout, search)
    say(f"  no official Pulumi >= {OLDEST[0]}.{OLDEST[1]} with its Python host on PATH:")
    say(f"  building {_BUILT} from toolchain/pulumi/go.mod (about three minutes the first time)")
    with step(f"Pulumi {_BUILT}"), replacing(layout.built_pulumi, _source(layout)) as fresh:
        _go_build(go, layout, fresh / "bin")
        built = _version_of(fresh / "bin" / "pulumi")
        if built != _BUILT:
            raise MachineLacks(
                f"The Pulumi just built says it is {built!r}, not {_BUILT!r}. See toolchain/pulumi_cli.py."
            )
    return Pulumi(layout.built_pulumi / "bin" / "pulumi", official=False)


def _go_build(go: str, layout: CheckoutLayout, target: Path) -> None:
    environment = {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "0",
        "GOFLAGS": "-buildvcs=false",
        "GOWORK": "off",
    }
    command = [go, "build", *_FLAGS, "-o", f"{target}/", "tool"]
    done = subprocess.run(
        command,
        cwd=layout.go_module,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "\n".join(done.stderr.splitlines()[-20:])
        raise MachineLacks(
            f"`go build` of Pulumi ended with exit code {done.returncode}; its last lines:\n{tail}\n"
            "Often it is the network: Go must reach its module proxy (`go env GOPROXY`). Then run this again."
        )


def _find_go(layout: CheckoutLayout, search: str) -> str:
    wanted = _go_wanted(layout)
    go = shutil.which("go", path=os.pathsep.join((search, *_GO_PLACES)))
    version = _go_version(go) if go else None
    if go and version and version >= wanted:
        return go
    spoken = ".".join(str(number) for number in wanted)
    have = f"Go is too old here ({go} is {'.'.join(map(str, version))})" if version else "Go is not there either"
    raise MachineLacks(
        f"Pulumi is missing: no `pulumi` >= {OLDEST[0]}.{OLDEST[1]} with `pulumi-language-python` on PATH,\n"
        f"and to build it Go {spoken} or newer is needed. {have}. Do one of these, then run this again:\n"
        "  install Pulumi: https://www.pulumi.com/docs/install/\n"
        f"  install Go {spoken} or newer: https://go.dev/doc/install (found on PATH or in {_GO_PLACES[0]})"
    )


def _go_wanted(layout: CheckoutLayout) -> tuple[int, ...]:
    match = re.search(r"^go (\d+(?:\.\d+)+)$", (layout.go_module / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise MachineLacks("toolchain/pulumi/go.mod has no `go` line: restore it from git.")
    return tuple(int(number) for number in match[1].split("."))


def _go_version(go: str) -> tuple[int, ...] | None:
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    done = subprocess.run([go, "version"], env=environment, capture_output=True, text=True, check=False)
    match = re.search(r"go(\d+(?:\.\d+)+)", done.stdout)
    return tuple(int(number) for number in match[1].split(".")) if match else None


def language_host_script(layout: CheckoutLayout) -> str:
    """The text of `pulumi-language-python`; the engine takes only an executable of this name."""
    host = layout.root / "toolchain" / "language_host.py"
    # Ignored until Python has a handler: the engine sends it, and before that Python would print a traceback.
    return f'#!/bin/sh\n# {STAND_IN}\ntrap "" INT\nexec "{layout.python}" -P -u "{host}" "$@"\n'
