"""What is not recreated while something of its stack rests on it.

With `--replace` the engine asks nobody about the object itself, and deletes what rests on it before it comes to that
object: a refusal there comes too late. But before it deletes anything it asks, in the preview and again in the
update, what becomes of each resource that rests on the object, with an unknown id in place of the one that it has.
An id that becomes unknown although its object is there and nobody wanted to change it: that is how it shows.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from .actuators import ACTUATORS
from .clouds import Cloud
from .codec import has_unknown
from .errors import Failure, refused
from .references import own
from .state import Declared, ids_in

#: Kind -> why it is not recreated while something rests on it. All others take along what rests on them.
STAY: dict[str, str] = {
    "Project": "it is in use: everything of the tenant is in it",
    "Network": "it is in use",
    "Subnet": "it is in use",
    "Volume": "it holds data, which would be lost",
    "Share": "it holds data, which would be lost",
    "Bucket": "it holds data, which would be lost",
}


def forced(cloud: Cloud, item: Declared, olds: Mapping[str, Any], known: Container[str]) -> Failure | None:
    """Why the engine may not go on, if what `item` rests on is to be recreated and must not be.

    `known` are the names that the engine has asked about in this process: of what is changed by the plan it asks
    first, and what is gone from its state it creates.
    """
    return next(_faults(cloud, item, olds, known), None)


def _faults(cloud: Cloud, item: Declared, olds: Mapping[str, Any], known: Container[str]) -> Iterator[Failure]:
    before = ids_in(olds)
    for field, refers in item.spec.reference_fields().items():
        kind = next((kind for kind in refers.kinds if kind in STAY), None)
        if kind is None or not has_unknown(item.ids.get(field)) or not isinstance(before.get(field), str):
            continue
        for name in own(refers.named(getattr(item.spec, field))):
            if name not in known and ACTUATORS[kind].read(cloud, before[field]) is not None:
                yield refused(
                    f"{kind} {name} ({before[field]}) is not recreated while {item.kind} {item.name} depends on it: "
                    f"{STAY[kind]}",
                    "leave out `--replace` for it; to change it, edit the request",
                )
