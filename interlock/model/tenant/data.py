"""Data of a request beside that of its servers and its buckets: volumes of their own, shares."""

from __future__ import annotations

from interlock.model.text.errors import Code

from .file import OwnVolumeFile, ShareFile
from .reading import Path, RequestReading
from .request import (
    OWN_VOLUME,
    ShareRequest,
    VolumeRequest,
    mount_point_of_volume,
    usual_mount_point,
)


def read_volumes(reading: RequestReading) -> tuple[VolumeRequest, ...]:
    """Volumes, in the order of the file."""
    return tuple(_volume(reading, name, file) for name, file in reading.file.volumes.items())


def read_shares(reading: RequestReading) -> tuple[ShareRequest, ...]:
    """Shares, in the order of the file."""
    found = tuple(_share(reading, name, file) for name, file in reading.file.shares.items())
    _check_mount_points(reading, found)
    return found


def _volume(reading: RequestReading, name: str, file: OwnVolumeFile) -> VolumeRequest:
    path, offered = ("volumes", name), reading.offered
    default = offered.defaults.volume_type
    return VolumeRequest(
        name=name,
        size_gib=reading.size(path, "a volume", file.size),
        volume_type=reading.choice((*path, "type"), "a volume type", file.type, default, offered.volume_types),
        vpod=file.vpod,
        server=_server(reading, path, file),
        on_delete=reading.on_delete(path, file.on_delete),
        encrypted=reading.encrypted(path, file.encrypted),
    )


def _server(reading: RequestReading, path: Path, file: OwnVolumeFile) -> int | None:
    """Index of the server that the volume is attached to; None if it is attached to none."""
    if file.vpod is None:
        reading.note((*path, "vpod"), None)
        if file.server is not None and not reading.faults.lost(*path, "vpod"):
            hint = "add `vpod:`, or take `server:` out: the volume is attached to none then"
            reading.faults.add(Code.CONTRADICTION, (*path, "server"), "`server:` without `vpod:`", hint)
        return None
    if file.vpod in reading.file.clusters and file.vpod not in reading.file.vpods:
        message = f"a volume at a node of cluster `{file.vpod}`, where nothing attaches it"
        reading.faults.add(Code.CONTRADICTION, (*path, "vpod"), message, "take `vpod:` out, or use a share")
        return None
    if not reading.vpod_name((*path, "vpod"), file.vpod):
        return None
    _check_server(reading, path, file, file.vpod)
    return reading.filled((*path, "server"), file.server, 0)


def _check_server(reading: RequestReading, path: Path, file: OwnVolumeFile, vpod: str) -> None:
    """Adds a fault if the vPOD has not this server, if it has several, or if nothing can be attached to it."""
    poplar, below = reading.file.vpods[vpod].poplar, ("vpods", vpod, "poplar")
    unsure = ((*below, "servers"), (*below, "kind"), (*path, "server"))
    if any(reading.faults.lost(*lost) for lost in unsure):
        return
    last = poplar.servers - 1
    if poplar.kind == "bare-metal":
        hint = "take `vpod:` out, or use a share"
        message = f"a volume at a bare-metal server of `{vpod}`, where nothing attaches it"
        reading.faults.add(Code.CONTRADICTION, (*path, "vpod"), message, hint)
    elif file.server is None and last:
        message = f"`server` is missing, and `{vpod}` has {poplar.servers} Poplar servers"
        reading.faults.add(Code.MISSING_KEY, (*path, "vpod"), message, f"add `server:`, 0 to {last}")
    elif file.server is not None and file.server > last:
        has = f"servers 0 to {last}" if last else "server 0 alone"
        reading.faults.add(Code.NO_SUCH, (*path, "server"), f"server {file.server}: `{vpod}` has {has}")


def _share(reading: RequestReading, name: str, file: ShareFile) -> ShareRequest:
    path, offered = ("shares", name), reading.offered
    default = offered.defaults.share_type
    reading.note_left_out(path, file, "access")
    vpods, clusters = _mounted_by(reading, path, file)
    usual = usual_mount_point(name)
    mount = reading.filled((*path, "mount"), file.mount, usual)
    return ShareRequest(
        name=name,
        size_gib=reading.size(path, "a share", file.size),
        share_type=reading.choice((*path, "type"), "a share type", file.type, default, offered.share_types),
        vpods=vpods,
        access=file.access,
        on_delete=reading.on_delete(path, file.on_delete),
        mount=None if mount == usual else mount,
        clusters=clusters,
    )


def _mounted_by(reading: RequestReading, path: Path, file: ShareFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(vPODs, clusters) that mount a share: by default all of both."""
    asked = reading.file
    vpods = reading.filled((*path, "vpods"), file.vpods, list(asked.vpods)) if asked.vpods else (file.vpods or [])
    clusters = file.clusters or []
    if asked.clusters:
        clusters = reading.filled((*path, "clusters"), file.clusters, list(asked.clusters))
    lost = any(reading.faults.lost(*path, key) for key in ("vpods", "clusters"))
    if not vpods and not clusters and not lost and not reading.faults.short_of("vpods", "clusters"):
        key = "vpods" if file.vpods is not None else "clusters"
        hint = f"leave `{key}:` out for all" if asked.vpods or asked.clusters else "ask for a vPOD or cluster that does"
        reading.faults.add(Code.VALUE, (*path, key), "a share that nothing mounts", hint)
    return reading.vpod_names((*path, "vpods"), vpods), reading.cluster_names((*path, "clusters"), clusters)


def _check_mount_points(reading: RequestReading, shares: tuple[ShareRequest, ...]) -> None:
    """Adds a fault for a share at a place of a server where another share, or a volume, is mounted."""
    taken = _places_of_volumes(reading)
    for share in shares:
        places = [(part, share.mount_point) for part in (*share.vpods, *share.clusters)]
        if (place := next((place for place in places if place in taken), None)) is not None:
            message = f"{taken[place]} is mounted at {share.mount_point} of `{place[0]}` already"
            reading.faults.add(Code.TWICE, ("shares", share.name, "mount"), message, "mount it elsewhere")
        taken |= {place: f"`{share.name}`" for place in places if place not in taken}


def _places_of_volumes(reading: RequestReading) -> dict[tuple[str, str], str]:
    """(vPOD, mount point) -> the volume that its servers, or one of them, mount there."""
    file = reading.file
    own = {(name, OWN_VOLUME): "the servers' own volume" for name, vpod in file.vpods.items() if vpod.poplar.volume}
    named = {(item.vpod, mount_point_of_volume(name)): f"`{name}`" for name, item in file.volumes.items() if item.vpod}
    return own | named
