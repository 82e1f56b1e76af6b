"""Shares of a server: what the document says of each, and the program that mounts them.

Where a share is exported only Manila says, once it is made, so no document has it. The server's metadata do: member
`meta`, one text for each share (`interlock.vocabulary.share_paths`), which Nova shows to the server itself and which
may come after the first boot, or change. So a unit of systemd goes on until all are mounted, at every boot; nothing
waits for it. A whole host has them on its config drive, as they were when it was deployed.

cloud-init's own `mounts` are of no use here: they act once, on what the document says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .document import Part
from .files import GuestFile
from .programs import program_source, started

TABLE = "/etc/interlock/shares.json"
PROGRAM = "/usr/local/sbin/interlock-shares"
UNIT = "interlock-shares.service"
#: The drive that Ironic writes for a whole host, by its label.
DRIVE = "/dev/disk/by-label/config-2"

#: Exit code of the program when people must look: systemd does not run it again until the next boot.
_LOOK = 65

_SERVICE = """\
[Unit]
Description=Mount shares of the tenant
Wants=network-online.target
After=network-online.target remote-fs.target
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={command}
TimeoutStartSec=300
Restart=on-failure
RestartSec=30
RestartPreventExitStatus={look}

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class GuestShare:
    """A share of a server: its plan name, where it is mounted, and how."""

    name: str
    #: The appliance's address as mount(8) has it, up to the path: `10.48.0.2:`.
    source: str
    point: str
    kind: str
    options: tuple[str, ...]

    def canonical(self) -> dict[str, str]:
        """An item of the table."""
        return {
            "share": self.name, "source": self.source, "mount": self.point, "kind": self.kind,
            "options": ",".join(self.options),
        }  # fmt: skip


def mounted_shares(shares: Sequence[GuestShare], *, drive: bool = False) -> Part:
    """All of them; nothing if there are none. `drive`: their paths stand on the server's config drive."""
    if not shares:
        return Part()
    command = f"{PROGRAM} --drive {DRIVE}" if drive else PROGRAM
    table = GuestFile(TABLE, json.dumps([item.canonical() for item in shares], indent=1) + "\n")
    service = _SERVICE.format(command=command, look=_LOOK)
    return started(GuestFile(PROGRAM, program(), mode=0o755), table, UNIT, service)


def program() -> str:
    """The program's source."""
    return program_source("shares_in_guest")
