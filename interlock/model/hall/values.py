"""Values that only halls have: GUIDs of InfiniBand ports and switches, and the names of inventories."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.values import QUOTE_IT, shown

_GUID = re.compile(r"[0-9a-f]{16}")
_INVENTORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}\.csv")
_HINT = "write 16 hexadecimal digits, as `ibstat -p` shows them: 0x0002c90300000001"


def guid(value: Any) -> str:
    """A GUID as 16 hexadecimal digits in lower case; `0x` in front and colons between are taken off."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    text = value.lower().removeprefix("0x").replace(":", "")
    if not _GUID.fullmatch(text) or not int(text, 16):
        raise fault(Code.VALUE, f"{shown(value)} is no GUID", _HINT)
    return text


def inventory_name(value: Any) -> str:
    """A CSV file in the folder of the site: no path, which could lead out of it."""
    if not isinstance(value, str) or not _INVENTORY.fullmatch(value):
        hint = "name a file beside `site.yaml`, as in nodes.csv: letters, digits, dots, dashes and underscores"
        raise fault(Code.VALUE, f"{shown(value)} is no inventory", hint)
    return value


Guid = Annotated[
    str,
    BeforeValidator(guid),
    WithJsonSchema({"type": "string", "pattern": "^(0x)?[0-9A-Fa-f:]{16,23}$", "examples": ["0002c90300000001"]}),
]
InventoryName = Annotated[
    str,
    BeforeValidator(inventory_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_INVENTORY.pattern}$", "examples": ["nodes.csv"]}),
]
