"""Sites that know less: one fact made unknown, or one record deleted together with its table's declaration.

Requests, plans, locks and policy (sharing, audiences, waivers) stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.model.site.completeness import Table
from interlock.model.site.inventory import Cable, Host, Site, Switch


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten, in words, and the site without it."""

    what: str
    site: Site = field(repr=False)

    def __str__(self) -> str:
        return self.what


def less(site: Site) -> Iterator[Forgotten]:
    """Every way to know one thing less."""
    yield from _declarations(site)
    yield from _cables(site)
    for switch in site.switches:
        yield from _of_switch(site, switch)
    for host in site.hosts:
        yield from _of_host(site, host)
    yield from _guards(site)
    yield from _terms(site)


def changed(site: Site, **fields: Any) -> Site:
    """The site with whole fields replaced; a copy would keep what the old one cached."""
    return Site.model_validate({name: getattr(site, name) for name in Site.model_fields} | fields)


def undeclared(site: Site, table: Table, *devices: str) -> Site:
    """Without the declaration of a table, of these devices."""
    kept = (
        item
        if item.table != table
        else item.model_copy(update={"devices": tuple(name for name in item.devices if name not in devices)})
        for item in site.complete
    )
    return changed(site, complete=tuple(kept))


def _declarations(site: Site) -> Iterator[Forgotten]:
    for item in site.complete:
        for name in item.devices:
            yield Forgotten(f"complete.{item.table}.{name}", undeclared(site, item.table, name))


def _cables(site: Site) -> Iterator[Forgotten]:
    for name in (*site.host, *site.machine):
        yield Forgotten(f"all cables of {name}", without_cables(site, name))
    for cable in site.cables:
        if cable.kind == "power":
            continue
        kept = tuple(other for other in site.cables if other != cable)
        yield Forgotten(f"cable {cable.a} {cable.b}", _without_ends(changed(site, cables=kept), cable))


def without_cables(site: Site, device: str) -> Site:
    """Nobody knows where a device is plugged in."""
    gone = [item for item in site.cables if item.kind != "power" and device in (item.a.device, item.b.device)]
    found = changed(site, cables=tuple(item for item in site.cables if item not in gone))
    for item in gone:
        found = _without_ends(found, item)
    return found


def _without_ends(site: Site, cable: Cable) -> Site:
    ends = {cable.a.device, cable.b.device}
    return undeclared(undeclared(site, "cables", *ends), "attachments", *ends)


def _of_switch(site: Site, switch: Switch) -> Iterator[Forgotten]:
    for port in switch.ports:
        kept = tuple(item for item in switch.ports if item != port)
        found = _with_switch(site, switch, ports=kept)
        yield Forgotten(f"port {switch.name}:{port.port}", undeclared(found, "switch_ports", switch.name))
        for name, value in (("tag_native", port.tag_native), ("empty", port.empty or None)):
            if value is not None:
                said = port.model_copy(update={name: None if name == "tag_native" else False})
                ports = tuple(said if item == port else item for item in switch.ports)
                yield Forgotten(f"{name} of {switch.name}:{port.port}", _with_switch(site, switch, ports=ports))
    for name in ("ip_routing", "routed_vlans"):
        if getattr(switch, name) is not None:
            yield Forgotten(f"{name} of {switch.name}", _with_switch(site, switch, **{name: None}))
    for name in ("vrfs", "vteps", "routed_vlans"):
        for record in getattr(switch, name) or ():
            kept = tuple(item for item in getattr(switch, name) if item != record)
            found = _with_switch(site, switch, **{name: kept})
            yield Forgotten(f"{name} {record} of {switch.name}", undeclared(found, "routing", switch.name))


def _with_switch(site: Site, switch: Switch, **fields: Any) -> Site:
    said = Switch.model_validate({name: getattr(switch, name) for name in Switch.model_fields} | fields)
    return changed(site, switches=tuple(said if item.name == switch.name else item for item in site.switches))


def _of_host(site: Site, host: Host) -> Iterator[Forgotten]:
    if host.bmc is not None:
        yield Forgotten(f"bmc of {host.name}", _with_host(site, host, bmc=None))


def _with_host(site: Site, host: Host, **fields: Any) -> Site:
    said = host.model_copy(update=fields)
    return changed(site, hosts=tuple(said if item.name == host.name else item for item in site.hosts))


def _guards(site: Site) -> Iterator[Forgotten]:
    for index, item in enumerate(site.assumptions):
        for name in item.guards:
            said = item.model_copy(update={"guards": item.guards | {name: None}})
            found = (*site.assumptions[:index], said, *site.assumptions[index + 1 :])
            yield Forgotten(f"assumptions.{item.id}.{name}", changed(site, assumptions=found))
    for index, entry in enumerate(site.sharing):
        for name in entry.guards:
            told = entry.model_copy(update={"guards": entry.guards | {name: None}})
            shared = (*site.sharing[:index], told, *site.sharing[index + 1 :])
            yield Forgotten(f"sharing.{entry.name}.guards.{name}", changed(site, sharing=shared))


def _terms(site: Site) -> Iterator[Forgotten]:
    for underlay in site.underlays:
        told = (
            item.model_copy(update={"neutron": None}) if item.name == underlay.name else item for item in site.underlays
        )
        yield Forgotten(f"underlays.{underlay.name}.neutron", changed(site, underlays=tuple(told)))
    for flavor in site.flavors:
        if flavor.devices is not None:
            said = (
                item.model_copy(update={"devices": None}) if item.name == flavor.name else item for item in site.flavors
            )
            yield Forgotten(f"flavors.{flavor.name}.devices", changed(site, flavors=tuple(said)))
