"""A mutant in a process that has imported everything: its functions get the changed code, wherever they are held.

So nothing is imported again, and a mutant costs a fork and the tests that reach it. What a module computes once, when
it is imported, is not touched: such a mutant needs a process that imports the changed module (`installed`).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType, FunctionType, ModuleType

from tests.mutation.changes import ROOT, Mutant, source_of


def named(module: str) -> str:
    """`policies/rules/racks.py` -> `policies.rules.racks`."""
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_graftable(mutant: Mutant) -> bool:
    """True if the change lies in what a function does when it is called, and not in its signature."""
    return bool(mutant.function) and mutant.function in dict(_outermost(_compiled(source_of(mutant), mutant.module)))


def graft(mutant: Mutant) -> int:
    """Change the function of this process; the number of functions that have the code. Raises SyntaxError."""
    old = dict(_outermost(_compiled((ROOT / mutant.module).read_text(), mutant.module)))[mutant.function]
    new = dict(_outermost(_compiled(source_of(mutant), mutant.module)))[mutant.function]
    fresh = {_place(before): after for before, after in _pairs(old, new)}
    holders = [item for item in gc.get_objects() if isinstance(item, FunctionType) and _place(item.__code__) in fresh]
    for holder in holders:
        holder.__code__ = fresh[_place(holder.__code__)]
    return len(holders)


def _place(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """A function and those made inside it, before and after: what it made before the change is held by somebody."""
    yield old, new
    inner = [[item for item in code.co_consts if isinstance(item, CodeType)] for code in (old, new)]
    for before, after in zip(*inner, strict=False):
        if before.co_qualname == after.co_qualname and before.co_freevars == after.co_freevars:
            yield from _pairs(before, after)


def _compiled(source: str, module: str) -> CodeType:
    return compile(source, str(ROOT / module), "exec")


def _outermost(code: CodeType, head: str = "") -> Iterator[tuple[str, CodeType]]:
    """Name -> code of every function of a module, and of every method."""
    for item in code.co_consts:
        if isinstance(item, CodeType) and not item.co_name.startswith("<"):
            if item.co_flags & 0x2:  # CO_NEWLOCALS: a function; what makes a class has its names elsewhere.
                yield head + item.co_name, item
            else:
                yield from _outermost(item, f"{item.co_name}.")


class _Changed(MetaPathFinder):
    """Finds one module changed."""

    def __init__(self, mutant: Mutant) -> None:
        self._name, self._path, self._source = named(mutant.module), ROOT / mutant.module, source_of(mutant)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the changed module; None for all others."""
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=self._loader())

    def _loader(self) -> Loader:
        source = self._source

        class Loading(SourceFileLoader):
            """Reads the changed text instead of the file, and keeps no compiled one."""

            def get_code(self, fullname: str) -> CodeType:
                return compile(source, self.path, "exec")

        return Loading(self._name, str(self._path))


def installed(mutant: Mutant) -> None:
    """From now on the changed module is imported; it must not have been yet."""
    assert named(mutant.module) not in sys.modules
    sys.meta_path.insert(0, _Changed(mutant))
