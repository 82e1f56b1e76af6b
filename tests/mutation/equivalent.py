"""Mutants that nothing can notice, each with the reason; a line that is changed since has to be looked at again."""

from __future__ import annotations

#: Mutant (module, function, line, place in it, before and after) -> why the code does the same.
EQUIVALENT: dict[str, str] = {
    "policies/edges/guarded.py:_broken: return GuardState(value=False, broken=(fact,)) @24 [False] => [True]": (
        "a state that holds gives its guards to the edge, and this one has none: the edge is the same, and broken"
    ),
}
