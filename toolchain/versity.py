"""The Versity S3 gateway, a real server for tests, built from the Go module that the project pins.

Only tests use it, and it takes two minutes of one processor once; so it is built when the first of them starts it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from toolchain.go import LackingGo, find_go, go_build, pins_of
from toolchain.layout import CheckoutLayout
from toolchain.making import exclusive, is_made, replacing
from toolchain.missing import MachineLacks
from toolchain.progress import say, step

RELEASE = "v1.8.0"
"""The release that toolchain/versity/go.mod pins; the built program says it of itself."""

_FLAGS = (
    "-mod=readonly",
    "-trimpath",
    # The module itself does not know its version: the project's Makefile sets it in the same way.
    f"-ldflags=-s -w -X main.Version={RELEASE}",
)
_LACKING = LackingGo("Tests of buckets run the Versity gateway, a real S3 server, and to build it")


def ensure_versity(layout: CheckoutLayout, search: str) -> Path:
    """The gateway's program, built if it is not there yet; MachineLacks if that is not possible."""
    source, program = pins_of(layout.versity_module, _FLAGS), layout.built_versity / "bin" / "versitygw"
    if is_made(layout.built_versity, source):
        return program
    with exclusive(layout.versity_lock):
        if not is_made(layout.built_versity, source):
            _build(layout, search, source)
    return program


def _build(layout: CheckoutLayout, search: str, source: str) -> None:
    go = find_go(layout.versity_module, search, _LACKING)
    say(f"  building the Versity gateway {RELEASE} from toolchain/versity/go.mod (about two minutes the first time)")
    with step(f"Versity gateway {RELEASE}"), replacing(layout.built_versity, source) as fresh:
        go_build("the Versity gateway", go, layout.versity_module, _FLAGS, fresh / "bin")
        said = release_of(fresh / "bin" / "versitygw")
        if said != RELEASE:
            raise MachineLacks(
                f"The Versity gateway just built says it is {said!r}, not {RELEASE!r}. See toolchain/versity.py."
            )


def release_of(program: Path) -> str:
    """What the program says of its version; empty if it says none."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False)
    match = re.search(r"^Version\s*:\s*(\S+)", done.stdout, re.MULTILINE)
    return match[1] if match else ""
