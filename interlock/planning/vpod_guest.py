"""What the servers of one vPOD are told at their first boot, out of its request and its lock."""

from __future__ import annotations

from interlock.model.tenant.request import OWN_VOLUME, mount_point_of_volume
from interlock.resources.asked_names import VIPU_KEY
from interlock.resources.storage import device_tag
from interlock.vocabulary.request_parts import RequestPart

from .addresses import controller_address
from .guest.disks import GuestVolume
from .guest.poplar import VipuApi
from .scope import VPodScope
from .share_mounts import ShareMount, share_mounts
from .vipu_ids import vipu_id

#: What S3 keys are called where they wait for a server, and in the server.
S3_KEYS = "s3"


def own_volume(server: str) -> str:
    """Plan name of the volume that a server has by `poplar.volume`."""
    return f"{server}-data"


def vipu_user(scope: VPodScope, index: int) -> str:
    """Id of a Poplar server's user at V-IPU: the server's name, which nobody else has at any controller of the site."""
    return scope.server(index)


def vipu_api(scope: VPodScope, index: int) -> VipuApi:
    """The vPOD's controller, as a Poplar server reaches it."""
    claims, partitions = scope.claims, scope.vpod.partitions
    return VipuApi(
        host=controller_address(claims.control_subnet),
        port=scope.controller.user_api_port,
        data_subnet=claims.ipu_data_subnet,
        partition=vipu_id(scope, "partition", partitions[0].name) if len(partitions) == 1 else None,
        user=vipu_user(scope, index) if scope.controller.managed_by == "interlock" else None,
    )


def guest_volumes(scope: VPodScope, index: int) -> tuple[GuestVolume, ...]:
    """The volumes of one server: its own, and those of the request that name it."""
    own = ((own_volume(scope.server(index)), OWN_VOLUME),) if scope.vpod.poplar.volume is not None else ()
    others = tuple(
        (str(RequestPart(scope.tenant.id, item.name)), mount_point_of_volume(item.name))
        for item in scope.tenant.volumes
        if item.vpod == scope.vpod.name and (item.server or 0) == index
    )
    return tuple(GuestVolume(device_tag(name), point) for name, point in (*own, *others))


def mounts_of(scope: VPodScope) -> tuple[ShareMount, ...]:
    """What each server of the vPOD mounts of its tenant's shares."""
    return share_mounts(scope.site, scope.tenant, scope.vpod.name, scope.claims)


def shares_of(scope: VPodScope) -> tuple[str, ...]:
    """Plan names of the shares that servers of the vPOD are told of."""
    return tuple(item.share for item in mounts_of(scope))


def fetched(scope: VPodScope) -> tuple[str, ...]:
    """Names of what a server of this vPOD fetches after its first boot: keys of the vPOD's S3 user and, where interlock
    tells controllers of users, of the server's own user at V-IPU.
    """
    if not scope.site.channel:
        return ()
    return (S3_KEYS, VIPU_KEY) if scope.controller.managed_by == "interlock" else (S3_KEYS,)
