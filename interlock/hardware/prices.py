"""The items that a price list may hold. Prices themselves are the site's alone; an absent one is unknown, never 0."""

from __future__ import annotations

from .facts import derived
from .gpu import OFFERED

#: What the price of one GPU of a node type is called, before the type.
GPU_ITEM = "gpu-"

#: Item -> what one price is for.
PRICE_ITEMS = {
    "ipu-machine": "per hour",
    "poplar-vcpu": "per hour",
    "poplar-ram-gib": "per hour",
    "bare-metal-host": "per hour",
    "controller": "per hour",
    "volume-gib": "per month",
    "share-gib": "per month",
    "bucket": "per month",
    **{f"{GPU_ITEM}{name}": "per minute" for name in OFFERED},
}

#: Hours of a month, for items that are priced by the hour.
HOURS_PER_MONTH = derived(730, "hours", "365 days of 24 hours by 12 months")
#: Minutes of a month, for items that are priced by the minute.
MINUTES_PER_MONTH = derived(730 * 60, "minutes", "730 hours of 60 minutes")
