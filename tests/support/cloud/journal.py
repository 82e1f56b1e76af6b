"""What the services of the sandbox were asked to change, from their own journal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Journal:
    """The journal of one sandbox; `since` is the number of the last request that does not count."""

    folder: Path
    since: int = 0

    def now(self) -> Journal:
        """The same journal from this moment on."""
        numbers = [entry["n"] for entry in self._entries()]
        return Journal(self.folder, max(numbers, default=0))

    def mutations(self) -> list[dict[str, Any]]:
        """Requests that change something, in order; tokens are not counted."""
        return [entry for entry in self._entries() if entry["n"] > self.since and not entry.get("token")]

    def ours(self) -> list[dict[str, Any]]:
        """Those of them that our provider sent: services go on for a while about what was asked of them before."""
        return [entry for entry in self.mutations() if "interlock" in entry["user_agent"]]

    def _entries(self) -> Iterator[dict[str, Any]]:
        path = self.folder / "requests.jsonl"
        if path.exists():
            yield from (json.loads(line) for line in path.read_text().splitlines())


@dataclass(frozen=True)
class Trap:
    """Holds the k-th changing request of our provider, before it is carried out or before it is answered."""

    folder: Path

    def arm(self, number: int, when: str, path: str = "") -> None:
        """Wait for request `number` with this in its path, counted from now; `when` is `before` or `after`."""
        for name in ("trap.hit", "trap.release"):
            (self.folder / name).unlink(missing_ok=True)
        document = {"n": number, "when": when, "user_agent": "interlock", "path": path}
        temporary = self.folder / "trap.new"
        temporary.write_text(json.dumps(document))
        temporary.rename(self.folder / "trap.json")

    def wait(self, seconds: float, goes_on: Callable[[], bool] = lambda: True) -> dict[str, Any] | None:
        """The request that is held, or None if none came before the time was up or the client had ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and goes_on():
            if (self.folder / "trap.hit").exists():
                time.sleep(0.05)
                hit: dict[str, Any] = json.loads((self.folder / "trap.hit").read_text())
                return hit
            time.sleep(0.02)
        return None

    def release(self) -> None:
        """Let go of what is held, and lay the trap aside."""
        (self.folder / "trap.json").unlink(missing_ok=True)
        (self.folder / "trap.release").touch()
