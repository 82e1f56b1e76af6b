"""A switch that forwards frames and whose configuration survives a restart."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.switches.table import Backend, SwitchState


@dataclass(frozen=True)
class KeptBackend:
    """A bridge that forwards, and a file that knows how it is to be set when the bridge is made again."""

    bridge: Backend
    file: Backend

    def load(self) -> SwitchState:
        """What the file says, and the bridge is set to it. Raises what the two raise."""
        state = self.file.load()
        self.bridge.apply(self.bridge.load(), state)
        return state

    def apply(self, before: SwitchState, after: SwitchState) -> None:
        """Set the bridge, then write the file; where that fails the bridge is set back."""
        self.bridge.apply(before, after)
        try:
            self.file.apply(before, after)
        except OSError:
            self.bridge.apply(after, before)
            raise
