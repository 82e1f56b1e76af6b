"""What people are told of an object that is made, or would be, though nothing is wrong with it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from interlock.resources import StoredCredential
from interlock.resources.asked_names import VIPU_KEY

from .actuators import ACTUATORS
from .clouds import Cloud
from .errors import Failure
from .pools import ThreadPools
from .state import Declared
from .vipu_keys import asked_by, brought_by_hand, fetched_again


async def note_on(
    pools: ThreadPools,
    cloud: Cloud | None,
    item: Declared,
    values: Mapping[str, Any] | None,
    created: Container[str],
) -> str:
    """What to say of one that was made or changed, with these outputs; empty if nothing is.

    `values`: None in a preview, which says before what it can see; `cloud` is None then if nobody answers there.
    `created`: what the preview found not to be there.
    """
    if values is None:
        return "" if cloud is None else str(await pools.run("compute", foreseen, cloud, item))
    said = ACTUATORS[item.kind].still_pending(item.name, item.spec, values)
    key = _vipu_key(item)
    return fetched_again(key) if not said and key is not None and key.place not in created else said


def foreseen(cloud: Cloud, item: Declared) -> str:
    """What a preview says of an object that it would make; empty if nothing is known of it."""
    key, server = _vipu_key(item), item.ids.get("place")
    # Of a server that is made, or recreated, there is no id yet: it asks for what is planned.
    if key is None or not isinstance(server, str):
        return ""
    try:
        names = asked_by(cloud, server)
    except Failure:
        return ""  # what cannot be looked at, a preview says elsewhere
    return brought_by_hand(key) if names is not None and key.item not in names else fetched_again(key)


def _vipu_key(item: Declared) -> StoredCredential | None:
    """The key of a V-IPU user for a server; None if it is anything else."""
    return item.spec if isinstance(item.spec, StoredCredential) and item.spec.item == VIPU_KEY else None
