"""The processes of a subnet: started with files of their own, ended for good, at the latest with who started them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .binding import bound

#: Seconds that a program that answers at once may take, and that something is waited for.
QUERY_SECONDS = 20.0
WAIT_SECONDS = 20.0
#: The same of a standby, which first asks several times in vain, on a machine that is busy.
TAKEOVER_SECONDS = 180.0
_POLL = 0.01


class SubnetFailed(Exception):
    """A program of the simulated subnet failed, or did not get ready; says which one, and what it said last."""


def wait_until(is_so: Callable[[], bool], what: str, log: Path | None = None, seconds: float = WAIT_SECONDS) -> None:
    """Return when it is so. Raises SubnetFailed with the end of the log if it takes too long."""
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            raise SubnetFailed(f"not after {seconds:.0f} s: {what}{last_of(log)}")
        time.sleep(_POLL)


def last_of(log: Path | None) -> str:
    """The end of a log, for an error."""
    if log is None or not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:]
    return "".join(f"\n  {line}" for line in (f"{log}:", *lines))


class Daemon:
    """A process that ends with the thread that starts it. By its pid file another run in its folder finds it."""

    def __init__(self, folder: Path, name: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.output = folder / f"{name}.out"
        self._pid_file = folder / f"{name}.pid"
        # A pipe that the process itself holds open as well: ibsim spins where its console ends.
        pipe = folder / f"{name}.console"
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe, 0o600)
        self._console = os.open(pipe, os.O_RDWR)
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                bound(words, environment),
                cwd=folder,
                stdin=self._console,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._pid_file.write_text(f"{self.process.pid} {_started(self.process.pid)}\n", encoding="ascii")

    @property
    def runs(self) -> bool:
        """True while it has not ended."""
        return self.process.poll() is None

    def send(self, number: int) -> None:
        """Send a signal. Raises SubnetFailed if the process has ended."""
        if not self.runs:
            raise SubnetFailed(f"{self.name} ended with {self.process.returncode}{last_of(self.output)}")
        self.process.send_signal(number)

    def type(self, line: str) -> None:
        """Write a line to its console."""
        if not self.runs:
            raise SubnetFailed(f"{self.name} ended with {self.process.returncode}{last_of(self.output)}")
        os.write(self._console, f"{line}\n".encode())

    def kill(self) -> None:
        """End it at once. OpenSM without its fabric heeds nothing else."""
        self.process.kill()
        self.process.wait()
        os.close(self._console)
        self._pid_file.unlink(missing_ok=True)


def end_leftovers(folder: Path) -> None:
    """End what another run has in this folder: processes of its pid files that started when these say."""
    for pid_file in sorted(folder.glob("*.pid")):
        words = pid_file.read_text(encoding="ascii").split()
        if len(words) == 2 and _started(int(words[0])) == words[1]:
            _end(int(words[0]))
        pid_file.unlink()


def _end(pid: int) -> None:
    """Kill it, and wait: its socket is free once it has ended."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), f"process {pid} ends")


def is_running(pid: int) -> bool:
    """False once it has ended, also while nobody has asked for its exit code."""
    return _stat(pid)[:1] not in ([], ["Z"])


def _started(pid: int) -> str:
    """When a process started, in ticks since the machine did; empty if there is none."""
    return (_stat(pid)[19:20] or [""])[0]


def _stat(pid: int) -> list[str]:
    """What the kernel says of a process from its state on; nothing if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
