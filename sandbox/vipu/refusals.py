"""Refusals: the codes, as gRPC names them, and one sentence for each condition. All wording is the simulator's own.

No public source has an error text of the controller or an exit code of its commands, except the text of a connection
that is killed, which the client library prints.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

RefusalCode = Literal[
    "ALREADY_EXISTS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
]

#: Exit codes of the commands, assumed: 1 whatever was refused, 2 for words that no command has.
REFUSED, WRONG_WORDS = 1, 2

#: What a client of the devices prints when their partition goes (graphcore/poptorch, issue 14).
CONNECTION_KILLED = "Fabric error: connection not established: CONNECTION_KILL, device {device}, IP {host}:{port}"

#: Condition -> code and sentence.
REFUSALS = MappingProxyType[str, tuple[RefusalCode, str]]({
    "exists": ("ALREADY_EXISTS", "{noun} {id!r} exists"),
    "absent": ("NOT_FOUND", "there is no {noun} {id!r}"),
    "bad-id": ("INVALID_ARGUMENT", "{id!r} is no id: a letter or digit, then up to 62 of those and '_', '.', '-'"),
    "missing": ("INVALID_ARGUMENT", "{flag} is required"),
    "listed-twice": ("INVALID_ARGUMENT", "agent {agent!r} stands twice in the list"),
    "agent-in-cluster": ("FAILED_PRECONDITION", "agent {agent!r} belongs to cluster {cluster!r}"),
    "agent-not-ready": ("FAILED_PRECONDITION", "agent {agent!r} is {state}"),
    "address-taken": ("ALREADY_EXISTS", "agent {agent!r} is at {host}:{port}"),
    "machines": ("INVALID_ARGUMENT", "{count} machines in {domains} domain(s): 1, 2, 4, 8, 16, or 2, 4, 8 … times 16"),
    "not-adjacent": ("FAILED_PRECONDITION", "no IPU-Links between {first!r} and {second!r}"),
    "not-whole": ("FAILED_PRECONDITION", "IPU-Link domain {number} is not a logical rack's 16 IPU-Machines, in order"),
    "no-gateway-links": ("FAILED_PRECONDITION", "no GW-Links between logical racks {first} and {second}"),
    "not-closed": ("INVALID_ARGUMENT", "topology torus: nothing closes the ring from {last!r} back to {first!r}"),
    "looped-alone": ("INVALID_ARGUMENT", "cluster topology looped needs 2 to 4 IPU-Link domains, not {domains}"),
    "word": ("INVALID_ARGUMENT", "{flag}: {value!r} is none of {allowed}"),
    "agent-in-use": ("FAILED_PRECONDITION", "agent {id!r} is in use by {by}"),
    "cluster-in-use": ("FAILED_PRECONDITION", "cluster {id!r} is in use by {by}"),
    "allocation-in-use": ("FAILED_PRECONDITION", "allocation {id!r} is in use by {by}"),
    "cluster-not-ready": ("FAILED_PRECONDITION", "cluster {id!r} is {state}"),
    "no-agents": ("INVALID_ARGUMENT", "no agents: give --agents or --cluster, and only one of them"),
    "agent-free": ("FAILED_PRECONDITION", "agent {agent!r} belongs to no cluster"),
    "two-clusters": ("FAILED_PRECONDITION", "agent {agent!r} belongs to another cluster than those before it"),
    "size": ("INVALID_ARGUMENT", "size {size} is not a power of 2"),
    "larger-than-allocation": ("INVALID_ARGUMENT", "size {size}: {where} has {count} IPUs"),
    "no-free-ipus": ("RESOURCE_EXHAUSTED", "size {size}: {where} has {count} free IPUs"),
    "no-free-block": ("FAILED_PRECONDITION", "size {size}: {where} has no free IPUs next to one another for it"),
    "index": ("INVALID_ARGUMENT", "index {index}: {where} has {count} places for partitions of size {size}"),
    "index-taken": ("RESOURCE_EXHAUSTED", "index {index}: its IPUs are in use"),
    "gcds": ("INVALID_ARGUMENT", "{gcds} GCDs: size {size} divided by them has to be a power of 2"),
    "gcds-of-domains": ("INVALID_ARGUMENT", "{gcds} GCDs: has to be a multiple of its {domains} IPU-Link domains"),
    "replicas": ("INVALID_ARGUMENT", "{replicas} replicas: a multiple of the {gcds} GCDs"),
    "reconfigurable": ("INVALID_ARGUMENT", "a reconfigurable partition has sync type c2-compatible, not {value}"),
    "reconfigurable-domains": ("INVALID_ARGUMENT", "a reconfigurable partition lies in one IPU-Link domain"),
    "ring": ("INVALID_ARGUMENT", "routing {value}: a ring needs whole IPU-Link domains of a torus"),
    "where": ("INVALID_ARGUMENT", "say where: --allocation, or --cluster with releases that have no allocations"),
    "both": ("INVALID_ARGUMENT", "{first} and {second} exclude one another"),
    "partition-not-active": ("FAILED_PRECONDITION", "partition {id!r} is {state}"),
    "no-gcd": ("NOT_FOUND", "partition {id!r} has no GCD {gcd}"),
    "gcd-occupied": ("FAILED_PRECONDITION", "GCD {gcd} of partition {id!r} is occupied"),
    "nobody": ("UNAUTHENTICATED", "user id and access key do not match"),
    "not-admin": ("PERMISSION_DENIED", "user {user!r} is no admin"),
    "not-yours": ("PERMISSION_DENIED", "user {user!r} has no access to {noun} {id!r}"),
    "last-admin": ("FAILED_PRECONDITION", "user {user!r} is the last admin"),
    "not-here": ("UNIMPLEMENTED", "{verb} {noun} is not served by the user API"),
    "no-such-call": ("UNIMPLEMENTED", "there is no {verb} {noun}"),
    "late": ("DEADLINE_EXCEEDED", "{noun} {id!r} is still {state} after {seconds} s"),
    "unreached": ("UNAVAILABLE", "no controller at {host}:{port}: {why}"),
    "injected": ("UNAVAILABLE", "on demand"),
})  # fmt: skip


class VipuRefused(Exception):
    """A call that is refused, with nothing of it done."""

    def __init__(self, condition: str, **values: object) -> None:
        self.condition = condition
        self.code, sentence = REFUSALS[condition]
        self.text = sentence.format(**values)
        super().__init__(f"{self.code}: {self.text}")


class AnsweredRefusal(Exception):
    """The same, as a client gets it over the wire."""

    def __init__(self, code: str, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(f"{code}: {text}")
