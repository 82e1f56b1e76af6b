"""The first resource of every stack, the last to be deleted: what the stack holds alone, in the operator's store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from .base import Change, Effect, Resource, forbidden

_NEW = Change(
    Effect.REPLACE,
    "the new claims are written before anything changes; the old ones are dropped when none of their objects is left",
)


class Claims(Resource):
    """The exclusive identities of one stack, and the version of its footprint that is applied.

    It stands in no plan: it follows from the footprint of the plan that was proved. A replacement takes the new
    claims first and drops the old ones after the deletions, so that both count while an `up` runs.
    """

    KIND: ClassVar[str] = "Claims"
    #: Declared by a proof, not by a plan; the engine creates the new one before it deletes the old.
    CREATED_FIRST: ClassVar[bool] = True
    #: States of before nobody recorded it: the next `up` does, by new claims that hold the same.
    YOUNGER: ClassVar[Mapping[str, Any]] = {"objects": ""}

    #: URL of the operator's store; empty: the folder beside the clouds.yaml in use.
    store: Annotated[str, forbidden("nobody would honour the claims in the old store: move its records first")]
    #: Version of the footprint: `sha256:` over it.
    footprint: Annotated[str, _NEW]
    #: Exclusive identities, sorted.
    identities: Annotated[tuple[str, ...], _NEW]
    #: Digest of what the stack uses of the operator's, or of what that offers. While both old and new claims are in the
    #: state, old and new uses count, so nothing is taken away that somebody still has.
    objects: Annotated[str, _NEW] = ""
