"""Bounded thread pools, one per service: blocking calls never hold up the event loop or flood one service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from .calls import reading

P = ParamSpec("P")
T = TypeVar("T")

#: Calls at once, per type of service in the catalogue. `claims` is the operator's own store, in which all calls of one
#: process change the one record of its stack: after a kill the engine lets go of two footprints side by side.
#: `infiniband` is UFM, and `vipu` the controllers of vPODs, which no catalogue has.
SIZES: dict[str, int] = {
    "identity": 4,
    "network": 8,
    "compute": 4,
    "image": 2,
    "block-storage": 4,
    "shared-file-system": 4,
    "object-store": 4,
    "baremetal": 4,
    "key-manager": 4,
    "infiniband": 4,
    "vipu": 2,
    "claims": 1,
}


class ThreadPools:
    """The pools of one process, made when first used."""

    def __init__(self) -> None:
        self._pools: dict[str, ThreadPoolExecutor] = {}

    async def run(self, service: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a blocking call in the pool of `service`. Raises `Failure` if it cannot read an answer."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool(service), lambda: reading(call, *args, **kwargs))

    def _pool(self, service: str) -> ThreadPoolExecutor:
        if service not in self._pools:
            self._pools[service] = ThreadPoolExecutor(SIZES[service], thread_name_prefix=service)
        return self._pools[service]
