"""What an `up` leaves to a person in servers: keys of V-IPU users that reach none, and volumes that none mounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.planning import Plan
from interlock.planning.differences import ResourceChange
from interlock.planning.guest.disks import TABLE, UNIT, GuestVolume, mounted_volumes
from interlock.resources import BareMetalServer, Server, StoredCredential, VipuUser, VolumeAttachment
from interlock.resources.asked_names import VIPU_KEY, asked_names

_ANEW = ("create", "replace")


@dataclass(frozen=True)
class KeyByHand:
    """A server whose key at V-IPU a person has to bring."""

    server: str
    why: str
    next: str

    def __str__(self) -> str:
        return f"{self.server}: {self.why}: {self.next}"


@dataclass(frozen=True)
class UnmountedVolume:
    """A volume that an `up` attaches to a server which is there, and which does not mount it by itself."""

    server: str
    volume: str
    #: Of its disk, and the label of its file system.
    tag: str
    mount: str
    next: str

    def __str__(self) -> str:
        return f"{self.server}: {self.volume} is attached, and not mounted at {self.mount}: {self.next}"


def keys_by_hand(
    plan: Plan, before: Mapping[str, Any] | None = None, changes: Sequence[ResourceChange] = ()
) -> Iterator[KeyByHand]:
    """`before`: an earlier plan, by which servers are known that stay and never ask; None: nobody knows."""
    handed = [item.resource for item in plan.resources if isinstance(item.resource, StoredCredential)]
    handed = [item for item in handed if item.item == VIPU_KEY]
    reached = {item.credential for item in handed}
    for item in plan.resources:
        user = item.resource
        if isinstance(user, VipuUser) and user.is_declared and item.name not in reached:
            yield _unreached(plan, user)
    servers, anew = _documents(before), _anew(changes)
    for key in handed:
        names = asked_names(servers.get(key.place, ""))
        if key.place in servers and key.place not in anew and names is not None and VIPU_KEY not in names:
            why = "was made before `interlock` told its V-IPU controller, and never asks for its key"
            yield KeyByHand(key.place, why, "recreate it (`pulumi up --replace`), or bring it one by hand")


def _unreached(plan: Plan, user: VipuUser) -> KeyByHand:
    server = plan.by_name.get(user.name)
    is_whole = server is not None and isinstance(server.resource, BareMetalServer)
    why = (
        "is a whole host, which fetches no secret, so `pulumi up` brings it no key of V-IPU"
        if is_whole
        else "the site has no channel for secrets (`channel: true`), so `pulumi up` brings it no key of V-IPU"
    )
    what = f"`vipu-admin update user {user.name} --new-access-key` at {user.controller}"
    return KeyByHand(user.name, why, f"bring it one by hand ({what}; the former one ends)")


def unmounted_volumes(
    plan: Plan, before: Mapping[str, Any] | None, changes: Sequence[ResourceChange]
) -> Iterator[UnmountedVolume]:
    """A server reads its document once, so one that stays knows nothing of volumes that come later."""
    documents, anew = _documents(before), _anew(changes)
    new = {item.name for item in changes if item.kind == VolumeAttachment.KIND and item.action in _ANEW}
    for item in plan.resources:
        disk = item.resource
        if not isinstance(disk, VolumeAttachment) or item.name not in new:
            continue
        server = plan.by_name[disk.server].resource
        if disk.server not in documents or disk.server in anew or not isinstance(server, Server):
            continue
        there, wanted = mounted_volumes(documents[disk.server]), mounted_volumes(server.user_data) or ()
        mounts = [one for one in wanted if one.tag == disk.device_tag]
        if there is not None and mounts:
            yield UnmountedVolume(
                disk.server, disk.volume, disk.device_tag, mounts[0].point, _mounting(there, mounts[0])
            )


def _mounting(there: Sequence[GuestVolume], volume: GuestVolume) -> str:
    """What to do in a server that mounts these by itself."""
    if any(one.tag == volume.tag for one in there):
        return f"in the server `systemctl restart {UNIT}`"
    if there:
        entry = f'{{"tag": "{volume.tag}", "mount": "{volume.point}"}}'
        return f"in the server add {entry} to {TABLE}, then `systemctl restart {UNIT}`"
    return (
        f"in the server give the disk the label {volume.tag} (`mkfs.ext4 -L {volume.tag}` if nothing is on it), and "
        "mount it by that; or recreate the server (`pulumi up --replace`)"
    )


def _documents(before: Mapping[str, Any] | None) -> dict[str, str]:
    """Virtual servers of an earlier plan -> what they were told."""
    found = (before or {}).get("resources", ())
    return {item["name"]: str(item["spec"].get("user_data", "")) for item in found if item["kind"] == Server.KIND}


def _anew(changes: Sequence[ResourceChange]) -> set[str]:
    return {item.name for item in changes if item.kind == Server.KIND and item.action in _ANEW}
