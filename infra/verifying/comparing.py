"""A certificate beside what was derived from its inputs: what is missing in it, and what nothing here confirms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from infra.checker import edges, guarded, printable

from .answers import taken_for_granted, untrue
from .authority import HeldByCalls
from .controllers import controllers_in
from .deriving import derived_from
from .evidence import Files, evidence_of, unlike
from .ground import OPERATOR, Pair

Json = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """`complaints`: what the inputs say otherwise. `tied` and `untied`: in words, how much was confirmed."""

    complaints: tuple[str, ...]
    tied: tuple[str, ...]
    untied: tuple[str, ...]


class Comparing:
    """What one site and its plans say; made once for the certificates of all stacks."""

    def __init__(
        self,
        site: Json,
        plans: Json,
        locks: Sequence[Json] = (),
        evidence: Files | None = None,
        moment: datetime | None = None,
    ) -> None:
        self.site = site
        self.evidence = evidence_of(site, evidence or {})
        self.ground, self.authority = derived_from(
            site,
            plans,
            locks,
            seen=self.evidence.values,
            controllers=controllers_in(evidence or {}),
            moment=moment,
        )
        ground = self.ground
        self.class_of = ground.classes()
        self._certain: defaultdict[str, list[Pair]] = defaultdict(list)
        self._guarded: defaultdict[str, set[Pair]] = defaultdict(set)
        self._nodes: defaultdict[str, list[str]] = defaultdict(list)
        for pair in ground.joined:
            self._certain[self._top(min(pair))].append(pair)
        for pair in ground.guarded:
            for node in pair:
                self._guarded[self._top(node)].add(pair)
        for node, top in self.class_of.items():
            self._nodes[top].append(node)

    def _top(self, node: str) -> str:
        return self.class_of.get(node, node)

    def compare(self, found: Json, owner: str) -> Compared:
        """One certificate, of the stack of this owner."""
        said, tops = found["statement"], self._met_by(owner)
        complaints = [
            *self._about(said, owner),
            *self._edges(said, owner, tops),
            *self._joined(found, tops),
            *self._labels(found, owner, tops),
            *self._identities(said, owner),
            *self._calls(owner, tops).compare(said),
            *untrue(self.ground.answers.get(owner, {}), found["judgement"]["results"]),
        ]
        return Compared(
            tuple(map(printable, complaints)), tuple(self._tied(said, owner)), tuple(self._untied(found, owner))
        )

    def _met_by(self, owner: str) -> set[str]:
        """The classes that a plan answers for: those of what it names; the operator's, for all."""
        if owner == OPERATOR:
            return {*self._certain, *self._guarded}
        return {self._top(node) for node in self.ground.named[owner]}

    def _about(self, said: Json, owner: str) -> Iterator[str]:
        """Whose it is, and guards and declarations as the site has them: all of them, and no others."""
        if said["owner"] != owner:
            yield f"it is of {said['owner']}, and the plan is of {owner}"
        yield from unlike(said, self.evidence)
        for name in sorted((said["guards"].keys() | self.ground.guards.keys()) - said["evidence"].keys()):
            stated, known = (of.get(name, "not there") for of in (said["guards"], self.ground.guards))
            if stated is not known:
                yield f"{name} is {stated} in it, and {known} in the site"
        terminals = [
            {key: item[key] for key in ("name", "kind", "node", "audience", "rule")} for item in self.site["sharing"]
        ]
        if said["terminals"] != terminals:
            yield "it names other declarations of sharing than the site"

    def _edges(self, said: Json, owner: str, tops: set[str]) -> Iterator[str]:
        """Edges of the site and of the plan itself, each as it is; what others' plans join is in `_joined`."""
        facts = {frozenset(pair) for pair in edges(said)}
        away: defaultdict[Pair, set[frozenset[str]]] = defaultdict(set)
        for _, a, b, _, parts, is_away in guarded(said):
            if is_away:
                away[frozenset((a, b))] |= parts
        certain = (pair for top in tops for pair in self._certain.get(top, ()) if self._is_near(pair, owner))
        for pair in sorted(certain, key=sorted):
            if pair not in facts:
                how = "is removed by guards, and none can do that" if pair in away else "is missing"
                yield f"{self.ground.joined[pair]} {' - '.join(sorted(pair))} {how}"
        near = {pair for top in tops for pair in self._guarded.get(top, ()) if self._is_near(pair, owner)}
        for pair in sorted(near, key=sorted):
            row, guards = self.ground.guarded[pair]
            lacking = [guard for guard in sorted(guards) if not any(guard in part for part in away.get(pair, ()))]
            if pair not in facts and lacking:
                how = f"is removed without {', '.join(lacking)}" if pair in away else "is missing"
                yield f"{row} {' - '.join(sorted(pair))} {how}"

    def needed(self, owner: str) -> set[Pair]:
        """The ends of all edges that a certificate of this owner's has to have, there or kept away."""
        tops = self._met_by(owner)
        pairs = (pair for top in tops for of in (self._certain, self._guarded) for pair in of.get(top, ()))
        return {pair for pair in pairs if self._is_near(pair, owner)}

    def _is_near(self, pair: Pair, owner: str) -> bool:
        return self.ground.planned_by.get(pair, owner) == owner

    def _joined(self, found: Json, tops: set[str]) -> Iterator[str]:
        """A certificate may leave out other owners' own nodes, but neither what they join nor whose they are."""
        classes, labels = found["classes"], found["statement"]["labels"]
        owners: defaultdict[str, set[str]] = defaultdict(set)
        for node, who in labels.items():
            owners[classes[node][0] if node in classes else node].update(who)
        for top in sorted(tops):
            nodes = [*self._nodes.get(top, ()), top]
            met = sorted({classes[node][0] for node in nodes if node in classes})
            if len(met) > 1:
                yield f"{' and '.join(met)} are joined, and stand in different classes"
            who = {label for node in nodes for label in self.ground.labels.get(node, ())}
            if met and (lacking := who - owners[met[0]]):
                names = " and ".join(sorted(lacking))
                yield f"the class of {met[0]} holds something of {names}, and it does not say so"

    def _labels(self, found: Json, owner: str, tops: set[str]) -> Iterator[str]:
        met = {node for top in tops for node in self._nodes.get(top, ())} & found["classes"].keys()
        for node in sorted(met | self.ground.named[owner]):
            if lacking := self.ground.labels.get(node, set()) - {*found["statement"]["labels"].get(node, ())}:
                yield f"{node} is {' and '.join(sorted(lacking))}'s, and it does not say so"

    def _calls(self, owner: str, tops: set[str]) -> HeldByCalls:
        places = (node for top in tops for node in self._nodes.get(top, [top]))
        return self.authority.of(owner, places, lambda place: self._meeting(place, tops))

    def _meeting(self, place: str, tops: set[str]) -> set[str] | None:
        """The owners who meet a node in one of these classes; the operator calls what it likes."""
        top = self._top(place)
        if top not in tops:
            return None
        nodes = self._nodes.get(top, [place])
        return {who for there in nodes for who in self.ground.labels.get(there, ())} - {OPERATOR}

    def _identities(self, said: Json, owner: str) -> Iterator[str]:
        for thing in sorted(self.ground.held[owner]):
            if lacking := self.ground.exclusive[thing] - {*said["exclusive"].get(thing, ())}:
                yield f"{' and '.join(sorted(lacking))} has {thing}, and it does not say so"

    def _counts(self, said: Json, owner: str) -> Iterator[tuple[str, int, int]]:
        """(what, confirmed, all) of each relation that is looked at."""
        facts = {frozenset(pair) for pair in edges(said)}
        away = {frozenset((a, b)) for _, a, b, _, _, is_away in guarded(said) if is_away}
        labels = [(node, who) for node, owners in said["labels"].items() for who in owners]
        known = sum(pair in self.ground.guarded or len({self._top(node) for node in pair}) == 1 for pair in facts)
        yield "edges", known, len(facts)
        yield "edges that guards remove", sum(pair in self.ground.guarded for pair in away), len(away)
        yield "labels", sum(who in self.ground.labels.get(node, ()) for node, who in labels), len(labels)
        known = sum({*owners} == self.ground.exclusive.get(name) for name, owners in said["exclusive"].items())
        yield "exclusive identities", known, len(said["exclusive"])
        calls = self._calls(owner, self._met_by(owner))
        yield "grants", calls.confirmed(said), len(said["grants"])

    def _tied(self, said: Json, owner: str) -> Iterator[str]:
        yield from (f"{known} of {count} {what}" for what, known, count in self._counts(said, owner))

    def _untied(self, found: Json, owner: str) -> Iterator[str]:
        said = found["statement"]
        counts = self._counts(said, owner)
        yield from (f"{count - known} {what} stated" for what, known, count in counts if known < count)
        if granted := taken_for_granted(found["judgement"]["results"]):
            yield f"the answers of {', '.join(granted)}"
        yield from (f"{words} ({count})" for words, count in sorted(self.ground.unread.items()))
