"""GPU nodes that a server takes whole: does Placement have all their devices, for one use, and are they free?"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.provider.actuators.compute import KEY
from interlock.provider.clouds import Cloud
from interlock.provider.markers import owner_of
from interlock.provider.passed_devices import SERVICE, ProvidedDevice, devices_of
from interlock.resources import Admission, Server

from .faults import Fault, planned
from .host_room import flavor_fields

_ALIAS = "pci_passthrough:alias"
_CODE = "passed devices"
#: Names that a message lists.
_LISTED = 4


def passed_devices(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """What stands in the way of handing out the devices of each host, or of keeping them back afterwards."""
    wanted = dict(_wanted(cloud, admission))
    if wanted and SERVICE not in cloud.login.catalogue.regions:
        what = "the catalogue of the cloud has no Placement, so nobody knows which PCI devices are free"
        yield Fault(_CODE, what, "add the service `placement` to the catalogue")
        return
    for host, (server, count) in sorted(wanted.items()):
        devices = devices_of(cloud, host)
        yield from _listed(host, server, count, devices)
        if not _is_ours(cloud, admission, host):
            yield from _free(host, server, devices)


def _wanted(cloud: Cloud, admission: Admission) -> Iterator[tuple[str, tuple[str, int]]]:
    """Host -> (server, how many devices its flavour asks for), of flavours that ask for any."""
    for name, server in planned(admission, Server):
        fields = flavor_fields(cloud, admission, server.flavor)
        alias = fields["extra_specs"].get(_ALIAS, "") if fields is not None else ""
        count = sum(int(part.rpartition(":")[2]) for part in alias.split(",") if part)
        if count:
            yield server.host, (name, count)


def _listed(host: str, server: str, count: int, devices: tuple[ProvidedDevice, ...]) -> Iterator[Fault]:
    if not devices:
        yield Fault(
            _CODE,
            f"{server}: Placement has no PCI device of {host}, so which are free or kept back nobody knows",
            "set `report_in_placement` and a `device_spec` for each kind of device in `[pci]` of its nova.conf, and "
            "`pci_in_placement` in `[filter_scheduler]` of the scheduler's",
        )
        return
    if len(devices) != count:
        yield Fault(
            _CODE,
            f"{server}: Placement has {len(devices)} PCI devices of {host}, and the flavour asks for {count}: the node "
            "is not handed out whole",
            "let `device_spec` of its nova.conf name the devices of the flavour's aliases and no others",
        )
    reused = [device.name for device in devices if not device.one_time_use]
    if reused:
        yield Fault(
            _CODE,
            f"{server}: {_some(reused)} of {host} {_is(reused)} not for one use: after the server the next one gets "
            "what it left there",
            "say `one_time_use` in every `device_spec` behind the flavour's aliases, and restart nova-compute",
        )


def _free(host: str, server: str, devices: tuple[ProvidedDevice, ...]) -> Iterator[Fault]:
    used = [device.name for device in devices if device.used]
    if used:
        yield Fault(
            _CODE,
            f"{server}: {_some(used)} of {host} {_is(used)} in use by a server that is not this stack's",
            "find it with `openstack resource provider allocation show`, or lock the node to somebody else",
        )
    kept = [device.name for device in devices if device.is_kept_back]
    if kept:
        yield Fault(
            _CODE,
            f"{server}: {_some(kept)} of {host} {_is(kept)} kept back after an earlier server",
            "`interlock settle` for whoever released the node gives them back once it was seen clean; after a server "
            "that never ran set `reserved` to 0 yourself, see docs/how-to/virtual-gpu-nodes.md",
        )


def _is_ours(cloud: Cloud, admission: Admission, host: str) -> bool:
    """True if a server of this stack has the node already."""
    servers = cloud.api("compute").items("/servers/detail", "servers", all_tenants=1, host=host)
    return any(owner_of(server["metadata"].get(KEY, "")) == admission.owner for server in servers)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
