"""Login keys that a lock had and its plan has no more: servers that were made with them still let them in (SEC-05).

A changed key reaches new servers only. So what leaves a request stays claimed, from lock to lock, until `interlock
settle` has seen that no server is left that may have it. So do keys of certificate authorities that servers trust.
"""

from __future__ import annotations

from interlock.model.lock.record import Footprint, FormerKey, Lock
from interlock.resources import BareMetalServer, Server, is_site_reference
from interlock.vocabulary.nodes import HeldLoginKey, parse

from .plan import Plan


def next_former_keys(old: Lock | None, planned: Footprint, now: str) -> tuple[FormerKey, ...]:
    """From the old lock, and the footprint of the plan alone; `now` in UTC.

    What the old lock's footprint has counts, so that of a lock which an earlier version wrote nothing is forgotten. A
    key that came back is the plan's again, and no former one.
    """
    if old is None:
        return ()
    since = dict.fromkeys(login_keys_of(old.footprint), now)
    since |= {one.fingerprint: one.since for one in old.former_keys}
    left = since.keys() - login_keys_of(planned)
    return tuple(FormerKey(fingerprint=name, since=since[name]) for name in sorted(left))


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
