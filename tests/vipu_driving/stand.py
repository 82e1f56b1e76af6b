"""A served controller of the simulator, and its commands as programs that `vipu.yaml` names."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from interlock.vipu.client import ControllerClient
from interlock.vipu.loading import ControllerAccess, load_vipu
from interlock.vipu.transport import LocalRunner, Ran
from sandbox.vipu import shims
from sandbox.vipu.__main__ import write_shims
from sandbox.vipu.faults import vipu_fault_of
from sandbox.vipu.serving import Serving
from tests.vipu.desk import Desk

SERVER = "5b0f3a52-7d3c-4f5e-9a3f-0d2f6f0d9a11"


@dataclass
class Stand:
    """The controller behind `serving`, and the folder with `vipu.yaml`."""

    desk: Desk
    serving: Serving
    folder: Path

    def write(self, more: str = "", folder: Path | None = None) -> Path:
        """`vipu.yaml`, the commands it names, and the settings that they read."""
        write_shims(self.folder / "bin")
        host, port = self.serving.admin
        config = self.folder / "admin.hcl"
        config.write_text(f'api-host="{host}"\napi-port={port}\n')
        config.chmod(0o600)
        file = (folder or self.folder) / "vipu.yaml"
        file.write_text(
            "controllers:\n  default:\n    run: local\n"
            f"    command: [{self.folder / 'bin' / 'vipu-admin'}]\n"
            f"    user_command: [/usr/bin/env, HOME={self.folder}, {self.folder / 'bin' / 'vipu'}]\n"
            f"    config: {config}\n    flags: {{no-wait: --no-wait}}\n{more}"
        )
        return file

    def access(self) -> ControllerAccess:
        """How it is reached."""
        found = load_vipu(self.write()).of("acme-train-controller")
        assert found is not None
        return found.of(SERVER, "acme-train-controller", "10.0.0.5")

    def controller(self, told: Any = lambda _: None) -> ControllerClient:
        """It, with its commands run in this process: starting one for each takes most of a test's time."""
        return ControllerClient("acme-train-controller", self.access(), InProcess(self.folder), told)

    def fault(self, text: str) -> None:
        """The next such call goes wrong."""
        self.serving.faults.add(vipu_fault_of(text))


@dataclass
class InProcess:
    """Runs the programs of the simulator as functions."""

    folder: Path

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it."""
        at = next(number for number, word in enumerate(words) if Path(word).name in ("vipu", "vipu-admin"))
        out, err = io.StringIO(), io.StringIO()
        # A folder of its own, as the real one gives each command.
        with (
            tempfile.TemporaryDirectory(dir=self.folder) as own,
            contextlib.chdir(own),
            mock.patch.dict(os.environ, {"HOME": own}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = shims.main(words[at + 1 :], "user" if Path(words[at]).name == "vipu" else "admin")
        return Ran(code, out.getvalue(), err.getvalue())


@dataclass
class Recording:
    """Runs commands as another runner does, and keeps their words."""

    inner: LocalRunner
    lines: list[tuple[str, ...]]

    def run(self, words: Any) -> Ran:
        """What came of it."""
        self.lines.append(tuple(words))
        return self.inner.run(words)


PYTHON = sys.executable
