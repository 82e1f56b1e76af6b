"""How switch ports are written in a site file: `machines: access`, `37-44: trunk 110-199`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from .errors import Code, fault
from .site import SwitchPortConfig
from .values import ranges, vlan_ranges

_ACCESS = re.compile(r"access(?: (\d+))?")
_TRUNK = re.compile(r"trunk (all|[\d,\s-]*\d)(?: native (\d+))?")
_FORMS = "write disabled, routed, access, access 12, trunk 1000-2999, trunk 1000-2999 native 12, or trunk all"


def port_setting(value: Any) -> SwitchPortConfig:
    """The setting of a port that is not numbered yet (port 0)."""
    text = " ".join(str(value).split())
    if text in ("disabled", "routed"):
        return SwitchPortConfig(port=0, mode="routed" if text == "routed" else "disabled")
    if match := _ACCESS.fullmatch(text):
        return SwitchPortConfig(port=0, mode="access", untagged=_vlan(match[1]))
    if match := _TRUNK.fullmatch(text):
        tagged = None if match[1] == "all" else vlan_ranges(match[1])
        return SwitchPortConfig(port=0, mode="trunk", untagged=_vlan(match[2]), tagged=tagged)
    raise fault(Code.VALUE, f"`{value}` is no way to set a switch port", _FORMS)


def _vlan(text: str | None) -> int | None:
    return None if text is None else vlan_ranges(text)[0][0]


def _texts_as_keys(value: Any) -> Any:
    """`17:` is a number to YAML, but keys here are texts: roles of the port map, numbers, ranges."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


def settings_by_port(
    table: Mapping[str, SwitchPortConfig], roles: Mapping[str, tuple[int, int]], count: int
) -> tuple[SwitchPortConfig, ...]:
    """One record for each port. Roles first, numbers over them; what no line mentions is disabled."""
    found = {port: SwitchPortConfig(port=port, mode="disabled") for port in range(1, count + 1)}
    for key in sorted(table, key=lambda key: key not in roles):
        for port in ports_of(key, roles):
            found[port] = table[key].model_copy(update={"port": port})
    return tuple(found[port] for port in sorted(found))


def ports_of(key: str, roles: Mapping[str, tuple[int, int]]) -> tuple[int, ...]:
    """The ports that a key of the table stands for. Raises a fault if it is neither role nor numbers."""
    spans = (roles[key],) if key in roles else ranges(key)
    return tuple(port for first, last in spans for port in range(first, last + 1))


_SETTING = WithJsonSchema(
    {"type": "string", "pattern": "^(disabled|routed|access|trunk)", "examples": ["access"]}
)

PortSetting = Annotated[SwitchPortConfig, BeforeValidator(port_setting), _SETTING]
PortTable = Annotated[dict[str, PortSetting], BeforeValidator(_texts_as_keys)]
