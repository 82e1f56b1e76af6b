"""What kinds of object storage do with settings of buckets, as real servers answered, and the calls that each takes."""

from .calls import CALLS, PLAIN, takes
from .capabilities import UNSTATED, Capability, Storage, Support, able, asked_kinds, object_storage, refusal

__all__ = [
    "CALLS",
    "PLAIN",
    "UNSTATED",
    "Capability",
    "Storage",
    "Support",
    "able",
    "asked_kinds",
    "object_storage",
    "refusal",
    "takes",
]
