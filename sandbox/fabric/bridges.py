"""A switch's state as columns of Open vSwitch, and back.

The columns say what is forwarded: a port that carries nothing is not on its bridge, since one with neither tag nor
trunks would carry every VLAN. What is configured and has no effect is kept in `external_ids` of the bridge, in the same
transaction. A bridge has no table of VLANs, so the lists of its ports name only those that the switch has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.switches.table import PortState, SwitchState

#: What `external_ids` of a bridge call the state that it was set to.
STATE = "interlock-state"
#: The vlan_mode column of a trunk with and without a native VLAN. The native VLAN leaves without a tag.
_TRUNK, _NATIVE, _ACCESS = "trunk", "native-untagged", "access"


@dataclass(frozen=True)
class Columns:
    """`vlan_mode`, `tag` and `trunks` of a port that is on its bridge; `trunks` is never empty for a trunk."""

    vlan_mode: str
    tag: int | None
    trunks: tuple[int, ...]

    def settings(self) -> tuple[str, ...]:
        """As `ovs-vsctl set Port` takes them; all three, so that none keeps an earlier value."""
        tag = "[]" if self.tag is None else str(self.tag)
        return f"vlan_mode={self.vlan_mode}", f"tag={tag}", f"trunks=[{','.join(_ranges(self.trunks))}]"


def columns_of(port: PortState, vlans: Mapping[int, str]) -> Columns | None:
    """How a port is set; None if it carries nothing and must not be on its bridge."""
    if not port.enabled:
        return None
    if port.mode == "access":
        return Columns(_ACCESS, port.access_vlan, ()) if port.access_vlan in vlans else None
    carried = tuple(vlan for vlan in sorted(set(port.allowed)) if vlan in vlans)
    if not carried:
        return None
    return (
        Columns(_NATIVE, port.native_vlan, carried) if port.native_vlan in carried else Columns(_TRUNK, None, carried)
    )


def initial(name: str, ports: tuple[str, ...]) -> SwitchState:
    """A switch out of its box, but for one thing: all ports are down, so that nothing meets before it is configured."""
    down = PortState(enabled=False, mode="access", access_vlan=1, native_vlan=1, allowed=tuple(range(1, 4095)))
    return SwitchState(name, dict.fromkeys(ports, down), {1: "default"})


def encoded(state: SwitchState) -> str:
    """A state as text that `decoded` reads."""
    ports = {
        name: [item.enabled, item.mode, item.access_vlan, item.native_vlan, list(_ranges(item.allowed))]
        for name, item in state.ports.items()
    }
    return json.dumps(
        {"name": state.name, "ports": ports, "vlans": {str(vlan): name for vlan, name in state.vlans.items()}}
    )


def decoded(text: str) -> SwitchState:
    """The state of `encoded`."""
    found = json.loads(text)
    ports = {name: _port(*values) for name, values in found["ports"].items()}
    return SwitchState(found["name"], ports, {int(vlan): name for vlan, name in found["vlans"].items()})


def _port(enabled: bool, mode: Any, access: int, native: int | None, allowed: list[str]) -> PortState:
    vlans = (vlan for part in allowed for vlan in _range(part))
    return PortState(enabled=enabled, mode=mode, access_vlan=access, native_vlan=native, allowed=tuple(vlans))


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _ranges(vlans: tuple[int, ...]) -> Iterator[str]:
    """`10`, `20-29` …, of ascending numbers."""
    first = last = None
    for vlan in vlans:
        if last is not None and vlan == last + 1:
            last = vlan
            continue
        if first is not None:
            yield str(first) if first == last else f"{first}-{last}"
        first = last = vlan
    if first is not None:
        yield str(first) if first == last else f"{first}-{last}"
