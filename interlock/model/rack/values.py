"""Values that only racks have: watts, kilograms, MAC addresses, blocks of switch ports."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.values import QUOTE_IT, ranges, shown

#: Role of a block of switch ports -> (first, last).
PortBlock = tuple[int, int]

_WATT = {"W": 1, "kW": 1000}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")
#: No device and no hall comes near: more watts or kilograms are a slip of the keyboard.
_MOST_OF_A_QUANTITY = 10**9
_UNITS = re.compile(r"([0-9]{1,2})\s*U")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_MAC_RANGE = re.compile(r"([0-9a-f:]{15})\[([0-9a-f]{2})-([0-9a-f]{2})\]")


def watts(value: Any) -> int:
    """Whole watts from `1500W`, `22kW`, `1.5kW`."""
    number, unit = _quantity(value, "no power", "write a number and a unit, as in 1500W or 22kW")
    if unit not in _WATT:
        raise fault(Code.UNIT, f"{shown(value)} is no power", "units are W and kW, as in 1500W or 22kW")
    found = number * _WATT[unit]
    if found != int(found) or found < 1:
        raise fault(Code.VALUE, f"`{value}` is no whole number of watts above 0")
    return int(found)


def kilograms(value: Any) -> float:
    """Kilograms from `16.4kg`."""
    number, unit = _quantity(value, "no weight", "write a number and a unit, as in 16.4kg")
    if unit != "kg" or not number:
        raise fault(Code.UNIT, f"{shown(value)} is no weight", "write kilograms above 0, as in 16.4kg")
    return float(number)


def units(value: Any) -> int:
    """Rack units from `1U`."""
    match = _UNITS.fullmatch(value) if isinstance(value, str) else None
    if match is None or not 1 <= int(match[1]) <= 60:
        raise fault(Code.UNIT, f"{shown(value)} is no height", "write rack units above 0, as in 1U")
    return int(match[1])


def _quantity(value: Any, what: str, hint: str) -> tuple[Decimal, str]:
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise fault(Code.UNIT, f"{shown(value)} is {what}", hint)
    number = Decimal(match[1])
    if number > _MOST_OF_A_QUANTITY:
        raise fault(Code.VALUE, f"{shown(value)} is more than {_MOST_OF_A_QUANTITY}{match[2]}", hint)
    return number, match[2]


def mac(value: Any) -> str:
    """A MAC address of one device, in lower case with colons."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    text = value.lower().replace("-", ":")
    if not _MAC.fullmatch(text):
        raise fault(Code.VALUE, f"{shown(value)} is no MAC address", "write one as in 02:00:00:00:01:0a")
    if int(text[:2], 16) & 1:
        hint = "the lowest bit of its first byte is set: no network device has such an address"
        raise fault(Code.VALUE, f"`{text}` is the address of a group", hint)
    return text


def macs(value: Any) -> list[str]:
    """MAC addresses, also as `02:00:00:00:01:[01-10]`: the range counts in hexadecimal."""
    items = value if isinstance(value, list) else [value]
    return [mac(address) for item in items for address in _addresses(item)]


def _addresses(item: Any) -> list[Any]:
    match = _MAC_RANGE.fullmatch(item.lower()) if isinstance(item, str) else None
    if match is None:
        return [item]
    first, last = int(match[2], 16), int(match[3], 16)
    if first > last:
        raise fault(Code.VALUE, f"`{item}` is no range of addresses", "write the lower number first")
    return [f"{match[1]}{number:02x}" for number in range(first, last + 1)]


def port_block(value: Any) -> PortBlock | None:
    """(first, last) from `17-24`; None from `none`: this switch has no such block."""
    if value == "none":
        return None
    found = ranges(value)
    if len(found) != 1:
        hint = "the cables of a role end at neighbouring ports: write 17-24, or none"
        raise fault(Code.VALUE, f"{shown(value)} is no block of ports", hint)
    return found[0]


_MAC_TEXT = {"type": "string", "pattern": r"^[0-9A-Fa-f:\[\]-]+$", "examples": ["02:00:00:00:01:[01-10]"]}

Watts = Annotated[
    int,
    BeforeValidator(watts),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9.]+ *k?W$", "examples": ["1500W"]}),
]
Kilograms = Annotated[
    float,
    BeforeValidator(kilograms),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9.]+ *kg$", "examples": ["16.4kg"]}),
]
RackUnits = Annotated[
    int,
    BeforeValidator(units),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+ *U$", "examples": ["1U"]}),
]
Macs = Annotated[
    list[str],
    BeforeValidator(macs),
    WithJsonSchema({"anyOf": [_MAC_TEXT, {"type": "array", "items": _MAC_TEXT}]}),
]
BlockOfPorts = Annotated[
    PortBlock | None,
    BeforeValidator(port_block),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["17-24", "none"]}),
]
