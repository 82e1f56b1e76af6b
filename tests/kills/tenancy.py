"""The site and the tenant as stacks, and how far they have come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from interlock.planning import Plan
from interlock.resources import Resource
from tests.kills import reference
from tests.kills.points import Command
from tests.kills.rounds import Rounds
from tests.kills.variants import GROWING
from tests.support.engine.stack import Stack

#: Of the process there is none yet; every command takes one of its own.
_NO_PROCESS: Any = None


@dataclass
class Tenancy:
    """`site` and `tenant` on one cloud; `plans`: what each plan of `reference` makes there, by its name."""

    rounds: Rounds
    plans: dict[str, dict[str, Resource]]
    site: Stack
    tenant: Stack

    @classmethod
    def of(cls, rounds: Rounds) -> Tenancy:
        """Nothing made yet."""
        plans = reference.plans()
        made = {name: reference.resources(plan) for name, plan in plans.items()}
        return cls(
            rounds,
            made,
            # Not `lyon-site`: whose stack is so called stays while anybody else's tenant is on the cloud.
            _stack("lyon-operators", plans["site"], made["site"]),
            _stack("lyon-kay", plans["first"], made["first"]),
        )

    def stand(self, stack: Stack, label: str) -> None:
        """Every object of the stack is made, most of them more than once."""
        for name in stack.resources:
            if name in stack.state or not self.rounds.wants(stack, name):
                continue
            self.complete(stack, before=name)
            self.rounds.stand(stack, label, name)
        self.complete(stack)

    def complete(self, stack: Stack, before: str | None = None) -> None:
        """An uninterrupted `up` of all that is missing, or of what comes before one object."""
        names = list(stack.resources)
        wanted = names[: names.index(before)] if before else names
        missing = tuple(name for name in wanted if name not in stack.state)
        if missing:
            self.rounds.points.again(Command(stack, missing))

    def resize(self) -> None:
        """From the first plan of the tenant to the next."""
        tenant, plan = self.tenant, self.plans["resized"]
        for name, item in plan.items():
            old = tenant.resources.get(name)
            if old is None:
                self.rounds.add(tenant, "tenant", name, item)
            elif item.KIND in GROWING and item != old:
                self.rounds.grow(tenant, "tenant", name)
                self.rounds.say(tenant, name, item)
                self.rounds.points.again(Command(tenant, (name,)))
            elif item != old:
                self.rounds.become(tenant, "tenant", "resize", name, item)

    def move(self) -> None:
        """From the second plan of the tenant to the last: other hosts, another segment."""
        for name, item in self.plans["moved"].items():
            if item.KIND not in GROWING and item != self.tenant.resources[name]:
                self.rounds.become(self.tenant, "tenant", "move", name, item)

    def replace(self, kinds: tuple[str, ...]) -> None:
        """`up --replace` of everything of these kinds, with all that rests on it."""
        for name in list(self.tenant.resources):
            if self.tenant.kinds[name] in kinds:
                self.rounds.force(self.tenant, "tenant", name)

    def settle(self, stack: Stack) -> None:
        """An uninterrupted `up` of everything: it has nothing to do, and nothing is said."""
        done = self.rounds.points.whole(Command(stack, tuple(stack.resources)), preflight=True)
        assert (done.requests, done.said) == ((), "")
        self.rounds.points.ground.unharmed(stack)

    def resized(self) -> None:
        """The second plan stands, whatever was tried before."""
        for stack in (self.site, self.tenant):
            self.complete(stack)
        missing = {name: item for name, item in self.plans["resized"].items() if name not in self.tenant.state}
        if missing:
            self.tenant.declare(self.plans["resized"])
            self.rounds.points.again(Command(self.tenant, tuple(self.tenant.resources)))

    def leave(self) -> None:
        """Everything goes, and no copy is kept."""
        for stack in (self.tenant, self.site):
            for name, item in stack.resources.items():
                if name in stack.state and item.KIND == "Volume":
                    stack.declare(stack.resources | {name: item.model_copy(update={"on_delete": "erase"})})
                    self.rounds.points.again(Command(stack, (name,)))
            self.rounds.points.ground.discard_backups()
            if stack.state:
                self.rounds.points.again(Command(stack, tuple(stack.state), destroys=True))


def _stack(name: str, plan: Plan, resources: dict[str, Resource]) -> Stack:
    found = Stack(_NO_PROCESS, name, plan.owner, {}, plan.site_owner, reference.FOLDER)
    found.declare(resources)
    return found
