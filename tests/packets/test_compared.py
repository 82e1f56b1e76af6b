"""Prover and packets compared: random small wirings, set on switches; who reaches whom is what the graph says.

A failure names its seed; `different(stage, seed)` shows it again. Only trees are drafted: a loop of switches without a
spanning tree protocol forwards a frame for ever, and the graph, which has no direction, says nothing else of one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest

from sandbox.fabric.frames import Probe
from tests.support.sampling import Sampling, at_least

from .asking import Answer, Pairs, asked, closed
from .plant import Placed, Stage
from .wirings import OTHER, QUARANTINE, SECOND, TAGS, VLANS, wiring


@dataclass(frozen=True)
class Compared:
    """One wiring: what the graph says, and who got frames of whom."""

    seed: int
    placed: Placed
    answer: Answer
    seen: Pairs
    #: Of those who get frames with two tags, whom no other frame comes to.
    second: Pairs
    words: str

    @property
    def exact(self) -> bool:
        """Nothing of it is uncertain."""
        return self.answer.must == self.answer.may

    def differences(self) -> list[str]:
        """Empty if the two agree: all that must be seen is seen, and nothing that cannot be."""
        must, may, reached = self.answer.must, self.answer.may, closed(self.seen)
        found = {
            "on one wire, and no frame came": must.wire - self.seen,
            "a frame came, and the graph says that none can": self.seen - may.wire,
            "in one component, and not even through others": must.component - reached,
            "through others, and the graph says that this cannot be": reached - may.component,
            "by a second tag, and no way of one leads there": self.second - self.answer.second,
        }
        return [f"{words}: {sorted(pairs)}" for words, pairs in found.items() if pairs]

    def __str__(self) -> str:
        ports = [
            f"{end.switch} {end.port} ({name} {number}): {self.placed.site.switch[name].by_port[number]}"
            for (name, number), end in self.placed.port.items()
        ]
        return "\n".join([f"wiring {self.seed}", *self.differences(), *ports, str(self.placed.host), self.words])


def different(stage: Stage, seed: int) -> Compared:
    """Draft, ask, set, send."""
    world = wiring(Random(seed)).made()
    placed = Placed.of(world.site, (*VLANS, OTHER, QUARANTINE))
    answer = asked(world, placed)
    seen = stage.sent(placed, TAGS, awaited=answer.must.wire)
    twice = stage.prober.probe([Probe(host, tags) for host in placed.host.values() for tags in SECOND])
    second = twice.pairs - answer.may.wire
    return Compared(seed, placed, answer, seen.pairs, second, f"{seen}\n{twice}")


@pytest.fixture(scope="module")
def compared(stage: Stage, sampling: Sampling) -> list[Compared]:
    """Every wiring of this run."""
    return [different(stage, seed) for seed in sampling.cases("random wirings")]


@pytest.mark.timeout(100_000)
def test_who_reaches_whom_is_what_the_graph_says(compared: list[Compared]) -> None:
    wrong = [str(item) for item in compared if item.differences()]
    assert not wrong, f"{len(wrong)} of {len(compared)}\n" + "\n\n".join(wrong[:3])


@pytest.mark.timeout(100_000)
def test_the_sample_shows_something(compared: list[Compared]) -> None:
    """Most wirings are certain; in most some hosts meet and some do not, though all are cabled together. In some a
    frame comes by its second tag, where no other does.
    """
    count = Counter[str]()
    for item in compared:
        count["certain"] += item.exact
        count["some meet"] += bool(item.seen)
        count["by a second tag"] += bool(item.second)
        count["some do not"] += bool(item.placed.cabled_together() - item.seen)
    assert count["by a second tag"] >= at_least(0.1, len(compared)), count
    assert min(count["certain"], count["some meet"], count["some do not"]) >= at_least(0.5, len(compared)), count
