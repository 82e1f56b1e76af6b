"""What one owner can do by calls, as derived: the grants out of what it holds, whose that is, and what is public."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from infra.checker import WAYS

from . import names
from .calls import Calls, Grant, everybody_is, leading_from, to_everybody
from .ground import OPERATOR, OUTSIDE, STRANGERS, Ground, Json

#: Of these every plan may say what they hold: what they have is followed for themselves only.
_NOBODYS = {names.principal(OPERATOR), names.principal(STRANGERS)}
_RULES = ("assumptions.A11.bucket_rules_enforced", "assumptions.A11.storage_rules_enforced")
_SECURE = "assumptions.A4.secure_tls"


@dataclass(frozen=True)
class Authority:
    """The calls of all plans over what is derived of packets. `meets`: the owners who meet a node, for one of them."""

    ground: Ground
    calls: Calls
    owners: frozenset[str]

    @cached_property
    def _stated(self) -> dict[str, list[Grant]]:
        speaking = self.owners - {OPERATOR} | {STRANGERS, OUTSIDE}
        return leading_from({*self.calls.grants, *everybody_is(speaking)})

    def compare(self, said: Json, owner: str, meets: Callable[[str, str], set[str]]) -> Iterator[str]:
        """What a statement lacks of the grants out of what its owner holds; and what it calls public or nobody's."""
        met = leading_from(self._met(owner, meets))
        held = self._closure(owner, met)
        stated = {tuple(row) for row in said["grants"]}
        for node in sorted(held):
            known = node == names.principal(owner) or node not in _NOBODYS
            leading = {*self._stated.get(node, ()), *met.get(node, ())} if known else set[Grant]()
            yield from (f"{a} {way} {b} is missing" for way, a, b in sorted(leading - stated))
            if lacking := self._whose(node) - {*said["owners"].get(node, ())}:
                yield f"{node} is {' and '.join(sorted(lacking))}'s, and it does not say so"
        for node in sorted({*said["public"]} - self.calls.public):
            yield f"{node} is public in it, and no request declares that"

    def confirmed(self, said: Json, owner: str, meets: Callable[[str, str], set[str]]) -> int:
        """How many of the grants stated are derived as well."""
        met = leading_from(self._met(owner, meets))
        known = {grant for table in (self._stated, met) for grants in table.values() for grant in grants}
        return sum(tuple(row) in known for row in said["grants"])

    def _whose(self, node: str) -> set[str]:
        owners = {names.principal(owner): owner for owner in (*self.owners, OPERATOR, STRANGERS, OUTSIDE)}
        return {owners[node]} if node in owners else self.calls.owners.get(node, set())

    def _met(self, owner: str, meets: Callable[[str, str], set[str]]) -> Iterator[Grant]:
        """By standing where a service listens, and where a service keeps to no rules (A4, A11)."""
        is_secure = self.ground.guards.get(_SECURE) is True
        for controller, port, tenant in self.calls.listens:
            for caller in meets(port, tenant):
                yield "reads", names.principal(caller), controller
                yield from [] if is_secure else [("writes", names.principal(caller), controller)]
        for share, address, tenant in self.calls.mounts:
            yield from (("writes", names.principal(caller), share) for caller in meets(address, tenant))
        kept = self.calls.kept if owner == OPERATOR else {owner: self.calls.kept.get(owner, set())}
        nodes = self.calls.ruled.union(*kept.values())
        for guard, kind in zip(_RULES, ("bucket", "share"), strict=True):
            if self.ground.guards.get(guard) is not True:
                yield from to_everybody(node for node in nodes if names.is_thing(kind, node))

    def _closure(self, owner: str, met: dict[str, list[Grant]]) -> dict[str, set[str]]:
        """Everything that an owner holds -> how: `read` or `write`."""
        start = names.principal(owner)
        found: dict[str, set[str]] = {start: {"write"}}
        waiting = [(start, "write")]
        while waiting:
            node, how = waiting.pop()
            grants = (*self._stated.get(node, ()), *met.get(node, ())) if node == start or node not in _NOBODYS else ()
            for way, _, target in grants:
                needs, gives = WAYS[way]
                if (how == "write" or needs == "read") and gives not in found.setdefault(target, set()):
                    found[target].add(gives)
                    waiting.append((target, gives))
        return found
