"""Provider processes, asked over gRPC as Pulumi's engine asks them."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from interlock.provider.codec import decode, encode
from interlock.provider.retry import RetryPolicy
from interlock.provider.server import Servicer, start
from interlock.resources import Admission
from interlock.vocabulary.urns import ADMIT


@dataclass
class Recorded:
    """One resource of a state."""

    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class Refused(Exception):
    """A call that the provider did not carry out; `partial` is what it hands over for the state, if anything."""

    def __init__(self, message: str | None, partial: Recorded | None = None, reasons: Iterable[str] = ()) -> None:
        super().__init__(message or "")
        self.partial = partial
        #: What the engine tells of an object that was made and is not as it should be.
        self.reasons = tuple(reasons)


class Listening:
    """A provider that listens at a port of this machine."""

    def __init__(self, port: int, cloud: str = "sandbox") -> None:
        #: Where a preview leaves its tokens for the update; both processes of one engine share it.
        self.tokens = tempfile.mkdtemp()
        #: What the last admission could not look at.
        self.notes: list[str] = []
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode({"cloud": cloud}), acceptSecrets=True))

    def close(self) -> None:
        """Ends the connection; once more does nothing."""
        self._channel.close()

    def admit(self, admission: Admission, *, preview: bool = True, previewed: bool = True) -> list[str]:
        """As the engine does in a preview, or in an update with the preview before it, unless not `previewed`."""
        if not preview and previewed:
            self.admit(admission)
        arguments = {"admission": admission.model_dump_json(), "preview": preview, "preview_tokens": self.tokens}
        answer = self.call("Invoke", provider_pb2.InvokeRequest(tok=ADMIT, args=encode(arguments)))
        found = decode(getattr(answer, "return"))
        faults: list[str] = found["faults"]
        self.notes = found["notes"]
        return faults

    def call(self, method: str, request: Any) -> Any:
        """The answer. Raises `Refused`."""
        try:
            return getattr(self.stub, method)(request)
        except grpc.RpcError as error:
            raise Refused(error.details(), *_partial(error)) from error


class Process(Listening):
    """A provider process, in a thread of this one."""

    def __init__(self, cloud: str = "sandbox", retry_policy: RetryPolicy | None = None) -> None:
        self.servicer = Servicer(retry_policy)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server, port = asyncio.run_coroutine_threadsafe(start(self.servicer), self._loop).result()
        super().__init__(port, cloud)

    def close(self) -> None:
        """Ends it; once more does nothing."""
        if not self._thread.is_alive():
            return
        super().close()
        asyncio.run_coroutine_threadsafe(self._server.stop(None), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


def _partial(error: Any) -> tuple[Recorded | None, tuple[str, ...]]:
    """What the engine unpacks from the error to keep the id, and the reasons that it tells."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if details is None:
        return None, ()
    found = provider_pb2.ErrorResourceInitFailed()
    for detail in status_pb2.Status.FromString(details).details:
        if detail.Unpack(found):
            return Recorded(found.id, decode(found.inputs), decode(found.properties)), tuple(found.reasons)
    return None, ()
