"""Versions of boundary nodes: what a proof relies on others not to change (docs/design/semantics.md §9).

A node's version is a digest of the locks that mention it. A proof names those of every boundary node in the classes
it met; if one is another when it is applied, somebody changed what it looked at. Locks that mention none of these
nodes disturb nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from interlock.model.lock.record import Lock
from interlock.resources import digest_of
from policies.edges.shape import GraphFragment
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph.model import Model

from .boundary import owner_of
from .neighbours import mentioned

#: The version of a node that no lock mentions: whoever is the first to do so changes it.
UNMENTIONED = digest_of([])


def boundary_versions(model: Model, locks: Iterable[Lock]) -> dict[str, str]:
    """Boundary node in a class that the plan meets -> its version; sorted. `locks`: those of the model's others."""
    hashes = {owner_of(lock): lock.hash or lock.expected_hash() for lock in locks}
    looked_at = met(model)
    by_node: defaultdict[str, list[list[str]]] = defaultdict(list)
    for share in model.others:
        entry = [share.owner, hashes[share.owner]]
        for node in looked_at.intersection(mentioned(model.site, share)):
            by_node[node].append(entry)
    return {node: digest_of(sorted(by_node[node])) if node in by_node else UNMENTIONED for node in sorted(looked_at)}


def met(model: Model) -> set[str]:
    """The boundary nodes in the classes that the plan meets."""
    return {node for node in model.may if ids.is_boundary(node)}


def boundary_nodes(site: SiteFacts, share: GraphFragment) -> set[str]:
    """The boundary nodes that a share says something of."""
    return {node for node in mentioned(site, share) if ids.is_boundary(node)}


def boundary_digest(versions: dict[str, str]) -> str:
    """One digest over all of them: what a judgement carries."""
    return digest_of(versions)
