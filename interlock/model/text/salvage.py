"""Takes faulty parts out of a file's value, so that what the rest of it means can be checked all the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from .source import Step

Path = tuple[Step, ...]


class Salvage:
    """A value that loses parts. Paths that are asked for are those of the file as it was written."""

    #: Stands where a part has no stand-in.
    NOTHING: ClassVar[Any] = object()

    def __init__(self, value: Any) -> None:
        self.value = _copy(value)
        #: Parts that are gone, and everything above them.
        self.lost: set[Path] = set()
        self.above: set[Path] = set()
        #: Mappings and lists that lost an entry.
        self._short_of: set[Path] = set()
        #: List -> indices that are gone: what follows them has moved up.
        self._gone: defaultdict[Path, list[int]] = defaultdict(list)

    def take_out(self, parts: Mapping[Path, Any]) -> bool:
        """Takes out every part, or puts its stand-in there. False: nothing is left of the file."""
        taken = [(self.original(path), path, stand_in) for path, stand_in in parts.items()]
        # The last of a list first, and children before their parents, so that the other paths stay true.
        for original, path, stand_in in sorted(taken, key=lambda item: _order(item[1]), reverse=True):
            done = self._take(path, stand_in)
            if not done:
                return False
            self._note(original[: len(done)], listed=isinstance(_at(self.value, done[:-1]), list))
        return True

    def original(self, path: Path) -> Path:
        """Where a path of the present value leads in the file as it was written."""
        found: Path = ()
        for step in path:
            gone = self._gone.get(found, ())
            found += (_before(step, gone) if isinstance(step, int) else step,)
        return found

    def touches(self, path: Path) -> bool:
        """True if something at `path` (of the present value), above it or below it was taken out."""
        return self.is_lost(path) or self.original(path) in self.above

    def is_lost(self, path: Path) -> bool:
        """True if `path` (of the present value) or something above it was taken out, or is a stand-in."""
        path = self.original(path)
        return any(path[:length] in self.lost for length in range(1, len(path) + 1))

    def has_lost_entries(self, section: Path) -> bool:
        """True if a whole entry of this mapping or list was taken out, or all of it, or perhaps all of it."""
        return section in self._short_of or self.is_lost(section) or self._may_be_misspelt(section)

    def _may_be_misspelt(self, section: Path) -> bool:
        """True if the file has no such section, and lost one, which may have been meant."""
        at_top = len(section) == 1 and isinstance(self.value, dict) and _key(self.value, section[0]) is Salvage.NOTHING
        return at_top and () in self._short_of

    def _note(self, original: Path, *, listed: bool) -> None:
        self.lost.add(original)
        self._short_of.add(original[:-1])
        self.above.update(original[:length] for length in range(len(original)))
        if listed and isinstance(original[-1], int):
            self._gone[original[:-1]].append(original[-1])

    def _take(self, path: Path, stand_in: Any) -> Path:
        """Takes the part out, or the nearest above it that there is; empty if that is everything."""
        for length in range(len(path), 0, -1):
            above, step = _at(self.value, path[: length - 1]), path[length - 1]
            if stand_in is not self.NOTHING and isinstance(above, dict) and length == len(path):
                above[step] = _copy(stand_in)
                return path
            if isinstance(above, list) and isinstance(step, int) and step < len(above):
                del above[step]
                return path[:length]
            if isinstance(above, dict) and (key := _key(above, step)) is not self.NOTHING:
                del above[key]
                return path[:length]
        return ()


def _copy(value: Any) -> Any:
    """A copy of its own at every place: YAML's aliases make one value stand at several."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(_key(value, step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _key(mapping: dict[Any, Any], step: Step) -> Any:
    """The key that pydantic calls `step`: numbers and truth values are keys to YAML too."""
    if step in mapping and not isinstance(step, int):
        return step
    return next((key for key in mapping if str(key) == str(step)), Salvage.NOTHING)


def _before(index: int, gone: Iterable[int]) -> int:
    """The index that an item of a list had before these left it."""
    for other in sorted(gone):
        index += other <= index
    return index


def _order(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]
