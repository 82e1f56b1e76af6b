"""The operating-system processes of one instance: start, watch, stop."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.launcher import configuration, frames
from sandbox.launcher.births import birth
from sandbox.launcher.catalogue import PROCESSES, Process, processes_of
from sandbox.launcher.errors import SandboxError, with_log
from sandbox.launcher.layout import Instance
from sandbox.launcher.progress import say
from sandbox.rack.reading import rack_of

START_SECONDS = 180.0
STOP_SECONDS = 8.0


@dataclass(frozen=True)
class Health:
    """What `status` tells of one process: `http` is each listener's answer, 0 for none; memory in MiB."""

    name: str
    pid: int
    ready: bool
    http: dict[str, int]
    rss_mib: int

    def as_data(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def pid_file(instance: Instance, name: str) -> Path:
    """Holds the process id and when it began."""
    return instance.run / f"{name}.pid"


def output_file(instance: Instance, name: str) -> Path:
    """What the process printed: its own story of the start, and a traceback when it died."""
    return instance.logs / f"{name}.out"


def logs(instance: Instance, process: Process) -> tuple[Path, Path]:
    """Where to look when a process fails: what it printed, and the log of its first service."""
    return output_file(instance, process.name), instance.logs / f"{process.listeners[0]}.log"


def pid_of(instance: Instance, process: Process) -> int:
    """The process id of a running process, else 0. A number that some other program has now is no match."""
    try:
        pid, began = pid_file(instance, process.name).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return 0
    return int(pid) if birth(int(pid)) == began else 0


def running(instance: Instance) -> dict[str, int]:
    """Process ids by name of all that run."""
    found = {process.name: pid_of(instance, process) for process in PROCESSES}
    return {name: pid for name, pid in found.items() if pid}


def spawn(instance: Instance, process: Process) -> None:
    """Start one process, detached from this terminal, unless it runs."""
    if pid_of(instance, process):
        return
    with output_file(instance, process.name).open("wb") as output:
        child = subprocess.Popen(
            configuration.command(process.module),
            cwd=instance.folder,
            start_new_session=True,
            env=configuration.environment(instance),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    pid_file(instance, process.name).write_text(f"{child.pid} {birth(child.pid)}", encoding="utf-8")


def is_ready(instance: Instance, process: Process, pid: int) -> bool:
    """Whether this very process has said that it is up; a mark left by an earlier one does not count."""
    try:
        return int((instance.run / f"{process.name}.ready").read_text(encoding="utf-8")) == pid
    except (OSError, ValueError):
        return False


def start(instance: Instance, wanted: tuple[Process, ...]) -> None:
    """Start processes and wait until all of them are ready; stops what it started when that fails."""
    before = running(instance)
    try:
        for process in wanted:
            spawn(instance, process)
        wait_ready(instance, wanted)
    except BaseException:
        stop(instance, tuple(process for process in wanted if process.name not in before))
        raise


def wait_ready(instance: Instance, wanted: tuple[Process, ...]) -> None:
    """Wait for the ready marks; a process that ends before is an error with its last words."""
    began = time.monotonic()
    left = [process for process in wanted if not check_started(instance, process)]
    while left:
        waiting = [process for process in left if not check_started(instance, process)]
        for name in [process.name for process in left if process not in waiting]:
            say(f"  {name} ready after {time.monotonic() - began:.1f} s")
        left = waiting
        if left and time.monotonic() > began + START_SECONDS:
            slow = left[0]
            raise with_log(f"{slow.name} was not ready within {START_SECONDS:.0f} s", *logs(instance, slow))
        time.sleep(0.1)


def check_started(instance: Instance, process: Process) -> bool:
    """Whether a process is ready."""
    pid = pid_of(instance, process)
    if not pid:
        raise with_log(f"{process.name} ended while starting", *logs(instance, process))
    return is_ready(instance, process, pid)


def stop(instance: Instance, wanted: tuple[Process, ...] = PROCESSES) -> int:
    """Ask processes to end, then make them. Returns how many ran."""
    pids = [pid for process in wanted if (pid := pid_of(instance, process))]
    send(pids, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while any(birth(pid) for pid in pids) and time.monotonic() < deadline:
        reap(pids)
        time.sleep(0.05)
    send([pid for pid in pids if birth(pid)], signal.SIGKILL)
    for process in wanted:
        pid_file(instance, process.name).unlink(missing_ok=True)
    return len(pids)


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal processes that may be gone by now."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        except PermissionError as error:
            message = f"process {pid} belongs to another user; stop the sandbox as that user"
            raise SandboxError(message) from error


def reap(pids: list[int]) -> None:
    """Collect children of this very command, so that they do not stay as zombies."""
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            continue


def answers(port: int, path: str) -> int:
    """The HTTP status that a listener gives, 0 when it gives none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=3) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def resident_mib(pid: int) -> int:
    """Resident memory in MiB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) // 1024


def health(instance: Instance, process: Process, ports: dict[str, int]) -> Health:
    """Look at one process and its listeners."""
    pid = pid_of(instance, process)
    path = "/healthcheck" if process.name == "swift" else "/"
    http = {
        name: answers(ports[name], path) if pid else 0
        for name in process.listeners
        if process.http and name in ports and not name.startswith("swift_")
    }
    return Health(
        process.name, pid, bool(pid) and is_ready(instance, process, pid), http, resident_mib(pid) if pid else 0
    )


def report(instance: Instance, ports: dict[str, int]) -> tuple[Health, ...]:
    """Look at all of them."""
    return tuple(health(instance, process, ports) for process in processes_of(rack_of(instance.folder)))


def as_json(instance: Instance, ports: dict[str, int], seen: tuple[Health, ...]) -> str:
    """The machine's form of `status`."""
    return json.dumps(
        {
            "version": 1,
            "dir": str(instance.folder),
            "clouds_yaml": str(instance.clouds),
            "cloud": "sandbox",
            "up": all(one.ready for one in seen),
            "frames": frames.forwarded(instance.folder),
            "ports": ports,
            "rss_mib": sum(one.rss_mib for one in seen),
            "processes": [one.as_data() for one in seen],
        },
        indent=1,
    )
