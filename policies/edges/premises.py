"""A plan's part of Auth: who owns what, and every grant that the plan gives (docs/design/semantics.md §6).

Premises go into the lock as they are, for a grant may lead from one owner's principal by another's object to a third.
An owner writes what it owns: that is what HOLDS says, and needs no grant.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from interlock.model.lock.record import Premise
from interlock.resources import Image
from interlock.vocabulary import Reference, Scheme
from policies.facts import identities as ids
from policies.facts import principals as who
from policies.facts.data import EVERYBODY, BucketPolicyFact
from policies.facts.kinds import PlanFacts

from .plan import PlanOnSite
from .shape import Relation, premise


class Way(StrEnum):
    """What a grant gives; the second half of each says what of its source one must have."""

    #: Principal to principal: who is the one is the other.
    ACTS_AS = "acts as"
    #: Principal to object.
    READS = "reads"
    WRITES = "writes"
    #: Object to principal: a credential lies in it, for whoever reads it.
    KEEPS = "keeps"
    #: Object to object, for whoever may call the one: a controller and its allocations.
    SERVES = "serves"
    #: Object to object, for whoever writes the one: an image and what boots it, a server and its volumes.
    CONTROLS = "controls"


def authority_premises(facts: PlanOnSite) -> Iterator[Premise]:
    """Everything that this plan brings to the closures of §6."""
    named = _Named(facts.plan)
    yield from _owners(facts.plan, named)
    yield from _users(facts.plan, named)
    yield from _servers(facts.plan, named)
    yield from _images(facts.plan, named)
    yield from _controllers(facts, named)
    yield from _buckets(facts.plan, named)
    yield from _shares(facts, named)
    yield from _ruled(facts.plan, named)
    yield from _stored(facts.plan, named)


class _Named:
    """Identities of what this plan's references name; a reference that names nothing here stays open."""

    def __init__(self, plan: PlanFacts) -> None:
        self.owner = plan.owner
        self._names = {
            "user": {item.name for item in plan.users} | {item.name for item in plan.vipu.users},
            "key": {item.name for item in plan.credentials},
            "bucket": {item.name for item in plan.buckets},
            "share": {item.name for item in plan.shares},
            "volume": {item.name for item in plan.volumes},
            "image": {item.name for item in plan.images},
            "server": {item.name for item in plan.servers},
            "allocation": {item.name for item in plan.allocations},
        }

    def thing(self, kind: str, reference: str) -> str:
        """An object."""
        return who.thing(kind, self._owner(kind, reference), reference)

    def key(self, reference: str) -> str:
        """An S3 key."""
        return who.key(self._owner("key", reference), reference)

    def user(self, reference: str) -> str:
        """A service user of the plan, or a person of the cloud."""
        person = _person(reference)
        return who.user(self._owner("user", reference), reference) if person is None else who.user(who.CLOUD, person)

    def credential(self, reference: str) -> str:
        """An S3 key; or a user of V-IPU, whose one key is the user."""
        return self.user(reference) if reference in self._names["user"] else self.key(reference)

    def place(self, reference: str) -> str:
        """A bucket, share, volume or server."""
        kinds = ("bucket", "share", "volume", "server")
        return self.thing(next((kind for kind in kinds if reference in self._names[kind]), "bucket"), reference)

    def _owner(self, kind: str, reference: str) -> str:
        return self.owner if reference in self._names[kind] else who.UNRESOLVED


def _person(reference: str) -> str | None:
    """The name of a user whom no plan makes; None for users of plans."""
    return Reference.name_in(reference, Scheme.CLOUD, "User")


def _grant(way: Way, source: str, target: str, why: str) -> Iterator[Premise]:
    """A grant; whoever an open reference names is a stranger until another plan says otherwise."""
    yield premise(Relation.GRANT, str(way), source, target, why)
    yield from (_held(node, ids.FOREIGN) for node in (source, target) if who.is_unresolved(node))


def _held(node: str, label: str) -> Premise:
    return premise(Relation.HOLDS, node, label)


def _owners(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    for kind, items in (
        ("bucket", plan.buckets), ("share", plan.shares), ("volume", plan.volumes), ("image", plan.images),
        ("allocation", plan.allocations),
    ):  # fmt: skip
        yield from (_held(named.thing(kind, item.name), item.owner) for item in items)
    yield from (_held(named.user(item.name), item.owner) for item in plan.users)
    yield from (_held(named.user(item.name), item.owner) for item in plan.vipu.users)
    yield from (_held(named.key(item.name), item.owner) for item in plan.credentials)


def _users(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    """Who acts as whom. A token counts in one project, so a person with roles in two projects joins nobody."""
    for key in plan.credentials:
        yield from _grant(Way.ACTS_AS, named.key(key.name), named.user(key.user), key.name)
    for role in plan.access.roles:
        user, project = named.user(role.user), who.principal(role.project_owner)
        is_person = _person(role.user) is not None
        if is_person:
            # Nobody else speaks for a person whom this plan names.
            yield from _grant(Way.ACTS_AS, who.principal(plan.owner), user, role.name)
        if role.is_admin:
            yield from _grant(Way.ACTS_AS, user, who.principal(ids.OPERATOR), role.name)
        if role.project_owner != plan.owner or not is_person:
            yield from _grant(Way.ACTS_AS, user, project, role.name)


def _servers(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    """All who control a server write it; so does whoever has a key to it. It writes the volumes attached to it."""
    for server in plan.servers:
        node = named.thing("server", server.name)
        yield from (_held(node, label) for label in sorted(server.labels))
    for entry in plan.access.logins:
        if entry.owner != plan.owner:
            login = who.login(who.UNRESOLVED, entry.keypair)
            yield from _grant(Way.WRITES, login, named.thing("server", entry.server), f"key pair of {entry.server}")
    for item in plan.attachments:
        holder, volume = named.thing("server", item.server), named.thing("volume", item.volume)
        yield from _grant(Way.CONTROLS, holder, volume, item.name)


def _images(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    """Whoever writes an image controls what boots from it; a tenant's image that is not private is for everybody."""
    for server in plan.servers:
        if Reference.name_in(server.image, Scheme.SITE, Image.KIND) is None:
            image, node = named.thing("image", server.image), named.thing("server", server.name)
            yield from _grant(Way.CONTROLS, image, node, f"image of {server.name}")
    for item in plan.images:
        if item.visibility != "private":
            why = f"visibility {item.visibility}"
            yield from _grant(Way.READS, who.EVERYBODY, named.thing("image", item.name), why)


def _controllers(facts: PlanOnSite, named: _Named) -> Iterator[Premise]:
    """Whoever may call a controller has its allocations; who may call it follows from where its ports stand.

    Whoever has a user's key has the user's allocations.
    """
    for allocation in facts.plan.allocations:
        controller = named.thing("server", allocation.controller)
        yield from _grant(Way.SERVES, controller, named.thing("allocation", allocation.name), allocation.name)
        server = facts.plan.server.get(allocation.controller)
        for port in server.ports if server is not None else ():
            yield premise(Relation.LISTENS, controller, facts.port(port), facts.plan.owner)
    for user in facts.plan.vipu.users:
        for allocation_of_user in user.allocations:
            target = named.thing("allocation", allocation_of_user)
            yield from _grant(Way.WRITES, named.user(user.name), target, user.name)


#: Kind of an object -> the guard of A11 by which its service keeps it for its owner, with or without a policy.
_RULED_BY = {"bucket": "bucket_rules_enforced", "share": "storage_rules_enforced"}


def _ruled(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    """That a bucket without a policy, or a share that nobody mounts, is its owner's alone is a rule of its service."""
    places = {("bucket", item.name) for item in plan.buckets} | {("share", item.name) for item in plan.shares}
    # Those of others, as far as this plan says something of them.
    places |= {("bucket", item.bucket) for item in plan.bucket_policies}
    places |= {("share", item.share) for item in plan.accesses}
    for kind, name in sorted(places):
        yield premise(Relation.RULED, named.thing(kind, name), _RULED_BY[kind])


def _buckets(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    for item in plan.buckets:
        yield from _grant(Way.WRITES, named.key(item.credential), named.thing("bucket", item.name), item.name)
        if item.name in plan.access.public:
            yield premise(Relation.EXPOSED, named.thing("bucket", item.name), item.name)
    for policy in plan.bucket_policies:
        bucket = named.thing("bucket", policy.bucket)
        yield from _grant(Way.WRITES, named.key(policy.credential), bucket, policy.name)
        yield from _statements(policy, bucket, named)


def _statements(policy: BucketPolicyFact, bucket: str, named: _Named) -> Iterator[Premise]:
    """Allow statements only: there is no other kind, and a deny would count only if it were unconditional."""
    for principals, actions in policy.grants:
        for principal in principals:
            grantee = who.EVERYBODY if principal == EVERYBODY else named.user(principal)
            way = Way.WRITES if "write" in actions else Way.READS
            yield from _grant(way, grantee, bucket, policy.name)


def _shares(facts: PlanOnSite, named: _Named) -> Iterator[Premise]:
    """A grant by address is for whoever stands where the appliance has that address."""
    for item in facts.plan.accesses:
        share = named.thing("share", item.share)
        if who.is_unresolved(share):
            yield _held(share, ids.FOREIGN)
        vip = ids.share_address(facts.site.site.cloud, item.vip)
        yield premise(Relation.MOUNTS, share, vip, facts.plan.owner, item.prefix, item.name)


def _stored(plan: PlanFacts, named: _Named) -> Iterator[Premise]:
    for item in plan.stored_credentials:
        yield from _grant(Way.KEEPS, named.place(item.place), named.credential(item.credential), item.name)
