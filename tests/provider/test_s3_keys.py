"""An S3 key of a bucket is rotated with an overlap: both open it meanwhile, and the old one is dead afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openstack
import pytest

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from interlock.resources import S3Credential
from interlock.vocabulary.pair_ids import CredentialId
from tests.e2e.s3 import client, refusal
from tests.support.world.small import World

#: What Swift says to a key that Keystone does not know (any more): the first of them today.
DEAD = ("SignatureDoesNotMatch", "InvalidAccessKeyId")
FIRST, SECOND = "alice-s3-key", "alice-s3-key-2"


@dataclass(frozen=True)
class Rotation:
    """A tenant's stack, and the key that its program asks for besides the first."""

    world: World
    operator: Cloud

    def used(self, name: str) -> Any:
        """S3 as whoever has this key speaks it."""
        key = self.world.tenant.state[name].outputs
        return self.opened(key["access_key"], key["secret_key"])

    def opened(self, access: str, secret: str) -> Any:
        with openstack.connect(cloud=self.operator.name) as cloud:
            return client(cloud, access, secret)

    def listed(self) -> set[str]:
        """Access halves of the user's keys, as Keystone lists them."""
        user = self.world.tenant.state["alice-s3"].id
        found = self.operator.api("identity").get(f"/users/{user}/credentials/OS-EC2")
        return {item["access"] for item in found["credentials"]}


@pytest.fixture
def rotation(world: World, operator: Cloud) -> Iterator[Rotation]:
    stack = world.tenant
    before, order = dict(stack.resources), list(stack.state)
    first = before[FIRST]
    assert isinstance(first, S3Credential)
    stack.declare(before | {SECOND: first.model_copy(update={"number": 2})})
    assert stack.admit(preview=False) == []
    try:
        yield Rotation(world, operator)
    finally:
        if SECOND in stack.state:
            stack.delete(SECOND)
        stack.declare(before)
        assert stack.admit(preview=False) == []
        if FIRST not in stack.state:
            stack.create(FIRST)
        # Some tests make the first key anew; whatever comes next finds the bucket with the key that there is.
        stack.update("alice-bucket")
        if stack.diff("alice-handed"):
            stack.delete("alice-handed")
            stack.create("alice-handed")
        # As before: what refers to the key is deleted in front of it.
        state = {name: stack.state.pop(name) for name in order}
        stack.state.update(state)


def test_both_keys_of_a_bucket_work_until_the_old_one_is_deleted(rotation: Rotation) -> None:
    stack = rotation.world.tenant
    bucket = stack.resources["alice-bucket"].canonical()["name"]
    old = rotation.used(FIRST)
    old.put_object(Bucket=bucket, Key="step", Body=b"1")
    stack.create(SECOND)
    new = rotation.used(SECOND)
    assert new.get_object(Bucket=bucket, Key="step")["Body"].read() == b"1"
    old.put_object(Bucket=bucket, Key="step", Body=b"2")
    stack.delete(FIRST)
    assert refusal(lambda: old.get_object(Bucket=bucket, Key="step")) in DEAD
    assert refusal(lambda: old.put_object(Bucket=bucket, Key="step", Body=b"3")) in DEAD
    assert new.get_object(Bucket=bucket, Key="step")["Body"].read() == b"2"
    for version in new.list_object_versions(Bucket=bucket)["Versions"]:
        new.delete_object(Bucket=bucket, Key="step", VersionId=version["VersionId"])


def test_a_key_whose_secret_a_crash_lost_is_revoked_and_the_other_is_not(rotation: Rotation) -> None:
    stack = rotation.world.tenant
    first = CredentialId.parse(stack.state[FIRST].id).access
    lost = CredentialId.parse(stack.create(SECOND).id).access
    found = CredentialId.parse(stack.create(SECOND).id).access
    assert rotation.listed() == {first, found} != {first, lost}
    first = CredentialId.parse(stack.create(FIRST).id).access
    assert rotation.listed() == {first, found}


def test_a_key_that_keystone_named_is_the_first(rotation: Rotation) -> None:
    """From before keys had numbers: it stays while the second is made, and no refresh sees a change."""
    stack, api = rotation.world.tenant, rotation.operator.api("identity")
    user, project = stack.state["alice-s3"].id, stack.state["alice-project"].id
    stack.delete(FIRST)
    named = api.post(f"/users/{user}/credentials/OS-EC2", {"tenant_id": project})["credential"]["access"]
    seen = ACTUATORS["S3Credential"].read(rotation.operator, str(CredentialId(user, named)))
    assert seen is not None
    assert seen.fields == {"number": 1, "opens": "s3"}
    stack.create(SECOND)
    assert named in rotation.listed()
    stack.create(FIRST)
    assert named not in rotation.listed()


def test_a_state_from_before_keys_had_numbers_asks_for_no_other_key(world: World) -> None:
    """Else an upgrade would revoke each key of each tenant."""
    stack = world.tenant
    recorded = stack.state[FIRST]
    without = {name: value for name, value in recorded.outputs.items() if name != "number"}
    stack.state[FIRST] = type(recorded)(recorded.id, recorded.inputs, without)
    try:
        assert stack.diff(FIRST) == {}
    finally:
        stack.state[FIRST] = recorded
