"""What people are told of planned switch ports that Neutron does not wire: how many, and what shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from interlock.planning import Plan
from interlock.resources import SwitchPort

#: Who wires them -> how a number of ports is told, and what is behind the command that shows them.
_WORDS: Mapping[str, tuple[str, str]] = {
    "hand": ("to wire by hand", ""),
    "export": ("for the pipeline that owns their switches", " --format json"),
}
#: The same of one port, in a plan's tree.
MARKS: Mapping[str, str] = {
    "hand": "[to wire by hand]",
    "export": "[for your pipeline]",
    "ironic": "[wired by Ironic with its host]",
}


def switch_ports_elsewhere(plan: Plan) -> Counter[str]:
    """Who wires switch ports of a plan in place of Neutron -> how many."""
    ports = (item.resource for item in plan.without_actuator() if isinstance(item.resource, SwitchPort))
    return Counter(port.wired_by for port in ports)


def wiring_words(plan: Plan, site: str = "") -> tuple[str, ...]:
    """Part of a sentence for each who wires some, but for Ironic. `site`: the folder to name, if not the usual one."""
    counts = switch_ports_elsewhere(plan)
    command = " ".join(
        ["interlock wiring", *([plan.tenant] if plan.tenant else []), *(["--site", site] if site else [])]
    )
    return tuple(
        f"{counts[wirer]} switch port{'' if counts[wirer] == 1 else 's'} {words}: `{command}{option}`"
        for wirer, (words, option) in _WORDS.items()
        if counts[wirer]
    )
