"""A controller in this process that is asked by command lines: words, handlers, storage and time, without a network."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.vipu.access import VipuAccess
from sandbox.vipu.clock import Durations, ManualClock
from sandbox.vipu.controller import ControllerSettings, VipuController, opened
from sandbox.vipu.flags import FLAGS
from sandbox.vipu.racks import Racks, read_racks, write_racks
from sandbox.vipu.refusals import VipuRefused
from sandbox.vipu.scene import ApiName, Call
from sandbox.vipu.words import asked_command, parsed

SLOW = Durations(contact=2, cluster=5, partition=10, partition_machine=1, removal=3, deadline=60)
AT_ONCE = Durations(partition=0, partition_machine=0, removal=0)


@dataclass
class Desk:
    """One controller, its racks and its time."""

    folder: Path
    racks: Racks
    settings: ControllerSettings = field(default_factory=lambda: ControllerSettings(durations=AT_ONCE))
    clock: ManualClock = field(default_factory=ManualClock)
    access: VipuAccess = field(default_factory=VipuAccess)
    controller: VipuController = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.becomes(self.racks)
        self.controller = opened(self.folder / "state", self.racks_file, self.clock, self.settings)

    @property
    def racks_file(self) -> Path:
        return self.folder / "racks.json"

    def becomes(self, racks: Racks) -> None:
        """Something happens to the hardware."""
        write_racks(self.racks_file, racks)

    def hardware(self) -> Racks:
        return read_racks(self.racks_file)

    def do(self, line: str) -> Any:
        """What a command line is answered with. Raises VipuRefused."""
        words = parsed(shlex.split(line), FLAGS)
        command, name = asked_command(words, "admin")
        return self.controller.answer(Call(command.verb, command.noun, name, words.only(command.flags)), self.access)

    def refused(self, line: str) -> str:
        """The condition for which a command line is refused; nothing of the state changes."""
        self.controller.settle()
        before = self.controller.state
        try:
            done = self.do(line)
        except VipuRefused as error:
            assert self.controller.state == before, f"{line} was refused, and changed something"
            return error.condition
        raise AssertionError(f"{line} was done: {done}")

    def user(self, name: str, key: str, api: ApiName = "user") -> Desk:
        """The same controller, asked by somebody."""
        other = object.__new__(Desk)
        other.__dict__.update(self.__dict__)
        other.access = VipuAccess(api, name, key)
        return other

    def agents(self, numbers: range, lrack: int = 1) -> str:
        """Agents of machines of a rack, as a list for `--agents`."""
        names = []
        for number in numbers:
            name = f"ag.{lrack:02}.{number:02}"
            self.do(f"create agent {name} --host 10.2.{lrack}.{number}")
            names.append(name)
        return ",".join(names)

    def cluster(self, count: int, flags: str = "") -> str:
        """Cluster `c` of the first machines, with allocation `al` of all of it."""
        agents = self.agents(range(1, count + 1))
        self.do(f"create cluster c --agents {agents} {flags}")
        self.do("create allocation al --cluster c")
        return agents

    def state(self, partition: str) -> str:
        """The state that clients read."""
        return str(self.do(f"get partition {partition}")["partition"]["status"]["state"])

    def restarted(self) -> Desk:
        """As after kill -9: nothing but the folder is left."""
        self.controller.close()
        self.controller = opened(self.folder / "state", self.racks_file, self.clock, self.settings)
        return self
