"""What controllers answer with `--showjson`, as frozen types.

Seen in public code: `spec.ipu_link_domains[].ipus` of a cluster; `partition.id`, `spec.ipus`, `spec.num_gcds` and
`spec.num_replicas` of a partition. All other keys are assumed, and the simulator of the sandbox has them. What is
missing is None, never a default, or a misread: nothing is decided from a key that nobody said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

#: What the user guide prints of a new key, beside JSON.
_KEY_IN_WORDS = re.compile(r"[Aa]ccess key is '([^'\s]+)'")
#: What follows such a word is a secret: settings that a command quotes as it refuses them have keys in them.
_KEY_QUOTED = re.compile(
    r"""(?i)((?:key|secret|password|token)["']?(?:\s*[:=]\s*|\s+(?:is|was)\s+)["']?)[^\s'",;}]+""",
)


class VipuMisread(Exception):
    """An answer that is not understood, in words."""


@dataclass(frozen=True)
class SaidAgent:
    """The agent of one IPU-Machine."""

    id: str
    host: str
    port: int
    state: str
    version: str


@dataclass(frozen=True)
class SaidCluster:
    """Agents as a cluster, in the order of their cables."""

    id: str
    agents: tuple[str, ...]
    topology: str
    cluster_topology: str
    link_domains: int
    state: str


@dataclass(frozen=True)
class SaidAllocation:
    """Agents that some users may use. `cluster`: None where the release does not say it."""

    id: str
    agents: tuple[str, ...]
    cluster: str | None


@dataclass(frozen=True)
class SaidUser:
    """A user. `allocations`: None if all are open to it."""

    id: str
    admin: bool
    allocations: tuple[str, ...] | None


@dataclass(frozen=True)
class SaidPartition:
    """IPUs that reach one another alone. `reason`: the controller's words about one in ERROR."""

    id: str
    allocation: str | None
    cluster: str
    ipus: int
    gcds: int
    replicas: int
    reconfigurable: bool
    sync_type: str
    routing: str
    state: str
    reason: str


def json_in(text: str) -> Any:
    """The JSON of an answer; lines before it are a banner. Raises VipuMisread."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.lstrip()[:1] in ("[", "{"):
            try:
                return json.loads("".join(lines[number:]))
            except (ValueError, RecursionError):
                break
    raise VipuMisread("it is no JSON")


def each(text: str, read: Callable[[Any], T]) -> tuple[T, ...]:
    """The objects of a list. Raises VipuMisread."""
    value = json_in(text)
    if not isinstance(value, list):
        raise VipuMisread("it is no list")
    try:
        return tuple(read(item) for item in value)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise VipuMisread(f"an object of its list is not as it is known: {type(error).__name__}: {error}") from None


def agent_of(value: Mapping[str, Any]) -> SaidAgent:
    """An agent."""
    spec, status = value["spec"], value["status"]
    return SaidAgent(
        str(value["id"]), str(spec["host"]), int(spec["port"]), str(status["state"]), str(status.get("version") or "")
    )


def cluster_of(value: Mapping[str, Any]) -> SaidCluster:
    """A cluster."""
    spec = value["spec"]
    return SaidCluster(
        str(value["id"]), _texts(spec["agents"]), str(spec["topology"]).lower(), str(spec["cluster_topology"]).lower(),
        _count(spec["ipu_link_domains"]), str(value["status"]["state"]),
    )  # fmt: skip


def allocation_of(value: Mapping[str, Any]) -> SaidAllocation:
    """An allocation."""
    spec = value["spec"]
    cluster = spec.get("cluster")
    return SaidAllocation(str(value["id"]), _texts(spec["agents"]), None if cluster is None else str(cluster))


def user_of(value: Mapping[str, Any]) -> SaidUser:
    """A user."""
    spec = value["spec"]
    allocations = spec["allocations"]
    return SaidUser(str(value["id"]), _truth(spec["admin"]), None if allocations is None else _texts(allocations))


def partition_of(value: Mapping[str, Any]) -> SaidPartition:
    """A partition, with its state as tables have it: `ACTIVE` of `PS_ACTIVE`."""
    whole = value["partition"]
    spec, status = whole["spec"], whole["status"]
    allocation = spec.get("allocation")
    return SaidPartition(
        id=str(whole["id"]),
        allocation=None if allocation is None else str(allocation),
        cluster=str(spec["cluster"]),
        ipus=_count(spec["ipus"]),
        gcds=int(spec["num_gcds"]),
        replicas=int(spec["num_replicas"]),
        reconfigurable=_truth(spec["reconfigurable"]),
        sync_type=str(spec["sync_type"]).lower().replace("_", "-"),
        routing=str(spec["routing"]).lower().replace("-", ""),
        state=str(status["state"]).removeprefix("PS_"),
        reason=str(status.get("reason") or ""),
    )


def without_keys(text: str) -> str:
    """The text with a mask in place of what stands where an access key would."""
    return _KEY_QUOTED.sub(r"\1[secret]", text)


def key_in(text: str) -> str | None:
    """The access key that an answer tells; None if it tells none."""
    try:
        found = next(_keys(json_in(text)), None)
    except VipuMisread:
        found = None
    if found is None and (said := _KEY_IN_WORDS.search(text)) is not None:
        found = said[1]
    return found


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(found := value.get("access_key"), str) and found:
            yield found
        for item in value.values():
            yield from _keys(item)


def _truth(value: Any) -> bool:
    """Python takes the text `false` for true."""
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _count(value: Any) -> int:
    """Of a list: a text such as `0-15` has a length, too."""
    if not isinstance(value, list):
        raise TypeError("no list")
    return len(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("no list of ids")
    return tuple(str(item) for item in value)
