"""Every command of `vipu` and `vipu-admin`: verb, noun, the API that serves it, its flags, and where it is from."""

from __future__ import annotations

from dataclasses import dataclass

from .scene import ApiName
from .sources import (
    ADMIN_ALLOCATIONS,
    ALLOCATIONS,
    ATTRIBUTES,
    CLUSTERS,
    PARTITIONS,
    POPTORCH,
    SIMULATOR,
    TABLE,
    TWO_PODS,
    USERS,
    Source,
    assumed,
)


@dataclass(frozen=True)
class VipuCommand:
    """One command. The admin API serves all of them, the user API those with `api` user."""

    verb: str
    noun: str
    api: ApiName
    source: Source
    flags: tuple[str, ...] = ()
    takes_id: bool = True
    #: What a client waits for afterwards: that it is there and settled, or gone.
    until: str = ""
    changes: bool = True
    #: What is assumed of its flags, though these are verified with other commands.
    flags_assumed: str = ""

    @property
    def words(self) -> str:
        """As it is written."""
        return f"{self.verb} {self.noun}"


def _get(noun: str, api: ApiName, source: Source, *flags: str) -> VipuCommand:
    return VipuCommand("get", noun, api, source, flags, changes=False)


def _list(noun: str, api: ApiName, source: Source) -> VipuCommand:
    return VipuCommand("list", noun, api, source, takes_id=False, changes=False)


_PARTITION_FLAGS = (
    "--size", "--allocation", "--cluster", "--reconfigurable", "--sync-type", "--index", "--num-gcds",
    "--gcd-sync-replicas", "--total-num-replicas", "--routing",
)  # fmt: skip
_RESET = Source("seen", "graphcore/poptorch, VirtualIpuManager; poprun's --reset-partition")
_REMOVE = Source("seen", "graphcore/poptorch: `delete partition`; newer releases: `remove partition`")
_GET = Source("seen", "public scripts: `get partition --gcd 0 --ipuof-configs`, first line cut off")

COMMANDS: tuple[VipuCommand, ...] = (
    VipuCommand("create", "agent", "admin", CLUSTERS, ("--host", "--port")),
    VipuCommand("update", "agent", "admin", assumed(), ("--maintenance",)),
    VipuCommand("remove", "agent", "admin", assumed()),
    _get("agent", "admin", assumed()),
    _list("agent", "admin", assumed()),
    VipuCommand("discover", "agent", "admin", CLUSTERS, takes_id=False, changes=False),
    VipuCommand("create", "cluster", "admin", TWO_PODS, ("--agents", "--num-ipulinkdomains", "--topology",
                "--cluster-topology"), until="settled"),
    VipuCommand("remove", "cluster", "admin", assumed(), until="gone"),
    _get("cluster", "admin", assumed()),
    _list("cluster", "user", POPTORCH),
    VipuCommand("create", "allocation", "admin", ADMIN_ALLOCATIONS, ("--agents", "--cluster"),
                flags_assumed="the guide has the command; its flags could not be read"),
    VipuCommand("update", "allocation", "admin", assumed(), ("--agents",)),
    VipuCommand("remove", "allocation", "admin", assumed()),
    _get("allocation", "admin", assumed()),
    _list("allocation", "user", ALLOCATIONS),
    VipuCommand("create", "user", "admin", USERS, ("--allocations", "--admin")),
    VipuCommand("update", "user", "admin", assumed(), ("--allocations", "--new-access-key")),
    VipuCommand("remove", "user", "admin", assumed()),
    _get("user", "admin", assumed()),
    _list("user", "admin", assumed()),
    VipuCommand("create", "partition", "user", PARTITIONS, _PARTITION_FLAGS, until="settled"),
    VipuCommand("reset", "partition", "user", _RESET, until="settled"),
    VipuCommand("remove", "partition", "user", _REMOVE, until="gone"),
    _get("partition", "user", _GET, "--gcd", "--ipuof-configs"),
    _list("partition", "user", TABLE),
    _list("ipu-attr", "user", ATTRIBUTES),
    # The stand-in for workloads: no command of V-IPU.
    VipuCommand("occupy", "partition", "user", SIMULATOR, ("--gcd",)),
    VipuCommand("vacate", "partition", "user", SIMULATOR, ("--gcd",)),
)  # fmt: skip

#: Another word -> the verb of the table.
SYNONYMS = {"delete": "remove"}


def command_of(verb: str, noun: str) -> VipuCommand | None:
    """The row of some words; nouns are singular or plural, as public scripts have both."""
    verb = SYNONYMS.get(verb, verb)
    singular = noun.removesuffix("s")
    return next((item for item in COMMANDS if item.verb == verb and item.noun == singular), None)
