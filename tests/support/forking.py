"""Forking a process that has used gRPC.

A child has no thread but the one that forked. A completion queue of gRPC's waits at its end for a thread of its own, so
a child whose garbage collector finds one of its parent's waits for good (seen: cygrpc, called by `gc`). So the parent
collects what it has left over, and no child's collector looks at what is there then.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_to_collect() -> Iterator[None]:
    """Children that are forked in here collect what is theirs alone."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
