"""`interlock lock`: give every tenant what it asks for, and write it down."""

from __future__ import annotations

import secrets
import sys
from typing import Annotated, TypeVar

import typer

from infra.gate import Gate
from interlock.model.load import dump_lock
from interlock.model.lock import Allocation, Footprint, Lock, Released, SiteLock
from interlock.planning import allocate, plan_tenant, request_hash, site_hash
from policies import footprint

LockType = TypeVar("LockType", Lock, SiteLock)


def lock(
    tenants: Annotated[list[str] | None, typer.Argument(help="Tenants to lock; all of the site by default.")] = None,
    site: Annotated[str, typer.Option("--site", "-s", help="Folder of the site below stacks/.")] = "lyon",
) -> None:
    """Write the lock of a site and of its tenants: machines, hosts, VLANs, VNIs, subnets.

    A tenant that does not change keeps every claim, and nobody else's lock changes by a byte. Locks are
    not judged here: `interlock check` and `pulumi up` do that.

    Examples:

      interlock lock

      interlock lock acme

      interlock lock --site leaky/machines-with-a-hole
    """
    gate = Gate.open(site)
    site_lock = _lock_site(gate)
    locks = dict(gate.workspace.locks)
    for name in tenants or sorted(gate.workspace.tenants):
        gate.workspace.require_tenant(name)
        locks[name] = _lock_tenant(gate, site_lock, name, locks)


def _lock_site(gate: Gate) -> SiteLock:
    workspace = gate.workspace
    old, wanted = workspace.site_lock, site_hash(workspace.site)
    if old is not None and old.site == wanted:
        return _said("site", old, changed=False)
    owner, serial = (old.owner, old.serial + 1) if old else (secrets.token_hex(16), 1)
    new = SiteLock(owner=owner, serial=serial, site=wanted).sealed()
    dump_lock(workspace.folder / "site.lock.json", new)
    return _said("site", new, changed=True)


def _lock_tenant(gate: Gate, site_lock: SiteLock, name: str, locks: dict[str, Lock]) -> Lock:
    old = locks.get(name)
    new = _next_lock(gate, site_lock, name, locks)
    if old is not None and new == old:
        return _said(name, old, changed=False)
    dump_lock(gate.workspace.folder / "tenants" / f"{name}.lock.json", new)
    return _said(name, new, changed=True)


def _next_lock(gate: Gate, site_lock: SiteLock, name: str, locks: dict[str, Lock]) -> Lock:
    """The lock that request and site call for; equal to the old one, serial included, if nothing changed."""
    site, tenant, old = gate.workspace.site, gate.workspace.tenants[name], locks.get(name)
    others = [lock for other, lock in sorted(locks.items()) if other != name]
    allocation, released = allocate(site, tenant, others, old)
    draft = _draft(name, old, request_hash(tenant), site_hash(site), allocation, released)
    plan = plan_tenant(site, site_lock, tenant, draft)
    full = draft.model_copy(update={"footprint": footprint(site, plan, released)})
    if old is not None and full.sealed() == old:
        return old
    return full.model_copy(update={"serial": old.serial + 1 if old else 1}).sealed()


def _draft(
    name: str, old: Lock | None, request: str, site: str, allocation: Allocation, released: tuple[Released, ...]
) -> Lock:
    return Lock(
        id=name,
        owner=old.owner if old else secrets.token_hex(16),
        serial=old.serial if old else 1,
        request=request,
        site=site,
        allocation=allocation,
        released=released,
        footprint=Footprint(classes=(), labels={}, exclusive=()),
    )


def _said(name: str, lock_file: LockType, *, changed: bool) -> LockType:
    state = f"written, serial {lock_file.serial}" if changed else f"unchanged, serial {lock_file.serial}"
    print(f"{name}: {state}", file=sys.stderr)
    return lock_file
