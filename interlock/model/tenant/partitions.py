"""V-IPU partitions that a request asks for. Locks note them too, and so this needs no other part of the request."""

from __future__ import annotations

from typing import Literal

from interlock.resources import Frozen

SyncType = Literal["c2-compatible", "pod-native-default"]
Routing = Literal["default", "ringswnc"]


class Partition(Frozen):
    """A V-IPU partition: a power of two of IPUs, in graph compile domains (GCDs), with replicas."""

    name: str
    ipus: int
    gcds: int = 1
    replicas: int = 1
    reconfigurable: bool = False
    sync_type: SyncType = "c2-compatible"
    routing: Routing = "default"
    #: Whether it may be deleted and made again, with what runs on it.
    replaceable: bool = False
