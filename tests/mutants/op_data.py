"""Operators on buckets, shares and their keys."""

from __future__ import annotations

from random import Random

from interlock.planning.plan import Plan
from interlock.resources import (
    BareMetalServer,
    Bucket,
    BucketPolicy,
    BucketStatement,
    S3Credential,
    Server,
    ServiceUser,
    ShareAccess,
    StoredCredential,
)
from tests.mutants.operator import Operator, siblings, strangers
from tests.mutants.workspaces import Workspace

# Data.


def _policy(space: Workspace, tenant: str, principal: str, bucket: str = "data") -> Workspace:
    own = space.get(tenant, f"{tenant}-{bucket}", Bucket)
    statement = BucketStatement(principals=(principal,), actions=("read",))
    item = BucketPolicy(
        project=own.project, bucket=f"{tenant}-{bucket}", credential=own.credential, statements=(statement,)
    )
    old = space.named(tenant, BucketPolicy, f"{tenant}-{bucket}")
    if old:
        return space.edit(tenant, old[0], statements=(statement,)).asking(tenant)
    return space.add(tenant, f"{tenant}-{bucket}-more", item).asking(tenant)


def bucket_for_everybody(space: Workspace, rng: Random) -> Workspace | None:
    return _policy(space, rng.choice(space.tenants), "*")


def bucket_for_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    return _policy(space, found[0].tenant, space.named(found[1].tenant, ServiceUser)[0])


def bucket_for_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.tenants)
    return _policy(space, tenant, space.named(tenant, ServiceUser)[0])


def bucket_with_anothers_key(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    key = space.named(found[1].tenant, S3Credential)[0]
    return space.asking(found[0].tenant).edit(found[0].tenant, f"{found[0].tenant}-data", credential=key)


def bucket_kept_on_leaving(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.tenants)
    return space.asking(tenant).edit(tenant, f"{tenant}-data", on_delete="keep")


def _stored(space: Workspace, tenant: str, bucket: str) -> Workspace:
    key = space.named(tenant, S3Credential)[0]
    item = StoredCredential(project=f"{tenant}-project", credential=key, place=f"{tenant}-{bucket}")
    return space.add(tenant, "left-behind", item).asking(tenant)


def credential_in_a_public_bucket(space: Workspace, rng: Random) -> Workspace | None:
    tenants = [tenant for tenant in space.tenants if space.plan(tenant).public]
    return _stored(space, rng.choice(tenants), "www") if tenants else None


def credential_in_ones_own_bucket(space: Workspace, rng: Random) -> Workspace | None:
    return _stored(space, rng.choice(space.tenants), "data")


def _handed(space: Workspace, rng: Random, *, own: bool) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    tenant, other = found[0].tenant, found[1].tenant
    servers = space.named(tenant, Server)
    key = space.named(tenant if own else other, S3Credential)[0]
    if not servers:
        return None
    item = StoredCredential(project=f"{tenant}-project", credential=key, place=rng.choice(servers), item="s3")
    return space.add(tenant, "handed", item).asking(tenant)


def _given_in_band(space: Workspace, rng: Random, *, own: bool) -> Workspace | None:
    """A whole host that has a key from a server of its tenant's."""
    found = [pair for pair in _of_strangers(space) if space.named(pair[0], BareMetalServer)]
    if not found:
        return None
    tenant, other = rng.choice(found)
    key = space.named(tenant if own else other, S3Credential)[0]
    host = rng.choice(space.named(tenant, BareMetalServer))
    servers = tuple(space.named(tenant, Server)[:1])
    item = StoredCredential(project=f"{tenant}-project", credential=key, place=host, item="munge", by=servers)
    return space.add(tenant, "given", item).asking(tenant)


def _of_strangers(space: Workspace) -> list[tuple[str, str]]:
    with_keys = [tenant for tenant in space.tenants if space.named(tenant, S3Credential)]
    return [(one, other) for one in with_keys for other in with_keys if one != other]


def anothers_key_in_ones_host(space: Workspace, rng: Random) -> Workspace | None:
    return _given_in_band(space, rng, own=False)


def own_key_in_ones_host(space: Workspace, rng: Random) -> Workspace | None:
    return _given_in_band(space, rng, own=True)


def anothers_key_in_ones_server(space: Workspace, rng: Random) -> Workspace | None:
    return _handed(space, rng, own=False)


def own_key_in_ones_server(space: Workspace, rng: Random) -> Workspace | None:
    return _handed(space, rng, own=True)


def public_bucket_undeclared(space: Workspace, rng: Random) -> Workspace | None:
    tenants = [tenant for tenant in space.tenants if space.plan(tenant).public]
    if not tenants:
        return None
    tenant = rng.choice(tenants)
    fields = {name: getattr(space.plan(tenant), name) for name in Plan.model_fields} | {"public": ()}
    return space.with_plan(tenant, Plan(**fields)).asking(tenant)


def public_bucket_declared(space: Workspace, rng: Random) -> Workspace | None:
    tenants = [tenant for tenant in space.tenants if space.plan(tenant).public]
    return space.asking(rng.choice(tenants)) if tenants else None


def _grants(space: Workspace) -> list[tuple[str, str]]:
    return [(tenant, name) for tenant in space.tenants for name in space.named(tenant, ShareAccess)]


def _grant(space: Workspace, rng: Random, **changes: object) -> Workspace | None:
    found = _grants(space)
    if not found:
        return None
    tenant, name = rng.choice(found)
    return space.asking(tenant).edit(tenant, name, **changes)


def grant_too_wide(space: Workspace, rng: Random) -> Workspace | None:
    return _grant(space, rng, prefix="10.21.0.0/16")


def grant_without_squash(space: Workspace, rng: Random) -> Workspace | None:
    return _grant(space, rng, root_squash=False)


def grant_for_reading(space: Workspace, rng: Random) -> Workspace | None:
    return _grant(space, rng, level="ro")


def grant_at_anothers_address(space: Workspace, rng: Random) -> Workspace | None:
    pairs = [(one, other) for one in _grants(space) for other in _grants(space) if one[0] != other[0]]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    vip = space.get(*other, ShareAccess).vip
    return space.asking(one[0]).edit(*one, vip=vip)


def credential_of_a_sibling(space: Workspace, rng: Random) -> Workspace | None:
    """One vPOD's servers are given the S3 key of another vPOD's account."""
    found = siblings(space, rng)
    if found is None:
        return None
    mine, theirs = found
    return space.asking(mine.tenant).edit(mine.tenant, f"{mine.prefix}-s3-key", user=f"{theirs.prefix}-s3")


DATA = (
    Operator(
        "bucket-everybody", "a bucket policy for everybody",
        bucket_for_everybody, bucket_for_ones_own, "SEC-11", ("EXPO-01",),
    ),
    Operator(
        "bucket-another", "a bucket policy for another",
        bucket_for_another, bucket_for_ones_own, "SEC-11", ("AUTH-01",),
    ),
    Operator(
        "bucket-key", "a bucket of another's key",
        bucket_with_anothers_key, bucket_kept_on_leaving, "SEC-11", ("AUTH-01",),
    ),
    Operator(
        "stored-credential", "a credential in a public bucket",
        credential_in_a_public_bucket, credential_in_ones_own_bucket, "AUTH-01",
    ),
    Operator(
        "credential-of-another", "another's credential handed to a server",
        anothers_key_in_ones_server, own_key_in_ones_server, "AUTH-01", ("FACT-01",),
    ),
    Operator(
        "key-of-another-in-a-host", "another's key given to a whole host",
        anothers_key_in_ones_host, own_key_in_ones_host, "AUTH-01", ("FACT-01",),
    ),
    Operator(
        "bucket-undeclared", "a public bucket that nobody declares",
        public_bucket_undeclared, public_bucket_declared, "SEC-11", ("EXPO-01",),
    ),
    Operator(
        "share-too-wide", "a share for more than a storage subnet",
        grant_too_wide, grant_for_reading, "SEC-14",
    ),
    Operator(
        "share-root", "a share whose root is root",
        grant_without_squash, grant_for_reading, "SEC-14",
    ),
    Operator(
        "share-address", "a share at another's address",
        grant_at_anothers_address, grant_for_reading, "TOP-06", ("SEC-14",),
    ),
    Operator(
        "s3-key-of-sibling", "a vPOD with the account of another",
        credential_of_a_sibling, bucket_for_ones_own, "SEC-12",
    ),
)  # fmt: skip
