"""Settings of buckets: the full form, and what the site's object storage was asked for and did not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlock.model.load import InputErrors, Workspace, load_workspace
from interlock.model.site.object_storage import ObjectStorage
from interlock.object_storage import UNSTATED, Capability, able, asked_kinds, object_storage, refusal, takes
from interlock.object_storage.calls import CALLS
from interlock.planning import PlanningError, plan_tenant, request_hash
from interlock.planning.hashes import SiteHashes
from interlock.resources import Bucket, BucketPolicy, CorsRule, Effect, ObjectLock
from tests.builders.pod64 import locked, pod64, site_locked, ssh_key, tenant
from tests.model.small_site import small_fleet

SWIFT = "object_storage: {kind: swift}\n"
VERSITY = 'object_storage: {kind: versity, endpoint: "https://s3.yard.example:7070"}\n'


def yard(folder: Path, bucket: str, site: str = "") -> Workspace:
    """The yard, with this as the bucket `data` of acme and this in front of the site file."""
    stacks = small_fleet(folder)
    text = f"name: Acme\naccess: {{ssh_public_key: {ssh_key('acme')}}}\nvpods: {{train: {{machines: 4}}}}\n"
    (stacks / "yard/tenants/acme.yaml").write_text(f"{text}buckets: {{data: {{{bucket}}}}}\n", encoding="utf-8")
    file = stacks / "yard/site.yaml"
    file.write_text(site + file.read_text(encoding="utf-8"), encoding="utf-8")
    return load_workspace(stacks, "yard")


def test_bucket_settings_in_full_form(tmp_path: Path) -> None:
    said = (
        'cors: [{origins: ["https://notebook.example"], methods: [GET, PUT], headers: ["*"], max_age: 600}], '
        "object_lock: {mode: governance, days: 30}"
    )
    (bucket,) = yard(tmp_path, said, VERSITY).tenants["acme"].buckets
    assert bucket.object_lock == ObjectLock(mode="governance", days=30)
    assert bucket.cors == (
        CorsRule(origins=("https://notebook.example",), methods=("GET", "PUT"), headers=("*",), max_age=600),
    )
    assert (bucket.lifecycle, bucket.encryption, bucket.public_access_block) == (None, False, False)


def test_the_storage_of_buckets_in_full_form(tmp_path: Path) -> None:
    assert yard(tmp_path / "a", "", VERSITY).site.object_storage == ObjectStorage(
        kind="versity", endpoint="https://s3.yard.example:7070"
    )
    assert yard(tmp_path / "b", "").site.object_storage is None


#: What was found out about the two kinds, and what is told of it.
_DOES_NOT = "the site's object storage, {kind}, does not do it: {what} when asked on 2026-11-25"
_IGNORED = _DOES_NOT.format(kind="swift", what="swift 2.38.3 ignored it or did something else")
_REFUSED = _DOES_NOT.format(kind="swift", what="swift 2.38.3 refused it")
_VERSITY = _DOES_NOT.format(kind="versity", what="versitygw v1.8.0 refused it")
_UNSTATED = "the site file does not state its `object_storage`, so nobody knows whether it would be done"
_NONE, _ONE = "none that was asked could", "of those that were asked, versity could"


@pytest.mark.parametrize(
    ("wish", "site", "message", "hint"),
    [
        ("lifecycle: {noncurrent_days: 3}", SWIFT, _IGNORED, f"leave it out; {_NONE}"),
        ('cors: [{origins: ["*"]}]', SWIFT, _REFUSED, f"leave it out; {_ONE}"),
        ("public_access_block: true", SWIFT, _REFUSED, f"leave it out; {_NONE}"),
        ("encryption: true", VERSITY, _VERSITY, f"leave it out; {_NONE}"),
        (
            "object_lock: {mode: compliance, days: 1}",
            "",
            _UNSTATED,
            f"leave it out, or state what holds the site's buckets; {_ONE}",
        ),
    ],
)
def test_a_bucket_wish_that_the_storage_does_not_do(
    wish: str, site: str, message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(InputErrors) as raised:
        yard(tmp_path, wish, site)
    (fault,) = raised.value.errors
    key = wish.partition(":")[0]
    assert (fault.message, fault.hint) == (f"`{key}`: {message}", hint)
    column = len("buckets: {data: {") + wish.index(":") + 3
    assert fault.position.endswith(f"acme.yaml:4:{column}")


def test_a_plan_from_elsewhere_is_held_against_the_storage_of_buckets_too() -> None:
    site = pod64(object_storage=ObjectStorage(kind="swift"))
    request = tenant("acme")
    bucket = request.buckets[0].model_copy(update={"encryption": True})
    request = request.model_copy(update={"buckets": (bucket,)})
    with pytest.raises(PlanningError, match="`encryption`: the site's object storage, swift, does not do it"):
        plan_tenant(site, site_locked(site), request, locked(site, request))


def test_the_plan_of_a_bucket_says_where_it_lies_and_what_was_asked() -> None:
    site = pod64(object_storage=ObjectStorage(kind="versity", endpoint="https://s3.yard.example"))
    lock = ObjectLock(mode="compliance", days=7)
    request = tenant("acme")
    asked = request.buckets[0].model_copy(update={"object_lock": lock})
    request = request.model_copy(update={"buckets": (asked,)})
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    (found,) = [item.resource for item in plan.resources if isinstance(item.resource, Bucket)]
    assert (found.storage, found.address, found.object_lock) == ("versity", "https://s3.yard.example", lock)
    assert found.wishes() == ("versioning", "object_lock")


@pytest.mark.parametrize(("kind", "enforced"), [("versity", "versity"), ("swift", "")])
def test_a_bucket_policy_is_planned_for_the_storage_that_enforces_it(kind: str, enforced: str) -> None:
    site = pod64(object_storage=ObjectStorage(kind=kind, endpoint="https://s3.yard.example"))
    request = tenant("acme")
    shared = request.buckets[0].model_copy(update={"readers": ("train",)})
    request = request.model_copy(update={"buckets": (shared,)})
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    (policy,) = [item.resource for item in plan.resources if isinstance(item.resource, BucketPolicy)]
    assert (policy.enforced_by, policy.address) == (enforced, "https://s3.yard.example")
    assert policy.is_declared == bool(enforced)


def test_no_lock_rests_on_what_holds_buckets(tmp_path: Path) -> None:
    site, request = pod64(), tenant("acme")
    other = pod64(object_storage=ObjectStorage(kind="swift"))
    allocation = locked(site, request).allocation
    assert SiteHashes(site).slice_hash(allocation) == SiteHashes(other).slice_hash(allocation)
    assert SiteHashes(site).whole == SiteHashes(other).whole


def test_a_bucket_setting_makes_another_request_and_its_default_does_not() -> None:
    request = tenant("acme")
    bucket = request.buckets[0]
    same = request.model_copy(update={"buckets": (bucket.model_copy(update={"cors": ()}),)})
    other = request.model_copy(update={"buckets": (bucket.model_copy(update={"encryption": True}),)})
    assert request_hash(same) == request_hash(request) != request_hash(other)


@pytest.mark.parametrize(
    ("field", "before", "after", "effect"),
    [
        ("storage", "", "swift", Effect.IN_PLACE),
        ("storage", "swift", "versity", Effect.FORBIDDEN),
        ("address", "", "https://s3.yard.example", Effect.FORBIDDEN),
        ("lifecycle", None, {"noncurrent_days": 3}, Effect.IN_PLACE),
        ("cors", [], [{"origins": ["*"]}], Effect.IN_PLACE),
        ("encryption", False, True, Effect.IN_PLACE),
        ("public_access_block", True, False, Effect.IN_PLACE),
        ("object_lock", None, {"mode": "governance", "days": 1}, Effect.FORBIDDEN),
        ("object_lock", {"mode": "governance", "days": 1}, None, Effect.FORBIDDEN),
        ("object_lock", {"mode": "governance", "days": 1}, {"mode": "governance", "days": 2}, Effect.IN_PLACE),
        ("object_lock", {"mode": "governance", "days": 1}, {"mode": "compliance", "days": 1}, Effect.IN_PLACE),
    ],
)
def test_what_a_change_of_a_bucket_does(field: str, before: Any, after: Any, effect: Effect) -> None:
    assert Bucket.change_of(field, before, after).effect is effect


def test_every_bucket_setting_of_a_request_is_a_capability() -> None:
    assert set(Bucket.SETTINGS) == set(Capability) - {Capability.POLICY, Capability.TAGGING}
    for kind in asked_kinds():
        for capability in Capability:
            assert (refusal(kind, capability) is None) == (kind in able(capability))


def test_a_bucket_call_is_sent_only_where_the_storage_takes_what_it_is_about() -> None:
    for kind in asked_kinds():
        storage = object_storage(kind)
        for capability, calls in CALLS.items():
            assert {takes(storage, call) for call in calls} == {storage.takes(capability)}
        assert takes(storage, "DeleteBucket")
        assert not takes(storage, "PutBucketReplication")
    assert takes(UNSTATED, "PutBucketVersioning")
    assert not takes(UNSTATED, "DeleteBucketLifecycle")
    assert not takes(object_storage("swift"), "DeleteBucketLifecycle")
