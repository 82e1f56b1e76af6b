"""What switches say of their ports, read by who needs it and shared by all who ask meanwhile.

Many switch ports are made at a time, and each wants to hear from its switch after it was set. So a switch is read by
one at a time, and whoever waited for that takes the answer if it was asked for after the caller's own change.
"""

from __future__ import annotations

import datetime
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.switches.errors import SwitchUnread
from interlock.vocabulary import InterlockError

if TYPE_CHECKING:
    from interlock.switches.loading import SwitchAccess, SwitchesRead
    from interlock.switches.observed import ObservedSwitch
    from interlock.switches.reading import Read

#: Switches that a process reads at a time: each takes a thread and a connection.
SIDE_BY_SIDE = 16


@dataclass(frozen=True)
class _Shared:
    began: float
    said: Read


def known_switches() -> SwitchesRead:
    """How switches are asked. Raises `InputErrors`."""
    # Imported here and below: a provider that makes no switch port loads neither the model nor ssh.
    from interlock.switches.loading import load_switches

    return load_switches()


def read_one(access: SwitchAccess, mac: str | None) -> Read:
    """One switch, read now. `mac`: its system MAC address, as the site states it."""
    from interlock.switches.reading import SwitchTarget, read_switches

    found = read_switches([SwitchTarget(access, None, mac)], lambda: datetime.datetime.now(datetime.UTC))
    return found[access.name]


class SwitchReadings:
    """Readings of one process. Calls block; they may come from many threads."""

    def __init__(
        self,
        load: Callable[[], SwitchesRead] = known_switches,
        read: Callable[[SwitchAccess, str | None], Read] = read_one,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load, self._read, self._clock = load, read, clock
        self._guard = threading.Lock()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._last: dict[str, _Shared] = {}

    def now(self, switch: str, mac: str | None) -> ObservedSwitch:
        """What a switch says, asked no earlier than this call. `mac`: its system MAC address, as the site states it.

        Raises `SwitchUnread`; also where `switches.yaml` does not say how it is asked.
        """
        since = self._clock()
        with self._guard:
            lock = self._locks[switch]
        with lock:
            last = self._last.get(switch)
            if last is None or last.began < since:
                last = _Shared(self._clock(), self._asked(switch, mac))
                self._last[switch] = last
        if isinstance(last.said, SwitchUnread):
            raise last.said
        return last.said

    def _asked(self, switch: str, mac: str | None) -> Read:
        try:
            known = self._load()
        except InterlockError as error:
            return SwitchUnread(switch, str(error).replace("\n", "; "), "write how it is asked, then run it again")
        access = known.switches.get(switch)
        if access is None:
            what = f"{known.file} does not say how it is asked"
            return SwitchUnread(switch, what, f"add `{switch}` under `switches:` there")
        return self._read(access, mac)
