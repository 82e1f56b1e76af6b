"""Encrypted volumes of the embedded cloud: their keys in Barbican, growth, and who sees what is made from them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.sandbox.cloud import Cloud, Tenant, outcome, until

ENCRYPTION = {"provider": "luks", "cipher": "aes-xts-plain64", "key_size": 256, "control_location": "front-end"}


@pytest.fixture(scope="module")
def member(cloud: Cloud, tenant: Tenant) -> Any:
    return cloud.as_role(tenant, "member")


@pytest.fixture(scope="module")
def stranger(cloud: Cloud) -> Any:
    """A member of another project."""
    return cloud.as_role(cloud.tenant("stranger"), "member")


@pytest.fixture
def encrypted(cloud: Cloud) -> Iterator[Any]:
    """A volume type with encryption."""
    storage = cloud.admin.block_storage
    made = storage.create_type(name=f"encrypted-{uuid.uuid4().hex[:6]}")
    storage.post(f"/types/{made.id}/encryption", json={"encryption": ENCRYPTION}).raise_for_status()
    yield made
    storage.delete_type(made)


@pytest.fixture
def volume(member: Any, encrypted: Any) -> Iterator[Any]:
    """A volume of that type, in the tenant's project."""
    storage = member.block_storage
    made = storage.create_volume(size=1, volume_type=encrypted.id)
    yield storage.wait_for_status(made, "available", failures=["error"], interval=0.2, wait=30)
    storage.delete_volume(made, ignore_missing=True)
    storage.wait_for_delete(made, interval=0.2, wait=30)


def keys(client: Any) -> list[Any]:
    """The secrets that a project has in the key manager."""
    return list(client.key_manager.secrets())


def test_the_key_of_a_volume_is_its_projects_and_goes_with_it(
    cloud: Cloud, member: Any, stranger: Any, volume: Any
) -> None:
    assert volume.is_encrypted
    (key,) = keys(member)
    assert (key.algorithm, key.bit_length, key.status) == ("aes", 256, "ACTIVE")
    path = f"/secrets/{key.secret_ref.rpartition('/')[2]}/payload"
    payload = {"Accept": "application/octet-stream"}
    assert member.key_manager.get(path, headers=payload).status_code == 200
    assert stranger.key_manager.get(path, headers=payload).status_code == 403
    assert cloud.admin.key_manager.get(path, headers=payload).status_code == 403
    # The operator deletes volumes with a token of its own project.
    cloud.admin.block_storage.delete_volume(volume.id)
    member.block_storage.wait_for_delete(volume, interval=0.2, wait=30)
    assert not keys(member)


def test_the_encryption_of_a_type_in_use_does_not_change(cloud: Cloud, encrypted: Any, volume: Any) -> None:
    storage = cloud.admin.block_storage
    path = f"/types/{encrypted.id}/encryption"
    assert storage.put(f"{path}/provider", json={"encryption": {"provider": "luks2"}}).status_code == 400
    assert storage.delete(f"{path}/provider").status_code == 400
    seen = storage.get(path).json()
    assert {name: seen[name] for name in ENCRYPTION} == ENCRYPTION


def test_a_volume_grows_and_never_shrinks(member: Any, volume: Any) -> None:
    storage = member.block_storage
    storage.extend_volume(volume, 2)
    until(lambda: storage.get_volume(volume.id).size == 2 and storage.get_volume(volume.id).status == "available")
    assert outcome(lambda: storage.extend_volume(volume, 1)) == 400


@pytest.mark.parametrize(("version", "visibility"), [("3.0", "shared"), ("3.70", "private")])
def test_what_an_image_made_from_a_volume_is_by_default(
    member: Any, stranger: Any, volume: Any, version: str, visibility: str
) -> None:
    # Shared with nobody so far: with whom it is shared is its owner's to say.
    words = {"os-volume_upload_image": {"image_name": "copy", "force": False}}
    answer = member.block_storage.post(f"/volumes/{volume.id}/action", json=words, microversion=version)
    ident = answer.json()["os-volume_upload_image"]["image_id"]
    image = until(lambda: (found := member.image.get_image(ident)).status == "active" and found)
    assert image.visibility == visibility
    assert outcome(lambda: stranger.image.get_image(ident)) == 404
    member.image.delete_image(ident)
    until(lambda: member.block_storage.get_volume(volume.id).status == "available")


def test_a_snapshot_is_seen_in_its_project_only(member: Any, stranger: Any, volume: Any) -> None:
    made = member.block_storage.create_snapshot(volume_id=volume.id, name="copy")
    member.block_storage.wait_for_status(made, "available", failures=["error"], interval=0.2, wait=30)
    assert outcome(lambda: stranger.block_storage.get_snapshot(made.id)) == 404
    member.block_storage.delete_snapshot(made)
    member.block_storage.wait_for_delete(made, interval=0.2, wait=30)
