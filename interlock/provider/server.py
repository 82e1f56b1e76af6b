"""The gRPC side: Pulumi's resource provider protocol. The only module that knows it.

It implements the generated servicer itself. The SDK's own `pulumi.provider.experimental.server` has no
partial failures, rejects integers and unknown values, and turns exceptions into tracebacks; what would be
left of it here is nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from pydantic import ValidationError

from interlock.resources import KINDS, Admission, Claims
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.urns import ADMIT, Urn

from . import VERSION
from .actuators import ACTUATORS
from .admitted import AdmissionGate, elsewhere
from .claims import ClaimsLifecycle
from .clouds import Cloud
from .codec import decode, encode
from .diffing import Difference, compare
from .errors import Failure, Trouble, refused
from .lifecycle import Lifecycle
from .notes import Notes
from .passed_devices import check_redone
from .pending_notes import note_on
from .pools import ThreadPools
from .preconditions import moves_of
from .preflight import NotLookedAt, preflight
from .preview_token import Previewed, PreviewTokens
from .references import exchanged
from .retry import RetryPolicy
from .schema import schema
from .state import Declared, declared, not_imported
from .statuses import answer

#: Pulumi sends whole states of resources; its own limit.
_LARGEST_MESSAGE = 400 * 1024 * 1024

#: Keys of a provider's configuration that Pulumi itself adds.
_ITS_OWN = frozenset({"version", "pluginDownloadURL"})


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """One provider process: one cloud, one gate."""

    def __init__(self, retry_policy: RetryPolicy | None = None, notes: Notes | None = None) -> None:
        self.gate = AdmissionGate()
        self._retry_policy = replace(retry_policy or RetryPolicy(), cancelled=lambda: self.gate.cancelled)
        self._notes = notes or Notes()
        self.pools = ThreadPools()
        #: Plan name -> id that the engine has for it in this run.
        self._known: dict[str, str] = {}
        self._lifecycle: Lifecycle | None = None
        self._cloud: Cloud | None = None
        #: True once a preflight has found the cloud and all that it asked of it.
        self._answers = False
        self._is_reached: bool | None = None
        self.claims = ClaimsLifecycle(self.gate, self.pools, asked=self._known)

    # --- the provider itself -----------------------------------------------------------------------------

    async def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    async def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(schema=schema())

    async def CheckConfig(self, request: Any, context: Any) -> Any:
        values = decode(request.news)
        unknown = sorted(values.keys() - {"cloud", "region"} - _ITS_OWN)
        faults = [(key, "is no setting of this provider; it takes `cloud` and `region` only") for key in unknown]
        if not isinstance(values.get("cloud"), str):
            faults.append(("cloud", "must name an entry of clouds.yaml"))
        if not isinstance(values.get("region", ""), str):
            faults.append(("region", "must name a region of the cloud"))
        return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(faults))

    async def DiffConfig(self, request: Any, context: Any) -> Any:
        # Another entry may be the same cloud under a new name; each resource checks the identity itself.
        olds, news = decode(request.olds), decode(request.news)
        return _diff(Difference({key: False for key in ("cloud", "region") if olds.get(key) != news.get(key)}))

    async def Configure(self, request: Any, context: Any) -> Any:
        values = decode(request.args)
        self._cloud = Cloud(str(values.get("cloud") or ""), self._retry_policy, str(values.get("region") or ""))
        self._lifecycle = Lifecycle(self._cloud, self.gate, self.pools)
        self.claims.cloud = self._cloud
        self._cloud.held_before, self._cloud.held_no_more = self.claims.held_before, self.claims.held_no_more
        self._cloud.held_by_state = self.claims.held_by_state
        self._cloud.claims_place = self.claims.place
        self._cloud.without_use = self.claims.without_use
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    async def Cancel(self, request: Any, context: Any) -> Any:
        self.gate.cancel()
        return empty_pb2.Empty()

    async def Invoke(self, request: Any, context: Any) -> Any:
        return await answer(context, self._invoke(request))

    async def _invoke(self, request: Any) -> Any:
        if request.tok != ADMIT:
            raise refused(f"there is no function {request.tok}")
        response = provider_pb2.InvokeResponse()
        # `return` is a word of Python's own, so it cannot be written as an argument.
        faults, notes = await self._admit(decode(request.args))
        getattr(response, "return").CopyFrom(encode({"faults": faults, "notes": notes}))
        return response

    async def _admit(self, arguments: dict[str, Any]) -> tuple[list[str], list[str]]:
        """What stands in the way; and in a preview what nobody could look at, which an update refuses."""
        try:
            admission = Admission.model_validate_json(arguments["admission"])
        except (KeyError, ValidationError) as error:
            raise refused(f"the admission cannot be read: {error}") from error
        cloud, _ = self._parts()
        if wrong := elsewhere(admission, cloud.name, cloud.site_region):
            return wrong, []
        preview = bool(arguments.get("preview"))
        faults = self.gate.admit(admission, PreviewTokens(Path(arguments["preview_tokens"])), preview=preview)
        try:
            faults = faults or await self.claims.obstacles(reached=await self._reached())
        except Failure as failure:
            return [str(failure)], []
        if faults:
            return faults, []
        before = Previewed() if preview else self.gate.previewed
        found = await self.pools.run("compute", preflight, admission, cloud, before.creates, before.is_clear)
        if not found:
            self.gate.found_clear()
        silent = [fault for fault in found if preview and isinstance(fault, NotLookedAt)]
        self._answers = not silent
        notes = dict.fromkeys(f"not looked at: {fault.message}" for fault in silent)
        return [str(fault) for fault in found if fault not in silent], list(notes)

    # --- resources ---------------------------------------------------------------------------------------

    async def Check(self, request: Any, context: Any) -> Any:
        return await answer(context, self._check(request))

    async def _check(self, request: Any) -> Any:
        kind, name = _kind_and_name(request.urn)
        news = decode(request.news)
        faults = self.gate.check(kind, name, news, decode(request.olds)) or await self._exchanged(kind, name, news)
        return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(faults))

    async def _exchanged(self, kind: str, name: str, news: dict[str, Any]) -> list[tuple[str, str]]:
        """Faults of ids that stand for other objects than the references name."""
        known, admission = dict(self._known), self.gate.admission
        found = exchanged(self._parts()[0], declared(kind, name, news), admission, known)
        faults: list[tuple[str, str]] = await self.pools.run("identity", list, found)
        self.gate.refuse([f"{kind} {name}: {reason}" for _, reason in faults])
        return faults

    async def Diff(self, request: Any, context: Any) -> Any:
        return await answer(context, self._diff(request))

    async def _diff(self, request: Any) -> Any:
        kind, name = _kind_and_name(request.urn)
        self._known[name] = request.id
        olds, news = decode(request.olds), decode(request.news)
        if kind == Claims.KIND:
            anew = await self.claims.known(request.id, olds)
            return _diff(compare(kind, name, olds, news, anew=anew), created_first=KINDS[kind].CREATED_FIRST)
        item = declared(kind, name, news)
        moves = await self._moves(item, olds, news)
        present = await self._known_here(item, request.id, olds)
        found = compare(kind, name, olds, news, moves, present, self.gate.previewed.creates)
        if found.replaces and self._answers:
            await self._told(check_redone, self._parts()[0], item, request.id, olds.get("host"), found.replaces)
        return _diff(found, created_first=KINDS[kind].CREATED_FIRST)

    async def _known_here(self, item: Declared, ident: str, olds: dict[str, Any]) -> CloudFingerprint | None:
        """The cloud in use; None in a preview that cannot reach it. Raises `Failure` if the state is of another."""
        cloud, lifecycle = self._parts()
        if not olds.get("cloud_id") or (self.gate.previews and not await self._reached()):
            return None
        try:
            await lifecycle.known(item, ident, olds)
        except Failure as failure:
            self.gate.refuse([failure.message])
            raise
        return cloud.login.fingerprint

    async def _reached(self) -> bool:
        """False if the cloud cannot be reached: then a preview shows what it can without it. Tried once."""
        if self._is_reached is None:
            try:
                await self.pools.run("identity", lambda: self._parts()[0].login)
                self._is_reached = True
            except Failure as failure:
                if failure.trouble is Trouble.REFUSED:
                    raise
                self._is_reached = False
        return self._is_reached

    async def _moves(self, item: Declared, olds: dict[str, Any], news: dict[str, Any]) -> list[str]:
        """Fields behind which another object stands. Raises `Failure` for what the update would not do."""
        cloud, known, answers = self._parts()[0], dict(self._known), self._answers
        admission = self.gate.admission if self.gate.has_proof else None
        ask = functools.partial(moves_of, cloud, item, olds, news, known, admission, answers=answers)
        found: list[str] = await self._told(ask)
        return found

    async def _told(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """What a question before the engine hears of a difference finds. Its `Failure` is the stack's as well."""
        try:
            return await self.pools.run("identity", ask, *arguments)
        except Failure as failure:
            self.gate.refuse([failure.message])
            raise

    async def Create(self, request: Any, context: Any) -> Any:
        return await answer(context, self._create(request))

    async def _create(self, request: Any) -> Any:
        item = _declared(request.urn, request.properties)
        if request.preview:
            self.gate.will_create(item.name)
        lifecycle = await self._allowed(item.kind, preview=request.preview)
        ident, values = await lifecycle.create(item, preview=request.preview)
        if ident:
            self._known[item.name] = ident
        await self._tell_pending(request, item, values)
        return provider_pb2.CreateResponse(id=ident, properties=_encoded(item, values))

    async def Read(self, request: Any, context: Any) -> Any:
        return await answer(context, self._read(request))

    async def _read(self, request: Any) -> Any:
        values = decode(request.properties)
        if not values:  # `pulumi import`, or a program's `import_`: nothing is recorded of it
            raise not_imported(*_kind_and_name(request.urn), f"the state has no record of {request.id}")
        item = _declared(request.urn, request.inputs if request.inputs.fields else request.properties)
        found = await self._of(item.kind).read(item, request.id, values)
        if found is None:
            return provider_pb2.ReadResponse()
        inputs, outputs = found
        return provider_pb2.ReadResponse(id=request.id, inputs=encode(inputs), properties=_encoded(item, outputs))

    async def Update(self, request: Any, context: Any) -> Any:
        return await answer(context, self._update(request))

    async def _update(self, request: Any) -> Any:
        item = _declared(request.urn, request.news)
        olds = decode(request.olds)
        lifecycle = await self._allowed(item.kind, preview=request.preview)
        values = await lifecycle.update(item, request.id, olds, preview=request.preview)
        await self._tell_pending(request, item, values)
        return provider_pb2.UpdateResponse(properties=_encoded(item, values))

    async def _tell_pending(self, request: Any, item: Declared, values: dict[str, Any]) -> None:
        if item.kind == Claims.KIND:
            return
        cloud, creates = self._parts()[0] if self._answers else None, self.gate.previewed.creates
        if said := await note_on(self.pools, cloud, item, None if request.preview else values, creates):
            await self._notes.tell(request.urn, said)

    async def Delete(self, request: Any, context: Any) -> Any:
        return await answer(context, self._delete(request))

    async def _delete(self, request: Any) -> Any:
        item = _declared(request.urn, request.properties)
        stack = Urn.parse(request.urn).stack
        if said := await self._of(item.kind).delete(item, request.id, decode(request.properties), stack):
            await self._notes.tell(request.urn, said)
        return empty_pb2.Empty()

    async def _allowed(self, kind: str, *, preview: bool) -> Lifecycle | ClaimsLifecycle:
        """The operations on one kind, once the claims of the stack are known to be held."""
        if kind != Claims.KIND and not preview:
            await self.claims.require()
        return self._of(kind)

    def _of(self, kind: str) -> Lifecycle | ClaimsLifecycle:
        return self.claims if kind == Claims.KIND else self._parts()[1]

    def _parts(self) -> tuple[Cloud, Lifecycle]:
        if self._cloud is None or self._lifecycle is None or not self._cloud.name:
            raise refused("the provider is not configured: `cloud` must name an entry of clouds.yaml")
        return self._cloud, self._lifecycle


async def start(servicer: Servicer) -> tuple[Any, int]:
    """A running server and its port, on the loopback address only."""
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
            ("grpc.max_send_message_length", _LARGEST_MESSAGE),
        ]
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


def _kind_and_name(urn: str) -> tuple[str, str]:
    called = Urn.parse(urn)
    kind, name = called.kind, called.name
    if kind not in ACTUATORS and kind != Claims.KIND:
        known = "nothing can make it yet" if kind in KINDS else "there is no such kind"
        raise refused(f"{kind} {name}: {known}")
    return kind, name


def _declared(urn: str, values: struct_pb2.Struct) -> Declared:
    kind, name = _kind_and_name(urn)
    return declared(kind, name, decode(values))


def _encoded(item: Declared, values: dict[str, Any]) -> struct_pb2.Struct:
    return encode(values, frozenset() if item.kind == Claims.KIND else ACTUATORS[item.kind].SECRET)


def _failures(faults: list[tuple[str, str]]) -> list[Any]:
    return [provider_pb2.CheckFailure(property=key, reason=reason) for key, reason in faults]


def _diff(found: Difference, *, created_first: bool = False) -> Any:
    kinds = provider_pb2.PropertyDiff
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found.changed else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=found.replaces,
        diffs=sorted(found.changed),
        # On the cloud a replacement that created first would find the old object by its marker and adopt it.
        deleteBeforeReplace=not created_first,
        hasDetailedDiff=True,
        detailedDiff={
            name: kinds(kind=kinds.UPDATE_REPLACE if replaced else kinds.UPDATE, inputDiff=name not in _COMPUTED)
            for name, replaced in found.changed.items()
        },
    )


#: Properties in which only outputs differ.
_COMPUTED = frozenset({"broken", "cloud_id", "marker"})
