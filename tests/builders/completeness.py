"""Worlds of which everything is listed: tests state the world, so what they do not state is not there."""

from __future__ import annotations

from interlock.model.site.completeness import TABLES, Completeness
from interlock.model.site.inventory import Site, Switch, SwitchPortConfig


def declared_complete(site: Site) -> Site:
    """The same site, of which somebody says that all of it is listed.

    Ports without a cable are disabled or empty. A port with a cable and no record stays unknown, so the table of ports
    itself is not declared.
    """
    declared = (
        Completeness(table=table, devices=site.subjects(table), seen="2026-11-20", by="the test")
        for table in TABLES
        if table != "switch_ports"
    )
    closed = tuple(_closed(site, switch) for switch in site.switches)
    fields = {name: getattr(site, name) for name in Site.model_fields}
    fields |= {"switches": closed, "complete": tuple(item for item in declared if item.devices)}
    # Made anew: a copy would keep what the old one cached.
    return Site.model_validate(fields)


def _closed(site: Site, switch: Switch) -> Switch:
    """With nothing behind the ports that have no cable."""
    count = sum(number for _, number in switch.port_groups)
    found = dict(switch.by_port)
    for port in range(1, count + 1):
        if (switch.name, str(port)) not in site.cable_at:
            record = found.get(port, SwitchPortConfig(port=port, mode="disabled"))
            is_open = record.mode != "disabled"
            found[port] = record.model_copy(update={"empty": is_open})
    fields = {name: getattr(switch, name) for name in Switch.model_fields}
    return Switch.model_validate(fields | {"ports": tuple(found[port] for port in sorted(found))})
