"""Pulumi's property values <-> plain Python. Only this module knows the wire's signatures.

Numbers have no integers on the wire: a whole float becomes an int again, for no field of ours is a fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from google.protobuf import struct_pb2

#: Pulumi's protocol: the key that tells special values from maps, the signature of a secret, and the text that
#: stands for an unknown value (pulumi/runtime/rpc.py, and sdk/go/common/resource/plugin/rpc.go of the engine).
SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"
UNKNOWN_TEXT: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class _Unknown(Enum):
    UNKNOWN = "unknown"


#: A value that another resource will have only after it was made.
UNKNOWN: Final = _Unknown.UNKNOWN


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A map of properties; secrets are unwrapped, unknowns are `UNKNOWN`."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def encode(values: Mapping[str, Any], secret: frozenset[str] = frozenset()) -> struct_pb2.Struct:
    """A map of properties; the top-level keys in `secret` are marked secret."""
    fields = {key: _encode(value) for key, value in values.items()}
    return struct_pb2.Struct(fields={key: _secret(value) if key in secret else value for key, value in fields.items()})


def has_unknown(value: Any) -> bool:
    """True if anything in it is unknown."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_unknown(item) for item in value)
    return value is UNKNOWN


def _decode(value: struct_pb2.Value) -> Any:
    which = value.WhichOneof("kind")
    if which == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if which == "string_value":
        return UNKNOWN if value.string_value == UNKNOWN_TEXT else value.string_value
    if which == "list_value":
        return [_decode(item) for item in value.list_value.values]
    if which == "struct_value":
        return _decode_struct(value.struct_value)
    return value.bool_value if which == "bool_value" else None


def _decode_struct(struct: struct_pb2.Struct) -> Any:
    signature = struct.fields.get(SIGNATURE)
    if signature is None:
        return decode(struct)
    # A secret or an output value: the value itself is all that concerns us.
    return _decode(struct.fields["value"]) if "value" in struct.fields else UNKNOWN


def _encode(value: Any) -> struct_pb2.Value:
    if value is None:
        return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    if value is UNKNOWN:
        return struct_pb2.Value(string_value=UNKNOWN_TEXT)
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    if isinstance(value, (int, float)):
        return struct_pb2.Value(number_value=value)
    if isinstance(value, str):
        return struct_pb2.Value(string_value=value)
    if isinstance(value, Mapping):
        return struct_pb2.Value(struct_value=encode(value))
    return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_encode(item) for item in value]))


def _secret(value: struct_pb2.Value) -> struct_pb2.Value:
    fields = {
        SIGNATURE: struct_pb2.Value(string_value=SECRET),
        "value": value,
    }
    return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=fields))
