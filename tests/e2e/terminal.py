"""A terminal in which somebody sits: what a program asks is answered with keys."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from dataclasses import dataclass, field

from tests.e2e.project import Project, Result

#: From the answer that the engine offers, `no`, one line up and return.
YES = "\x1b[A\r"


@dataclass
class Terminal:
    """A command of a project on a terminal of its own."""

    process: subprocess.Popen[bytes]
    screen: int
    said: str = ""
    _raw: bytearray = field(default_factory=bytearray)

    @classmethod
    def start(cls, project: Project, *command: str) -> Terminal:
        """Start a command with the terminal as its input and output."""
        screen, behind = pty.openpty()
        process = subprocess.Popen(
            command, cwd=project.folder, env={**project.environment, "TERM": "xterm"},
            stdin=behind, stdout=behind, stderr=behind, start_new_session=True,
        )  # fmt: skip
        os.close(behind)
        return cls(process, screen)

    def until(self, text: str, seconds: float = 300.0) -> None:
        """Wait for words on the screen."""
        end = time.monotonic() + seconds
        while text not in self.said:
            assert time.monotonic() < end, f"{text!r} never came:\n{self.said}"
            assert self._read(), f"it ended without {text!r}:\n{self.said}"

    def keys(self, pressed: str) -> None:
        """Press keys."""
        os.write(self.screen, pressed.encode())

    def end(self) -> Result:
        """How the command ended, and all that the screen showed."""
        while self._read():
            pass
        os.close(self.screen)
        return Result(self.process.wait(60), self.said, "")

    def _read(self) -> bool:
        """Take in what the screen shows; False when nothing more can come."""
        if not select.select([self.screen], [], [], 1.0)[0]:
            return True
        try:
            more = os.read(self.screen, 65536)
        except OSError:  # Linux: the last one behind the screen has closed it
            return False
        self._raw += more
        self.said = self._raw.decode(errors="replace")
        return bool(more)
