"""Who holds an exclusive identity with whom (Excl): a tenant's plan is asked about its own, the operator's of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from interlock.vocabulary.nodes import Node, parse
from policies.graph.model import Model


@dataclass(frozen=True)
class Together:
    """Two owners, and the identities that both of them hold."""

    holder: str
    other: str
    identities: frozenset[str]


def looked_at(model: Model, wanted: Callable[[Node], bool]) -> frozenset[str]:
    """The identities of a kind that the plan answers for: its own; of the operator's plan those of everybody."""
    shares = (model.own,) if model.plan.is_tenant else (model.own, *model.others)
    return frozenset(item for share in shares for item in share.exclusive if wanted(parse(item)))


def held_together(model: Model, identities: frozenset[str]) -> Iterator[Together]:
    """Who holds which of these with whom, each pair of owners once; the plan's own owner stands first in its pairs."""
    held: defaultdict[str, list[str]] = defaultdict(list)
    for share in (model.own, *model.others):
        for item in share.exclusive & identities:
            held[item].append(share.owner)
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for item, owners in held.items():
        for pair in combinations(owners, 2):
            if not model.plan.is_tenant or pair[0] == model.plan.owner:
                found[pair].add(item)
    return (Together(*pair, frozenset(items)) for pair, items in sorted(found.items()))
