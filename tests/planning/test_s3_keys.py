"""Buckets' keys are rotated by their numbers: which are planned, which is in use, and what stays as it was."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from interlock.model.tenant.request import BucketRequest, Tenant
from interlock.planning import Plan, plan_tenant
from interlock.planning.differences import changes_between
from interlock.planning.request_hashes import request_hash
from interlock.resources import Bucket, S3Credential
from tests.builders.pod64 import locked, pod64, site_locked, tenant, vpod

SITE = pod64()
KEY = "acme-train-s3-key"


def asking(*numbers: int) -> Tenant:
    data = BucketRequest(name="data", versioning=True, on_delete="keep")
    return tenant("acme", vpods=(vpod().model_copy(update={"s3_keys": numbers}),), buckets=(data,))


def planned(*numbers: int) -> Plan:
    request = asking(*numbers)
    return plan_tenant(SITE, site_locked(SITE), request, locked(SITE, request))


@pytest.mark.parametrize(
    ("numbers", "names"), [((1,), [KEY]), ((1, 2), [KEY, f"{KEY}-2"]), ((2,), [f"{KEY}-2"]), ((7,), [f"{KEY}-7"])]
)
def test_a_bucket_is_made_with_the_newest_key(numbers: tuple[int, ...], names: list[str]) -> None:
    plan = planned(*numbers)
    keys = {item.name: item.resource for item in plan.resources if isinstance(item.resource, S3Credential)}
    assert list(keys) == names
    assert [key.number for key in keys.values()] == list(numbers)
    assert {item.resource.credential for item in plan.resources if isinstance(item.resource, Bucket)} == {names[-1]}


def test_a_rotation_creates_then_deletes_and_recreates_nothing() -> None:
    steps = [planned(1), planned(1, 2), planned(2)]
    told = []
    for before, after in pairwise(steps):
        kept = json.loads(json.dumps(before.canonical()))
        told.append({item.name: item.action for item in changes_between(kept, after)})
    assert told == [{f"{KEY}-2": "create", "acme-data": "update"}, {KEY: "delete"}]


def test_a_plan_from_before_keys_had_numbers_has_no_changes() -> None:
    kept = json.loads(json.dumps(planned(1).canonical()))
    for item in kept["resources"]:
        if item["kind"] == "S3Credential":
            assert item["spec"].pop("number") == 1
    assert changes_between(kept, planned(1)) == ()
    assert [item.name for item in changes_between(kept, planned(2))] == [f"{KEY}-2", "acme-data", KEY]


def test_other_numbers_make_another_request() -> None:
    assert request_hash(asking(1, 2)) not in (request_hash(asking(1)), request_hash(asking(2)))
