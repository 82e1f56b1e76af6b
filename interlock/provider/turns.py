"""Where a stack claims, and turns at what several stacks write, which are held there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from interlock.vocabulary import InterlockError, StackName

from .errors import Failure, Trouble, refused

if TYPE_CHECKING:
    from interlock.store.turns import Turn

    from .clouds import Cloud


class ClaimsPlace(NamedTuple):
    """Where a stack claims: URL of the store, the stack's name, and whose state it is by the store's record."""

    store: str
    stack: str
    #: Empty: not recorded.
    lineage: str = ""

    @classmethod
    def recorded(cls, values: Mapping[str, Any]) -> ClaimsPlace | None:
        """As the state of an object has it, where no program says; None if it has none."""
        store, stack = values.get("store"), values.get("stack")
        return None if store is None or stack is None else cls(str(store), str(stack), str(values.get("lineage") or ""))

    @property
    def outputs(self) -> dict[str, str]:
        """As the state of an object is to have it."""
        return self._asdict()


class StackHolding(NamedTuple):
    """Exclusive identities of a stack, as the claims store has them."""

    #: Of all its footprints that are, or may be, applied.
    held: frozenset[str] = frozenset()
    #: Those that a run which was stopped may have used, and that a run under way does not want.
    in_doubt: frozenset[str] = frozenset()


@contextmanager
def writing(cloud: Cloud, subject: str, place: ClaimsPlace | None) -> Iterator[Turn]:
    """The turn to write something, which nobody else has meanwhile. Raises `Failure`."""
    # Imported here: a provider that shares nothing opens no store for this.
    from interlock.store.objects import StoreFailed
    from interlock.store.places import open_store
    from interlock.store.turns import Turns

    if place is None:
        raise refused(
            f"nobody says which claims store orders the writers of {subject}",
            "run `pulumi up` once more: it records the store, and a destroy then finds it",
        )
    try:
        store = open_store(place.store, StackName.parse(place.stack).site, cloud.site_region)
        with Turns(store, cloud.retry_policy).turn(subject, place.stack) as turn:
            yield turn
    except StoreFailed as error:
        raise Failure(Trouble.UNREACHABLE, error.what, error.hint) from error
    except InterlockError as error:
        raise refused(error.what, error.hint) from error
