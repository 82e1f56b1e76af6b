"""What a switch of a site calls its ports, from its model and platform."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.hardware import SWITCHES
from interlock.model.site.inventory import Switch

from .errors import SwitchUnread
from .file import Platform


def port_names(switch: Switch, platform: Platform) -> Mapping[int, str]:
    """Port number -> the switch's own name. Raises `SwitchUnread` if nobody states the names of this model."""
    count = sum(ports for _, ports in switch.port_groups)
    if platform == "cumulus":
        # The names are Cumulus Linux's own, on every model; ports that are split have other ones.
        return {number: f"swp{number}" for number in range(1, count + 1)}
    model = SWITCHES.get(switch.model)
    if model is None or model.port_groups.value != switch.port_groups:
        what = f"the names of its ports are unknown: `{switch.model}` with these ports is not in the catalogue"
        raise SwitchUnread(switch.name, what, f"models with names: {', '.join(SWITCHES)}; ask for yours to be added")
    return {number: model.port_name(number) for number in range(1, count + 1)}
