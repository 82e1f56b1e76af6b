"""What people are told goes through the engine's own log, and is not lost where there is none."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc.aio
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

from interlock.provider.notes import Notes

URN = "urn:pulumi:lyon-t::clusters::interlock:index:Volume::data"


class Engine(engine_pb2_grpc.EngineServicer):
    """Takes notes."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, str, str]] = []

    async def Log(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
        self.notes.append((request.severity, request.urn, request.message))
        return empty_pb2.Empty()


async def _told(text: str) -> list[tuple[int, str, str]]:
    engine, server = Engine(), grpc.aio.server()
    engine_pb2_grpc.add_EngineServicer_to_server(engine, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    await Notes(f"127.0.0.1:{port}").tell(URN, text)
    await server.stop(None)
    return engine.notes


def test_the_engine_shows_it_beside_the_resource(capsys: pytest.CaptureFixture[str]) -> None:
    assert asyncio.run(_told("the data are in a backup")) == [(engine_pb2.INFO, URN, "the data are in a backup")]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("engine", ["", "127.0.0.1:1"])
def test_without_an_engine_it_is_said_on_stderr(capsys: pytest.CaptureFixture[str], engine: str) -> None:
    asyncio.run(Notes(engine).tell(URN, "the data are in a backup"))
    assert capsys.readouterr().err == "the data are in a backup\n"
