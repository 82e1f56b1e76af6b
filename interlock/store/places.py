"""Where a site's store of claims lies."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.fingerprints import SiteInRegion

from .folder import FolderStore
from .home import cloud_of
from .objects import ObjectStore, StoreFailed


def open_store(url: str, site: str, region: str = "") -> ObjectStore:
    """The store at this URL, with a part of its own for the site and, where it states one, its region.

    `url` is empty (a folder beside the clouds.yaml in use: one machine), `file:///folder`, or `s3://bucket/prefix` with
    `?endpoint=…&region=…&profile=…` as for Pulumi's own backend (a team). `region`: as the site file states it. The
    region that claimed first has the part `<site>`, also while its file did not state the region; every other has
    `<site>@<region>`, so that two regions never take each other's claims for their own, and one region never has two
    stores. Raises `StoreFailed` for any other URL, or if the store cannot be read.
    """
    if first_region(url, site, region) is None:
        return _part_of(url, site)
    return _part_of(url, str(SiteInRegion(site, region)))


def first_region(url: str, site: str, region: str) -> CloudFingerprint | None:
    """The cloud and region that claimed first for this site, if that is another region than the stated one.

    Raises `StoreFailed` as `open_store` does.
    """
    owner = cloud_of(_part_of(url, site)) if region else None
    return None if owner is None or owner.region in ("", region) else owner


def _part_of(url: str, part: str) -> ObjectStore:
    if not url:
        return FolderStore(beside_clouds() / "claims" / part)
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.netloc == "" and parts.path.startswith("/"):
        return FolderStore(Path(unquote(parts.path)) / part)
    if parts.scheme == "s3" and parts.netloc:
        # Imported here: boto3 takes a third of a second.
        from .s3 import S3Store

        return S3Store(url, part)
    raise StoreFailed(
        f"claims store {url!r}: no such kind of store",
        "write `claims: file:///folder` or `claims: s3://bucket/prefix?endpoint=…` in site.yaml, or leave it out",
    )


def beside_clouds() -> Path:
    """The folder of the clouds.yaml in use, as openstacksdk finds it, without importing that.

    Not the working folder: the command, the program and the provider each have another.
    """
    if named := os.environ.get("OS_CLIENT_CONFIG_FILE"):
        return Path(named).absolute().parent
    user = Path.home() / ".config" / "openstack"
    places = (user, Path("/etc/openstack"))
    return next((place for place in places if (place / "clouds.yaml").is_file()), user)
