"""Settings of buckets: written, read back, compared and removed.

Moto is a fake that takes every call: it shows that ours are well-formed and read back, and nothing of what storage does
with them. Versity is a real server, and so is Swift of the embedded cloud, where each request is looked at.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from interlock.object_storage import Capability, Storage, Support, object_storage
from interlock.provider.actuators.bucket_settings import SETTINGS, lifecycle_of, lifecycle_rules
from interlock.provider.admitted import forbidden_changes
from interlock.provider.diffing import compare
from interlock.provider.errors import Failure, Trouble
from interlock.provider.state import declared
from interlock.resources import Bucket, BucketLifecycle, CorsRule, Expiry, ObjectLock
from interlock.store.s3_client import S3Access, s3_client
from tests.buckets.hands import MOTO, PROJECT, USER, Hands, KeyedCloud, hands, watched
from tests.buckets.probe import refusal
from tests.store import servers
from tests.support.versity import Versity

LIFECYCLE = BucketLifecycle(
    expire=(Expiry(prefix="tmp/", days=7), Expiry(prefix="", days=365)), noncurrent_days=30, abort_multipart_days=3
)
CORS = (
    CorsRule(
        origins=("https://notebook.example",), methods=("GET", "PUT"), headers=("*",), expose=("etag",), max_age=60
    ),
    CorsRule(origins=("*",), methods=("HEAD",)),
)
LOCK = ObjectLock(mode="governance", days=1)

#: Field -> (what is asked for first, what then); what stands for nothing comes third.
WISHES: dict[str, tuple[Any, Any, Any]] = {
    "versioning": (True, True, False),
    "lifecycle": (LIFECYCLE, BucketLifecycle(expire=(Expiry(prefix="logs/", days=1),)), None),
    "cors": (CORS, CORS[1:], ()),
    "encryption": (True, True, False),
    "public_access_block": (True, True, False),
}


@pytest.fixture(scope="module")
def moto() -> Iterator[KeyedCloud]:
    """A moto server in this process."""
    with servers.serving(servers.in_turn(servers.moto)) as endpoint:
        yield KeyedCloud(endpoint, "key", "secret")


@pytest.fixture(scope="module")
def versity_cloud(gateway: Versity) -> KeyedCloud:
    """A Versity gateway, with an account."""
    access, secret = f"acme{secrets.token_hex(4)}", secrets.token_hex(16)
    gateway.add_account(access, secret)
    return KeyedCloud(gateway.endpoint, access, secret)


def client_of(cloud: KeyedCloud) -> Any:
    """Somebody else's hands."""
    key = cloud.key
    access = S3Access(endpoint=cloud.server, region=cloud.region, access_key=key["access"], secret_key=key["secret"])
    return s3_client(access, connect=10, read=10)


def test_every_bucket_setting_has_a_row_and_a_test() -> None:
    assert [item.field for item in SETTINGS if item.field not in Bucket.model_fields] == []
    assert {item.field for item in SETTINGS} == set(Bucket.SETTINGS) == {*WISHES, "object_lock"}


@pytest.mark.parametrize("field", WISHES)
def test_a_bucket_setting_is_written_compared_changed_and_removed_on_moto(field: str, moto: KeyedCloud) -> None:
    first, then, nothing = WISHES[field]
    bucket = hands(moto, MOTO, **{"versioning": False, field: first})
    assert bucket.up() == {field}
    changed, removed = bucket.asking(**{field: then}), bucket.asking(**{field: nothing})
    assert changed.up() == (frozenset({field}) if then != first else frozenset())
    assert removed.up() == {field}
    # Somebody removed it by hand, so to say: it is seen, told by a refresh, and put back.
    assert bucket.differs() == {field}
    assert bucket.refreshed()[field] == removed.target.spec.canonical()[field]
    assert bucket.up() == {field}


@pytest.mark.parametrize("kind", ["moto", "versity"])
def test_a_bucket_locks_its_objects_from_the_beginning(kind: str, request: pytest.FixtureRequest) -> None:
    cloud: KeyedCloud = request.getfixturevalue({"moto": "moto", "versity": "versity_cloud"}[kind])
    storage = MOTO if kind == "moto" else object_storage(kind)
    bucket = hands(cloud, storage, storage=kind, object_lock=LOCK)
    assert "object_lock" in bucket.up()
    assert bucket.up() == frozenset()
    longer = bucket.asking(object_lock=ObjectLock(mode="governance", days=2))
    assert longer.up() == {"object_lock"}
    assert bucket.differs() == {"object_lock"}
    s3, name = client_of(cloud), bucket.target.spec.name
    version = s3.put_object(Bucket=name, Key="model", Body=b"weights", ChecksumAlgorithm="SHA256")["VersionId"]
    with pytest.raises(s3.exceptions.ClientError, match="AccessDenied"):
        s3.delete_object(Bucket=name, Key="model", VersionId=version)
    with pytest.raises(Failure, match="the request does not ask for it") as refused:
        bucket.asking(object_lock=None).up()
    assert refused.value.trouble is Trouble.REFUSED


def test_cors_of_a_bucket_on_versity(versity_cloud: KeyedCloud) -> None:
    bucket = hands(versity_cloud, storage="versity", cors=CORS)
    assert "cors" in bucket.up()
    assert bucket.up() == frozenset()
    assert bucket.asking(cors=CORS[:1]).up() == {"cors"}
    assert bucket.differs() == {"cors"}
    assert bucket.asking(cors=()).up() == {"cors"}
    s3, name = client_of(versity_cloud), bucket.target.spec.name
    assert refusal(lambda: s3.get_bucket_cors(Bucket=name)) == "NoSuchCORSConfiguration"


def test_a_bucket_on_versity_is_asked_for_nothing_that_it_refuses(
    versity_cloud: KeyedCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(monkeypatch) as watch:
        bucket = hands(versity_cloud, storage="versity")
        bucket.up()
        for field in ("lifecycle", "encryption", "public_access_block"):
            _refused_unsent(bucket, field)
        bucket.actuator.delete(bucket.cloud, bucket.ident, bucket.target)
    assert {call for call in watch.calls() if "Lifecycle" in call or "Encryption" in call or "Access" in call} == set()


def _refused_unsent(bucket: Hands, field: str) -> None:
    """A wish that a state may hold, and that the storage does not do: it is refused, and neither sent nor removed."""
    wished = bucket.asking(**{field: WISHES[field][0]})
    with pytest.raises(Failure, match="was not sent: object storage of kind") as refused:
        wished.actuator.update(wished.cloud, wished.target, wished.read(), frozenset({field}))
    assert refused.value.trouble is Trouble.REFUSED
    bucket.actuator.update(bucket.cloud, bucket.target, bucket.read(), frozenset({field}))
    bucket.read()


def test_a_bucket_that_is_to_lock_objects_is_not_made_where_nothing_locks(moto: KeyedCloud) -> None:
    deaf = Storage("deaf", "", "deaf", {Capability.VERSIONING: Support.ENFORCED})
    bucket = hands(moto, deaf, storage="deaf", object_lock=LOCK)
    with pytest.raises(Failure, match="locks no objects"):
        bucket.up()
    assert bucket.actuator.find(bucket.cloud, bucket.target) == []


def test_lifecycle_rules_of_a_bucket_that_no_plan_makes_are_a_difference(moto: KeyedCloud) -> None:
    bucket = hands(moto, MOTO, lifecycle=LIFECYCLE)
    bucket.up()
    glacier = {"ID": "cold", "Status": "Enabled", "Filter": {"Prefix": "old/"},
               "Transitions": [{"Days": 30, "StorageClass": "GLACIER"}]}  # fmt: skip
    rules = [*lifecycle_rules(LIFECYCLE), glacier]
    client_of(moto).put_bucket_lifecycle_configuration(
        Bucket=bucket.target.spec.name, LifecycleConfiguration={"Rules": rules}
    )
    assert bucket.differs() == {"lifecycle"}
    assert bucket.refreshed()["lifecycle"]["beside"] == ["cold"]
    assert bucket.up() == {"lifecycle"}


@pytest.mark.parametrize(
    "rule",
    [
        {"ID": "x", "Status": "Disabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}},
        {"ID": "x", "Status": "Enabled", "Filter": {"Tag": {"Key": "a", "Value": "b"}}, "Expiration": {"Days": 1}},
        {"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Date": "2027-01-01"}},
        {"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"ExpiredObjectDeleteMarker": True}},
        {"ID": "x", "Status": "Enabled", "Prefix": "a/", "NoncurrentVersionExpiration": {"NoncurrentDays": 1}},
        {"ID": "x", "Status": "Enabled",
         "NoncurrentVersionExpiration": {"NoncurrentDays": 1, "NewerNoncurrentVersions": 5}},
        {"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1},
         "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}},
    ],
)  # fmt: skip
def test_a_bucket_rule_that_says_something_else_is_not_taken_for_ours(rule: dict[str, Any]) -> None:
    assert lifecycle_of([rule]) == BucketLifecycle(beside=("x",))


def test_bucket_rules_are_read_as_they_are_written() -> None:
    assert lifecycle_of(list(lifecycle_rules(LIFECYCLE))) == LIFECYCLE
    old = {"Status": "Enabled", "Prefix": "tmp/", "Expiration": {"Days": 7}}
    assert lifecycle_of([old]) == BucketLifecycle(expire=(Expiry(prefix="tmp/", days=7),))
    assert lifecycle_of([]) is None
    twice = [rule for rule in lifecycle_rules(LIFECYCLE) if rule["ID"] == "noncurrent"] * 2
    assert lifecycle_of(twice) == BucketLifecycle(noncurrent_days=30, beside=("noncurrent",))


def recorded(spec: Bucket) -> dict[str, Any]:
    """What a state holds of a bucket, as this version writes it."""
    ids = {"id_of_project": PROJECT, "id_of_credential": f"{USER}/key"}
    return {**spec.canonical(), "owner": "yard/acme", **ids}


def test_a_state_from_before_buckets_had_settings_asks_for_nothing() -> None:
    spec = Bucket(name="data", project="acme-project", credential="acme-key")
    now = recorded(spec)
    before = {name: value for name, value in now.items() if name not in Bucket.YOUNGER}
    assert compare("Bucket", "acme-data", before, now).changed == {}
    assert forbidden_changes(declared("Bucket", "acme-data", now), before) == []


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("storage", "versity", ""),
        ("address", "https://s3.yard.example", "the objects would have to be copied"),
        ("object_lock", LOCK, "objects are locked from a bucket's beginning or never"),
        ("lifecycle", LIFECYCLE, ""),
        ("cors", CORS, ""),
        ("encryption", True, ""),
        ("public_access_block", True, ""),
    ],
)
def test_a_bucket_setting_that_comes_changes_the_bucket_in_place_or_is_refused(
    field: str, value: Any, told: str
) -> None:
    plain = Bucket(name="data", project="acme-project", credential="acme-key")
    before, after = recorded(plain), recorded(plain.model_copy(update={field: value}))
    found = compare("Bucket", "acme-data", before, after)
    assert (found.changed, found.replaces) == ({field: False}, [])
    faults = forbidden_changes(declared("Bucket", "acme-data", after), before)
    assert [name for name, _ in faults] == ([field] if told else [])
    assert all(told in words for _, words in faults)


def test_a_site_that_comes_to_state_its_storage_sends_nothing_about_a_bucket(
    moto: KeyedCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = hands(moto)
    bucket.up()
    stated = bucket.asking(storage="swift")
    seen = stated.read()
    with watched(monkeypatch) as watch:
        stated.actuator.update(stated.cloud, stated.target, seen, frozenset({"storage"}))
    assert watch.sent == []
    assert stated.up() == frozenset()


def test_a_bucket_on_storage_that_nobody_asked_is_left_alone(moto: KeyedCloud) -> None:
    with pytest.raises(Failure, match="nobody asked object storage 'ceph-rgw'") as refused:
        hands(moto, storage="ceph-rgw").up()
    assert refused.value.trouble is Trouble.REFUSED
