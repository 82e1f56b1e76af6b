"""The worked examples of docs/design/semantics.md as worlds, and those that no world can say yet."""

from __future__ import annotations

from .examples_cloud import EXAMPLES as CLOUD
from .examples_devices import EXAMPLES as DEVICES
from .examples_wire import EXAMPLES as WIRE

EXAMPLES = (*WIRE, *CLOUD, *DEVICES)

#: Number, and what there is no word for in a site file, a plan or a lock.
UNSAID = {
    "16b": "a floating address that the request does not declare: a plan holds what was asked for only",
    "20": "one controller on two tenants' networks: no plan can refer to another tenant's network",
    "21": "a controller that two tenants meet: as example 20",
    "26a": "a full member that is a terminal",
    "30b": "an address grant on a private VLAN: it is a rule of its own (L3-10), neither Sep nor Excl",
    "32": "a condition of a bucket statement",
    "37b": "an address of a switch that is declared with an audience",
    "38b": "monitoring that is split",
    "39b": "an access list of a router",
    "40b": "vPODs as owners: the oracle knows tenants",
    "43b": "a MAC address in a lock",
    "45": "versions of boundary nodes: nothing of them is in a world",
    "48b": "a switch that cannot be read back",
    "49a": "as 37b",
}
