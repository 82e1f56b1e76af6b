"""Which keys the servers of a GPU cluster are handed: munge's, which is made for the cluster, and that of its S3 user.

Heads, and nodes that are virtual servers, fetch them by the channel. To a whole host a head gives them, in band: the
plan says so as well, since whoever controls the host then has the key. A cluster of whole hosts without heads is handed
none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.resources import S3Credential, ServiceUser, StoredCredential

from .addresses import head_address
from .errors import PlanningError
from .guest import Part
from .guest.cluster_keys import MUNGE, keys_by_heads, keys_by_metadata, keys_for_nodes
from .plan_builder import PlanBuilder
from .s3_users import s3_keys_of, s3_user_name
from .scope import ClusterScope, s3_key_name
from .vpod_guest import S3_KEYS

_NODE = "node"
#: What stands behind the name of a server in the name of what it is handed.
_HANDED = {S3_KEYS: "s3-keys", MUNGE: "munge-key"}


def write_munge_key(scope: ClusterScope, builder: PlanBuilder) -> None:
    """Write down munge's key, and the user that has it and no role; nothing of a cluster whose tenant brings its own.

    PlanningError if the request numbers a key that nobody would be handed.
    """
    if MUNGE not in handed_keys(scope):
        number = scope.cluster.slurm.munge_key
        if number != 1:
            raise PlanningError(
                f"cluster {scope.cluster.name} asks for munge's key number {number}, and nothing hands keys to its "
                f"servers: site {scope.site.name} does not state `channel`",
                "let the operator state `channel: true` in the site file, or take `munge_key` out and bring a key",
                ("clusters", scope.cluster.name, "scheduler", "slurm", "munge_key"),
            )
        return
    user = scope.name(MUNGE)
    builder.add(user, ServiceUser(name=user, domain=scope.site.domain, project=scope.project))
    number = scope.cluster.slurm.munge_key
    key = S3Credential(project=scope.project, user=user, number=number, opens="munge")
    builder.add(s3_key_name(user, number), key)


def handed_keys(scope: ClusterScope) -> Mapping[str, str]:
    """Name under which its servers have a key -> plan name of the key."""
    cluster = scope.cluster
    # A whole host has nobody but a head to get one of.
    if not scope.site.channel or (scope.heads is None and cluster.kind != "vm"):
        return {}
    found = {MUNGE: s3_key_name(scope.name(MUNGE), cluster.slurm.munge_key)} if cluster.scheduler == "slurm" else {}
    if cluster.name in s3_keys_of(scope.tenant):
        found[S3_KEYS] = s3_key_name(s3_user_name(scope.tenant, cluster.name), cluster.s3_keys[-1])
    return found


def write_handed_keys(scope: ClusterScope, builder: PlanBuilder, server: str, *, by_heads: bool = False) -> None:
    """Write down what one server is handed. `by_heads`: of them, since it is a whole host."""
    by = tuple(scope.head(index) for index in range(_heads(scope))) if by_heads else ()
    for item, key in handed_keys(scope).items():
        handed = StoredCredential(project=scope.project, credential=key, place=server, item=item, by=by)
        builder.add(f"{server}-{_HANDED[item]}", handed)


def keys_of_virtual_node(scope: ClusterScope) -> tuple[Part, ...]:
    """The programs of a node that is a virtual server."""
    return keys_by_metadata(tuple(handed_keys(scope)))


def keys_of_head(scope: ClusterScope, index: int) -> tuple[Part, ...]:
    """The programs of a head: for itself, and for nodes that are whole hosts."""
    names, address = tuple(handed_keys(scope)), head_address(scope.claims.cluster_subnet, index)
    is_asked = scope.cluster.kind != "vm"
    return (*keys_by_metadata(names), *(keys_for_nodes(names, address, f"{scope.name(_NODE)}-") if is_asked else ()))


def keys_of_node(scope: ClusterScope) -> tuple[Part, ...]:
    """The program of a node that is a whole host."""
    return keys_by_heads(tuple(handed_keys(scope)), tuple(_addresses(scope)))


def _addresses(scope: ClusterScope) -> Iterator[str]:
    yield from (head_address(scope.claims.cluster_subnet, index) for index in range(_heads(scope)))


def _heads(scope: ClusterScope) -> int:
    return 0 if scope.heads is None else scope.heads.count
