"""A mutant in a process that has imported everything: its functions get the changed code, wherever they are held.

So nothing is imported again, and a mutant costs a fork and the tests that reach it. What a module computes once, when
it is imported, is not touched: such a mutant needs a process that imports the changed module (`installed`).
"""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType, FunctionType, ModuleType

from tests.mutation.changes import ROOT, Mutant, source_of


def named(module: str) -> str:
    """`policies/rules/racks.py` -> `policies.rules.racks`."""
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_graftable(mutant: Mutant) -> bool:
    """True if the change lies in what a function does when it is called, and not in its signature.

    Nor in a function made inside it that needs other names of it than before: what holds one cannot be given the other.
    """
    old, new = _functions_of(mutant.module).get(mutant.function), _changed(mutant).get(mutant.function)
    if old is None or new is None or new == old:
        return False
    return [code.co_freevars for code in _made_in(old)] == [code.co_freevars for code in _made_in(new)]


def _made_in(code: CodeType) -> list[CodeType]:
    """The named functions made inside one; what has no name lives for one call, and is made again by the next."""
    return [item for item in code.co_consts if isinstance(item, CodeType) and not item.co_name.startswith("<")]


Place = tuple[str, int, str]
"""Where a function is written: file, first line, name."""

Holders = Mapping[Place, Sequence[FunctionType]]


def holders(modules: Iterable[str]) -> Holders:
    """The functions of this process that have the code of one of these modules.

    Looking through everything that there is takes longer than most tests: once for all mutants, not in each child.
    """
    files, found = {str(ROOT / module) for module in modules}, defaultdict[Place, list[FunctionType]](list)
    for item in gc.get_objects():
        if isinstance(item, FunctionType) and item.__code__.co_filename in files:
            found[_place(item.__code__)].append(item)
    return found


def graft(mutant: Mutant, held: Holders) -> int:
    """Change the function of this process; the number of functions that have the code. Raises SyntaxError."""
    old, new = _functions_of(mutant.module)[mutant.function], _changed(mutant)[mutant.function]
    fresh = {_place(before): after for before, after in _pairs(old, new)}
    for place, code in fresh.items():
        for holder in held.get(place, ()):
            holder.__code__ = code
    return sum(len(held.get(place, ())) for place in fresh)


@cache
def _functions_of(module: str) -> dict[str, CodeType]:
    """Name -> code of the functions of a module as it is."""
    return dict(_outermost(_compiled((ROOT / module).read_text(), module)))


def _changed(mutant: Mutant) -> dict[str, CodeType]:
    """The same of the changed module."""
    return dict(_outermost(_compiled(source_of(mutant), mutant.module)))


def _place(code: CodeType) -> Place:
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
