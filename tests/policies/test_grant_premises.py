"""What a plan states for Auth, premise by premise: who owns what, and every grant with its way."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.vocabulary.references import ADMIN_ROLE
from policies.edges.plan import PlanOnSite
from policies.edges.premises import authority_premises
from policies.facts import identities as ids
from policies.facts import principals as who
from policies.facts.access import AccessFacts, LoginFact, RoleFact
from policies.facts.data import (
    AttachmentFact,
    BucketFact,
    BucketPolicyFact,
    CredentialFact,
    ServiceUserFact,
    ShareAccessFact,
    ShareFact,
    VolumeFact,
)
from policies.facts.fabric import AllocationFact
from policies.facts.rights import ImageFact, StoredCredentialFact
from policies.facts.site import SiteFacts
from tests.policies.plan_share import controller, plan, server, site

SITE = SiteFacts(site())
Said = set[tuple[str, ...]]


def said(**items: Any) -> Said:
    """Every premise as (relation, column, …), but for the ownership of servers."""
    facts = PlanOnSite(SITE, plan(**items))
    found = {(item.relation, *item.tuple) for item in authority_premises(facts)}
    return {item for item in found if not (item[0] == "holds" and item[1].startswith("obj:server/acme"))}


def own(kind: str, name: str) -> str:
    return who.thing(kind, "acme", name)


def lost(kind: str, name: str) -> str:
    return who.thing(kind, "?", name)


def strange(node: str) -> tuple[str, ...]:
    """Whoever an open reference names is a stranger until another plan says otherwise."""
    return ("holds", node, "foreign")


# Owners.


@pytest.mark.parametrize(
    ("items", "node"),
    [
        ({"volumes": (VolumeFact("x", "op", "site:VolumeType/ceph", encrypted=False),)}, own("volume", "x")),
        ({"images": (ImageFact("x", "op", "private"),)}, own("image", "x")),
        ({"users": (ServiceUserFact("x", "op"),)}, who.user("acme", "x")),
    ],
)
def test_who_owns_a_thing(items: dict[str, Any], node: str) -> None:
    assert said(**items) == {("holds", node, "op")}


def test_whoever_controls_a_server_owns_it() -> None:
    facts = PlanOnSite(SITE, plan(servers=(server(labels=frozenset({"acme", "globex"}), image="site:Image/x"),)))
    found = {item.tuple for item in authority_premises(facts)}
    assert found == {(own("server", "s"), "acme"), (own("server", "s"), "globex")}


# Who acts as whom.


def test_a_key_acts_as_its_user() -> None:
    users, keys = (
        (ServiceUserFact("u", "acme"),),
        (CredentialFact("k", "acme", "u"), CredentialFact("l", "acme", "far")),
    )
    user, key, other, far = who.user("acme", "u"), who.key("acme", "k"), who.key("acme", "l"), who.user("?", "far")
    assert said(users=users, credentials=keys) == {
        ("holds", user, "acme"), ("holds", key, "acme"), ("holds", other, "acme"), strange(far),
        ("grant", "acts as", key, user, "k"), ("grant", "acts as", other, far, "l"),
    }  # fmt: skip


ALICE = who.user(who.CLOUD, "alice")


def role(user: str, owner: str, name: str = "member") -> AccessFacts:
    return AccessFacts(roles=(RoleFact("r", user, name, owner),))


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        # A person in the tenant's own project: the tenant acts as that person, and nobody by way of them as the tenant.
        (role("cloud:User/alice", "acme"), {(who.principal("acme"), ALICE)}),
        (role("cloud:User/alice", "globex"), {(who.principal("acme"), ALICE), (ALICE, who.principal("globex"))}),
        (
            role("cloud:User/alice", "acme", ADMIN_ROLE),
            {(who.principal("acme"), ALICE), (ALICE, who.principal("op"))},
        ),
        (role("u", "acme"), {(who.user("acme", "u"), who.principal("acme"))}),
        (role("u", "globex"), {(who.user("acme", "u"), who.principal("globex"))}),
    ],
)
def test_a_role(access: AccessFacts, expected: set[tuple[str, str]]) -> None:
    found = said(users=(ServiceUserFact("u", "acme"),), access=access)
    assert {item[1:] for item in found if item[0] == "grant"} == {("acts as", *pair, "r") for pair in expected}


def test_a_key_pair_of_somebody_else() -> None:
    """One of the plan's own opens nothing that its owner does not have."""
    access = AccessFacts(logins=(LoginFact("s", "mine", "acme"), LoginFact("s", "theirs", "foreign")))
    login = who.login("?", "theirs")
    assert said(servers=(server(image="site:Image/x"),), access=access) == {
        ("grant", "writes", login, own("server", "s"), "key pair of s"), strange(login),
    }  # fmt: skip


# Servers, volumes, images.


def test_a_server_controls_its_volumes() -> None:
    attached = (AttachmentFact("at", "s", "v"), AttachmentFact("out", "far", "v"))
    found = said(
        servers=(server(image="site:Image/x"),),
        volumes=(VolumeFact("v", "acme", "site:VolumeType/ceph", encrypted=False),),
        attachments=attached,
    )
    assert found == {
        ("holds", own("volume", "v"), "acme"),
        ("grant", "controls", own("server", "s"), own("volume", "v"), "at"),
        ("grant", "controls", lost("server", "far"), own("volume", "v"), "out"), strange(lost("server", "far")),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("image", "node"), [("site:Image/poplar", None), ("own", own("image", "own")), ("far", lost("image", "far"))]
)
def test_what_boots_from_an_image(image: str, node: str | None) -> None:
    found = said(servers=(server(image=image),), images=(ImageFact("own", "acme", "private"),))
    grants = {item for item in found if item[0] == "grant"}
    assert grants == ({("grant", "controls", node, own("server", "s"), "image of s")} if node else set())
    assert (strange(lost("image", "far")) in found) is (image == "far")


@pytest.mark.parametrize(("visibility", "is_open"), [("private", False), ("community", True), ("public", True)])
def test_an_image_that_everybody_sees(visibility: str, is_open: bool) -> None:
    grant = ("grant", "reads", who.EVERYBODY, own("image", "x"), f"visibility {visibility}")
    assert (grant in said(images=(ImageFact("x", "acme", visibility),))) is is_open


def test_a_controller_serves_its_allocations_and_listens_at_its_ports() -> None:
    made, far = (AllocationFact(name, "acme", None, at, (), "mesh") for name, at in (("al", "c"), ("out", "far")))
    booted = controller("p", "q")
    found = said(servers=(booted,), allocations=(made, far))
    assert {item for item in found if item[0] != "holds" and item[1] != "controls"} == {
        ("grant", "serves", own("server", "c"), own("allocation", "al"), "al"),
        ("grant", "serves", lost("server", "far"), own("allocation", "out"), "out"),
        ("listens", own("server", "c"), "port:acme:p", "acme"), ("listens", own("server", "c"), "port:acme:q", "acme"),
    }  # fmt: skip
    assert ("holds", own("allocation", "al"), "acme") in found


# Buckets and shares.


def ruled(kind: str, node: str) -> tuple[str, ...]:
    return ("ruled", node, {"bucket": "bucket_rules_enforced", "share": "storage_rules_enforced"}[kind])


def test_buckets() -> None:
    buckets = (BucketFact("b", "acme", "k"), BucketFact("open", "acme", "k"))
    access = AccessFacts(public=("open",))
    key, one, other = who.key("acme", "k"), own("bucket", "b"), own("bucket", "open")
    user = who.user("acme", "u")
    found = said(
        users=(ServiceUserFact("u", "acme"),), credentials=(CredentialFact("k", "acme", "u"),),
        buckets=buckets, access=access,
    )  # fmt: skip
    assert found == {
        ("holds", user, "acme"), ("holds", key, "acme"), ("grant", "acts as", key, user, "k"),
        ("holds", one, "acme"), ("holds", other, "acme"), ruled("bucket", one), ruled("bucket", other),
        ("grant", "writes", key, one, "b"), ("grant", "writes", key, other, "open"), ("exposed", other, "open"),
    }  # fmt: skip


def test_a_policy_on_a_bucket() -> None:
    """Each principal of each statement; also on one that no plan of the tenant's has."""
    grants = ((("u", "*"), ("read",)), (("cloud:User/alice",), ("read", "write")))
    policy = BucketPolicyFact(name="pol", bucket="far", credential="gone", grants=grants)
    bucket, key, user = lost("bucket", "far"), who.key("?", "gone"), who.user("acme", "u")
    assert said(users=(ServiceUserFact("u", "acme"),), bucket_policies=(policy,)) == {
        ("holds", user, "acme"), strange(bucket), strange(key), ruled("bucket", bucket),
        ("grant", "writes", key, bucket, "pol"), ("grant", "reads", user, bucket, "pol"),
        ("grant", "reads", who.EVERYBODY, bucket, "pol"), ("grant", "writes", ALICE, bucket, "pol"),
    }  # fmt: skip


def test_a_share_and_who_mounts_it() -> None:
    grants = tuple(
        ShareAccessFact(f"g-{name}", "acme", name, "net", "10.0.0.0/24", "10.0.0.9", root_squash=True)
        for name in ("sh", "far")
    )
    vip = ids.share_address("sandbox", "10.0.0.9")
    own_share, far = own("share", "sh"), lost("share", "far")
    assert said(shares=(ShareFact("sh", "acme"), ShareFact("idle", "acme")), accesses=grants) == {
        ("holds", own_share, "acme"), ("holds", own("share", "idle"), "acme"), strange(far),
        ruled("share", own_share), ruled("share", own("share", "idle")), ruled("share", far),
        ("mounts", own_share, vip, "acme", "10.0.0.0/24", "g-sh"), ("mounts", far, vip, "acme", "10.0.0.0/24", "g-far"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("place", "node"),
    [("b", own("bucket", "b")), ("sh", own("share", "sh")), ("v", own("volume", "v")), ("s", own("server", "s")),
     ("far", lost("bucket", "far"))],
)  # fmt: skip
def test_a_credential_that_lies_somewhere(place: str, node: str) -> None:
    stored = (StoredCredentialFact("st", "acme", "k", place),)
    found = said(
        buckets=(BucketFact("b", "acme", "k"),), shares=(ShareFact("sh", "acme"),),
        volumes=(VolumeFact("v", "acme", "site:VolumeType/ceph", encrypted=False),), servers=(server("s"),),
        stored_credentials=stored,
    )  # fmt: skip
    assert ("grant", "keeps", node, who.key("?", "k"), "st") in found
    assert (strange(node) in found) is (place == "far")
