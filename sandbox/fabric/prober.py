"""Sends frames from hosts and sees which other hosts get them.

One process has a raw socket in each host's namespace. It reads what arrives at the interface itself, so that nothing
has to answer and a way in one direction shows alone.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType

from .fabric import HOST_INTERFACE, Fabric
from .frames import Mark, Probe, read, written
from .namespaces import FabricFailed, inside

_ALL_PROTOCOLS = 0x0003
_SOL_PACKET, _AUXDATA = 263, 8
_VLAN_VALID = 0x10
_OUTGOING = 4
#: Of one read: the auxiliary data of a packet socket has 20 bytes.
_ROOM, _LONGEST = socket.CMSG_SPACE(20), 2048
#: `ovs-vswitchd` takes up to 32 frames from each port in one round, and answers its control socket once in each.
_BATCH, _ROUNDS_OF_A_WAY = 32, 8
_RECEIVE_BUFFER = 4 << 20
#: How long to wait for frames that must come; the machine may be busy.
_PATIENCE = 5.0


class NothingShown(FabricFailed):
    """A run that shows nothing: no frame was sent, or one that had to arrive did not."""


@dataclass(frozen=True)
class Arrival:
    """A frame that a host got. `tag`: the VLAN tag that it bore then; `number`: the probe's place among all."""

    receiver: str
    probe: Probe
    tag: int | None
    number: int


@dataclass(frozen=True)
class Seen:
    """What one round showed: everything that was sent, and everything that arrived."""

    sent: tuple[Probe, ...]
    arrivals: tuple[Arrival, ...]

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """(sender, receiver) of all frames that arrived, by whichever tag."""
        return frozenset((item.probe.sender, item.receiver) for item in self.arrivals)

    def of(self, sender: str, receiver: str) -> frozenset[Probe]:
        """The frames that one host got from another."""
        return frozenset(
            item.probe for item in self.arrivals if (item.probe.sender, item.receiver) == (sender, receiver)
        )

    def __str__(self) -> str:
        found = {(item.probe.sender, item.probe.tags, item.receiver, item.tag) for item in self.arrivals}
        lines = sorted(f"{a} sent {tags or 'untagged'}, {b} got it with tag {tag}" for a, tags, b, tag in found)
        return "\n".join([f"{len(self.sent)} frames sent", *lines])


class Prober(AbstractContextManager["Prober"]):
    """Sockets in the namespaces of a fabric's hosts, or of some of them."""

    def __init__(self, fabric: Fabric, hosts: Collection[str] | None = None, *, patience: float = _PATIENCE) -> None:
        """`hosts`: all by default. `patience`: for how many seconds frames that must come are waited for."""
        self.fabric = fabric
        self.hosts = sorted(fabric.wiring.hosts if hosts is None else hosts)
        self._number = {host: number for number, host in enumerate(self.hosts)}
        self._sockets = {host: _opened(fabric.namespace(host)) for host in self.hosts}
        self._selector = selectors.DefaultSelector()
        for host, link in self._sockets.items():
            self._selector.register(link, selectors.EVENT_READ, host)
        self._round, self._patience = 0, patience

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._selector.close()
        for link in self._sockets.values():
            link.close()

    def probe(
        self,
        probes: Sequence[Probe],
        *,
        control: Collection[tuple[str, str]] = (),
        awaited: Collection[tuple[str, str]] = (),
    ) -> Seen:
        """Send these frames and wait until the switches have nothing more to forward.

        `control`: (sender, receiver) that must be among the pairs; `awaited`: pairs for which there is patience, and no
        error. Raises NothingShown if one of `control` is absent, or if no frame is sent.
        """
        if not probes:
            raise NothingShown("no frame was sent")
        found = list[Arrival]()
        for part in self._send(probes):
            self.settle()
            found += part()
        until = time.monotonic() + self._patience
        while _absent({*control, *awaited}, found) and time.monotonic() < until:
            self._selector.select(0.05)
            found += self._received(probes)
        missing = _absent(control, found)
        if missing:
            raise NothingShown(f"positive control: no frame of {_words(missing)}")
        return Seen(tuple(probes), tuple(found))

    def settle(self) -> None:
        """Wait until whatever was sent before has gone through all switches.

        Forwarding is done by the thread that answers the control socket, once in each round, so a number of answers
        is a number of rounds, however busy the machine is.
        """
        for _ in range(len(self.fabric.wiring.switches) + _ROUNDS_OF_A_WAY):
            self.fabric.control("version")

    def begin(self) -> None:
        """A new round: frames of earlier ones that arrive late are not counted."""
        self._round += 1

    def send(self, probe: Probe, number: int = 0) -> None:
        """One frame, and no waiting: for traffic that goes on while something else is done."""
        mark = Mark(self._round, self._number[probe.sender], number)
        self._sockets[probe.sender].send(written(probe, mark))

    def arrived(self, probes: Sequence[Probe]) -> list[Arrival]:
        """What has arrived of frames that were sent by `send`, each with its place in `probes` as its number."""
        return self._received(probes)

    def _send(self, probes: Sequence[Probe]) -> Iterator[Callable[[], list[Arrival]]]:
        """In parts that no buffer on the way is too small for."""
        self.begin()
        for first in range(0, len(probes), _BATCH):
            for number, probe in enumerate(probes[first : first + _BATCH], start=first):
                self.send(probe, number)
            yield lambda: self._received(probes)

    def _received(self, probes: Sequence[Probe]) -> list[Arrival]:
        found = []
        for key, _ in self._selector.select(0):
            for mark, tag in _drained(self._sockets[key.data]):
                if mark.round == self._round and mark.host != self._number[key.data]:
                    found.append(Arrival(key.data, probes[mark.number], tag, mark.number))
        return found


def everybody(hosts: Collection[str]) -> frozenset[tuple[str, str]]:
    """Every pair of different hosts, in both directions."""
    return frozenset((a, b) for a in hosts for b in hosts if a != b)


def _absent(pairs: Collection[tuple[str, str]], arrivals: Collection[Arrival]) -> set[tuple[str, str]]:
    return set(pairs) - {(item.probe.sender, item.receiver) for item in arrivals}


def _words(pairs: Collection[tuple[str, str]]) -> str:
    return ", ".join(f"{a} to {b}" for a, b in sorted(pairs))


def _opened(namespace: str) -> socket.socket:
    with inside(namespace):
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
    try:
        link.setsockopt(_SOL_PACKET, _AUXDATA, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        link.bind((HOST_INTERFACE, _ALL_PROTOCOLS))
        link.setblocking(False)
    except BaseException:
        link.close()
        raise
    return link


def _drained(link: socket.socket) -> Iterator[tuple[Mark, int | None]]:
    """The marks of frames that wait at a socket, and the tags that they bore."""
    while True:
        try:
            frame, extra, _, address = link.recvmsg(_LONGEST, _ROOM)
        except BlockingIOError:
            return
        mark = read(frame)
        if mark is not None and address[2] != _OUTGOING:
            yield mark, _tag(extra)


def _tag(extra: list[tuple[int, int, bytes]]) -> int | None:
    """The kernel takes the outer tag off a frame and tells it beside."""
    for level, kind, data in extra:
        if (level, kind) == (_SOL_PACKET, _AUXDATA):
            status, _, _, _, _, tag = struct.unpack("=IIIHHH", data[:18])
            return tag & 0xFFF if status & _VLAN_VALID else None
    return None
