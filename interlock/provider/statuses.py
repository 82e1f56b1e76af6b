"""Failures as gRPC statuses that the engine understands."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable
from typing import Any, TypeVar

import grpc
from pulumi.runtime.proto import provider_pb2, status_pb2

from .actuators import ACTUATORS
from .codec import encode
from .errors import Failure
from .lifecycle import Partial
from .redaction import REDACTOR

T = TypeVar("T")


class _Status(grpc.Status):
    """A gRPC status with a detail that the engine looks for."""

    def __init__(self, message: str, detail: Any) -> None:
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=message)
        status.details.add().Pack(detail)
        self.code = grpc.StatusCode.UNKNOWN
        self.details = message
        self.trailing_metadata = (("grpc-status-details-bin", status.SerializeToString()),)


async def answer(context: Any, work: Awaitable[T]) -> T:
    """The result of an operation, its failures as statuses that the engine understands."""
    try:
        return await work
    except Partial as partial:
        status: Any = _partial(partial)
    except Failure as failure:
        status = str(failure)
    except Exception as error:  # noqa: BLE001 - a fault of ours must reach the user as a sentence, too
        status = _defect(error)
    if isinstance(status, str):
        await context.abort(grpc.StatusCode.UNKNOWN, status)
    else:
        await context.abort_with_status(status)
    raise AssertionError("abort does not return")


def _partial(partial: Partial) -> _Status:
    """What makes the engine keep the id: see `parseError` in its sdk/go/common/resource/plugin."""
    detail = provider_pb2.ErrorResourceInitFailed(
        id=partial.ident,
        properties=encode(partial.values, _secrets_in(partial.values)),
        inputs=encode(partial.inputs),
        reasons=[str(partial.failure)],
    )
    return _Status(partial.failure.message, detail)


def _defect(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    said = REDACTOR.redact(f"{type(error).__name__}: {error}")
    return f"a fault in the provider itself: {said} ({place}); please report it"


def _secrets_in(values: dict[str, Any]) -> frozenset[str]:
    return frozenset(key for actuator in ACTUATORS.values() for key in actuator.SECRET if key in values)
