"""Every flag of the commands, once, with where it is from. What no source has is unverified: an operator looks it up.

An operator's installation may spell an unverified flag differently. `VIPU_SIMULATOR_FLAGS` names a file, a JSON object
of our name -> another name, by which a client can be tested with other spellings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .sources import (
    CLUSTERS,
    GCDS,
    OPERATORS,
    PARTITIONS,
    POD128,
    POPTORCH,
    RECONFIGURABLE,
    SECURING,
    SIMULATOR,
    SLURM,
    TWO_PODS,
    USERS,
    Source,
    assumed,
)

Taking = Literal["text", "number", "list", "nothing"]


@dataclass(frozen=True)
class VipuFlag:
    """One flag. `scope`: any command, or those that name it in the table of commands."""

    name: str
    takes: Taking
    source: Source
    help: str
    short: str | None = None
    everywhere: bool = False


_PLAIN = Source("derived", "every command line has it")
_SEEN = Source("seen", "public job scripts and tools that call `vipu`")

FLAGS: tuple[VipuFlag, ...] = (
    VipuFlag("--api-host", "text", USERS, "host of the controller", short="-H", everywhere=True),
    VipuFlag("--api-port", "number", _SEEN, "its port, 8090 unless said", everywhere=True),
    VipuFlag("--api-user-id", "text", USERS, "who asks", everywhere=True),
    VipuFlag("--api-access-key", "text", USERS, "the key of who asks", everywhere=True),
    VipuFlag("--config", "text", USERS, "file of these settings, as `create user` writes it", everywhere=True),
    VipuFlag("--all", "nothing", POPTORCH, "taken, and changes nothing here", short="-a", everywhere=True),
    VipuFlag("--showjson", "nothing", POPTORCH, "answers as JSON", everywhere=True),
    VipuFlag("--version", "nothing", POPTORCH, "the version of the command", everywhere=True),
    VipuFlag("--server-version", "nothing", _SEEN, "the controller's, and its host:port", everywhere=True),
    VipuFlag("--help", "nothing", _PLAIN, "this text", short="-h", everywhere=True),
    VipuFlag("--tls-ca", "text", assumed(), "authority of the controller's certificate", everywhere=True),
    VipuFlag("--tls-cert", "text", assumed(), "certificate of the client", everywhere=True),
    VipuFlag("--tls-key", "text", assumed(), "its key", everywhere=True),
    VipuFlag("--timeout", "number", assumed(), "seconds to wait until something is done, 120 unless said",
             everywhere=True),
    VipuFlag("--no-wait", "nothing", assumed(), "come back before it is done", everywhere=True),
    VipuFlag("--host", "text", CLUSTERS, "host of the agent"),
    VipuFlag("--port", "number", CLUSTERS, "its port, 8080 unless said"),
    VipuFlag("--maintenance", "text", assumed(), "on or off"),
    VipuFlag("--agents", "list", TWO_PODS, "agents in the order of their cables, with commas"),
    VipuFlag("--num-ipulinkdomains", "number", TWO_PODS, "IPU-Link domains, 1 unless said"),
    VipuFlag("--topology", "text", TWO_PODS, "mesh or torus, mesh unless said"),
    VipuFlag("--cluster-topology", "text", TWO_PODS, "looped, or none, which is assumed, unless said"),
    VipuFlag("--allocations", "list", USERS, "allocations that a user is restricted to, with commas"),
    VipuFlag("--admin", "nothing", assumed(), "the user may use the admin API"),
    VipuFlag("--new-access-key", "nothing", assumed(), "another key; the old one is no longer taken"),
    VipuFlag("--size", "number", PARTITIONS, "IPUs, a power of 2"),
    VipuFlag("--allocation", "text", SLURM, "the allocation that IPUs come from"),
    VipuFlag("--cluster", "text", TWO_PODS, "the cluster, with releases that had no allocations"),
    VipuFlag("--reconfigurable", "nothing", RECONFIGURABLE, "subsets of the IPUs can be used"),
    VipuFlag("--sync-type", "text", RECONFIGURABLE, "c2-compatible or pod-native-default"),
    VipuFlag("--index", "number", RECONFIGURABLE, "the place among those of this size (its meaning is assumed)"),
    VipuFlag("--num-gcds", "number", GCDS, "graph compile domains, 1 unless said"),
    VipuFlag("--gcd-sync-replicas", "number", TWO_PODS, "replicas; older spelling"),
    VipuFlag("--total-num-replicas", "number", POD128, "replicas; newer spelling"),
    VipuFlag("--routing", "text", TWO_PODS, "ringswnc, ring-swnc, default; dnc, swnc, btnc are assumed"),
    VipuFlag("--gcd", "number", _SEEN, "one GCD"),
    VipuFlag("--ipuof-configs", "nothing", _SEEN, "what clients of the devices read, below one line of heading"),
)  # fmt: skip

SERVER_FLAGS: tuple[VipuFlag, ...] = (
    VipuFlag("--init", "nothing", SECURING, "make storage, certificates and a default admin, and print its key"),
    VipuFlag("--secure", "nothing", SECURING, "ask users for their keys; without it everybody may do everything"),
    VipuFlag("--tls-init", "nothing", SECURING, "make certificates, in vipu-certs/server and vipu-certs/client"),
    VipuFlag("--default-user-id", "text", SECURING, "the default admin; the user of the system unless said"),
    VipuFlag("--autodiscovery-listen-interfaces", "list", CLUSTERS, "networks on which agents are heard", short="-a"),
    VipuFlag("--storage-dir", "text", assumed(), "folder of vipu-server.json and vipu-certs"),
    VipuFlag("--api-host", "text", OPERATORS, "address of the user API, 127.0.0.1 unless said", short="-H"),
    VipuFlag("--api-port", "number", _SEEN, "its port, 8090 unless said; 0: a free one"),
    VipuFlag("--admin-host", "text", assumed(), "address of the admin API if it is apart"),
    VipuFlag("--admin-port", "number", assumed(), "its port; 0: a free one. Without it one port has both"),
    VipuFlag("--help", "nothing", _PLAIN, "this text", short="-h"),
)
#: The simulator's own, which no real command has.
SIMULATOR_FLAGS: tuple[VipuFlag, ...] = (
    VipuFlag("--racks", "text", SIMULATOR, "file of the IPU-Machines that there are"),
    VipuFlag("--clock", "text", SIMULATOR, "file that holds the time, as a number of seconds"),
    VipuFlag("--durations", "text", SIMULATOR, "how long things take, as contact=0,partition=0.5,…"),
    VipuFlag("--fault", "list", SIMULATOR, "'create partition=cut-after': the next such call fails"),
    VipuFlag("--release", "text", SIMULATOR, "release that it says it is, 1.18.0 unless said"),
)


class FlagNotRenamed(Exception):
    """A file of other spellings that names a flag which is verified, or none."""


def renamed(flags: tuple[VipuFlag, ...], names: Mapping[str, str]) -> tuple[VipuFlag, ...]:
    """The flags, unverified ones with other spellings. Raises FlagNotRenamed."""
    unverified = {flag.name for flag in (*FLAGS, *SERVER_FLAGS) if flag.source.unverified}
    for name in names:
        if name not in unverified:
            raise FlagNotRenamed(f"{name} is no unverified flag: {', '.join(sorted(unverified))}")
    return tuple(replace(flag, name=names.get(flag.name, flag.name)) for flag in flags)
