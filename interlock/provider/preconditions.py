"""What is asked before the engine hears of a difference, so that a preview says what the update would refuse."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from .clouds import Cloud
from .codec import has_unknown
from .existing import check_moved, moved
from .guards import check_cloud
from .references import Known
from .replacing import forced
from .state import Declared
from .vipu_users import keys_of_others


def moves_of(
    cloud: Cloud,
    item: Declared,
    olds: Mapping[str, Any],
    news: Mapping[str, Any],
    known: Container[str],
    admission: Known | None,
    *,
    answers: bool,
) -> list[str]:
    """Fields behind which another object of the site stands than was applied, or another user of V-IPU.

    `known`: see `replacing.forced`. `answers`: the cloud does, so it may be asked. Raises `Failure` if what the object
    rests on is to be recreated and must not be, if the state is of another cloud, or if `existing:` names another
    object and that cannot be applied.
    """
    if has_unknown(news):
        failure = forced(cloud, item, olds, known)
        if failure is not None:
            raise failure
    if answers:
        check_cloud(cloud, item, olds)
    dead = keys_of_others(cloud, item, olds)
    if admission is None:
        return dead
    found = moved(item, olds, admission, cloud if answers else None)
    check_moved(item, found)
    return [*found, *dead]
