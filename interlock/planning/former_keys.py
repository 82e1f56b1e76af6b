"""Login keys that a lock had and its plan has no more: servers that were made with them still let them in (SEC-05).

A changed key reaches new servers only. So what leaves a request stays claimed, from lock to lock, until `interlock
settle` has seen that no server is left that may have it. So do keys of certificate authorities that servers trust.
The operator's lock notes them too, since a tenant's lock that was deleted tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from interlock.model.lock.record import Footprint, FormerKey, Lock, SiteLock
from interlock.resources import BareMetalServer, Server, is_site_reference
from interlock.vocabulary.nodes import HeldLoginKey, parse

from .plan import Plan

#: Tenant -> its former keys; nobody is in it who has none.
Noted = Mapping[str, tuple[FormerKey, ...]]


def next_former_keys(
    old: Lock | None, noted: Iterable[FormerKey], planned: Footprint, now: str
) -> tuple[FormerKey, ...]:
    """From the old lock, what the operator's lock notes of its tenant, and the footprint of the plan; `now` in UTC.

    What the old lock's footprint has counts, so that of a lock which an earlier version wrote nothing is forgotten. A
    key that came back is the plan's again, and no former one.
    """
    since = {one.fingerprint: one.since for one in noted}
    if old is not None:
        since = dict.fromkeys(login_keys_of(old.footprint), now) | since
        since |= {one.fingerprint: one.since for one in old.former_keys}
    left = since.keys() - login_keys_of(planned)
    return tuple(FormerKey(fingerprint=name, since=since[name]) for name in sorted(left))


def noted_of(before: Noted, locks: Iterable[Lock], made: Iterable[Lock]) -> dict[str, tuple[FormerKey, ...]]:
    """What the operator's next lock notes: of `made` what they say, of others what was noted and what locks say."""
    by_key = {(name, one.fingerprint): one for name, keys in before.items() for one in keys}
    by_key |= {(lock.id, one.fingerprint): one for lock in locks for one in lock.former_keys}
    found: dict[str, tuple[FormerKey, ...]] = {}
    for name, fingerprint in sorted(by_key):
        found[name] = (*found.get(name, ()), by_key[name, fingerprint])
    found |= {lock.id: lock.former_keys for lock in made}
    return {name: found[name] for name in sorted(found) if found[name]}


def not_in_locks(site_lock: SiteLock, locks: Mapping[str, Lock]) -> Iterator[tuple[str, tuple[FormerKey, ...]]]:
    """Tenants whose lock is missing or was made without keys that the operator's lock notes, with these keys."""
    for name, keys in site_lock.former_keys.items():
        has = {one.fingerprint for one in locks[name].former_keys} if name in locks else set()
        if lost := tuple(one for one in keys if one.fingerprint not in has):
            yield name, lost


def login_keys_of(footprint: Footprint) -> frozenset[str]:
    """Fingerprints of the login keys that a footprint holds."""
    held = (parse(identity) for identity in footprint.exclusive)
    return frozenset(item.fingerprint for item in held if isinstance(item, HeldLoginKey))


def kept_open(tenant: str, key: FormerKey) -> str:
    """What a former key still opens, and what ends it, in words."""
    return (
        f"ssh key {key.fingerprint} was taken out: servers that were made with it still let it in, and no other tenant "
        f"gets it; recreate them (`pulumi up --replace URN`), then `interlock settle {tenant}`"
    )


def may_be_opened(plan: Plan) -> tuple[str, ...]:
    """Plan names of the servers in which a former key of the tenant's may be: those of its own, in plan order."""
    kinds = (Server, BareMetalServer)
    return tuple(
        item.name
        for item in plan.resources
        if isinstance(item.resource, kinds) and not is_site_reference(item.resource.project)
    )
