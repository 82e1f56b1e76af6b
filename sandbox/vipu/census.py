"""All objects of V-IPU in an instance, without what differs from one time to the next: ids of servers, dates, keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .forms import encoded
from .sandbox_cloud import SandboxCloud
from .stations import GUESTS
from .storage import ControllerStorage

#: What is no property of an object: times of the controller's clock, and what is kept of keys.
_PASSING = frozenset({"contact_at", "ready_at", "gone_at", "deadline", "salt", "key_digest"})

VipuCensus = Mapping[str, Mapping[str, Mapping[str, Any]]]


def vipu_census(instance: Path) -> VipuCensus:
    """Name of a controller's server -> noun -> id at V-IPU -> the object. Raises FormWrong, sqlite3.Error.

    Controllers whose server is gone are not in it. Two servers of one name are told apart by a number.
    """
    folder, cloud = instance / "state" / "vipu", SandboxCloud(instance)
    found: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for place in sorted(path for path in folder.glob("*") if path.is_dir() and path.name != GUESTS):
        server, storage = cloud.server(place.name), ControllerStorage(place)
        if server is None or not storage.exists():
            continue
        same = sum(name.partition(" ")[0] == server.name for name in found)
        found[f"{server.name} {same + 1}" if same else server.name] = _objects(encoded(storage.read()))
    return found


def _objects(state: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Mapping[str, Mapping[str, Any]]:
    return {
        noun: {
            name: {key: value for key, value in item.items() if key not in _PASSING}
            for name, item in sorted(objects.items())
        }
        for noun, objects in state.items()
    }
