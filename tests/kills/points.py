"""One command of one stack, uninterrupted and then interrupted at a request; afterwards run again and compared."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

from interlock.provider.actuators import ACTUATORS
from tests.faults.proxy import Proxy, Request
from tests.kills.inventory import Inventory, changed
from tests.kills.report import Point
from tests.kills.trap import Fault, Trap
from tests.kills.victims import Victim
from tests.support.engine.process import Recorded, Refused
from tests.support.engine.runs import destroy, up
from tests.support.engine.stack import Stack

#: Seconds that services may take to let go of what was deleted.
LETTING_GO = 20.0

#: Services in which a kind changes something beside those of its own.
_BESIDE = {
    "BareMetalServer": ("network",),
    "Server": ("network", "block-storage"),
    "VolumeAttachment": ("block-storage",),
}

#: Outputs that are other ones each time an object is made.
_NEW_EACH_TIME = frozenset({
    "mac", "access_key", "secret_key", "external_addresses", "export_path", "public_address", "made", "user_made",
})  # fmt: skip

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class KillingGround(Protocol):
    """Where is killed: provider processes, the proxy before all that they ask, and a view past it."""

    @property
    def proxy(self) -> Proxy:
        """Before every service."""

    def victim(self) -> Victim:
        """A new provider process."""

    def look(self, services: Collection[str]) -> Inventory:
        """What there is in these services."""

    def left(self, stack: Stack, held: dict[str, Recorded]) -> dict[str, str]:
        """What can still be read of objects that the state held and holds no more."""

    def write(self, stack: Stack, name: str) -> None:
        """Data into what holds some."""

    def unharmed(self, stack: Stack) -> None:
        """Asserts that nothing is lost of what a run has no business with."""

    def discard_backups(self) -> None:
        """Copies of data that nobody needs any more."""


@dataclass(frozen=True)
class Command:
    """`up`, `up --replace` or `destroy`, as far as it comes to these names."""

    stack: Stack
    scope: tuple[str, ...]
    forced: str | None = None
    destroys: bool = False

    @property
    def services(self) -> frozenset[str]:
        """Where it may change something."""
        kinds = {self.stack.kinds[name] for name in self.scope}
        found = {ACTUATORS[kind].SERVICE for kind in kinds}
        return frozenset(found.union(*(_BESIDE.get(kind, ()) for kind in kinds)))

    def run(self, *, preflight: bool) -> None:
        """Raises `Refused` where the provider stops or dies."""
        if self.destroys:
            destroy(self.stack, self.scope)
        else:
            up(self.stack, self.scope, self.forced, preflight=preflight)


@dataclass(frozen=True)
class Done:
    """What an uninterrupted run did: its words, what came and went on the cloud, computed outputs, its requests."""

    requests: tuple[Request, ...]
    change: Inventory
    outputs: dict[str, Any]
    #: Of what was deleted: all that can still be read (a quota's defaults).
    left: dict[str, str]
    #: Names whose object is the same one as before.
    kept: frozenset[str]
    said: str


@dataclass
class Points:
    """Runs commands and takes down what came of each point."""

    ground: KillingGround
    taken: list[Point]
    #: What lies on the cloud, as it was seen last, by the services that were looked at.
    seen: dict[frozenset[str], Inventory] = field(default_factory=dict)

    def whole(self, command: Command, *, preflight: bool = False) -> Done:
        """An uninterrupted run."""
        before, held = self._look(command.services), dict(command.stack.state)
        victim, trap, refused = self._once(command, preflight=preflight)
        try:
            assert refused is None, f"{command.scope}: {refused}"
            outputs = settled(command.stack, command.scope, self.ground.victim)
            said = _words(victim)
        finally:
            victim.close()
        self.seen.clear()
        left = self.ground.left(command.stack, held)
        change, kept = changed(before, self._look(command.services)), _kept(command.stack, held)
        return Done(tuple(trap.requests), change, outputs, left, kept, said)

    def again(self, command: Command) -> None:
        """An uninterrupted run that is known already: the way back to where a point begins."""
        victim, _, refused = self._once(command)
        victim.close()
        assert refused is None, f"{command.scope}: {refused}"
        self.seen.clear()

    def point(self, command: Command, done: Done, at: int, fault: Fault, label: tuple[str, str, str]) -> None:
        """Interrupted at one request, then run again. `label`: stack, kind and step."""
        many = len(done.requests)
        where = f"{'/'.join(label)} {command.scope}: {fault} request {at} of {many}"
        before, held = self._look(command.services), dict(command.stack.state)
        self.seen.clear()
        victim, trap, refused = self._once(command, at, fault)
        try:
            assert trap.hits, f"{where}: it never came"
            assert trap.ended.wait(LETTING_GO), f"{where}: it never ended"
            assert victim.ends(0) is False if fault is Fault.LOST else victim.ends(), where
            assert refused is not None or fault is Fault.LOST, where
            if refused is not None:
                _clean(refused, fault, where)
                victim.close()
                # What stands on the cloud and in no state is news to the preflight; all else it has seen before.
                victim, _, again = self._once(command, preflight=fault is Fault.AFTER)
                assert again is None, f"{where}: run again: {again}"
            # A deletion that was cut off after its last request says on its next run where the copy is.
            gone_before = done.said.replace(" is gone; its data are in ", " was gone already; its last copy is ")
            assert _words(victim) in ("", done.said, gone_before), f"{where}: {victim.said}"
            assert settled(command.stack, command.scope, self.ground.victim) == done.outputs, where
        finally:
            victim.close()
        assert self.ground.left(command.stack, held) == done.left, where
        assert _kept(command.stack, held) == done.kept, where
        self._same(command, done, before, where)
        self.ground.unharmed(command.stack)
        request = f"{trap.hits[0].service} {trap.hits[0].method}"
        self.taken.append(Point(*label, at, many, str(fault), request, stopped=refused is not None))

    def _look(self, services: frozenset[str]) -> Inventory:
        if services not in self.seen:
            self.seen[services] = self.ground.look(services)
        return self.seen[services]

    def _same(self, command: Command, done: Done, before: Inventory, where: str) -> None:
        """Asserts that the same came and went as in the uninterrupted run."""
        end = time.monotonic() + LETTING_GO
        while True:
            odd = changed(done.change, changed(before, self._look(command.services)))
            if not odd:
                return
            assert time.monotonic() < end, f"{where}: too much (+) or too little (-): {dict(odd)}"
            self.seen.clear()
            time.sleep(0.3)

    def _once(
        self, command: Command, at: int = 0, fault: Fault = Fault.BEFORE, *, preflight: bool = False
    ) -> tuple[Victim, Trap, Refused | None]:
        victim = self.ground.victim()
        command.stack.process = victim
        trap = Trap(victim, at, fault)
        with self.ground.proxy.injected(trap):
            return victim, trap, _refusal(lambda: command.run(preflight=preflight))


def settled(stack: Stack, scope: tuple[str, ...], another: Callable[[], Victim]) -> dict[str, Any]:
    """Computed outputs of what stands, in words that are the same in every run.

    Asserts that each is there and as the program declares it, and that a next `up` has nothing to do; `another`: its
    process.
    """
    found = {}
    for name in [each for each in scope if each in stack.state]:
        seen = stack.read(name, record=False)
        assert seen is not None, f"{name} is gone"
        assert seen.inputs == stack.inputs(name), name
        assert _still_to_do(stack, name, another) == {}, name
        assert name not in stack.unfinished, name
        outputs = {key: value for key, value in seen.outputs.items() if key not in seen.inputs}
        found[name] = _without_ids(stack, {k: v for k, v in outputs.items() if k not in _NEW_EACH_TIME})
    return found


def _still_to_do(stack: Stack, name: str, another: Callable[[], Victim]) -> dict[str, bool]:
    """What a next `up` would change: it has a preview of its own, and this process goes by the one before it."""
    if not stack.diff(name):
        return {}
    before, stack.process = stack.process, another()
    try:
        assert stack.admit() == []
        return stack.diff(name)
    finally:
        stack.process.close()
        stack.process = before


def _kept(stack: Stack, held: dict[str, Recorded]) -> frozenset[str]:
    """Names that stand for the same object as before."""
    return frozenset(name for name, item in stack.state.items() if name in held and held[name].id == item.id)


def _without_ids(stack: Stack, outputs: dict[str, Any]) -> str:
    text = repr(sorted(outputs.items()))
    for name, recorded in sorted(stack.state.items(), key=lambda item: -len(item[1].id)):
        text = text.replace(f"'{recorded.id}'", f"<{name}>")
    return text


def _refusal(call: Callable[[], None]) -> Refused | None:
    try:
        call()
    except Refused as refused:
        return refused
    return None


def _clean(refused: Refused, fault: Fault, where: str) -> None:
    """A lost answer may end in a stop, which says what to do next; never in a fault of ours."""
    told = "\n".join((str(refused), *refused.reasons))
    assert "fault in the provider" not in told, f"{where}: {told}"
    assert fault is not Fault.LOST or "next: " in told, f"{where}: {told}"


def _words(victim: Victim) -> str:
    """What it said, without the ids."""
    return _UUID.sub("ID", victim.said)
