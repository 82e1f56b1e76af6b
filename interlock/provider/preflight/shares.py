"""Shares: the service is there, each type makes no share servers, and some back end answers to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.provider.actuators import ACTUATORS
from interlock.provider.actuators.shares import SERVICE
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import marker
from interlock.provider.references import parts, site_object
from interlock.resources import Admission, Share, ShareType
from interlock.resources.storage import DRIVER_HANDLES_SHARE_SERVERS

from .faults import Fault, planned


def shares(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """What would end in a share with the state `error`, or in one that Manila exports from a server of its own."""
    types = {share.share_type: share for _, share in planned(admission, Share)}
    own = [name for name, _ in planned(admission, ShareType)]
    if not (types or own):
        return
    if not cloud.has(SERVICE):
        named = ", ".join(name for name, _ in planned(admission, Share)) or ", ".join(own)
        yield Fault(
            "share",
            f"cloud {cloud.name!r} has no service {SERVICE} in its catalogue, and the plan has {named}",
            "install Manila there, or take the shares, and `share_types` of the site file, out",
        )
        return
    for reference in types:
        try:
            ident = site_object(cloud, admission, *parts(reference))
        except Failure:
            continue  # told by `referred`
        yield from _of_type(cloud, parts(reference)[1], ident)
    for name in own:
        # A type that is to be made has no back end yet; Manila tells of those that are there.
        for ident in ACTUATORS["ShareType"].search(cloud, marker(admission.owner, name), cloud.login.project):
            yield from _of_type(cloud, name, ident)


def _of_type(cloud: Cloud, name: str, ident: str) -> Iterator[Fault]:
    found = cloud.api(SERVICE).find(f"/types/{ident}")
    if found is None:
        return
    raw: dict[str, Any] = found["share_type"]
    what = f"share type {name} ({ident})"
    if str(raw["extra_specs"].get(DRIVER_HANDLES_SHARE_SERVERS)).lower() != "false":
        yield Fault(
            "share",
            f"{what} does not say `{DRIVER_HANDLES_SHARE_SERVERS}: False`: its shares would be exported by servers of "
            "Manila's, at addresses that no plan has",
            "name a type of a back end that makes none",
        )
    elif not list(cloud.api(SERVICE).items("/scheduler-stats/pools", "pools", share_type=ident)):
        yield Fault(
            "share",
            f"no back end of Manila answers to {what}: a share of it would end in `error`",
            "correct `extra_specs` of the share type in the site file, or look at `openstack share pool list`",
        )
