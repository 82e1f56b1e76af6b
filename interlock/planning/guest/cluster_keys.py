"""Keys of a cluster in its servers: how each gets them after its first boot, and the programs that do.

Heads, and nodes that are virtual servers, fetch them of their metadata (`secret_files`). A whole host, which Nova does
not know, asks the heads, by the cluster's own network: one program there gives each node what it lacks, once.

A key becomes a file below `FOLDER` that only root reads; munge's is put where munged reads it as well. Names and
addresses alone stand in a document.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from .document import Part
from .files import GuestFile
from .programs import program_source, started
from .secret_files import fetched_secrets

#: What munge's key is called where it waits for a server, and in the server.
MUNGE = "munge"
MUNGE_KEY = "/etc/munge/munge.key"
#: Restarted when the key came, the first whatever it does now, the others where the image starts them.
_UNITS = ("munge.service", "slurmctld.service", "slurmdbd.service", "slurmd.service")

#: Where heads listen: only root may, and no NFS client takes it by itself, as it takes those from 665 on.
PORT = 300

TABLE = "/etc/interlock/keys.json"
PROGRAM = "/usr/local/sbin/interlock-keys"
UNIT = "interlock-keys.service"
SERVER_TABLE = "/etc/interlock/key-server.json"
SERVER_PROGRAM = "/usr/local/sbin/interlock-key-server"
SERVER_UNIT = "interlock-key-server.service"

_SERVICE = f"""\
[Unit]
Description=Put the cluster's keys in place
Wants=network-online.target
After=network-online.target interlock-secrets.service
PartOf=interlock-secrets.service
StartLimitIntervalSec=0

[Service]
Type=simple
RemainAfterExit=yes
ExecStart={PROGRAM}
Restart=on-failure
RestartSec=30
RestartPreventExitStatus=65

[Install]
WantedBy=multi-user.target
"""

_SERVER_SERVICE = f"""\
[Unit]
Description=Give the cluster's keys to its nodes, to each once
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=simple
ExecStart={SERVER_PROGRAM}
Restart=always
RestartSec=10
StateDirectory=interlock
StateDirectoryMode=0700
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes

[Install]
WantedBy=multi-user.target
"""


def keys_by_metadata(names: Sequence[str]) -> tuple[Part, ...]:
    """The files of a virtual server that fetches these; nothing if there are none."""
    return (fetched_secrets(names), _put(names, ())) if MUNGE in names else (fetched_secrets(names),)


def keys_by_heads(names: Sequence[str], heads: Sequence[str]) -> tuple[Part, ...]:
    """The files of a whole host that asks the heads at these addresses; nothing if there is no key."""
    return (_put(names, heads),) if names else ()


def keys_for_nodes(names: Sequence[str], address: str, nodes: str) -> tuple[Part, ...]:
    """The files of the head at an address that gives these to nodes, whose names begin with `nodes`."""
    if not names:
        return ()
    table = {"address": address, "port": PORT, "nodes": nodes, "items": sorted(names)}
    program = GuestFile(SERVER_PROGRAM, program_source("key_server_in_guest"), mode=0o755)
    return (started(program, GuestFile(SERVER_TABLE, _text(table)), SERVER_UNIT, _SERVER_SERVICE),)


def _put(names: Sequence[str], heads: Sequence[str]) -> Part:
    munge = {"path": MUNGE_KEY, "owner": "munge", "units": _UNITS}
    places = {MUNGE: munge} if MUNGE in names else {}
    table = {"items": sorted(names), "heads": list(heads), "port": PORT, "places": places}
    program = GuestFile(PROGRAM, program_source("keys_in_guest"), mode=0o755)
    return started(program, GuestFile(TABLE, _text(table)), UNIT, _SERVICE)


def _text(table: object) -> str:
    return json.dumps(table, indent=1) + "\n"
