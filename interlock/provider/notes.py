"""What people are told though nothing failed. The engine hides what a provider writes to stdout and stderr, and shows
what comes in through its own log."""

from __future__ import annotations

import sys
from typing import Any

import grpc
import grpc.aio
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

#: Seconds that the engine has to take a note.
PATIENCE = 10.0


class Notes:
    """Notes to whoever runs the engine at this address; without one they go to stderr."""

    def __init__(self, engine: str = "") -> None:
        self._engine = engine

    async def tell(self, urn: str, text: str) -> None:
        """Show a sentence beside a resource. Never fails: what it is about has been done."""
        if not await self._logged(urn, text):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    async def _logged(self, urn: str, text: str) -> bool:
        if not self._engine:
            return False
        note = engine_pb2.LogRequest(severity=engine_pb2.INFO, message=text, urn=urn)
        try:
            async with grpc.aio.insecure_channel(self._engine) as channel:
                stub: Any = engine_pb2_grpc.EngineStub(channel)  # generated for calls that block
                await stub.Log(note, timeout=PATIENCE)
        except grpc.RpcError:
            return False
        return True
