"""Devices of GPU nodes below a hypervisor: in the way of settling while a server has them, and given back after it.

Until then they are reserved in Placement, so no server gets them, whoever asks Nova for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Site
from interlock.provider.clouds import Cloud
from interlock.provider.passed_devices import devices_of, give_back
from interlock.vocabulary import nodes

from .handing_over import Handover


def passed_nodes(handover: Handover) -> tuple[str, ...]:
    """The GPU nodes among what is handed over on which Nova runs servers, by name."""
    return tuple(sorted(_passed(handover.site, handover)))


def in_use(cloud: Cloud, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """A sentence for each of these hosts of which some device is in use. Raises `Failure`."""
    found = ((host, [device.name for device in devices_of(cloud, host) if device.used]) for host in hosts)
    return tuple(f"placement: {len(used)} devices of {host} are in use, as {used[0]}" for host, used in found if used)


def given_back(cloud: Cloud, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Ends their reservation; a sentence for each host where something was reserved. Raises `Failure`."""
    found = ((host, give_back(cloud, host)) for host in hosts)
    return tuple(f"{host}: {len(names)} devices are given back to Nova" for host, names in found if names)


def _passed(site: Site, handover: Handover) -> Iterator[str]:
    for demand in handover.demands:
        match nodes.parse(demand.identity):
            case nodes.HeldHost(serial) if serial in site.host_of:
                host = site.host[site.host_of[serial]]
                if host.is_passed_on:
                    yield host.name
