"""Under which path the shares of a server are exported, as the server is told it: by its metadata or its config drive.

A path is Manila's, so it is asked for where it is written, and again where it is compared. Members of a project may
write metadata of its servers: what they change there is told as a difference and set back, and only their own server
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.resources import BareMetalServer, Server
from interlock.vocabulary.share_paths import share_key, told_paths, why_not_told

from .base import Target
from .shares import SERVICE, export_path


def metadata_of_shares(cloud: Cloud, target: Target[Server] | Target[BareMetalServer]) -> dict[str, str]:
    """Members of the metadata of a server that mounts these shares.

    Raises `Failure` if a share has no path yet, or one that no server can be told of.
    """
    found: dict[str, str] = {}
    for name, ident in zip(target.spec.shares, target.many("shares"), strict=True):
        path = _path(cloud, ident)
        if why := why_not_told(path):
            hint = (
                "run `pulumi up` again once Manila has exported it, or look at the share"
                if not path
                else "give the share type a back end whose paths are plain, or take the share out of the request"
            )
            raise Failure(Trouble.NOT_READY, f"share {name} ({ident}): {why}", hint)
        found[share_key(name)] = path
    return found


def add_told(cloud: Cloud, metadata: Mapping[str, str], target: Target[Server] | None, fields: dict[str, Any]) -> None:
    """The field `shares` as the metadata say it: names alone, each with the path that Manila says now, or with one that
    nobody can compare. A share whose path is another is not among them."""
    names, ids = (target.spec.shares, target.many("shares")) if target else ((), ())
    if target is None or len(names) != len(ids):
        # A state that a refresh wrote while something was missing has other names than ids.
        return
    told, known = told_paths(metadata), dict(zip(names, ids, strict=True))
    fields["shares"] = [
        name for name, path in sorted(told.items()) if name not in known or _path(cloud, known[name]) in ("", path)
    ]


def outdated(metadata: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Members of the metadata that are about shares and are not wanted."""
    return sorted(map(share_key, told_paths(metadata).keys() - told_paths(wanted).keys()))


def _path(cloud: Cloud, share: str) -> str:
    """Empty while there is none, and where there is no such share."""
    answer = cloud.api(SERVICE).find(f"/shares/{share}/export_locations")
    return export_path(answer["export_locations"]) if answer else ""
