"""Frames without end while something else is done, and who got them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.frames import Probe
from sandbox.fabric.prober import Arrival, Prober

from .applied import Plug, sender_of

#: Between two frames of a port, in seconds; less than a port takes from one command of a driver to the next.
PACE = 0.004
#: Others than those whose ports are changed send once in so many turns.
SELDOM = 16


@dataclass
class Traffic:
    """`watched` send always, `others` now and then. Arrivals are counted by (sender, receiver)."""

    watched: tuple[Plug, ...]
    others: tuple[Plug, ...]
    turns: int = 0
    arrived: Counter[tuple[Plug, Plug]] = field(default_factory=Counter)
    _over: threading.Event = field(default_factory=threading.Event)
    _failed: list[BaseException] = field(default_factory=list)

    def go(self, prober: Prober) -> None:
        """Until it is over."""
        plugs = (*self.watched, *self.others)
        probes = [Probe(plug.host, plug.tags) for plug in plugs]
        prober.begin()
        try:
            while not self._over.is_set():
                took = len(plugs) if self.turns % SELDOM == 0 else len(self.watched)
                for number in range(took):
                    prober.send(probes[number], number)
                self.turns += 1
                # The control socket answers once in a round: never more than a switch forwards.
                prober.fabric.control("version")
                self.count(prober.arrived(probes))
                self._over.wait(PACE)
            prober.settle()
            self.count(prober.arrived(probes))
        except BaseException as error:
            self._failed.append(error)
            raise

    def count(self, arrivals: Collection[Arrival]) -> None:
        """Who got what from whom."""
        self.arrived.update((sender_of(item), Plug(item.receiver, item.tag)) for item in arrivals)

    def got(self, senders: Collection[Plug], host: str) -> set[int | None]:
        """The tags by which a host heard some."""
        return {there.tag for (sender, there) in self.arrived if sender in senders and there.host == host}


@contextmanager
def traffic(
    fabric: Fabric, watched: Collection[Plug], others: Collection[Plug], hearing: Collection[str]
) -> Iterator[Traffic]:
    """Traffic for a while. `hearing`: hosts that only listen."""
    going = Traffic(tuple(watched), tuple(others))
    hosts = {*hearing, *(plug.host for plug in (*watched, *others))}
    with Prober(fabric, hosts) as prober:
        thread = threading.Thread(target=going.go, args=(prober,))
        thread.start()
        try:
            yield going
            time.sleep(10 * PACE)
        finally:
            going._over.set()
            thread.join()
    assert not going._failed
    assert going.turns > 0
