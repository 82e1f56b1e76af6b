"""What one owner can do by calls, as derived: the grants out of what it holds, whose that is, and what is public."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from infra.checker import WAYS

from . import names
from .calls import Grant, PlannedCalls, everybody_is, leading_from, to_everybody
from .ground import OPERATOR, OUTSIDE, STRANGERS, Ground, Json

#: Of these every plan may say what they hold: what they have is followed for themselves only.
_NOBODYS = {names.principal(OPERATOR), names.principal(STRANGERS)}
_RULES = ("assumptions.A11.bucket_rules_enforced", "assumptions.A11.storage_rules_enforced")
_SECURE = "assumptions.A4.secure_tls"


#: (`reads` for controllers, `writes` for shares; what is called; the port or address where).
Service = tuple[str, str, str]
#: Node of a port or address -> the owners who meet it, None where the plan asked about has no part in its class.
Meets = Callable[[str], set[str] | None]


class DerivedAuthority:
    """The calls of all plans, over what is derived of packets."""

    def __init__(self, ground: Ground, calls: PlannedCalls, owners: Iterable[str]) -> None:
        self.calls = calls
        self.guards = ground.guards
        speaking = {*owners} - {OPERATOR} | {STRANGERS, OUTSIDE}
        self.owner_of = {names.principal(owner): owner for owner in speaking | {OPERATOR}}
        self.stated = leading_from({*calls.grants, *everybody_is(speaking)})
        #: Where services are called: (kind, what is called, where it is met), by who stated it and by that place.
        self.by_tenant: defaultdict[str, list[Service]] = defaultdict(list)
        self.by_place: defaultdict[str, list[Service]] = defaultdict(list)
        services = [("reads", *item) for item in calls.listens] + [("writes", *item) for item in calls.mounts]
        for way, called, place, tenant in services:
            self.by_tenant[tenant].append((way, called, place))
            self.by_place[place].append((way, called, place))

    def of(self, owner: str, places: Iterable[str], meets: Meets) -> HeldByCalls:
        """What one owner holds; `places` are all nodes in the classes that its plan has a part in."""
        return HeldByCalls(self, owner, places, meets)


class HeldByCalls:
    """S(t) of one owner, as derived, with the grants that lead out of it."""

    def __init__(self, whole: DerivedAuthority, owner: str, places: Iterable[str], meets: Meets) -> None:
        self.whole = whole
        self.owner = owner
        self._meets = meets
        self._is_secure = whole.guards.get(_SECURE) is True
        here = (service for place in places for service in whole.by_place.get(place, ()))
        found = [
            grant for service in here for caller in meets(service[2]) or () for grant in self._given(caller, service)
        ]
        self._met = leading_from({*found, *to_everybody(self._unruled())})
        self.held = self._closure()

    def _given(self, caller: str, service: Service) -> Iterator[Grant]:
        """A controller that is not started with users and TLS obeys whoever calls it (A4)."""
        way, called, _ = service
        yield way, names.principal(caller), called
        if way == "reads" and not self._is_secure:
            yield "writes", names.principal(caller), called

    def _unruled(self) -> Iterator[str]:
        """What a service that keeps to no rules gives everybody (A11)."""
        for guard, kind in zip(_RULES, ("bucket", "share"), strict=True):
            if self.whole.guards.get(guard) is not True:
                yield from (node for node in self.whole.calls.ruled if names.is_thing(kind, node))

    def leading_from(self, node: str) -> set[Grant]:
        """The grants out of something; of nobody's principals none, unless it is the owner itself."""
        if node in _NOBODYS and node != names.principal(self.owner):
            return set()
        found = {*self.whole.stated.get(node, ()), *self._met.get(node, ())}
        tenant = self.whole.owner_of.get(node, OPERATOR)
        if tenant != OPERATOR:
            # Where the plan has no part in a class, only who stated the place is known to meet it.
            elsewhere = (item for item in self.whole.by_tenant.get(tenant, ()) if self._meets(item[2]) is None)
            found |= {grant for service in elsewhere for grant in self._given(tenant, service)}
        return found

    def _closure(self) -> dict[str, set[str]]:
        """Everything that the owner holds -> how: `read` or `write`."""
        start = names.principal(self.owner)
        found: dict[str, set[str]] = {start: {"write"}}
        waiting = [(start, "write")]
        while waiting:
            node, how = waiting.pop()
            for way, _, target in self.leading_from(node):
                needs, gives = WAYS[way]
                if (how == "write" or needs == "read") and gives not in found.setdefault(target, set()):
                    found[target].add(gives)
                    waiting.append((target, gives))
        return {node: hows for node, hows in found.items() if hows}

    def whose(self, node: str) -> set[str]:
        """Whose a principal or object is."""
        owner = self.whole.owner_of.get(node)
        return {owner} if owner is not None else self.whole.calls.owners.get(node, set())

    def compare(self, said: Json) -> Iterator[str]:
        """What a statement lacks of the grants out of it, and of owners; and what it calls public."""
        stated = {tuple(row) for row in said["grants"]}
        for node in sorted(self.held):
            yield from (f"{a} {way} {b} is missing" for way, a, b in sorted(self.leading_from(node) - stated))
            if lacking := self.whose(node) - {*said["owners"].get(node, ())}:
                yield f"{node} is {' and '.join(sorted(lacking))}'s, and it does not say so"
        for node in sorted({*said["public"]} - self.whole.calls.public):
            yield f"{node} is public in it, and no request declares that"

    def confirmed(self, said: Json) -> int:
        """How many of the grants stated are derived as well."""
        return sum((way, a, b) in self.leading_from(a) for way, a, b in said["grants"])
