"""How often Python looks for reference cycles: seldom."""

from __future__ import annotations

import gc

NEW_OBJECTS = 100_000
"""How many more objects than before there must be; Python's default is 700."""


def collect_seldom() -> None:
    """For a process that ends soon: models and graphs are many objects that live to its end, and no cycles to free.

    The proof takes a sixth less processor time so, and a few megabytes more.
    """
    gc.set_threshold(NEW_OBJECTS, 20, 50)
