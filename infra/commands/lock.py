"""`interlock lock`: give every tenant what it asks for, and write it down."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from infra.commands.options import Site
from infra.gate import Gate
from interlock.model.load import InputError, InputErrors, dump_lock
from interlock.model.lock import Footprint, Lock, SiteLock
from interlock.planning import allocate, plan_tenant, request_hash, site_hash
from policies import footprint

NO_FOOTPRINT = Footprint(classes=(), labels={}, exclusive=())


def lock(
    tenants: Annotated[
        list[str] | None, typer.Argument(metavar="TENANT", help="Tenants to lock; all by default.")
    ] = None,
    site: Site = "lyon",
) -> None:
    """Write the locks of a site and its tenants: what each is given.

    Machines, hosts, VLANs, VNIs, subnets, and what others could collide with.

    A tenant that does not change keeps every claim, and nobody else's lock changes by a byte. A lock whose
    request is gone stays: its claims count. Locks are not judged here: `interlock check` and `pulumi up` do.

    Exit code: 0 written or unchanged, 2 the input is wrong or the site has no room; then nothing is written.

    \b
    Examples:
      interlock lock
      interlock lock acme
      interlock lock --site leaky/machines-with-a-hole
    """
    gate = Gate.open(site)
    names = sorted(set(tenants or gate.workspace.tenants))
    _require_requests(gate, names)
    site_lock = _next_site_lock(gate)
    locks = dict(gate.workspace.locks)
    for name in names:
        locks[name] = _next_lock(gate, site_lock, name, locks)
    # Only now that all can have what they ask for is anything written.
    _keep(gate, gate.workspace.site_lock, site_lock)
    for name in names:
        _keep(gate, gate.workspace.locks.get(name), locks[name])
    for name in sorted(locks.keys() - gate.workspace.tenants.keys()):
        _say(f"{name}: has a lock and no request any more; its claims still count")


def _require_requests(gate: Gate, names: list[str]) -> None:
    """Raise one InputErrors for all unknown names."""
    faults: list[InputError] = []
    for name in names:
        try:
            gate.tenant(name)
        except InputErrors as error:
            faults += error.errors
    if faults:
        raise InputErrors(faults)


def _next_site_lock(gate: Gate) -> SiteLock:
    old, wanted = gate.workspace.site_lock, site_hash(gate.workspace.site)
    if old is None:
        return SiteLock(owner=secrets.token_hex(16), serial=1, site=wanted).sealed()
    if old.site == wanted:
        return old
    return SiteLock(owner=old.owner, serial=old.serial + 1, site=wanted).sealed()


def _next_lock(gate: Gate, site_lock: SiteLock, name: str, locks: Mapping[str, Lock]) -> Lock:
    """The lock that request and site call for; equal to the old one, serial included, if nothing changed."""
    site, tenant, old = gate.workspace.site, gate.tenant(name), locks.get(name)
    others = [lock for other, lock in sorted(locks.items()) if other != name]
    with gate.placed(name):
        allocation, released = allocate(site, tenant, others, old)
        draft = Lock(
            id=name,
            owner=old.owner if old else secrets.token_hex(16),
            serial=old.serial if old else 1,
            request=request_hash(tenant),
            site=site_hash(site),
            allocation=allocation,
            released=released,
            footprint=NO_FOOTPRINT,
        )
        plan = plan_tenant(site, site_lock, tenant, draft)
    full = draft.model_copy(update={"footprint": footprint(site, plan, released)}).sealed()
    if old is None or full == old:
        return full
    return full.model_copy(update={"serial": old.serial + 1}).sealed()


def _keep(gate: Gate, old: Lock | SiteLock | None, new: Lock | SiteLock) -> None:
    if new != old:
        dump_lock(new, gate.workspace.lock_file(new.id))
    _say(f"{new.id}: {'unchanged' if new == old else 'written'}, serial {new.serial}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)
