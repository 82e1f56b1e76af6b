"""Ways in which a switch of the sandbox misbehaves while a file says so: for tests, and for who wants to see it.

NAME.hangs           it lets in whoever has a key, and says nothing: no prompt and no answer. When the file is gone it
                     goes on with what was typed meanwhile.
NAME.yesterday.json  readers are shown this table, which has the form of NAME.json. What is configured is configured.

The files lie beside the switch's table, in the instance's `state/switches`.
"""

import asyncio
import copy
from dataclasses import dataclass
from pathlib import Path

from sandbox.switches.command_line import Device
from sandbox.switches.files import FileBackend

#: Seconds between two looks at whether a switch hangs still.
INTERVAL = 0.05


@dataclass(frozen=True)
class Misbehaving:
    """One switch, and where the files are."""

    folder: Path
    name: str

    @property
    def hangs(self) -> Path:
        """The file while which is there the switch says nothing."""
        return self.folder / f"{self.name}.hangs"

    @property
    def yesterday(self) -> Path:
        """The table that readers are shown."""
        return self.folder / f"{self.name}.yesterday.json"

    async def pause(self) -> None:
        """Return when the switch may say something."""
        while self.hangs.exists():
            await asyncio.sleep(INTERVAL)

    def shown(self, device: Device, *, reads_only: bool) -> Device:
        """The device as a session sees it."""
        if not reads_only or not self.yesterday.exists():
            return device
        seen = copy.copy(device)
        seen.state = FileBackend(self.yesterday, device.state).load()
        return seen
