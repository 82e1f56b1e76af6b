"""An update must follow a preview of the same proof in the same run of the engine.

Each resource is checked when it is registered, and a resource that waits for another's output is registered
only after that one was made. So in an update alone, code beside the plan could be found after the first object
exists. In a preview nothing is made and everything is registered: whatever a program declares is checked there
before anything is touched. `--skip-preview` leaves that out, and is therefore refused.

The preview and the update of one `pulumi up` are served by two provider processes with the same parent, the
engine. The first leaves a note for the second.
A file that was edited, or a claim that somebody took, while the question waited for its answer gives another proof, and
is refused for the same reason: what is applied is what was shown.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from interlock.resources import Admission
from interlock.vocabulary import InterlockError
from interlock.vocabulary.digits import is_number

NOT_PREVIEWED = (
    "no preview of this plan in this run of pulumi: leave out --skip-preview (with the Automation API, run the "
    "command `pulumi up` itself, which previews and applies in one run)"
)

CHANGED_SINCE = (
    "what would be applied is not what the preview showed: a request, a lock, the site file or what others have "
    "applied changed since; run `pulumi up` again"
)


class NotPreviewed(InterlockError):
    """No preview in this run of the engine allows this update; the message says why, and what to do."""


@dataclass(frozen=True)
class Previewed:
    """What a preview has found out, for its update."""

    #: Plan names of what does not exist yet.
    creates: frozenset[str] = frozenset()
    #: When its preflight found nothing in the way, in seconds of the machine's steady clock; None if it did not.
    clear: float | None = None

    @property
    def is_clear(self) -> bool:
        """True while what the preflight of the preview saw is so young that an update need not look again.

        Whoever thinks about the question for longer gets another look.
        """
        return self.clear is not None and 0 <= time.monotonic() - self.clear <= FRESH


#: Seconds for which the look of a preview counts: less than the calls of an update itself take.
FRESH = 20.0


@dataclass(frozen=True)
class PreviewTokens:
    """Notes of previews in one folder: a file for each stack and engine.

    Stacks of one name in two backends are two stacks, and their engines may run at once.
    """

    folder: Path

    def note(self, admission: Admission, previewed: Previewed) -> None:
        """A preview has begun, and this is what it has found; it counts until something in it is refused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._drop_stale(admission)
        found = {"creates": sorted(previewed.creates), "clear": previewed.clear}
        self._file(admission).write_text(json.dumps(_head(admission) | found))

    def fail(self, admission: Admission) -> None:
        """Something was refused: this preview allows nothing."""
        self._file(admission).unlink(missing_ok=True)

    def consume(self, admission: Admission) -> Previewed:
        """What the preview found. A note serves once.

        Raises `NotPreviewed` if this run of the engine has previewed nothing, or another proof.
        """
        path = self._file(admission)
        try:
            note = json.loads(path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            raise NotPreviewed(NOT_PREVIEWED) from None
        path.unlink(missing_ok=True)
        previewed, head = Previewed(frozenset(note.pop("creates", ())), note.pop("clear", None)), _head(admission)
        if note != head:
            raise NotPreviewed(CHANGED_SINCE if note.get("engine") == head["engine"] else NOT_PREVIEWED)
        return previewed

    def _file(self, admission: Admission) -> Path:
        return self.folder / f"{admission.stack}.{os.getppid()}.json"

    def _drop_stale(self, admission: Admission) -> None:
        """Notes of engines that ended without an update: nobody else removes them."""
        for file in self.folder.glob(f"{admission.stack}.*.json"):
            engine = file.name.split(".")[-2]
            if not (is_number(engine) and Path("/proc", engine).exists()):
                file.unlink(missing_ok=True)


def _head(admission: Admission) -> dict[str, object]:
    return {"proof": admission.proof_hash, "engine": os.getppid()}
