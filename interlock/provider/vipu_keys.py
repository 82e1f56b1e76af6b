"""Settings of `vipu` for one Poplar server, with a new access key: nobody keeps the key but the server."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.resources import StoredCredential
from interlock.resources.asked_names import FOLDER, asked_names
from interlock.vocabulary.markers import Marker
from interlock.vocabulary.pair_ids import VipuId

from .clouds import Cloud
from .errors import Failure, refused
from .vipu import asking

if TYPE_CHECKING:
    from interlock.vipu.client import ControllerClient

_USER_DATA = "OS-EXT-SRV-ATTR:user_data"


def settings_with_new_key(cloud: Cloud, user: VipuId, server: str) -> str:
    """The lines of a settings file, as `vipu --config` reads it, for a user whose former key counts no longer.

    `server`: uuid of the one that gets it, which reaches the controller on the network that both are on. Raises
    `Failure`.
    """
    controller, address = _controller(cloud, user, server)
    with asking():
        key = controller.new_key(user.name)
    return (
        f'api-host="{address}"\napi-port={controller.access.user_port}\n'
        f'api-user-id="{user.name}"\napi-access-key="{key}"\n'
    )


def brought_by_hand(spec: StoredCredential) -> str:
    """What people are told of a server that never asks for its key."""
    return (
        f"{spec.KIND} of {spec.credential}: server {spec.place} was made before `interlock` told its V-IPU controller, "
        f"and never asks for {spec.item}, so no key is left for it, and none is ended. Bring it one by hand "
        f"(`vipu-admin update user {spec.place} --new-access-key` at the controller), or recreate the server "
        "(`pulumi up --replace` of it)"
    )


def fetched_again(spec: StoredCredential) -> str:
    """What people are told of a server that was there before its key."""
    return (
        f"{spec.KIND} of {spec.credential}: server {spec.place} is there already, and asks for nothing that it has. "
        f"If it has a key of this user, that one is dead now: in the server `rm {FOLDER}/{spec.item}`, then "
        "`systemctl restart interlock-secrets`, within the hour"
    )


def is_lost(cloud: Cloud, user: VipuId, server: str) -> bool:
    """True if a controller has no such user any more, so that nobody has a key of it; False if it cannot be asked."""
    try:
        controller, _ = _controller(cloud, user, server)
        with asking():
            return user.name not in controller.users()
    except Failure:
        return False


def asked_by(cloud: Cloud, server: str) -> frozenset[str] | None:
    """The names that a server asks for, as Nova has its document; None if nobody can tell."""
    found = _server(cloud, server)
    if _USER_DATA not in found:
        return None  # Nova does not show it to everybody, and null where there is none
    try:
        return asked_names(base64.b64decode(found[_USER_DATA] or "", validate=True).decode())
    except (binascii.Error, UnicodeDecodeError):
        return None


def _controller(cloud: Cloud, user: VipuId, server: str) -> tuple[ControllerClient, str]:
    """The controller of a user, and its address as a server has it."""
    name, address = cloud.controllers.place(user.server)
    if not address:
        name, address = _place(cloud, user.server, server)
    return cloud.controllers.of(user.server, name, address), address


def _place(cloud: Cloud, controller: str, server: str) -> tuple[str, str]:
    """Plan name of a controller's server, and its address on the one network that another server is on, too."""
    there, here = _server(cloud, controller), _server(cloud, server)
    common = there["addresses"].keys() & here["addresses"].keys()
    if len(common) != 1:
        what = f"server {server} and V-IPU controller {controller} have {len(common)} networks in common, and not one"
        raise refused(what, "run `pulumi refresh`, then `pulumi up`: both are on the vPOD's control network")
    mark = Marker.named(there["metadata"].get("interlock", ""))
    address = there["addresses"][common.pop()][0]["addr"]
    return "" if mark is None else mark.name, str(address)


def _server(cloud: Cloud, uuid: str) -> Mapping[str, Any]:
    found = cloud.api("compute").find(f"/servers/{uuid}")
    if found is None:
        raise refused(f"server {uuid} is gone", "run `pulumi refresh`, then `pulumi up`")
    value: Mapping[str, Any] = found["server"]
    return value
