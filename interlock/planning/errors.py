"""What can go wrong between a request and its plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from interlock.model.text.source import KEY, Step
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind


class PlanningError(InterlockError):
    """A request that cannot be planned: `what` is wrong, and `hint` says what to do next."""

    #: Stable code of the class, by which the gate tells it.
    CODE: ClassVar[str] = "PL-001"
    kind = ErrorKind.INPUT

    def __init__(self, what: str, hint: str = "", path: tuple[Step, ...] = ()) -> None:
        """`path`: what asks for it in the file of the stack that is planned, as `Workspace.position` takes it.

        Empty: whoever raises does not know; `asked_by` around it says it.
        """
        super().__init__(what, hint)
        self.path = path


class AllocationError(PlanningError):
    """The site has no room: `what` is missing, what comes `closest`, and what would free it (`hint`)."""

    CODE = "PL-002"

    def __init__(self, what: str, closest: str = "", hint: str = "", path: tuple[Step, ...] = ()) -> None:
        super().__init__(f"{what}; {closest}" if closest else what, hint, path)
        self.closest = closest


#: How somebody gets a move, or does without it.
_ASK = "ask for it with `--move`, or free what is in the way"


class NeedsMove(AllocationError):
    """A vPOD or cluster that could have what it asks for only elsewhere: `recreated` says what that would recreate,
    empty: nobody worked it out yet.

    Never done unasked: `allocate(..., move=True)` takes the new place and releases the old one.
    """

    CODE = "PL-003"

    def __init__(self, vpod: str, what: str, closest: str, recreated: str, path: tuple[Step, ...] = ()) -> None:
        first = f"a move recreates {recreated}; " if recreated else ""
        super().__init__(what, closest, f"{first}{_ASK}", path)
        self.vpod = vpod
        self.recreated = recreated

    def means(self, does: str) -> None:
        """Say what the move does that there is a place for."""
        self.hint = f"the move that is possible: {does}; {_ASK}"


@contextmanager
def asked_by(section: str, name: str) -> Iterator[None]:
    """Errors that do not say themselves which key asks for what cannot be had are about this part of the request."""
    try:
        yield
    except PlanningError as error:
        error.path = error.path or (section, name, KEY)
        raise
