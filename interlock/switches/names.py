"""What a switch of a site calls its ports: as the site states it, or by its platform."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.hardware import SWITCHES
from interlock.model.site.inventory import Switch

from .errors import SwitchUnread
from .file import Platform


def port_names(switch: Switch, platform: Platform) -> Mapping[int, str]:
    """Port number -> the switch's own name. Raises `SwitchUnread` if nobody states the names of this model."""
    numbers = range(1, switch.port_count + 1)
    if platform == "cumulus" and _by_catalogue(switch):
        # The names are Cumulus Linux's own, on every model; ports that are split have other ones.
        return {number: f"swp{number}" for number in numbers}
    model = SWITCHES.get(switch.model)
    if switch.port_names is None and model is not None and model.port_groups.value == switch.port_groups:
        return {number: model.default_port_name(number) for number in numbers}
    named = {number: name for number in numbers if (name := switch.port_name(number)) is not None}
    if len(named) < len(numbers):
        what = f"the names of its ports are unknown: `{switch.model}` with these ports is not in the catalogue"
        hint = f"state `port_names` of it in the site file; models with names: {', '.join(SWITCHES)}"
        raise SwitchUnread(switch.name, what, hint)
    return named


def _by_catalogue(switch: Switch) -> bool:
    """True if nobody states names, or the file has none but those that the maker's own system has."""
    model = SWITCHES.get(switch.model)
    return switch.port_names is None or (model is not None and switch.port_names == model.default_port_names.value)
