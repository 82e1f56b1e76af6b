"""The life of a bucket on the real Swift of the embedded cloud, with every request looked at that leaves the provider.

Swift takes a call that it does not know for one about the bucket itself: `DELETE ?lifecycle` deletes it. So what is not
in the table is not sent, whatever a state or a plan says.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from interlock.object_storage import CALLS, PLAIN, Capability, object_storage
from interlock.provider.errors import Failure, Trouble
from interlock.resources import Bucket
from tests.buckets.hands import Hands, KeyedCloud, Watch, hands, watched
from tests.buckets.servers import SERVICE
from tests.buckets.test_bucket_settings import LOCK, WISHES, client_of
from tests.sandbox.cloud import Cloud

#: Sub-resources of a bucket that Swift knows; all other queries are paging, or name an object's version.
KNOWN = {"versioning", "uploads", "versions"}
_PAGING = {"encoding-type", "key-marker", "version-id-marker", "upload-id-marker", "max-keys"}


@pytest.fixture(scope="module")
def swift_cloud(cloud: Cloud) -> KeyedCloud:
    """Swift, with a key of a service user of a new project."""
    tenant = cloud.tenant("watched")
    user = cloud.user("s3-watched", tenant, SERVICE)
    key = cloud.ec2(cloud.admin.session, user.id, tenant).json()["credential"]
    return KeyedCloud(cloud.swift, key["access"], key["secret"], "RegionOne")


def wishes(bucket: Hands) -> list[Hands]:
    """The same bucket with everything asked for that Swift does not do."""
    asked = {name: value for name, (value, _, _) in WISHES.items() if name != "versioning"} | {"object_lock": LOCK}
    return [bucket.asking(**{name: value}) for name, value in asked.items()]


@pytest.mark.parametrize("kind", ["", "swift"])
def test_no_request_about_a_bucket_leaves_for_swift_that_it_does_not_know(
    kind: str, swift_cloud: KeyedCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(monkeypatch) as watch:
        bucket = hands(swift_cloud, storage=kind)
        assert bucket.up() == {"versioning"}
        s3, name = client_of(swift_cloud), bucket.target.spec.name
        for body in (b"old", b"new"):
            s3.put_object(Bucket=name, Key="model", Body=body)
        assert bucket.asking(versioning=False).up() == {"versioning"}
        assert bucket.up() == {"versioning"}
        for wished in wishes(bucket):
            _refused_unsent(bucket, wished)
        assert len(s3.list_object_versions(Bucket=name)["Versions"]) == 2
        assert bucket.actuator.holds_data(bucket.cloud, bucket.target, bucket.read())
        bucket.actuator.delete(bucket.cloud, bucket.ident, bucket.target)
        assert bucket.actuator.read(bucket.cloud, bucket.ident, bucket.target) is None
    _only_known(watch)


def _refused_unsent(bucket: Hands, wished: Hands) -> None:
    """To set it is refused; to remove it, which a state may call for, sends nothing; the bucket stays."""
    everything = frozenset(Bucket.SETTINGS) - {"versioning"}
    with pytest.raises(Failure, match="was not sent") as refused:
        wished.actuator.update(wished.cloud, wished.target, wished.read(), everything)
    assert refused.value.trouble is Trouble.REFUSED
    bucket.actuator.update(bucket.cloud, bucket.target, bucket.read(), everything)
    assert bucket.up() == frozenset()


def _only_known(watch: Watch) -> None:
    assert watch.calls() <= PLAIN | CALLS[Capability.VERSIONING]
    assert {"CreateBucket", "DeleteBucket", "PutBucketVersioning", "DeleteObject"} <= watch.calls()
    for call, method, query in watch.sent:
        said = {name for name, _ in parse_qsl(query, keep_blank_values=True)} - _PAGING
        assert said <= (KNOWN if method != "DELETE" else {"versionId"}), f"{call}: {method} ?{query}"


def test_a_bucket_that_is_to_lock_objects_is_not_made_on_swift(
    swift_cloud: KeyedCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(monkeypatch) as watch:
        bucket = hands(swift_cloud, storage="swift", object_lock=LOCK)
        with pytest.raises(Failure, match="object storage swift locks no objects"):
            bucket.up()
    assert watch.calls() == {"HeadBucket"}


def test_what_swift_was_seen_to_do_with_buckets_is_what_is_asked_of_it() -> None:
    taken: dict[Any, Any] = {item: object_storage("swift").takes(item) for item in Capability}
    assert [item for item, can in taken.items() if can] == [Capability.VERSIONING]
