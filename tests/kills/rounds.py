"""Which commands are interrupted where: to and fro, so that the way back of one point is the next one's beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

from interlock.resources import Resource
from tests.kills.points import Command, Done, Points
from tests.kills.reference import dependents, on_its_vlan
from tests.kills.trap import AT_REQUESTS, Fault
from tests.kills.variants import CHANGED, GROWING, grown
from tests.support.engine.stack import Stack
from tests.support.sampling import Sampling

#: What `on_delete` says where the data outlive their volume.
COPIED = "snapshot"


def _nothing() -> None:
    """What there is to do before most commands."""


@dataclass(frozen=True)
class Way:
    """One command under a label; `before` is what the request says by then."""

    kind: str
    step: str
    command: Command
    before: Callable[[], None] = _nothing


@dataclass
class Rounds:
    """Walks through the reference stacks.

    A long run takes all points of all objects, or its part of them; another run one point of each step of some kinds.
    """

    points: Points
    sampling: Sampling
    #: Kinds that are made, changed, replaced and deleted under fire; what a later plan changes is it for every kind.
    sample: frozenset[str]
    faults: tuple[Fault, ...] = AT_REQUESTS
    #: (kind, step) that had its share.
    had: set[tuple[str, str]] = field(default_factory=set)
    #: Step -> how many points of it were chosen.
    turns: Counter[str] = field(default_factory=Counter)
    #: Points that a long run has come by, with those of its other parts.
    met: int = 0

    @property
    def every(self) -> bool:
        """True if nothing is left to a sample."""
        return self.sampling.long

    def wants(self, stack: Stack, name: str) -> bool:
        """True if making its kind has had no share yet."""
        kind = self._kind(stack, name)
        return self.every or (stack.kinds[name] in self.sample and (kind, "create") not in self.had)

    @staticmethod
    def _kind(stack: Stack, name: str) -> str:
        """A volume of which a copy is made before it goes is a kind of its own here."""
        return f"Volume, {COPIED}" if _copied(stack, name) else stack.kinds[name]

    def stand(self, stack: Stack, label: str, name: str) -> None:
        """Made and unmade, replaced and changed, interrupted each time; in the end it stands."""
        kind = self._kind(stack, name)
        made, gone = Command(stack, (name,)), Command(stack, (name,), destroys=True)
        self.to_and_fro(label, Way(kind, "create", made), Way(kind, "delete", gone, self._writing(stack, name)))
        self.points.again(made)
        if stack.kinds[name] not in GROWING:
            self._again(label, Way(kind, "replace", Command(stack, (name,), forced=name)))
        if stack.kinds[name] in CHANGED:
            self._change(stack, label, name, CHANGED[stack.kinds[name]](stack.resources[name]))
        if stack.kinds[name] in ("Volume", "Bucket"):
            self.points.ground.write(stack, name)

    def grow(self, stack: Stack, label: str, name: str) -> None:
        """A volume or share that is to be larger, each time by a GiB."""

        def more() -> None:
            item = stack.resources[name]
            stack.declare(stack.resources | {name: grown(item)})  # type: ignore[arg-type]

        self._again(label, Way(stack.kinds[name], "grow", Command(stack, (name,)), more))

    def become(self, stack: Stack, label: str, step: str, name: str, other: Resource) -> None:
        """What a later plan says of it, and back, with all that rests on it; in the end it is as planned."""
        scope = (name, *dependents(stack.resources, name))
        here = stack.resources[name]
        ways = [
            Way(here.KIND, step, Command(stack, scope), partial(self.say, stack, name, item)) for item in (other, here)
        ]
        self.to_and_fro(label, *ways)
        ways[0].before()
        self.points.again(ways[0].command)

    def add(self, stack: Stack, label: str, name: str, item: Resource) -> None:
        """What a later plan has more, and without it again; in the end it stands."""
        command = Command(stack, (name,))
        there = Way(item.KIND, "resize", command, lambda: self.say(stack, name, item))
        back = Way(item.KIND, "shrink", command, lambda: self.say(stack, name, None))
        self.to_and_fro(label, there, back)
        there.before()
        self.points.again(command)

    def force(self, stack: Stack, label: str, name: str) -> None:
        """`up --replace` with all that rests on it."""
        scope = (name, *dependents(stack.resources, name))
        self._again(label, Way(stack.kinds[name], "replace all", Command(stack, scope, forced=name)))

    def _change(self, stack: Stack, label: str, name: str, other: Resource) -> None:
        here, command = stack.resources[name], Command(stack, (name,))
        ways = [Way(here.KIND, "update", command, partial(self.say, stack, name, item)) for item in (other, here)]
        self.to_and_fro(label, *ways)

    def say(self, stack: Stack, name: str, item: Resource | None) -> None:
        """From now on the program says this of a name, or nothing; switch ports go with their network."""
        rest = {each: other for each, other in stack.resources.items() if each != name}
        if item is None:
            stack.declare(rest)
        elif name in stack.resources:
            stack.declare(stack.resources | {name: item} | on_its_vlan(stack.resources, name, item))
        else:
            stack.declare(rest | {name: item})

    def _writing(self, stack: Stack, name: str) -> Callable[[], None]:
        """Something else is in the volume each time, for the copy to hold; earlier copies nobody needs."""

        def write() -> None:
            self.points.ground.discard_backups()
            self.points.ground.write(stack, name)
            self.points.seen.clear()

        return write if _copied(stack, name) else _nothing

    def _again(self, label: str, way: Way) -> None:
        """A way that leads back to where it began."""
        if not self._wanted(way):
            return
        done = self._go(way)
        for at, fault in self._chosen(way, done):
            self._interrupt(label, way, done, at, fault)

    def drift(
        self, stack: Stack, label: str, name: str, meddle: Callable[[], None], beside: tuple[str, ...] = ()
    ) -> None:
        """Somebody changed it by hand, and it is put right, with what is right only together with it."""
        self._again(label, Way(stack.kinds[name], "drift", Command(stack, (name, *beside)), meddle))

    def to_and_fro(self, label: str, there: Way, back: Way) -> None:
        """Two ways that lead to each other's beginnings."""
        wanted = [self._wanted(there), self._wanted(back)]
        if not any(wanted):
            return
        done = [self._go(there), self._go(back)]
        ways = zip((there, back), done, wanted, strict=True)
        lists = [self._chosen(way, each) if asked else [] for way, each, asked in ways]
        for pair in zip_longest(*lists):
            for way, whole, point in zip((there, back), done, pair, strict=True):
                if point is None:
                    way.before()
                    self.points.again(way.command)
                else:
                    self._interrupt(label, way, whole, *point)

    def _go(self, way: Way) -> Done:
        way.before()
        return self.points.whole(way.command)

    def _interrupt(self, label: str, way: Way, done: Done, at: int, fault: Fault) -> None:
        way.before()
        self.points.point(way.command, done, at, fault, (label, way.kind, way.step))

    def _wanted(self, way: Way) -> bool:
        if self.every:
            return True
        # What a site was tried with need not be tried again with a tenant.
        key = (way.kind, way.step)
        fresh = key not in self.had
        self.had.add(key)
        return fresh

    def _chosen(self, way: Way, done: Done) -> list[tuple[int, Fault]]:
        assert done.requests, "a command without a request has nothing to interrupt"
        if self.every:
            found = [(at, fault) for at in range(1, len(done.requests) + 1) for fault in self.faults]
            first, self.met = self.met, self.met + len(found)
            return [point for place, point in enumerate(found, first) if self.sampling.part.takes(place)]
        # Each step has the faults in turn; at which request follows from the seed.
        turn = self.turns[way.step]
        self.turns[way.step] += 1
        chance = self.sampling.random(f"kill {way.kind} {way.step} {turn}")
        return [(1 + chance.randrange(len(done.requests)), self.faults[turn % len(self.faults)])]


def _copied(stack: Stack, name: str) -> bool:
    return getattr(stack.resources[name], "on_delete", "") == COPIED
