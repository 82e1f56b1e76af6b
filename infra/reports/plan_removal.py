"""The end of a stack as text: what is in the way, and the steps of its deletion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from infra.cli.colour import RED, painted
from interlock.planning.removal import Ending, Removal, Removed

#: Ending -> its sign, and its words where they say more than `deleted`.
SIGNS: dict[Ending, tuple[str, str]] = {
    "deleted": ("-", ""),
    "emptied": ("-", "erased with all that is in it"),
    "backed up": ("-", "backed up first; the backup stays, in the project, until somebody deletes it"),
    "refused": ("!", "refused"),
    "not ours": ("·", ""),
}


def removal_text(removal: Removal, *, colour: bool = False) -> str:
    """A summary, what is in the way, the steps, then what nothing here deletes or hands out."""
    if not removal.steps:
        return f"destroy {removal.stack}: its files ask for nothing, so there is nothing to delete that they know of"
    return "\n".join((_summary(removal), *_refused(removal, colour), *_steps(removal, colour), *_after(removal)))


def _summary(removal: Removal) -> str:
    count = sum(map(len, removal.steps))
    if refused := len(removal.refused):
        return f"destroy {removal.stack}: refused before anything is deleted, by {refused} of {count} objects"
    return f"destroy {removal.stack}: {count} to delete in {len(removal.steps)} steps"


def _refused(removal: Removal, colour: bool) -> Iterator[str]:
    for item in removal.refused:
        where = f"{item.where}: " if item.where else ""
        yield f"  {painted('!', RED, colour)} {where}{item.kind} {item.name}: {item.why}"
    for fix in dict.fromkeys(item.fix for item in removal.refused):
        yield f"  next: {fix}"


def _steps(removal: Removal, colour: bool) -> Iterator[str]:
    for number, step in enumerate(removal.steps, 1):
        yield f"step {number}"
        yield from (_line(item, colour) for item in step)


def _line(item: Removed, colour: bool) -> str:
    sign, words = SIGNS[item.ending]
    told = "; ".join(part for part in (words, item.detail) if part)
    return f"  {painted(sign, RED, colour)} {item.name}  {item.kind}{f': {told}' if told else ''}"


def _after(removal: Removal) -> Iterator[str]:
    if removal.left:
        kinds = Counter(item.kind for item in removal.left)
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        yield f"not made by this stack, so not deleted by it: {told} (`interlock wiring` has what to set back by hand)"
    if removal.released:
        yield f"nobody's until seen clean (`interlock settle`): {', '.join(removal.released)}"
    yield "what counts is what was applied last: run `pulumi up` first if the request changed since"
