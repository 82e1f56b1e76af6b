"""Footprints: a tenant's part of the whole, reduced to what others can meet (docs/design/semantics.md §9).

`footprint_of` contracts a share to its boundary nodes and the partition it induces on them; `lock_share`
turns a lock's record back into a share. Edges that rest on guards or on another owner's premises are never
folded into the partition: they stay premises, so that a fact that goes missing makes them unknown again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from interlock.model.lock.record import Footprint, FormerKey, Lock, Released
from interlock.vocabulary.nodes import is_device, is_identity, is_router
from policies.about import listed
from policies.edges.residue import with_former_keys, with_released, with_settled
from policies.edges.shape import Edge, GraphFragment, Union
from policies.edges.union import UNION_EDGES
from policies.edges.unlisted import UNLISTED
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph import kernel

#: The id of the operator's part among locks: that of its stack, which no tenant may have.
OPERATORS_LOCK = "site"
#: The rule id of an edge that another owner's partition stands for.
PARTITION = "footprint"


def footprint_of(
    site: SiteFacts,
    share: GraphFragment,
    released: Iterable[Released] = (),
    former_keys: Iterable[FormerKey] = (),
    *,
    unknown: bool = True,
) -> Footprint:
    """What a lock records of this share, of the claims that it released and of the login keys that it had.

    `unknown`: with the words for readers of the lock, on which no verdict rests and which take half of the time.
    """
    whole = with_former_keys(with_released(site, share, tuple(released)), former_keys)
    kept = _boundary(whole)
    kept |= set(_met_inside(whole, kept))
    return Footprint(
        classes=tuple(sorted(_partition(whole, kept))),
        labels={node: tuple(sorted(labels)) for node, labels in sorted(whole.labels.items()) if node in kept},
        exclusive=tuple(sorted(whole.exclusive)),
        premises=tuple(sorted(whole.premises, key=lambda item: (item.relation, item.tuple))),
        exposures=whole.exposures,
        grants=whole.grants,
        unknown=tuple(sorted(_unknown_marks(site, whole))) if unknown else (),
    )


def lock_share(lock: Lock, site: SiteFacts) -> GraphFragment:
    """What a lock brings into the union: its footprint, and what was given out again after its tenant."""
    share = with_former_keys(footprint_share(owner_of(lock), lock.footprint), lock.former_keys)
    return with_settled(site, share, lock.settled) if lock.settled else share


def owner_of(lock: Lock) -> str:
    """Whose a lock is."""
    return ids.OPERATOR if lock.id == OPERATORS_LOCK else lock.id


def footprint_share(owner: str, footprint: Footprint) -> GraphFragment:
    """What a footprint brings, whether a lock holds it or it was made of what is applied."""
    return GraphFragment(
        owner=owner,
        edges=tuple(edge for members in footprint.classes for edge in _joined(members)),
        labels={node: frozenset(labels) for node, labels in footprint.labels.items()},
        premises=footprint.premises,
        exclusive=frozenset(footprint.exclusive),
    )


def _boundary(share: GraphFragment) -> set[str]:
    named = {column for item in share.premises for column in item.tuple if is_identity(column)}
    return {node for node in share.nodes if node in named or ids.is_boundary(node)}


def _met_inside(share: GraphFragment, kept: set[str]) -> Iterator[str]:
    """One of the owner's own nodes for each label that no boundary node of its class carries, where two owners meet.

    Whoever reads the footprint alone sees the meeting too.
    """
    for component in _components(share):
        first: dict[str, str] = {}
        for node in sorted(component, key=lambda node: (node not in kept, node)):
            for label in share.labels.get(node, ()):
                first.setdefault(label, node)
        yield from first.values() if len(first) > 1 else ()


def _components(share: GraphFragment) -> list[set[str]]:
    numbers = kernel.Numbering(sorted(share.nodes))
    known = [edge for edge in share.edges if not edge.missing]
    left, right = numbers.all_of(edge.a for edge in known), numbers.all_of(edge.b for edge in known)
    found: defaultdict[int, set[str]] = defaultdict(set)
    for node, number in zip(numbers.number, kernel.components(len(numbers), left, right), strict=True):
        found[number].add(node)
    return list(found.values())


def _partition(share: GraphFragment, kept: set[str]) -> Iterator[tuple[str, ...]]:
    for component in _components(share):
        members = tuple(sorted(component & kept))
        if members:
            yield members


def _unknown_marks(site: SiteFacts, share: GraphFragment) -> Iterator[str]:
    """Edges of this owner's own premises that rest on a fact nobody stated when the lock was written.

    What the site's tables do not declare complete concerns every lock alike, and is told where it is proved.
    """
    union = Union(site, [share])
    for rule in UNION_EDGES:
        for edge in rule.edges(union):
            if edge.missing and edge.rule != UNLISTED and {edge.a, edge.b} & share.nodes:
                yield f"{edge.rule} {edge.a} - {edge.b}: {listed(edge.missing)}"


def _joined(members: tuple[str, ...]) -> Iterator[Edge]:
    """A class as a star around one of its devices, which reads best in a witness."""
    centre = min(members, key=lambda node: (not is_device(node), not is_router(node), node))
    yield from (Edge(centre, node, PARTITION) for node in members if node != centre)
