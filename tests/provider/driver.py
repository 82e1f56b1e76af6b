"""Drives our servicer over gRPC as Pulumi's engine does: check, create, read, diff, update, delete, with a state."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from interlock.provider.codec import decode, encode
from interlock.provider.retry import RetryPolicy
from interlock.provider.server import ADMIT, Servicer, start
from interlock.resources import Admission, Admitted, Resource


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


class Process:
    """A provider process, in a thread of this one."""

    def __init__(self, cloud: str = "sandbox", retry_policy: RetryPolicy | None = None) -> None:
        self.servicer = Servicer(retry_policy)
        self._notes = tempfile.mkdtemp()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server, port = asyncio.run_coroutine_threadsafe(start(self.servicer), self._loop).result()
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode({"cloud": cloud}), acceptSecrets=True))

    def close(self) -> None:
        """Ends it; once more does nothing."""
        if not self._thread.is_alive():
            return
        self._channel.close()
        asyncio.run_coroutine_threadsafe(self._server.stop(None), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def admit(self, admission: Admission, *, preview: bool = True, previewed: bool = True) -> list[str]:
        """As the engine does in a preview, or in an update with the preview before it, unless not `previewed`."""
        if not preview and previewed:
            self.admit(admission)
        arguments = {"admission": admission.model_dump_json(), "preview": preview, "preview_tokens": self._notes}
        answer = self.call("Invoke", provider_pb2.InvokeRequest(tok=ADMIT, args=encode(arguments)))
        faults: list[str] = decode(getattr(answer, "return"))["faults"]
        return faults

    def call(self, method: str, request: Any) -> Any:
        try:
            return getattr(self.stub, method)(request)
        except grpc.RpcError as error:
            raise Refused(error.details(), *_partial(error)) from error


@dataclass
class Program:
    """A stack: what it declares, and its state."""

    process: Process
    stack: str
    owner: str
    resources: dict[str, Resource]
    site_owner: str
    folder: Path
    existing: Mapping[str, str] = field(default_factory=dict)
    virtual_functions: Mapping[str, int] = field(default_factory=dict)
    state: dict[str, Recorded] = field(default_factory=dict)

    def admission(self) -> Admission:
        return Admission(
            stack=self.stack,
            cloud="sandbox",
            owner=self.owner,
            site_owner=self.site_owner,
            existing=dict(self.existing),
            plan_hash="plan",
            proof_hash="proof",
            site_folder=str(self.folder),
            virtual_functions=dict(self.virtual_functions),
            resources=tuple(
                Admitted(name=name, kind=item.KIND, spec=item.canonical()) for name, item in self.resources.items()
            ),
        )

    def admit(self, *, preview: bool = True) -> list[str]:
        return self.process.admit(self.admission(), preview=preview)

    def urn(self, name: str) -> str:
        return f"urn:pulumi:{self.stack}::clusters::interlock:index:{self.resources[name].KIND}::{name}"

    def inputs(self, name: str) -> dict[str, Any]:
        """As the program hands them over: ids of references to the own plan only."""
        item, ids = self.resources[name], dict[str, Any]()
        for where, reference in item.references():
            if reference.startswith(("site:", "cloud:")) or reference == name:
                continue
            ident = self.state[reference].id
            if isinstance(getattr(item, where), tuple):
                ids.setdefault(f"id_of_{where}", []).append(ident)
            else:
                ids[f"id_of_{where}"] = ident
        return item.canonical() | {"owner": self.owner} | ids

    def check(self, name: str, inputs: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
        """Faults of what the program declares now."""
        olds = self.state[name].inputs if name in self.state else {}
        request = provider_pb2.CheckRequest(
            urn=self.urn(name), olds=encode(olds), news=encode(inputs or self.inputs(name))
        )
        return [(fault.property, fault.reason) for fault in self.process.call("Check", request).failures]

    def create(self, name: str, *, inputs: Mapping[str, Any] | None = None, preview: bool = False) -> Recorded:
        """Makes it (whether or not the state holds it already) and records it."""
        values = dict(inputs or self.inputs(name))
        request = provider_pb2.CreateRequest(urn=self.urn(name), properties=encode(values), preview=preview)
        answer = self.process.call("Create", request)
        found = Recorded(answer.id, values, decode(answer.properties))
        if not preview:
            self.state[name] = found
        return found

    def create_all(self) -> None:
        for name in self.resources:
            assert self.check(name) == []
            self.create(name)

    def read(self, name: str, *, record: bool = True, **changed: Any) -> Recorded | None:
        """What `refresh` finds; `changed` alters the recorded outputs beforehand."""
        old = self.state[name]
        request = provider_pb2.ReadRequest(
            urn=self.urn(name), id=old.id, inputs=encode(old.inputs), properties=encode(old.outputs | changed)
        )
        answer = self.process.call("Read", request)
        if not answer.id:
            return None
        found = Recorded(answer.id, decode(answer.inputs), decode(answer.properties))
        if record:
            self.state[name] = found
        return found

    def diff(self, name: str) -> dict[str, bool]:
        """Property -> must be replaced for it; empty if nothing is to do."""
        old = self.state[name]
        request = provider_pb2.DiffRequest(
            urn=self.urn(name),
            id=old.id,
            olds=encode(old.outputs),
            news=encode(self.inputs(name)),
            old_inputs=encode(old.inputs),
        )
        answer = self.process.call("Diff", request)
        assert (answer.changes == provider_pb2.DiffResponse.DIFF_SOME) == bool(answer.diffs)
        assert answer.deleteBeforeReplace
        return {name: name in answer.replaces for name in answer.diffs}

    def update(self, name: str, *, inputs: Mapping[str, Any] | None = None, **changed: Any) -> Recorded:
        old, news = self.state[name], dict(inputs or self.inputs(name))
        request = provider_pb2.UpdateRequest(
            urn=self.urn(name), id=old.id, olds=encode(old.outputs | changed), news=encode(news)
        )
        answer = self.process.call("Update", request)
        self.state[name] = Recorded(old.id, news, decode(answer.properties))
        return self.state[name]

    def delete(self, name: str, **changed: Any) -> None:
        old = self.state[name]
        request = provider_pb2.DeleteRequest(urn=self.urn(name), id=old.id, properties=encode(old.outputs | changed))
        self.process.call("Delete", request)
        del self.state[name]

    def delete_all(self, names: Iterable[str] | None = None) -> None:
        for name in list(names or reversed(self.state)):
            self.delete(name)


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
