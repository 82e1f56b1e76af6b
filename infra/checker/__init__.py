"""Checks a certificate by tables of its own: a second look that shares no code with the proof.

Written from docs/design/semantics.md, with the standard library only: `python -m infra.checker FILE`, or `python -m
checker FILE` beside a copy of this folder. Edges along cables and those that guards can remove it derives by table; all
others are stated, and it says of which rows. That the facts are those of a certain proof it tells by the proof's hash;
that they are those of the plan the oracle in the tests shows. Whoever wrote the file is not trusted with anything: what
has not exactly the form is refused in one line.

`reading` takes the file, `form` says what it may hold; `guards` and `derived_edges` make the graph, `isolation` looks
who meets whom in it; `authority` follows grants, `answers` looks at what rules said; `checking` asks all of them.
"""

from .answers import ASKED, MAY_WARN
from .authority import WAYS
from .checking import FORMAT, SEMANTICS, complaints, proof_of, today
from .derived_edges import edges, grounded, guarded, told, wired
from .form import FORM, GROUND, require_form
from .guards import GUARDS, KEPT_AWAY, SHARING
from .isolation import witnesses
from .reading import Malformed, digest, printable, read

__all__ = [
    "ASKED",
    "FORM",
    "FORMAT",
    "GROUND",
    "GUARDS",
    "KEPT_AWAY",
    "MAY_WARN",
    "SEMANTICS",
    "SHARING",
    "WAYS",
    "Malformed",
    "complaints",
    "digest",
    "edges",
    "grounded",
    "guarded",
    "printable",
    "proof_of",
    "read",
    "require_form",
    "today",
    "told",
    "wired",
    "witnesses",
]
