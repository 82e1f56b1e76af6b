"""Writes `reached.json` again: runs all tests once, to see which function each of them reaches. Some ten minutes."""

from __future__ import annotations

from tests.mutation.changes import modules
from tests.mutation.reaching import PLACE, write
from tests.mutation.running import looked_for
from tests.mutation.test_mutation import paths

if __name__ == "__main__":
    known = set(modules())
    found = looked_for(paths())
    write({name: tests for name, tests in found.items() if name.partition(":")[0] in known})
    print(f"{PLACE}: {len(found)} functions")
