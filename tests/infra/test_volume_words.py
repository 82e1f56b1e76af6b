"""What the tree of a plan says of volumes and their types."""

from __future__ import annotations

import pytest

from infra.reports.plan_tree import details_of
from interlock.planning.plan import Planned
from interlock.resources import Resource, Volume, VolumeEncryption, VolumeType

LUKS = VolumeEncryption(provider="luks", cipher="aes-xts-plain64", key_size=256, control_location="front-end")
VOLUME = Volume(name="v", project="p", size_gib=5, volume_type="site:VolumeType/sealed")


@pytest.mark.parametrize(
    ("resource", "told"),
    [
        (VOLUME, "5 GiB, type sealed, on delete keep"),
        (VOLUME.model_copy(update={"encrypted": True}), "5 GiB, type sealed, encrypted, on delete keep"),
        (VolumeType(name="plain"), ""),
        (
            VolumeType(name="sealed", encryption=LUKS),
            "encrypted: luks, aes-xts-plain64, 256 bits, front-end",
        ),
    ],
)
def test_the_tree_says_what_is_encrypted(resource: Resource, told: str) -> None:
    item = Planned(name="one", component="all", resource=resource)
    assert ", ".join(text for _, text in details_of(item)) == told
