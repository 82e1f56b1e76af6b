"""Stacks that take, change, crash, confirm, let go and recover in any order; what must hold after each step."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from interlock.store.ledger import Foreign, IdentityTaken, Ledger, Outdated
from interlock.store.records import FootprintRecord, Taking
from tests.store.memory import AFTER, BEFORE, MemoryStore, WatchedStore
from tests.store.world import claims, entry, nodes, require_listed, require_marked, taking

STACKS = ("acme", "beta", "gamma")
#: Only acme and beta meet: at these identities and nodes. Gamma's are its own.
SHARED = ("i:1", "i:2", "i:3")
PLACES = ("n:1", "n:2")

stacks = st.sampled_from(STACKS)
points = st.tuples(st.integers(0, 25), st.sampled_from((BEFORE, AFTER)))


class Killed(BaseException):
    """Stands for SIGKILL: from here on nothing that the run does reaches the store."""


@st.composite
def wishes(draw: st.DrawFn) -> tuple[str, FootprintRecord]:
    """A stack, and what it wants: identities and nodes of its own, and for those that meet, common ones."""
    stack = draw(stacks)
    own = draw(st.sets(st.sampled_from([f"i:{stack}:{number}" for number in range(2)])))
    places = draw(st.sets(st.sampled_from([f"n:{stack}:{number}" for number in range(2)])))
    if stack != "gamma":
        own |= draw(st.sets(st.sampled_from(SHARED)))
        places |= draw(st.sets(st.sampled_from(PLACES)))
    return stack, entry(own, places)


class Stores(RuleBasedStateMachine):
    """`states` is what each stack's state file holds; `applied` what may be on the cloud because of it."""

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore()
        self.ledger = Ledger(self.store)
        self.states: dict[str, str] = {}
        self.applied: dict[str, list[FootprintRecord]] = {stack: [] for stack in STACKS}
        self.serial = 0

    def wanted(self, stack: str, what: FootprintRecord) -> Taking:
        self.serial += 1
        met = (*what.nodes, *PLACES) if stack != "gamma" else what.nodes
        return taking(stack, what, self.ledger, serial=self.serial, met=met)

    @rule(wish=wishes())
    def up(self, wish: tuple[str, FootprintRecord]) -> None:
        stack, what = wish
        self.take(self.ledger, stack, self.wanted(stack, what))

    @rule(wish=wishes(), other=wishes())
    def up_with_a_proof_that_another_overtook(
        self, wish: tuple[str, FootprintRecord], other: tuple[str, FootprintRecord]
    ) -> None:
        wanted = self.wanted(*wish)
        self.take(self.ledger, other[0], self.wanted(*other))
        self.take(self.ledger, wish[0], wanted, overtaken=wish[0] == other[0])

    @rule(wish=wishes(), other=wishes(), at=st.integers(0, 25))
    def two_at_once(self, wish: tuple[str, FootprintRecord], other: tuple[str, FootprintRecord], at: int) -> None:
        """The other runs whole between two calls of the one."""
        if wish[0] == other[0]:
            return
        wanted, theirs = self.wanted(*wish), self.wanted(*other)

        def watch(number: int, *_: Any) -> None:
            if number == at and _[-1] == BEFORE:
                self.take(self.ledger, other[0], theirs)

        self.take(Ledger(WatchedStore(self.store, watch)), wish[0], wanted)

    @rule(wish=wishes(), point=points)
    def up_that_is_killed(self, wish: tuple[str, FootprintRecord], point: tuple[int, str]) -> None:
        stack, what = wish
        with contextlib.suppress(Killed):
            self.take(self.dying(point), stack, self.wanted(stack, what))

    @rule(stack=stacks)
    def done(self, stack: str) -> None:
        """All but the newest are no more applied."""
        for old in self.applied[stack][:-1]:
            self.applied[stack].remove(old)
            self.ledger.drop(stack, self.states[stack], old.digest)

    @rule(stack=stacks, point=points)
    def destroy(self, stack: str, point: tuple[int, str]) -> None:
        """Killed at some call, or not; whatever the record lists is dropped, applied or not."""
        if stack not in self.states:
            return
        self.applied[stack] = []
        record = self.ledger.stack(stack)
        ledger = self.dying(point)
        try:
            for item in record.entries if record else ():
                ledger.drop(stack, self.states[stack], item.digest)
        except Killed:
            return
        del self.states[stack]
        assert self.ledger.stack(stack) is None

    @rule(stack=stacks)
    def lose_the_state_and_recover(self, stack: str) -> None:
        record = self.ledger.stack(stack)
        if record and record.confirmed:
            self.states[stack] = self.ledger.recover(stack, record.owner)

    def dying(self, point: tuple[int, str]) -> Ledger:
        dead = False

        def watch(number: int, name: str, key: str, when: str) -> None:
            nonlocal dead
            dead = dead or (number, when) == point
            if dead:
                raise Killed

        return Ledger(WatchedStore(self.store, watch))

    def take(self, ledger: Ledger, stack: str, wanted: Taking, *, overtaken: bool = False) -> None:
        before = self.states.get(stack)
        try:
            record = ledger.take(wanted, before)
        except (IdentityTaken, Outdated):
            # Nobody is near gamma: only its own other run can be in its way.
            if stack == "gamma" and not overtaken:
                raise
            return
        except Foreign:
            # A crash while everything was dropped left the old lineage with no record, or a new one.
            raise AssertionError(f"{stack} has its own state and is refused") from None
        self.states[stack] = record.lineage
        self.ledger.confirm(stack, record.lineage)
        if wanted.entry in self.applied[stack]:
            self.applied[stack].remove(wanted.entry)
        self.applied[stack].append(wanted.entry)

    @invariant()
    def whatever_may_be_applied_is_marked(self) -> None:
        for stack, entries in self.applied.items():
            for item in entries:
                require_marked(self.store, stack, item)

    @invariant()
    def nothing_has_two_owners(self) -> None:
        owners: dict[str, str] = {}
        for stack, entries in self.applied.items():
            for identity in {name for item in entries for name in item.held}:
                assert owners.setdefault(identity, stack) == stack, f"{identity}: {owners[identity]} and {stack}"
        for identity, claim in claims(self.store).items():
            assert owners.get(identity, claim.stack) == claim.stack

    @invariant()
    def whatever_is_left_is_listed(self) -> None:
        require_listed(self.store)

    @invariant()
    def strangers_leave_no_trace_at_each_others_nodes(self) -> None:
        for name, node in nodes(self.store).items():
            if name not in PLACES:
                assert set(node.holders) == {name.split(":")[1]}


TestStores = Stores.TestCase
# A round is many steps, each of many calls: fewer of them than of what takes one call.
TestStores.settings = settings(max_examples=settings().max_examples // 5, stateful_step_count=25)
