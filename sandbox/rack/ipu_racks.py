"""IPU-Machines of a rack file, as V-IPU controllers see them: logical racks, their positions and serials."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Most IPU-Machines of a logical rack.
MOST_MACHINES = 16
KEYS = ("machines", "serials", "numbers", "ring")
#: The interface of a machine behind which BMC and gateway are.
MANAGEMENT = "mgmt"


@dataclass(frozen=True)
class IpuRack:
    """A logical rack. `serials`: machine -> its serial, in the order of the positions, from 1."""

    name: str
    serials: Mapping[str, str]
    #: True if a cable goes from the last machine back to the first one.
    ring: bool


def ipu_racks_of(data: Mapping[str, Any]) -> tuple[IpuRack, ...]:
    """The logical racks of a rack file. Raises ValueError, KeyError and TypeError for what is none."""
    racks = tuple(_rack(name, item) for name, item in data.items())
    for what in ("machines", "serials"):
        found = [text for rack in racks for text in (rack.serials if what == "machines" else rack.serials.values())]
        if len(set(found)) < len(found):
            raise ValueError(f"ipu_racks: {what} have to differ")
    return racks


def _rack(name: str, item: Mapping[str, Any]) -> IpuRack:
    if unknown := sorted({*item} - {*KEYS}):
        raise ValueError(f"ipu_racks.{name} has no key {unknown[0]}; keys are {', '.join(KEYS)}")
    first, last = (int(number) for number in item["numbers"])
    if not 1 <= last - first + 1 <= MOST_MACHINES:
        raise ValueError(f"ipu_racks.{name}.numbers: the first and the last of 1 to {MOST_MACHINES} machines")
    serials = {item["machines"].format(number): item["serials"].format(number) for number in range(first, last + 1)}
    if len(serials) < last - first + 1:
        raise ValueError(f"ipu_racks.{name}.machines: a name with its number, as ipum-{{:02}}")
    return IpuRack(name, serials, bool(item["ring"]))
