"""Servers of a cluster on one machine, with Debian's Slurm in each: a namespace of network, mounts and host name.

Each server has its planned name, its planned address on a bridge, its planned files at their paths, and every daemon
the port that it has in a real cluster. What the test machine forces to be otherwise is `forced`, of nodes
alone, and nothing else: controllers take the files as they are.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

#: Program -> the Debian package that has it.
PROGRAMS = {
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "srun": "slurm-wlm",
    "scontrol": "slurm-wlm",
    "slurmdbd": "slurmdbd",
    "sacct": "slurm-wlm",
    "mariadbd": "mariadb-server-core",
    "munged": "munge",
    "ip": "iproute2",
}
#: Line of slurm.conf -> what stands there in these tests.
FORCED = {
    "ProctrackType=proctrack/cgroup": "ProctrackType=proctrack/pgid",
    "TaskPlugin=task/cgroup": "TaskPlugin=task/none",
    "JobAcctGatherType=jobacct_gather/cgroup": "JobAcctGatherType=jobacct_gather/linux",
    "TaskPlugin=task/cgroup,task/affinity": "TaskPlugin=task/none",
}
_PACKAGES = " ".join(dict.fromkeys(PROGRAMS.values()))
_SYSTEM = "/usr/sbin:/sbin"
#: Seconds until something that was started answers.
PATIENCE = 30
#: Which interface of a server leads to the others.
_PORT = "eth0"

#: Ends with its standard input, and with it whatever runs in its process namespace.
_HALL = """\
set -eu
ip link set lo up
ip link add hall type bridge
ip link set hall up
echo ready
cat > /dev/null
"""
#: With: name, folder of the server, folder of all. Its GPUs are the null device under eight other names.
_SERVER = """\
set -eu
hostname "$1"
mount --bind "$2/etc-slurm" /etc/slurm
mount --bind "$2/hosts" /etc/hosts
mount --bind "$2/log" /var/log/slurm
mount -t tmpfs tmpfs /run
mkdir /run/munge /run/dev
mount --bind "$3/munge" /run/munge
mount -t tmpfs tmpfs /var/lib/slurm
mkdir /var/lib/slurm/slurmctld /var/lib/slurm/slurmd
chown slurm: /var/lib/slurm/slurmctld
mount --bind "$3/shared" /mnt
ip link set lo up
mount -t tmpfs tmpfs /run/dev
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /run/dev
mkdir /run/dev/pts /run/dev/shm
for number in 0 1 2 3 4 5 6 7; do mknod "/run/dev/nvidia$number" c 1 3; done
mount --move /run/dev /dev
echo ready
cat > /dev/null
"""


class SlurmLacks(Exception):
    """The machine has no Slurm, or this process may not make namespaces; says which line gets it."""


class SlurmFailed(Exception):
    """A daemon or a command of Slurm failed; with its words."""


def forced(files: Mapping[str, str]) -> dict[str, str]:
    """Files as they are generated, but for cgroups: a machine may have none to give, or may have systemd over them."""
    return {path: _forced(text) for path, text in files.items()}


def _forced(text: str) -> str:
    for planned, here in FORCED.items():
        text = text.replace(f"{planned}\n", f"{here}\n")
    return text


def require_slurm() -> None:
    """Raise SlurmLacks unless all programs are there and this process is root."""
    absent = [name for name in PROGRAMS if _found(name) is None]
    if absent:
        line = f"sudo apt-get install -y --no-install-recommends {_PACKAGES}"
        raise SlurmLacks(f"a real Slurm needs {', '.join(absent)}. Run: {line}")
    if os.geteuid() != 0:
        raise SlurmLacks("servers in namespaces of their own need root. Run: sudo ./run test tests/slurm")


def program(name: str) -> str:
    """The path of a program of `PROGRAMS`, once `require_slurm` found it."""
    found = _found(name)
    assert found is not None
    return found


def _found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_SYSTEM)


@dataclass
class SlurmServer:
    """One server: the process that holds its namespaces, and what was started in it."""

    name: str
    folder: Path
    pid: int
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def inside(self, *command: str) -> list[str]:
        """A command line that runs in it."""
        return ["nsenter", "--target", str(self.pid), "--pid", "--net", "--mount", "--uts", "--", *command]

    def run(self, *command: str, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Run a command in it to its end, whatever that is."""
        return subprocess.run(self.inside(*command), capture_output=True, text=True, check=False, timeout=timeout)

    def say(self, *command: str) -> str:
        """What a command prints. Raises SlurmFailed."""
        done = self.run(*command)
        if done.returncode:
            raise SlurmFailed(f"{self.name}: {' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def start(self, daemon: str, *options: str) -> None:
        """Start a daemon, in the foreground of a process of its own."""
        with (self.folder / "log" / f"{daemon}.out").open("ab") as log:
            self.daemons[daemon] = subprocess.Popen(
                self.inside(program(daemon), *options), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self, daemon: str) -> None:
        """Kill a daemon, as a power failure does. `nsenter` forked for it."""
        front = self.daemons.pop(daemon)
        subprocess.run(["kill", "-9", *_children(front.pid)], check=False)
        front.wait(timeout=PATIENCE)

    def log(self, daemon: str) -> str:
        """What it wrote, before and after it had its log file."""
        paths = (self.folder / "log" / f"{daemon}.{kind}" for kind in ("out", "log"))
        return "".join(path.read_text(errors="replace") for path in paths if path.exists())


@dataclass(frozen=True)
class SlurmHall:
    """All servers of one cluster."""

    folder: Path
    pid: int
    servers: dict[str, SlurmServer]

    def wait(self, what: str, until: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait for something. Raises SlurmFailed with the logs of the first servers."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if until():
                return
            time.sleep(0.2)
        logs = "\n".join(
            f"{server.name} {daemon}: {server.log(daemon)[-1500:]}"
            for server in list(self.servers.values())[:3]
            for daemon in server.daemons
        )
        raise SlurmFailed(f"not after {patience} s: {what}\n{logs}")


@contextmanager
def slurm_hall(
    folder: Path, files: Mapping[str, Mapping[str, str]], addresses: Mapping[str, str]
) -> Iterator[SlurmHall]:
    """Servers by name with their files and addresses, joined, with one munged for all, and no daemon of Slurm yet.

    Raises SlurmLacks. All that runs in it ends with the block, and with this process.
    """
    require_slurm()
    for name in ("munge", "shared"):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(0o755)
    shutil.chown(folder / "shared", "slurm")
    with ExitStack() as running:
        flags = ("--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--uts")
        pid = running.enter_context(_holding("unshare", *flags, "sh", "-c", _HALL))
        hall = SlurmHall(folder, pid, {})
        for name, its in files.items():
            hall.servers[name] = running.enter_context(_server(hall, name, its))
        _join(hall, addresses)
        _start_munge(next(iter(hall.servers.values())), folder)
        yield hall


@contextmanager
def _server(hall: SlurmHall, name: str, files: Mapping[str, str]) -> Iterator[SlurmServer]:
    folder = hall.folder / name
    for part in ("etc-slurm", "log"):
        (folder / part).mkdir(parents=True)
    shutil.chown(folder / "log", "slurm")
    for path, text in files.items():
        under = folder / "etc-slurm" if path.startswith("/etc/slurm/") else folder
        (under / Path(path).name).write_text(text, encoding="utf-8")
    entered = ("nsenter", "--target", str(hall.pid), "--pid", "--net", "--mount", "--")
    own = ("unshare", "--net", "--mount", "--uts", "sh", "-c", _SERVER, "sh", name, str(folder), str(hall.folder))
    with _holding(*entered, *own) as pid:
        yield SlurmServer(name, folder, pid)


@contextmanager
def _holding(*command: str) -> Iterator[int]:
    """A process that holds namespaces until the end of the block; its id. The program in front of it forks once."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    try:
        if child.stdout.readline() != b"ready\n":
            raise SlurmFailed(f"no namespaces: {child.communicate(timeout=5)[1].decode(errors='replace').strip()}")
        yield int(_children(child.pid)[0])
    finally:
        child.kill()
        child.communicate()


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _join(hall: SlurmHall, addresses: Mapping[str, str]) -> None:
    """A cable from each server to the bridge."""
    lines = []
    for number, server in enumerate(hall.servers.values()):
        lines.append(f"link add v{number} type veth peer name {_PORT} netns {server.pid}")
        lines.append(f"link set v{number} master hall up")
    _ip(hall.pid, lines)
    for name, server in hall.servers.items():
        _ip(server.pid, [f"addr add {addresses[name]}/24 dev {_PORT}", f"link set {_PORT} up"])


def _ip(pid: int, lines: list[str]) -> None:
    command = ["nsenter", "--target", str(pid), "--net", "ip", "-batch", "-"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    if done.returncode:
        raise SlurmFailed(done.stderr.strip())


def _start_munge(server: SlurmServer, folder: Path) -> None:
    """The daemon that signs for all, with a key of this run."""
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    own = ("--key-file", key, "--pid-file", folder / "munged.pid", "--seed-file", folder / "seed")
    log = folder / "munged.log"
    done = server.run("munged", "--force", "--socket=/run/munge/munge.socket.2", *map(str, own), f"--log-file={log}")
    if done.returncode:
        raise SlurmFailed(f"munged: {done.stderr}")
