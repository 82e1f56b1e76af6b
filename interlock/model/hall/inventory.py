"""Inventories of nodes in CSV: one line for each node, with `file:line:column` for whatever is wrong in it.

The first line names the columns: `place` and `serial`, and as far as they are known the others of `PLAIN`,
`mac <interface>` and `guid <port>`. An empty cell says nothing. No value needs quotes, so there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import Field

from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.names import DeviceName
from interlock.model.text.source import KEY, Source, Step
from interlock.model.text.validation import FileModel, nearest, well_formed
from interlock.model.text.yaml_reading import SITE, FileLimits
from interlock.vocabulary import Position
from interlock.vocabulary.digits import is_number

from .file import HallFile, HallNodeFile

if TYPE_CHECKING:
    from pathlib import Path

    from interlock.model.site.file import SiteFile

#: Columns that stand for themselves, and what begins the name of one of several.
PLAIN = ("place", "name", "serial", "rack", "unit", "provisioning", "dedicated_cpus", "huge_pages", "state", "reason")
REQUIRED = ("place", "serial")
#: Of these, whole numbers.
_NUMBERS = ("unit", "dedicated_cpus")
GROUPS = {"mac ": "macs", "guid ": "guids"}


class InventoryFile(FileModel):
    """The nodes of an inventory, as `nodes:` of the hall would have them."""

    nodes: dict[DeviceName, HallNodeFile] = Field(description="place → the node that stands there")


@dataclass(frozen=True)
class Cell:
    """A value, and where in its file it begins, both from 1."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Inventories:
    """A site file with the nodes of its inventories among those of its halls, and what is wrong with these."""

    file: SiteFile
    errors: tuple[InputError, ...]


class InventorySource(Source):
    """An inventory that was read. Its value is the one that `nodes:` in YAML would have."""

    def value(self, limits: FileLimits = SITE) -> Any:  # noqa: ARG002
        """`{nodes: {place: node}}`. Raises InputErrors with all that is wrong with columns and lines."""
        faults = [*self._faults_of_columns(), *self._faults_of_lines()]
        if faults:
            raise InputErrors(faults)
        return {"nodes": {place: dict(_node(cells)) for place, cells in self._nodes.items()}}

    def position(self, path: tuple[Step, ...] = (), *, key: bool = False) -> str:  # noqa: ARG002
        """`file:line:column` of the cell at `path` (`nodes`, place, key …), or of the nearest one above."""
        steps = [str(step) for step in path if step != KEY][1:]
        cells = self._nodes.get(steps[0], {}) if steps else {}
        words = {"macs": "mac ", "guids": "guid "}
        column = "".join(words.get(step, step) for step in steps[1:3])
        cell = cells.get(column) or cells.get("place")
        return str(Position(self.name, cell.line, cell.column) if cell else Position(self.name, 1, 1))

    @cached_property
    def _rows(self) -> tuple[tuple[Cell, ...], ...]:
        """Cells of each line that is not empty."""
        lines = enumerate(self.text.splitlines(), start=1)
        return tuple(tuple(_cells(line, number)) for number, line in lines if line.strip())

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        return tuple(cell.text for cell in self._rows[0]) if self._rows else ()

    @cached_property
    def _nodes(self) -> dict[str, dict[str, Cell]]:
        """Place -> column -> cell, of every line; of two lines for one place the first."""
        found: dict[str, dict[str, Cell]] = {}
        for row in self._rows[1:]:
            cells = dict(zip(self._columns, row, strict=False))
            if "place" in cells:
                found.setdefault(cells["place"].text, cells)
        return found

    def _faults_of_columns(self) -> Iterator[InputError]:
        for name in REQUIRED:
            if name not in self._columns:
                hint = "the first line names the columns: place,name,serial,rack,unit,mac eno1,guid compute1,…"
                yield InputError(Code.MISSING_KEY, self.position(), f"there is no column `{name}`", hint)
        for index, cell in enumerate(self._rows[0] if self._rows else ()):
            where = str(Position(self.name, cell.line, cell.column))
            grouped = any(cell.text.startswith(word) and cell.text != word for word in GROUPS)
            if cell.text not in PLAIN and not grouped:
                hint = nearest(cell.text, (*PLAIN, "mac <interface>", "guid <port>"))
                yield InputError(Code.UNKNOWN_KEY, where, f"unknown column `{cell.text}`", hint)
            if cell.text in self._columns[:index]:
                yield InputError(Code.DUPLICATE_KEY, where, f"the column `{cell.text}` is there twice")

    def _faults_of_lines(self) -> Iterator[InputError]:
        seen: dict[str, int] = {}
        for row in self._rows[1:]:
            start = str(Position(self.name, row[0].line, row[0].column))
            if len(row) != len(self._columns):
                message = f"{len(row)} cells, and the first line names {len(self._columns)} columns"
                yield InputError(Code.SYNTAX, start, message, "leave a cell empty where nothing is known")
                continue
            for cell in row:
                if '"' in cell.text:
                    where = str(Position(self.name, cell.line, cell.column))
                    yield InputError(Code.SYNTAX, where, f"`{cell.text}` has a quote", "no value here needs quotes")
            place = dict(zip(self._columns, row, strict=True)).get("place")
            if place is not None and seen.setdefault(place.text, place.line) != place.line:
                where = str(Position(self.name, place.line, place.column))
                message = f"the place `{place.text}` is in line {seen[place.text]} already"
                yield InputError(Code.TWICE, where, message, "one node stands at a place")


def read_inventories(file: SiteFile, folder: Path, base: Path, source: Source) -> Inventories:
    """The nodes of every inventory that halls name; `source` then finds each of them where it was written."""
    halls, errors = dict(file.halls), list[InputError]()
    for name, hall in file.halls.items():
        if hall.inventory is not None:
            found, faults = _read(name, hall, folder, base, source)
            errors += faults
            halls[name] = hall.model_copy(update={"nodes": found})
    return Inventories(file.model_copy(update={"halls": halls}) if halls else file, tuple(errors))


def _read(
    name: str, hall: HallFile, folder: Path, base: Path, source: Source
) -> tuple[dict[str, HallNodeFile], list[InputError]]:
    path = folder / str(hall.inventory)
    if not path.is_file():
        message, hint = f"`{hall.inventory}` is not there", "put it beside `site.yaml`, or leave the line out"
        return hall.nodes, [source.error(Code.NO_FILE, ("halls", name, "inventory"), message, hint)]
    inventory = InventorySource.read(path, path.relative_to(base).as_posix())
    try:
        form = well_formed(InventoryFile, inventory)
    except InputErrors as wrong:
        return hall.nodes, list(wrong.errors)
    errors, nodes = list(form.errors), dict(hall.nodes)
    for place, node in (form.file.nodes if form.file else {}).items():
        if place in nodes:
            message = f"`nodes` of the hall `{name}` has the place `{place}` already"
            where = inventory.position(("nodes", place))
            errors.append(InputError(Code.TWICE, where, message, "keep one of them"))
        else:
            source.annexes[("halls", name, "nodes", place)] = (inventory, ("nodes", place))
            nodes[place] = node
    return nodes, errors


def _cells(line: str, number: int) -> Iterator[Cell]:
    start = 0
    for part in line.split(","):
        lead = len(part) - len(part.lstrip())
        yield Cell(part.strip(), number, start + lead + 1)
        start += len(part) + 1


def _node(cells: dict[str, Cell]) -> Iterator[tuple[str, Any]]:
    """The keys of a node; cells that are empty are left out."""
    stated = {column: cell.text for column, cell in cells.items() if cell.text and column != "place"}
    for column, text in stated.items():
        if column in PLAIN:
            yield column, int(text) if column in _NUMBERS and is_number(text) else text
    for word, key in GROUPS.items():
        yield key, {column.removeprefix(word): text for column, text in stated.items() if column.startswith(word)}
