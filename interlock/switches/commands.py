"""All that is ever asked of a switch: fixed texts that only read. Nothing from a file or an answer gets into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .file import Platform


@dataclass(frozen=True)
class Command:
    """One command."""

    text: str
    #: What its answer says, for messages.
    about: str
    #: True: without its answer the switch counts as not read; else only what it is about is unknown.
    required: bool = True


EOS_VERSION = Command("show version | json", "serial and system MAC")
EOS_SWITCHPORTS = Command("show interfaces switchport | json", "modes and VLANs of ports")
EOS_STATUS = Command("show interfaces status | json", "states of ports")
EOS_VLANS = Command("show vlan | json", "list of VLANs", required=False)
EOS_LLDP = Command("show lldp neighbors detail | json", "LLDP neighbours", required=False)
EOS_ADDRESSES = Command("show ip interface | json", "addresses in VLANs", required=False)

NVUE_PLATFORM = Command("nv show platform -o json", "serial and system MAC")
NVUE_INTERFACES = Command("nv show interface -o json", "states of ports")
#: `br_default` is the bridge that NVUE itself makes; ports of others are unknown.
NVUE_PORT_VLANS = Command("nv show bridge domain br_default port vlan -o json", "VLANs of ports")
NVUE_VLANS = Command("nv show bridge domain br_default vlan -o json", "list of VLANs", required=False)
NVUE_LLDP = Command("nv show interface --view=lldp -o json", "LLDP neighbours", required=False)
NVUE_ROCE = Command("nv show qos roce -o json", "PFC and ECN", required=False)

#: In the order in which they are asked.
COMMANDS: Mapping[Platform, tuple[Command, ...]] = {
    "eos": (EOS_VERSION, EOS_SWITCHPORTS, EOS_STATUS, EOS_VLANS, EOS_LLDP, EOS_ADDRESSES),
    "cumulus": (
        NVUE_PLATFORM, NVUE_INTERFACES, NVUE_PORT_VLANS, NVUE_VLANS, NVUE_LLDP, NVUE_ROCE,
    ),
}  # fmt: skip
