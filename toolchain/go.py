"""Programs that are built from a Go module which the project pins: finding a Go that can, and building."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.making import digest
from toolchain.missing import MachineLacks

_GO_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin", "/snap/bin")


@dataclass(frozen=True)
class LackingGo:
    """What is said where there is no Go: what is missing without it, and other ways to get that, one a line."""

    what: str
    other_ways: str = ""


def pins_of(module: Path, flags: Sequence[str]) -> str:
    """Digest of all that decides what is built from the module in this folder."""
    return digest(*flags, *((module / name).read_bytes() for name in ("go.mod", "go.sum")))


def go_build(what: str, go: str, module: Path, flags: Sequence[str], target: Path) -> None:
    """Build the tools that the module names into the folder `target`. Raises MachineLacks with the last lines."""
    environment = {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "0",
        "GOFLAGS": "-buildvcs=false",
        "GOWORK": "off",
    }
    command = [go, "build", *flags, "-o", f"{target}/", "tool"]
    done = subprocess.run(
        command,
        cwd=module,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "\n".join(done.stderr.splitlines()[-20:])
        raise MachineLacks(
            f"`go build` of {what} ended with exit code {done.returncode}; its last lines:\n{tail}\n"
            "Often it is the network: Go must reach its module proxy (`go env GOPROXY`). Then run this again."
        )


def find_go(module: Path, search: str, lacking: LackingGo) -> str:
    """A Go on the path `search`, or where Go is usually installed, that is new enough for the module."""
    wanted = _go_wanted(module)
    go = shutil.which("go", path=os.pathsep.join((search, *_GO_PLACES)))
    version = _go_version(go) if go else None
    if go and version and version >= wanted:
        return go
    spoken = ".".join(str(number) for number in wanted)
    have = f"Go is too old here ({go} is {'.'.join(map(str, version))})" if version else "Go is not there either"
    ways = "Do one of these" if lacking.other_ways else "Do this"
    raise MachineLacks(
        f"{lacking.what} Go {spoken} or newer is needed. {have}. {ways}, then run this again:\n"
        f"{lacking.other_ways}"
        f"  install Go {spoken} or newer: https://go.dev/doc/install (found on PATH or in {_GO_PLACES[0]})"
    )


def _go_wanted(module: Path) -> tuple[int, ...]:
    match = re.search(r"^go (\d+(?:\.\d+)+)$", (module / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise MachineLacks(f"toolchain/{module.name}/go.mod has no `go` line: restore it from git.")
    return tuple(int(number) for number in match[1].split("."))


def _go_version(go: str) -> tuple[int, ...] | None:
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    done = subprocess.run([go, "version"], env=environment, capture_output=True, text=True, check=False)
    match = re.search(r"go(\d+(?:\.\d+)+)", done.stdout)
    return tuple(int(number) for number in match[1].split(".")) if match else None
