"""What reaches another owner without a packet: who may read and write which object, tried until nothing is added."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import Bucket, BucketPolicy, Image, S3Credential, Share, StoredCredential, VipuUser

from .readings import Facts
from .world import FOREIGN, OP, Stack, World

#: Owner -> objects that it may read, or write; an object is (owner, plan name).
Object = tuple[str, str]
#: The right to read that a statement gives to everybody.
PUBLIC = "read, as everybody,"
Meeting = tuple[frozenset[str], bool, tuple[str, ...]]


def meetings_by_data(world: World) -> Iterator[Meeting]:
    """(pair, whether it is certain, how) of owners one of whom gets at something of the other's."""
    kinds = {Bucket.KIND, Share.KIND, Image.KIND, StoredCredential.KIND}
    if not any(kinds & stack.by_kind.keys() for stack in world.stacks):
        return
    facts = Facts(world)
    services = ((Bucket, "bucket_rules_enforced"), (Share, "storage_rules_enforced"))
    for certain in (False, True):
        grants = [*_grants(world), *_images(world)]
        for kind, guard in services:
            held = facts.holds("A11", guard)
            if held is False or (held is None and not certain):
                grants += _to_everybody(world, kind)
        yield from _found(world, grants, certain)


def _found(world: World, grants: list[tuple[str, Object, str]], certain: bool) -> Iterator[Meeting]:
    holders = _closed(world, {(owner, thing) for owner, thing, right in grants if right != "write"})
    for owner, thing, right in grants:
        # Reading what is declared public is an exposure that the tenant asked for; writing is not.
        if owner != thing[0] and right != PUBLIC:
            yield frozenset((owner, thing[0])), certain, (f"{owner} may {right} {thing[1]} of {thing[0]}",)
    for one, other in holders:
        yield frozenset((one, other)), certain, (f"{one} reads where a credential of {other} is kept",)


def _closed(world: World, reads: set[tuple[str, Object]]) -> set[tuple[str, str]]:
    """(owner, owner whose credential it gets at): with a credential comes everything that it opens."""
    kept = [
        ((stack.owner, item.place), _whose(world, stack, item.credential))
        for stack in world.stacks
        for _, item in stack.all(StoredCredential)
    ]
    found: set[tuple[str, str]] = set()
    while True:
        acting = {(one, one) for one in (*(stack.owner for stack in world.stacks), *(one for one, _ in reads))} | found
        new = {
            (who, opened)
            for who, other in acting
            for place, opened in kept
            if who != opened and ((other, place) in reads or other == place[0])
        }
        if new <= found:
            return found
        found |= new


def _whose(world: World, stack: Stack, credential: str) -> str:
    """The owner of the plan in which a key stands, this one before others; strangers if it stands in none."""
    for one in (stack, *world.stacks):
        if any(name == credential for name, _ in (*one.all(S3Credential), *one.all(VipuUser))):
            return one.owner
    return FOREIGN


def _grants(world: World) -> Iterator[tuple[str, Object, str]]:
    """(owner, object, right) of every statement."""
    for stack in world.stacks:
        for _, policy in stack.all(BucketPolicy):
            for statement in policy.statements:
                for principal in statement.principals:
                    for owner in _who(world, stack, principal):
                        for action in statement.actions:
                            declared = policy.bucket in stack.plan.public
                            right = PUBLIC if declared and (principal, action) == ("*", "read") else action
                            yield owner, (stack.owner, policy.bucket), right


def _images(world: World) -> Iterator[tuple[str, Object, str]]:
    """A tenant's image that is not private is everybody's to read; the operator's are meant to be."""
    for stack in world.stacks:
        for name, image in stack.all(Image):
            if stack.owner != OP and image.visibility != "private":
                yield from ((owner, (stack.owner, name), "read") for owner in (*world.plans, FOREIGN))


def _who(world: World, stack: Stack, principal: str) -> list[str]:
    if principal == "*":
        return [*world.plans, FOREIGN]
    if principal.startswith("site:"):
        return [OP]
    return [stack.owner] if principal in stack.plan.by_name else [FOREIGN]


def _to_everybody(world: World, kind: type[Bucket] | type[Share]) -> list[tuple[str, Object, str]]:
    """What every bucket or share is where no rule of it holds."""
    return [
        (owner, (stack.owner, name), right)
        for stack in world.stacks
        for name, _ in stack.all(kind)
        for owner in (*world.plans, FOREIGN)
        for right in ("read", "write")
    ]
