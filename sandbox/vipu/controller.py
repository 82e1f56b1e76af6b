"""One controller: its state in a folder, one call after the other, each written before it is answered."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from .access import VipuAccess, caller_of, check_served
from .allocation_calls import new_user
from .clock import Durations, SystemClock, VipuClock
from .commands import command_of
from .handlers import HANDLERS
from .objects import ControllerState
from .racks import Racks, read_racks
from .refusals import VipuRefused
from .scene import Call, Scene
from .settling import VipuEvent, killed, settled
from .storage import ControllerStorage


@dataclass(frozen=True)
class ControllerSettings:
    """How a controller runs; none of it is in its storage."""

    secure: bool = False
    durations: Durations = field(default_factory=Durations)
    #: Back-end networks on which it hears agents.
    interfaces: tuple[str, ...] = ()
    release: str = "1.18.0"


@dataclass
class VipuController:
    """Answers calls. Use `opened`, which locks the folder and reads what a killed one left."""

    storage: ControllerStorage
    racks_file: Path
    clock: VipuClock
    settings: ControllerSettings
    state: ControllerState
    held: IO[str]
    _read: tuple[tuple[int, int, int], Racks] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def answer(self, call: Call, access: VipuAccess | None = None) -> Any:
        """What `--showjson` prints of it. Raises VipuRefused, with nothing done."""
        access = access or VipuAccess()
        with self._lock:
            self.settle()
            caller = caller_of(self.state, access, secure=self.settings.secure)
            check_served(call, access, caller)
            command = command_of(call.verb, call.noun)
            assert command is not None
            if (command.verb, command.noun) == ("discover", "agent"):
                return self._heard()
            scene = Scene(self.state, self._racks(), self.clock.now(), self.settings.durations, caller)
            outcome = HANDLERS[command.verb, command.noun](scene, call)
            if command.changes:
                what = f"{command.words} by {caller.user or 'anybody'}"
                self._become(outcome.state, (VipuEvent(scene.now, f"{command.noun} {call.id}", what),))
                self.settle()
            return outcome.value

    def settle(self) -> None:
        """Let what time and hardware do to the objects be done until now."""
        with self._lock:
            later = settled(self.state, self._racks(), self.clock.now())
            if later.state != self.state:
                self._become(later.state, later.events, killed_too=False)

    def close(self) -> None:
        """Give the folder up."""
        self.held.close()

    def _become(self, state: ControllerState, events: tuple[VipuEvent, ...], *, killed_too: bool = True) -> None:
        racks, now = self._racks(), self.clock.now()
        if killed_too:
            lost = (killed(self.state, state, racks, name, now) for name in self.state.partitions)
            events += tuple(event for found in lost for event in found)
        self.storage.write(state)
        self.state = state
        self.storage.log(events)

    def _racks(self) -> Racks:
        """The hardware as the file has it now; the file is read again when it is another one."""
        status = self.racks_file.stat()
        known = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._read is None or self._read[0] != known:
            self._read = (known, read_racks(self.racks_file))
        return self._read[1]

    def _heard(self) -> list[dict[str, Any]]:
        """Agents that are heard on the networks it listens on and are not its own, whosever they are."""
        own = {(item.host, item.port) for item in self.state.agents.values()}
        return [
            {
                "host": machine.host,
                "port": machine.port,
                "network_interface": machine.interface,
                "time_since_last_seen": "1s",
                "agent_auto_add_id": f"ag.{machine.lrack:02}.{machine.position:02}",
            }
            for machine in self._racks().machines
            if machine.answers and machine.interface in self.settings.interfaces
            and (machine.host, machine.port) not in own
        ]  # fmt: skip


def opened(
    folder: Path, racks_file: Path, clock: VipuClock | None = None, settings: ControllerSettings | None = None
) -> VipuController:
    """A controller on its folder, as after a start. Raises StorageBusy, FormWrong.

    Whether agents answer is not known at first, as nothing was heard of them yet.
    """
    storage, settings, clock = ControllerStorage(folder), settings or ControllerSettings(), clock or SystemClock()
    held = storage.locked()
    try:
        state = storage.read() if storage.exists() else ControllerState()
        read_racks(racks_file)
    except BaseException:
        held.close()
        raise
    contact_at = clock.now() + settings.durations.contact
    agents = {name: replace(item, contact_at=contact_at, state="UNKNOWN") for name, item in state.agents.items()}
    controller = VipuController(storage, racks_file, clock, settings, replace(state, agents=agents), held)
    storage.write(controller.state)
    return controller


def initialised(folder: Path, admin: str, key: str) -> None:
    """Storage with a default admin, where there is none yet. Raises StorageBusy, VipuRefused if there is."""
    storage = ControllerStorage(folder)
    with storage.locked():
        if storage.exists():
            raise VipuRefused("exists", noun="storage", id=str(storage.file))
        user = new_user(admin, key, admin=True, allocations=None)
        storage.write(ControllerState(users={admin: user}))
