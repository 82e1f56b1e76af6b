"""Quotas: what each service says of the limits of each planned project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from interlock.provider.actuators import ACTUATORS, Observed
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble

from .asked import AT_ONCE, Asked
from .listing import lacking
from .standing import Standing


def quotas(cloud: Cloud, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Standing]]:
    """How each stands. A service that does not tell makes it unread. Raises `Failure` if one fails otherwise."""
    asked = list(asked)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from zip(asked, pool.map(lambda one: _standing(cloud, one), asked), strict=True)


def _standing(cloud: Cloud, one: Asked) -> Standing:
    kind, name = one.planned.kind, one.planned.name
    if not one.project:
        return Standing(kind, name, ())
    if reason := lacking(cloud, ACTUATORS[kind].SERVICE):
        return Standing(kind, name, (one.project,), unread=reason)
    try:
        seen: Observed | None = ACTUATORS[kind].read(cloud, one.project)
    except Failure as failure:
        if failure.trouble is Trouble.FORBIDDEN:
            return Standing(kind, name, (one.project,), unread=failure.message)
        raise
    if seen is None:
        return Standing(kind, name, ())
    wanted = one.planned.spec
    differs = {field: (wanted[field], value) for field, value in sorted(seen.fields.items()) if wanted[field] != value}
    return Standing(kind, name, (one.project,), differs)
