"""Settings of `vipu` for one Poplar server, with a new access key: nobody keeps the key but the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.vocabulary.markers import Marker
from interlock.vocabulary.pair_ids import VipuId

from .clouds import Cloud
from .errors import refused
from .vipu import asking


def settings_with_new_key(cloud: Cloud, user: VipuId, server: str) -> str:
    """The lines of a settings file, as `vipu --config` reads it, for a user whose former key counts no longer.

    `server`: uuid of the one that gets it, which reaches the controller on the network that both are on. Raises
    `Failure`.
    """
    name, address = cloud.controllers.place(user.server)
    if not address:
        name, address = _place(cloud, user.server, server)
    controller = cloud.controllers.of(user.server, name, address)
    with asking():
        key = controller.new_key(user.name)
    return (
        f'api-host="{address}"\napi-port={controller.access.user_port}\n'
        f'api-user-id="{user.name}"\napi-access-key="{key}"\n'
    )


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
