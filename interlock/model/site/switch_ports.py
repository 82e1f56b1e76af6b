"""How switch ports are written in a site file: `machines: access`, `37-44: trunk 110-199`.

What such a text cannot say stands in a mapping around it: `{mode: trunk 1000-2999, translations: {101: 1001}}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.names import device_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Vlan, ranges, shown, vlan_ranges

from .inventory import PortMode, SwitchPortConfig
from .physical import FilledBy

_ACCESS = re.compile(r"(access|dot1q-tunnel)(?: ([0-9]+))?")
_TRUNK = re.compile(r"trunk (all|none|[0-9,\s-]*[0-9])(?: native ([0-9]+))?")
#: Lists of VLANs that have a word of their own.
_LISTS: dict[str, tuple[tuple[int, int], ...] | None] = {"all": None, "none": ()}
_FORMS = (
    "write disabled, routed, access, access 12, trunk 1000-2999, trunk 1000-2999 native 12, trunk all, "
    "trunk none, or dot1q-tunnel 12"
)
#: Words that look like the role of a port and are none.
_NO_ROLES = {
    "promiscuous": "leave the line out: a port without it is promiscuous",
    "community": "write the name of the community, as in `private_vlan: batch`",
}


def port_setting(value: Any) -> SwitchPortConfig:
    """The setting of a port that is not numbered yet (port 0)."""
    text = " ".join(str(value).split())
    if text in ("disabled", "routed"):
        return SwitchPortConfig(port=0, mode="routed" if text == "routed" else "disabled")
    if match := _ACCESS.fullmatch(text):
        mode: PortMode = "access" if match[1] == "access" else "dot1q-tunnel"
        return SwitchPortConfig(port=0, mode=mode, untagged=_vlan(match[2]))
    if match := _TRUNK.fullmatch(text):
        tagged = vlan_ranges(match[1]) if match[1] not in _LISTS else _LISTS[match[1]]
        return SwitchPortConfig(port=0, mode="trunk", untagged=_vlan(match[2]), tagged=tagged)
    raise fault(Code.VALUE, f"{shown(value)} is no way to set a switch port", _FORMS)


def _vlan(text: str | None) -> int | None:
    return None if text is None else vlan_ranges(text)[0][0]


def wire_id(value: Any) -> int:
    """One VLAN id as a key: a number to YAML, a text to JSON."""
    found = vlan_ranges(value)
    if len(found) != 1 or found[0][0] != found[0][1]:
        raise fault(Code.VALUE, f"{shown(value)} is no single VLAN id", "give each id a line of its own")
    return found[0][0]


def private_role(value: Any) -> str:
    """`isolated`, or the name of a community."""
    name = device_name(value)
    if name in _NO_ROLES:
        raise fault(Code.VALUE, f"`{name}` is no role in a private VLAN", _NO_ROLES[name])
    return name


_MODE = {"type": "string", "pattern": "^(disabled|routed|access|trunk|dot1q-tunnel)", "examples": ["access"]}

PortSetting = Annotated[SwitchPortConfig, BeforeValidator(port_setting), WithJsonSchema(_MODE)]
#: Id on the wire -> VLAN inside the switch.
Translations = dict[Annotated[int, BeforeValidator(wire_id)], Vlan]
PrivateRole = Annotated[
    str, BeforeValidator(private_role), WithJsonSchema({"type": "string", "examples": ["isolated"]})
]


class PortFile(FileModel):
    """How a port is set. The text of `mode` alone is short for it."""

    mode: PortSetting = Field(description="`disabled`, `routed`, `access 12`, `trunk 1000-2999 native 12` …, see below")
    tag_native: bool | None = Field(
        default=None, description="whether a trunk tags its native VLAN and drops untagged frames; without it, unknown"
    )
    translations: Translations = Field(
        default_factory=dict, description="id on the wire → VLAN inside the switch, on a trunk that changes ids"
    )
    private_vlan: PrivateRole | None = Field(
        default=None,
        description="role of an access port in a private VLAN: `isolated`, or a community by name; without it, "
        "promiscuous",
    )
    empty: bool = Field(
        default=False,
        description="`true`: somebody saw that nothing is plugged in; without it, an enabled port without a cable has "
        "something behind it that nobody listed",
    )

    filled_by: FilledBy | None = Field(
        default=None,
        description="`neutron`: the switch's driver puts onto this trunk, beside what `mode` lists, the VLAN of every "
        "network on a physical network of the switch (`ngs_trunk_ports`); without it, the list is all",
    )

    @property
    def setting(self) -> SwitchPortConfig:
        """The setting of a port that is not numbered yet (port 0)."""
        return self.mode.model_copy(
            update={
                "tag_native": self.tag_native,
                "translations": tuple(self.translations.items()),
                "private_vlan": self.private_vlan,
                "empty": self.empty,
                "filled_by": self.filled_by,
            }
        )


def _long(value: Any) -> Any:
    return value if isinstance(value, dict | PortFile) else {"mode": value}


@dataclass(frozen=True)
class _OrMode:
    """`access 12` is short for `{mode: access 12}`."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [_MODE, handler(core)]}


def _texts_as_keys(value: Any) -> Any:
    """`17:` is a number to YAML, but keys here are texts: roles of the port map, numbers, ranges."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


def settings_by_port(
    table: Mapping[str, PortFile], roles: Mapping[str, tuple[int, int]], count: int
) -> tuple[SwitchPortConfig, ...]:
    """Records by port number. Roles first, numbers over them; of ports up to `count`, the others are disabled.

    Where nobody declared that the table is complete, `count` is 0, and the others have no record.
    """
    found = {port: SwitchPortConfig(port=port, mode="disabled") for port in range(1, count + 1)}
    for key in sorted(table, key=lambda key: key not in roles):
        setting = table[key].setting
        for port in ports_of(key, roles):
            found[port] = setting.model_copy(update={"port": port})
    return tuple(found[port] for port in sorted(found))


def ports_of(key: str, roles: Mapping[str, tuple[int, int]]) -> tuple[int, ...]:
    """The ports that a key of the table stands for. Raises a fault if it is neither role nor numbers."""
    spans = (roles[key],) if key in roles else ranges(key)
    return tuple(port for first, last in spans for port in range(first, last + 1))


PortTable = Annotated[
    dict[str, Annotated[PortFile, BeforeValidator(_long), _OrMode()]], BeforeValidator(_texts_as_keys)
]
