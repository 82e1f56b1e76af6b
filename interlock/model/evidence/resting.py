"""Guards that rest on evidence, with what was seen of each device that they are about."""

from __future__ import annotations

from collections.abc import Callable

from interlock.model.site.inventory import Site
from interlock.model.site.offers import Assumption
from interlock.model.site.rests import DeviceSeen


def resting_on(site: Site, assumption: str, seen: Callable[[str], tuple[DeviceSeen, ...]]) -> Site:
    """The site with what was seen of each guard of this assumption that rests on evidence."""

    def of(item: Assumption) -> Assumption:
        if item.id != assumption:
            return item
        held = {guard: rests.model_copy(update={"devices": seen(guard)}) for guard, rests in item.evidence.items()}
        return item.model_copy(update={"evidence": held})

    return site.with_parts(assumptions=tuple(map(of, site.assumptions)))
