"""Glance images, whose data is a file in the site's folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import refused
from interlock.resources import Image, Resource

from .base import Actuator, Observed, Phase, Target
from .compute import KEY

#: States of an image that only waits to be forgotten.
_GONE = ("deleted", "pending_delete")

#: Bytes that are sent at once.
_CHUNK = 1 << 20

_PATCH = {"Content-Type": "application/openstack-images-v2.1-json-patch"}


class ImageActuator(Actuator[Image]):
    """Images of the operator's project. One whose data never arrived is broken: it is recreated."""

    KIND: ClassVar[type[Resource]] = Image
    SERVICE: ClassVar[str] = "image"
    PATIENCE: ClassVar[float] = 600.0

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        # `visibility` all: Glance hides community images of a project from lists otherwise.
        query = {KEY: mark, "owner": project, "visibility": "all"}
        found = cloud.api("image").items("/images", "images", **query)
        return [
            str(item["id"])
            for item in found
            if item.get(KEY) == mark and item["owner"] == project and item["status"] not in _GONE
        ]

    def create(self, cloud: Cloud, target: Target[Image]) -> str:
        spec = target.spec
        body = {
            "name": spec.name,
            "disk_format": spec.disk_format,
            "container_format": "bare",
            "visibility": spec.visibility,
            KEY: target.marker,
        }
        return str(cloud.api("image").post("/images", body)["id"])

    def finish(self, cloud: Cloud, target: Target[Image], ident: str) -> None:
        headers = {"Content-Type": "application/octet-stream"}
        # Not repeated once Glance has begun to read: an image takes data only once.
        data = _Data(file_of(target))
        cloud.api("image").request("PUT", f"/images/{ident}/file", data=data, headers=headers, idempotent=False)

    def read(self, cloud: Cloud, ident: str, target: Target[Image] | None = None) -> Observed | None:
        raw = cloud.api("image").find(f"/images/{ident}")
        if raw is None or raw["status"] in _GONE:
            return None
        fields: dict[str, Any] = {
            "name": raw["name"],
            "disk_format": raw["disk_format"],
            "visibility": raw["visibility"],
        }
        if raw.get("os_hash_algo") == "sha512":
            fields["sha512"] = raw["os_hash_value"]
        phase = {"active": Phase.READY, "saving": Phase.PENDING, "importing": Phase.PENDING}
        status = raw["status"]
        return Observed(
            ident,
            raw.get(KEY, ""),
            fields,
            {"project": raw["owner"]},
            {},
            phase.get(status, Phase.BROKEN),
            f"its state is {status}",
        )

    def update(self, cloud: Cloud, target: Target[Image], seen: Observed, changed: frozenset[str]) -> None:
        spec = target.spec
        wanted = {"name": spec.name, "visibility": spec.visibility, KEY: target.marker}
        operations = [{"op": "add", "path": f"/{key}", "value": value} for key, value in wanted.items()]
        cloud.api("image").patch(f"/images/{seen.id}", operations, headers=_PATCH)

    def delete(self, cloud: Cloud, ident: str, target: Target[Image]) -> None:
        cloud.api("image").delete(f"/images/{ident}")


class _Data:
    """A file, from its beginning each time it is sent: after a 401 the same request goes out with a new token."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __len__(self) -> int:
        return self._path.stat().st_size

    def __iter__(self) -> Iterator[bytes]:
        with self._path.open("rb") as data:
            while chunk := data.read(_CHUNK):
                yield chunk


def file_of(target: Target[Image]) -> Path:
    """The image's file, its hash checked. Raises `Failure` if it is missing or another file."""
    path = (target.folder or Path()) / target.spec.file
    fault = file_fault(path, target.spec.sha512)
    if fault:
        raise refused(f"image {target.name}: {fault}", "put the right file there, or correct `sha512`")
    return path


def file_fault(path: Path, sha512: str) -> str:
    """What is wrong with an image's file; empty if nothing is."""
    if not path.is_file():
        return f"there is no file {path}"
    with path.open("rb") as data:
        actual = hashlib.file_digest(data, "sha512").hexdigest()
    return "" if actual == sha512 else f"{path} has sha512 {actual[:16]}…, the site file says {sha512[:16]}…"
