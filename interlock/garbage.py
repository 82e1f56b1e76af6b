"""How often Python looks for reference cycles: seldom."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 100_000
"""How many more objects than before there must be; Python's default is 700."""


def collect_seldom() -> None:
    """For a process that ends soon: models and graphs are many objects that live to its end, and no cycles to free.

    The proof takes a sixth less processor time so, and a few megabytes more.
    """
    gc.set_threshold(NEW_OBJECTS, 20, 50)


@contextmanager
def importing() -> Iterator[None]:
    """While modules are imported: do not look for cycles, and never again among what they are made of.

    It stays until the end, and to look meanwhile takes a tenth of the time of a whole `interlock check`.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
