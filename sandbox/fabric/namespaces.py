"""Network namespaces: made and removed by `ip`, entered for a while by this thread; their interfaces, switched on."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .needs import program

FOLDER = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCETHTOOL = 0x8913, 0x8914, 0x8946
_ETHTOOL_STXCSUM = 0x17
_IFF_UP = 0x1
_LONGEST_WAIT = 5.0


class FabricFailed(Exception):
    """A program of the fabric failed; with its words."""


def run(*command: str, text: str | None = None, env: dict[str, str] | None = None) -> str:
    """Run a program to its end and return what it printed. Raises FabricFailed."""
    done = subprocess.run(
        [program(command[0]), *command[1:]], input=text, text=True, capture_output=True, check=False, env=env
    )
    if done.returncode:
        shown = " ".join(command)
        raise FabricFailed(f"{shown[:300]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def batch(lines: Sequence[str]) -> None:
    """Several commands of `ip` by one process. Raises FabricFailed at the first that fails."""
    if lines:
        run("ip", "-batch", "-", text="\n".join(lines) + "\n")


def with_prefix(prefix: str) -> list[str]:
    """The namespaces that there are whose names begin so."""
    return sorted(path.name for path in FOLDER.glob(f"{prefix}*")) if FOLDER.is_dir() else []


def remove(names: Sequence[str]) -> None:
    """Ends everything that runs in these namespaces and removes them, with all interfaces in them."""
    pids = {int(word) for name in names for word in run("ip", "netns", "pids", name).split()}
    for pid in pids:
        # Nothing is worth being put in order: the database goes as well.
        _kill(pid)
    until = time.monotonic() + _LONGEST_WAIT
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.01)
    batch([f"netns del {name}" for name in names])


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@contextmanager
def inside(name: str) -> Iterator[None]:
    """This thread in a namespace; sockets that are opened there stay there. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open("rb") as here, (FOLDER / name).open("rb") as there:
        _set(libc, there.fileno())
        try:
            yield
        finally:
            _set(libc, here.fileno())


def _set(libc: ctypes.CDLL, number: int) -> None:
    # os.setns is new in Python 3.12.
    if libc.setns(number, _CLONE_NEWNET):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def quieten() -> None:
    """No IPv6 by the kernel itself on interfaces that are made from now on in this thread's namespace.

    Else the kernel under a switch would answer on the switch's ports.
    """
    for which in ("all", "default"):
        path = Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6")
        if path.exists():
            path.write_text("1")


def switch_on(interfaces: Sequence[str]) -> None:
    """Sets interfaces of this thread's namespace up, and their checksums done by whoever sends.

    A switch in user space hands frames on as they are, also those of which the checksum was left to a card.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for name in interfaces:
            value = array("I", [_ETHTOOL_STXCSUM, 0])
            fcntl.ioctl(any_socket, _SIOCETHTOOL, struct.pack("16sP", name.encode(), value.buffer_info()[0]))
            asked = struct.pack("16sH14x", name.encode(), 0)
            flags: int = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked))[1]
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", name.encode(), flags | _IFF_UP))
