"""Values that only site files have: P_Keys, offsets, ids, prices, ends of cables."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.hardware.pkeys import TENANT_KEYS
from interlock.model.rack.values import mac
from interlock.model.text.errors import Code, fault
from interlock.model.text.names import interfaces
from interlock.model.text.values import QUOTE_IT, Range, names, ranges, shown, vni_ranges
from interlock.resources.existing import IdForm

from .physical import Endpoint

#: P_Keys that a tenant's partition may have, first and last.
FIRST_KEY, LAST_KEY = TENANT_KEYS.value
#: Ports of the largest switch that anybody has heard of, and some.
MOST_PORTS = 4096
#: Most ids that can be kept back one by one.
_MOST_RESERVED = 65536
#: Digits that survive the way through a binary number.
_SAFE_DIGITS = 15

#: How people find the id of an object.
AS_PRINTED = "write the id that `openstack … show -c id` prints, in quotes"

_KEY = re.compile(r"(0x[0-9A-Fa-f]{1,8}|[0-9]{1,8})(?:-(0x[0-9A-Fa-f]{1,8}|[0-9]{1,8}))?")
_HEIGHT = re.compile(r"([0-9]{1,3})\s*U")
#: Units of the highest rack.
_HIGHEST = 100
_GUID = re.compile(r"[0-9a-f]{16}")
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}")
CIPHER = "^[a-z0-9]+-[a-z0-9]+(-[a-z0-9:]+)?$"
_CIPHER = re.compile(CIPHER)
_CLAIMS = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#\s]*)?(\?[^#\s]*)?|file:///[^?#]*")
_REGION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,253}[A-Za-z0-9])?")
_OPTION = re.compile(r"[a-z][a-z0-9_]*(=[A-Za-z0-9._:/-]+)?")
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")


def partition_keys(value: Any) -> tuple[Range, ...]:
    """Ranges of P_Keys from `0x0001-0x7ffe`, `16` or a list of these; without the bit of full membership."""
    items = value if isinstance(value, list) else [value]
    return tuple(_keys(part.strip()) for item in items for part in _key_text(item).split(","))


def _key_text(item: Any) -> str:
    """YAML makes a number of 0x8001 where nobody quotes it; messages show it as it was meant."""
    return f"{item:#06x}" if type(item) is int else str(item)


def _keys(text: str) -> Range:
    match = _KEY.fullmatch(text)
    if match is None:
        raise fault(Code.VALUE, f"`{text}` is no range of P_Keys", "write 0x0001-0x7ffe, or a single one")
    first, last = (int(part, 0 if "x" in part else 10) for part in (match[1], match[2] or match[1]))
    if first < FIRST_KEY or last > LAST_KEY:
        hint = "0x7fff is the default partition, and the highest bit only says full or limited member"
        raise fault(Code.VALUE, f"`{text}`: P_Keys are 0x0001 to 0x7ffe", hint)
    if first > last:
        raise fault(Code.VALUE, f"`{text}` runs backwards", f"write {last:#06x}-{first:#06x}")
    return first, last


def reserved_keys(value: Any) -> tuple[int, ...]:
    """P_Keys one by one, sorted."""
    return _singly(partition_keys(value))


def reserved_vnis(value: Any) -> tuple[int, ...]:
    """VXLAN ids one by one, sorted."""
    found = vni_ranges(value)
    if sum(last - first + 1 for first, last in found) > _MOST_RESERVED:
        hint = "leave them out of the pool instead"
        raise fault(Code.VALUE, f"{shown(value)}: at most {_MOST_RESERVED} ids can be kept back", hint)
    return _singly(found)


def _singly(found: tuple[Range, ...]) -> tuple[int, ...]:
    return tuple(sorted({item for first, last in found for item in range(first, last + 1)}))


def offsets(value: Any) -> Range:
    """(first, last) from `2-9`: places in a subnet, counted from its own address."""
    found = ranges(value)
    if len(found) != 1:
        raise fault(Code.VALUE, f"{shown(value)} is no range of offsets", "write one range, as in 2-9")
    return found[0]


def height(value: Any) -> int:
    """Rack units from `2U`; `0U` stands upright beside them, as many PDUs do."""
    match = _HEIGHT.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) > _HIGHEST:
        raise fault(Code.UNIT, f"{shown(value)} is no height", "write rack units, as in 1U, or 0U beside them")
    return int(match[1])


def port_groups(value: Any) -> list[list[int]]:
    """Pairs of a speed in Gb/s and a number of ports."""
    hint = "write [[100, 32], [10, 2]]: speed in Gb/s and number of ports"
    pairs: list[Any] = value if isinstance(value, list) else [None]
    if not all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_count, pair)) for pair in pairs):
        raise fault(Code.VALUE, "groups of ports are pairs of numbers", hint)
    count = sum(pair[1] for pair in pairs)
    if not 1 <= count <= MOST_PORTS:
        raise fault(Code.VALUE, f"{count} ports: a switch has 1 to {MOST_PORTS}", hint)
    return pairs


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def subnet_prefix(value: Any) -> str:
    """The prefix of an InfiniBand subnet: 16 hexadecimal digits, in lower case."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    text = value.lower()
    if not _GUID.fullmatch(text):
        hint = "write 16 hexadecimal digits, as `sminfo` and opensm's subnet_prefix show them"
        raise fault(Code.VALUE, f"{shown(value)} is no subnet prefix", hint)
    return text


def object_id(value: Any) -> str:
    """An id as OpenStack prints it; which form it has at which service, the checks of `existing:` know."""
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or not _ID.fullmatch(text):
        raise fault(Code.VALUE, f"{shown(value)} is no id of OpenStack's", AS_PRINTED)
    # Services print hexadecimal ids in lower case; a flavor's may be any text.
    return text.lower() if IdForm.UUID.fits(text.lower()) else text


def cipher(value: Any) -> str:
    """A cipher with its mode, and where the mode needs it how blocks are told apart, as dm-crypt has them."""
    if not isinstance(value, str) or not _CIPHER.fullmatch(value):
        hint = "write it as in aes-xts-plain64: cipher, mode, and what the mode needs"
        raise fault(Code.VALUE, f"{shown(value)} is no cipher of dm-crypt's", hint)
    return value


def claims_url(value: Any) -> str:
    """Where claims are recorded: an S3 bucket as Pulumi's own backends name one, or a folder of this machine."""
    text = str(value)
    if not _CLAIMS.fullmatch(text):
        hint = "write s3://bucket/prefix?endpoint=https://…&region=…, or file:///absolute/folder"
        raise fault(Code.VALUE, f"{shown(value)} is no place for claims", hint)
    return text


def region_name(value: Any) -> str:
    """A region as the catalogue of its cloud spells it: a name of Keystone's, capitals and small letters differ."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if not _REGION.fullmatch(value):
        hint = "write it as `openstack region list` does: letters, digits, dots, dashes and underscores"
        raise fault(Code.VALUE, f"{shown(value)} is no region", hint)
    return value


def price(value: Any) -> Any:
    """A price as decimal text. What a bare number in YAML means is read from its digits, never from its bits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    digits = len(Decimal(repr(value)).as_tuple().digits) if math.isfinite(value) else _SAFE_DIGITS + 1
    if digits > _SAFE_DIGITS:
        raise fault(Code.VALUE, f"{shown(value)} has too many digits for a bare number", "put it in quotes")
    return format(Decimal(repr(value)), "f")


def is_price(text: str) -> bool:
    """Whether a text is a decimal number, not below 0."""
    return bool(_DECIMAL.fullmatch(text))


def cable_end(value: Any) -> tuple[Endpoint, ...]:
    """One end of a cable from `tor-1:17`; of several beside each other from `tor-1:25-32`, `infra-[1-2]:eno1`."""
    devices, colon, plugs = str(value).partition(":")
    if not (devices and colon and plugs) or isinstance(value, dict | list):
        hint = "write device:interface, as in tor-1:17, and put it in quotes if there are brackets in it"
        raise fault(Code.VALUE, f"{shown(value)} is no end of a cable", hint)
    found, at = names(devices), interfaces(plugs)
    if min(len(found), len(at)) > 1:
        hint = "give a range of devices or one of interfaces"
        raise fault(Code.VALUE, f"{shown(value)} has two ranges", hint)
    return tuple(Endpoint(device=device, interface=plug) for device in found for plug in at)


def audience(value: Any) -> Any:
    """`any` is everybody."""
    return ["*"] if value == "any" else value


def number_as_text(value: Any) -> Any:
    """Extra specs are texts to Nova, but `hw:numa_nodes: 8` is how people write them."""
    return str(value) if type(value) is int else value


def _number_or_text(example: str) -> WithJsonSchema:
    one = {"type": ["string", "integer"]}
    return WithJsonSchema({"anyOf": [one, {"type": "array", "items": one}], "examples": [example]})


def mount_option(value: Any) -> str:
    """One option of mount(8), a word or a word with a value, but for `ro` and `rw`, which the request decides."""
    if not isinstance(value, str) or not _OPTION.fullmatch(value):
        raise fault(
            Code.VALUE, f"{shown(value)} is no option of mount", "write one for each entry, as in `nconnect=16`"
        )
    if value in ("ro", "rw"):
        raise fault(Code.VALUE, f"`{value}` is not the site's to say", "take it out: `access` of each share says it")
    return value


_END = WithJsonSchema({"type": "string", "pattern": "^[^:]+:[^:]+$", "examples": ["tor-1:17"]})
_TEXT = {"type": "array", "items": {"type": "string"}}

PartitionKeys = Annotated[tuple[Range, ...], BeforeValidator(partition_keys), _number_or_text("0x0001-0x7ffe")]
PartitionKeyIds = Annotated[tuple[int, ...], BeforeValidator(reserved_keys), _number_or_text("0x0010")]
VniIds = Annotated[tuple[int, ...], BeforeValidator(reserved_vnis), _number_or_text("10000-10009")]
Offsets = Annotated[
    Range, BeforeValidator(offsets), WithJsonSchema({"type": ["string", "integer"], "examples": ["2-9"]})
]
Height = Annotated[
    int,
    BeforeValidator(height),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+ *U$", "examples": ["1U"]}),
]
PortGroups = Annotated[
    list[list[int]],
    BeforeValidator(port_groups),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2},
        }
    ),
]
SubnetPrefix = Annotated[
    str, BeforeValidator(subnet_prefix), WithJsonSchema({"type": "string", "pattern": "^[0-9A-Fa-f]{16}$"})
]
Cipher = Annotated[
    str, BeforeValidator(cipher), WithJsonSchema({"type": "string", "pattern": CIPHER, "examples": ["aes-xts-plain64"]})
]
ObjectId = Annotated[str, BeforeValidator(object_id), WithJsonSchema({"type": ["string", "integer"]})]
ClaimsUrl = Annotated[str, BeforeValidator(claims_url), WithJsonSchema({"type": "string", "pattern": _CLAIMS.pattern})]
RegionName = Annotated[
    str, BeforeValidator(region_name), WithJsonSchema({"type": "string", "pattern": f"^{_REGION.pattern}$"})
]
Price = Annotated[str, BeforeValidator(price), WithJsonSchema({"type": ["string", "number"]})]
Mac = Annotated[str, BeforeValidator(mac), WithJsonSchema({"type": "string", "pattern": "^[0-9A-Fa-f:-]{17}$"})]
End = Annotated[tuple[Endpoint, ...], BeforeValidator(cable_end), _END]
Audience = Annotated[list[str], BeforeValidator(audience), WithJsonSchema({"anyOf": [{"const": "any"}, _TEXT]})]
ExtraSpecs = dict[str, Annotated[str, BeforeValidator(number_as_text), WithJsonSchema({"type": ["string", "integer"]})]]
PciAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
MountOption = Annotated[
    str, BeforeValidator(mount_option), WithJsonSchema({"type": "string", "pattern": f"^{_OPTION.pattern}$"})
]
