"""Volumes of a server: which disk is which, and the program that formats and mounts them.

A plan knows no id of a volume, Nova's order of devices says nothing, and sizes may be equal. So the attachment carries
a tag (`VolumeAttachment.device_tag`), which Nova's metadata shows in the server beside the serial of the disk, and
that serial is the volume's id. A disk is formatted only if nothing at all is found on it, with the tag as the label of
the file system; from then on the label says which volume it is.

cloud-init's own `fs_setup` and `mounts` are of no use here: both act once, at the first boot, and a volume is attached
after its server runs; `fs_setup` without `overwrite` looks for a file system only, so it would format a disk of LVM or
of a database, and cloud-init leaves out mounts whose device is not there. So a unit of systemd goes on until all
volumes are mounted, at every boot; nothing waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.resources.asked_names import listed_in

from .document import Part
from .files import GuestFile
from .programs import program_source, started

TABLE = "/etc/interlock/volumes.json"
PROGRAM = "/usr/local/sbin/interlock-volumes"
UNIT = "interlock-volumes.service"

#: Exit code of the program when people must look: systemd does not run it again until the next boot.
_REFUSED = 65

_SERVICE = f"""\
[Unit]
Description=Format empty volumes once, and mount all
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={PROGRAM}
Restart=on-failure
RestartSec=15
RestartPreventExitStatus={_REFUSED}

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class GuestVolume:
    """A volume of a server: tag of its attachment, and where it is mounted."""

    tag: str
    point: str


def volume_mounts(volumes: Sequence[GuestVolume]) -> Part:
    """All of them; nothing if there are none."""
    if not volumes:
        return Part()
    table = json.dumps([{"tag": item.tag, "mount": item.point} for item in volumes], indent=1) + "\n"
    return started(GuestFile(PROGRAM, program(), mode=0o755), GuestFile(TABLE, table), UNIT, _SERVICE)


def mounted_volumes(user_data: str) -> tuple[GuestVolume, ...] | None:
    """What a server with this document mounts by itself; None if nobody can tell from it."""
    found = listed_in(user_data, TABLE)
    try:
        return None if found is None else tuple(GuestVolume(str(item["tag"]), str(item["mount"])) for item in found)
    except (KeyError, TypeError):
        return None


def program() -> str:
    """The program's source."""
    return program_source("volumes_in_guest")
