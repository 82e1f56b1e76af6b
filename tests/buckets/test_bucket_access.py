"""Who can read, list, write and delete in which bucket: what the proof says, and what the real server does.

One table, two answers: for each key, bucket and verb the closed set of the proof (docs/design/semantics.md §6, Auth) is
asked, and the server is called with that key. On Swift a key is its project's; the gateway knows accounts and no
projects, so there the role that a service user has in its project is no way to a bucket.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from interlock.model.tenant.request import BucketRequest
from interlock.planning.plan import Plan
from interlock.resources import BucketPolicy, RoleAssignment
from policies.authority.closure import AccessMode, everything
from policies.facts import principals as who
from policies.judging import model_of
from tests.buckets.probe import refusal
from tests.buckets.servers import SERVICE
from tests.buckets.told import ACTUATOR, GatewayCloud, Keys, target_on
from tests.builders.pod64 import tenant, vpod
from tests.policies.test_data_rules import site_of
from tests.policies.workspace import Made, made, with_footprint
from tests.sandbox.cloud import Cloud
from tests.support.versity import Versity

Answer = dict[tuple[str, str, str], bool]
"""(principal, bucket, verb) -> whether it is allowed."""

#: Verb -> how a bucket must be held for it.
VERBS = {"read": AccessMode.READ, "list": AccessMode.READ, "write": AccessMode.WRITE, "delete": AccessMode.WRITE}
EVERYBODY = "everybody"
MAKER, MATE, STRANGER = "acme-train-s3", "acme-serve-s3", "globex-train-s3"

#: Case -> what the request of acme says of its bucket `data`.
CASES: dict[str, dict[str, Any]] = {
    "alone": {},
    "a reader": {"readers": ("serve",)},
    "a writer": {"writers": ("serve",)},
    "public": {"public": True},
    "a writer, and public": {"writers": ("serve",), "public": True},
}


def plans(case: str, numbers: tuple[int, ...] = (1,)) -> tuple[Made, Made]:
    """acme with two vPODs, the bucket `data` as the case has it and `own` as usual; globex with one bucket."""
    train, serve = (vpod(name, machines=4, servers=1) for name in ("train", "serve"))
    train = train.model_copy(update={"s3_keys": numbers})
    usual: dict[str, Any] = {"versioning": False, "on_delete": "erase"}
    buckets = (BucketRequest(name="data", **usual, **CASES[case]), BucketRequest(name="own", **usual))
    acme = made(site_of(), tenant("acme", vpods=(train, serve), buckets=buckets))
    return acme, made(site_of(), tenant("globex"), [acme.lock])


def without_roles(plan: Plan) -> Plan:
    """As on object storage that knows accounts and no projects."""
    rest = tuple(
        item
        for item in plan.resources
        if not (isinstance(item.resource, RoleAssignment) and item.resource.user in (MAKER, MATE, STRANGER))
    )
    assert len(rest) < len(plan.resources)
    return Plan(**{name: getattr(plan, name) for name in Plan.model_fields} | {"resources": rest})


def proved(acme: Made, globex: Made, keys: Mapping[str, str]) -> Answer:
    """What the closed sets say. `keys`: name of a key -> its owner; a name that is in no plan is no key any more."""
    authority = everything(model_of(site_of(), acme.plan, [globex.lock]))
    public = authority.closure_from(who.EVERYBODY)
    starts = {name: who.key(owner, name) for name, owner in keys.items()} | {EVERYBODY: who.EVERYBODY}
    found: Answer = {}
    for principal, start in starts.items():
        held = [*authority.closure_from(start), *(public if start in authority.stated.labels else ())]
        for bucket, owner in BUCKETS.items():
            thing = who.thing("bucket", owner, bucket)
            most = max((item.access for item in held if item.node == thing), default=0)
            found |= {(principal, bucket, verb): most >= needed for verb, needed in VERBS.items()}
    return found


#: Plan name of each bucket -> its owner.
BUCKETS = {"acme-data": "acme", "acme-own": "acme", "globex-data": "globex"}


@dataclass(frozen=True)
class Standing:
    """Buckets on a server, by plan name, each with the client that made it; and the clients of all keys."""

    endpoint: str
    named: Mapping[str, str]
    makers: Mapping[str, Any]
    clients: Mapping[str, Any]

    def tried(self) -> Answer:
        """Every verb on every bucket with every key, and with none."""
        found: Answer = {}
        for bucket in BUCKETS:
            for principal, client in self.clients.items():
                for verb in VERBS:
                    found[principal, bucket, verb] = self._try(bucket, verb, client)
            for verb in VERBS:
                found[EVERYBODY, bucket, verb] = self._try(bucket, verb, None)
        return found

    def _try(self, bucket: str, verb: str, client: Any) -> bool:
        """Once, on an object of its own, which was put there by who may; the effect is looked at."""
        name, key, maker = self.named[bucket], f"{verb}-{secrets.token_hex(4)}", self.makers[bucket]
        if verb != "write":
            maker.put_object(Bucket=name, Key=key, Body=b"weights")
        call = self._anonymous if client is None else _with_key(client)
        allowed = call(verb, name, key)
        there = not refusal(lambda: maker.head_object(Bucket=name, Key=key))
        assert there == (not allowed if verb == "delete" else allowed if verb == "write" else True), (bucket, verb)
        return allowed

    def _anonymous(self, verb: str, bucket: str, key: str) -> bool:
        methods = {"read": "GET", "list": "GET", "write": "PUT", "delete": "DELETE"}
        path = f"{self.endpoint}/{bucket}/" + ("" if verb == "list" else key)
        body = b"mine" if verb == "write" else None
        try:
            with urlopen(Request(path, data=body, method=methods[verb]), timeout=30) as answer:
                text = bytes(answer.read())
        except HTTPError:
            return False
        return verb in ("write", "delete") or (key.encode() if verb == "list" else b"weights") in text


def _with_key(client: Any) -> Callable[[str, str, str], bool]:
    def call(verb: str, bucket: str, key: str) -> bool:
        calls: dict[str, Callable[[], object]] = {
            "read": lambda: client.get_object(Bucket=bucket, Key=key),
            "list": lambda: client.list_objects_v2(Bucket=bucket),
            "write": lambda: client.put_object(Bucket=bucket, Key=key, Body=b"mine"),
            "delete": lambda: client.delete_object(Bucket=bucket, Key=key),
        }
        return not refusal(calls[verb])

    return call


def told(answer: Answer) -> list[str]:
    """The table, a line for each principal and bucket, of what is allowed."""
    rows = sorted({(principal, bucket) for principal, bucket, _ in answer})
    return [
        f"{who_}: {bucket}: {' '.join(verb for verb in VERBS if answer[who_, bucket, verb]) or '-'}"
        for who_, bucket in rows
    ]


# The Versity gateway.


def on_versity(gateway: Versity, acme: Plan, *, rotated: bool = False) -> Standing:
    """Accounts and buckets as the plan has them; its policy is written by the actuator."""
    keys = Keys(gateway)
    users = {name: f"{name}-{secrets.token_hex(3)}" for name in (MAKER, MATE, STRANGER)}
    first = {f"{name}-key": keys.s3(keys.add(ident)) for name, ident in users.items()}
    named = {bucket: f"{bucket}-{secrets.token_hex(3)}" for bucket in BUCKETS}
    makers = {bucket: first[f"{MAKER if owner == 'acme' else STRANGER}-key"] for bucket, owner in BUCKETS.items()}
    for bucket, name in named.items():
        makers[bucket].create_bucket(Bucket=name)
    cloud, clients = GatewayCloud(keys), dict(first)
    old = keys.ids(users[MAKER])[0]
    if rotated:
        clients[f"{MAKER}-key-2"] = keys.s3(keys.add(users[MAKER]))
    for item in acme.resources:
        if isinstance(item.resource, BucketPolicy):
            policy = item.resource.model_copy(update={"enforced_by": "versity"})
            target = target_on(policy, item.name, named[policy.bucket], keys, keys.ids(users[MAKER])[-1], users)
            ACTUATOR.create(cloud, target)
    if rotated:
        keys.revoke(users[MAKER], old.rpartition("/")[2])
        makers["acme-data"] = clients[f"{MAKER}-key-2"]
        # Nothing may be put into a bucket of an account that is gone and that no policy opens: only root looks there.
        makers["acme-own"] = gateway.s3()
    return Standing(gateway.endpoint, named, makers, clients)


@pytest.mark.parametrize("case", CASES)
def test_bucket_access_on_versity_is_what_the_proof_says(gateway: Versity, case: str) -> None:
    acme, globex = plans(case)
    apart = with_footprint(site_of(), without_roles(acme.plan), acme.lock)
    others = with_footprint(site_of(), without_roles(globex.plan), globex.lock)
    proof = proved(apart, others, {f"{MAKER}-key": "acme", f"{MATE}-key": "acme", f"{STRANGER}-key": "globex"})
    real = on_versity(gateway, acme.plan).tried()
    assert told(real) == told(proof)
    assert real[f"{MATE}-key", "acme-data", "read"] == (case != "alone")
    assert not any(real[f"{STRANGER}-key", bucket, "write"] for bucket in ("acme-data", "acme-own"))


def test_a_bucket_key_that_was_rotated_away_opens_nothing_on_versity(gateway: Versity) -> None:
    """The policy names both keys of a user while both are planned, and the newer one goes on when the older is gone."""
    acme, globex = plans("a reader", numbers=(2,))
    both, _ = plans("a reader", numbers=(1, 2))
    apart = with_footprint(site_of(), without_roles(acme.plan), acme.lock)
    others = with_footprint(site_of(), without_roles(globex.plan), globex.lock)
    keys = {f"{MAKER}-key": "acme", f"{MAKER}-key-2": "acme", f"{MATE}-key": "acme", f"{STRANGER}-key": "globex"}
    proof, real = proved(apart, others, keys), on_versity(gateway, both.plan, rotated=True).tried()
    assert not any(real[f"{MAKER}-key", bucket, verb] for bucket in BUCKETS for verb in VERBS)
    assert real[f"{MAKER}-key-2", "acme-data", "write"]
    # A bucket without a policy is the account's that made it. The proof counts it as that of the user's new key.
    lost = {("acme-own", verb) for verb in VERBS}
    differing = {
        (principal, bucket, verb)
        for principal, bucket, verb in real
        if real[principal, bucket, verb] != proof[principal, bucket, verb]
    }
    assert differing == {(f"{MAKER}-key-2", *one) for one in lost}


# Swift of the embedded cloud.


def on_swift(cloud: Cloud, *, rotated: bool = False) -> Standing:
    """The service users of two projects, with buckets of their own; policies there are none."""
    projects = {
        "acme": cloud.tenant(f"acme-{secrets.token_hex(3)}"),
        "globex": cloud.tenant(f"globex-{secrets.token_hex(3)}"),
    }
    owners = {MAKER: "acme", MATE: "acme", STRANGER: "globex"}
    users = {
        name: cloud.user(f"{name}-{secrets.token_hex(3)}", projects[owner], SERVICE) for name, owner in owners.items()
    }

    def new(name: str) -> dict[str, str]:
        made: dict[str, str] = cloud.ec2(cloud.admin.session, users[name].id, projects[owners[name]]).json()[
            "credential"
        ]
        return made

    keys = {f"{name}-key": new(name) for name in owners}
    clients = {name: cloud.s3(key) for name, key in keys.items()}
    named = {bucket: f"{bucket}-{secrets.token_hex(3)}" for bucket in BUCKETS}
    makers = {bucket: clients[f"{MAKER if owner == 'acme' else STRANGER}-key"] for bucket, owner in BUCKETS.items()}
    for bucket, name in named.items():
        makers[bucket].create_bucket(Bucket=name)
    if rotated:
        clients[f"{MAKER}-key-2"] = cloud.s3(new(MAKER))
        makers |= dict.fromkeys(("acme-data", "acme-own"), clients[f"{MAKER}-key-2"])
        old = keys[f"{MAKER}-key"]["access"]
        cloud.admin.session.delete(f"{cloud.keystone}/users/{users[MAKER].id}/credentials/OS-EC2/{old}")
    return Standing(cloud.swift, named, makers, clients)


@pytest.mark.parametrize("rotated", [False, True], ids=["one key", "rotated"])
def test_bucket_access_on_swift_is_what_the_proof_says(cloud: Cloud, rotated: bool) -> None:
    acme, globex = plans("alone", numbers=(2,) if rotated else (1,))
    keys = {f"{MAKER}-key": "acme", f"{MATE}-key": "acme", f"{STRANGER}-key": "globex"}
    keys |= {f"{MAKER}-key-2": "acme"} if rotated else {}
    real = on_swift(cloud, rotated=rotated).tried()
    assert told(real) == told(proved(acme, globex, keys))
    assert real[f"{MATE}-key", "acme-own", "write"]
    assert real[f"{MAKER}-key", "acme-own", "read"] != rotated
