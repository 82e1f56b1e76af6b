"""What an image states of GPU nodes: read and written whole, in no hash, and versions compared by their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlock.hardware.gpu.software import begins_with, is_below, numbers
from interlock.model.site.full import full_form
from interlock.model.site.software import ImageSoftware
from interlock.model.site.software_file import ImageSoftwareFile
from interlock.planning import SiteHashes, plan_site, site_hash
from tests.builders.gpu_software import IMAGE, NOTHING, software_site
from tests.builders.pod64 import bare_metal_vpod, locked, site_locked, tenant
from tests.model.wide_site import SOFTWARE, loaded, wide
from tests.policies.workspace import changed


def test_file_and_model_have_the_same_keys() -> None:
    assert set(ImageSoftwareFile.model_fields) == set(ImageSoftware.model_fields) == set(SOFTWARE)


def test_everything_is_read_and_written_again(tmp_path: Path) -> None:
    site = loaded(wide("ipu-pod64"), tmp_path)
    said: dict[str, Any] = next(item for item in site.site.images if item.name == "poplar").software.model_dump()
    assert {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()} == SOFTWARE
    assert full_form(site.site, site.defaults)["images"]["poplar"]["software"] == SOFTWARE


def test_no_hash_rests_on_it() -> None:
    said = software_site()
    unsaid = software_site(site={"lustre_server": None}, **NOTHING)
    assert next(item for item in unsaid.images if item.name == IMAGE).software == ImageSoftware()
    assert site_hash(said) == site_hash(unsaid)
    allocation = locked(said, tenant("acme", vpods=(bare_metal_vpod(),))).allocation
    assert SiteHashes(said).slice_hash(allocation) == SiteHashes(unsaid).slice_hash(allocation)
    assert plan_site(said, site_locked(said)).hash == plan_site(unsaid, site_locked(unsaid)).hash
    # Hashes see the site: with another image they are others.
    images = tuple(item.model_copy(update={"file": "images/other.raw"}) for item in said.images)
    assert site_hash(changed(said, images=images)) != site_hash(said)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("550.54.15", (550, 54, 15)),
        ("5.15.0-1063-nvidia", (5, 15, 0)),
        ("12", (12,)),
        ("24.10-1.1.4.0", (24, 10)),
        ("6.8.rc1", (6, 8)),
        ("9" * 5000, (int("9" * 18),)),
    ],
)
def test_numbers_of_a_version(version: str, expected: tuple[int, ...]) -> None:
    assert numbers(version) == expected


@pytest.mark.parametrize(
    ("version", "least", "below"),
    [
        ("525", "525", False),
        ("525.60.13", "525", False),
        ("515.105.01", "525", True),
        ("525", "525.85.12", True),
        ("1000.1", "580", False),
        ("5.9.0", "5.13", True),
    ],
)
def test_older_versions(version: str, least: str, *, below: bool) -> None:
    assert is_below(version, least) is below


@pytest.mark.parametrize(
    ("version", "listed", "begins"),
    [
        ("5.15.0-1063-nvidia", "5.15", True),
        ("5.15.0-1063-nvidia", "5.15.0-1063-nvidia", True),
        ("5.150.0", "5.15", False),
        ("5.4.0", "5.15", False),
        ("rhel-9.4", "rhel-9", True),
        ("rhel-95", "rhel-9", False),
        ("sles-15sp5", "sles-15", False),
    ],
)
def test_versions_that_begin_with_another(version: str, listed: str, *, begins: bool) -> None:
    assert begins_with(version, listed) is begins
