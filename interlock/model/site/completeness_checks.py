"""`complete:` and what else a site states of plugs: devices that there are, ports that can be empty."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from interlock.model.text.errors import Code

from .completeness import CLOUD_TABLES, SWITCH_TABLES, Table
from .view import SiteView

#: Table -> the section of the file that says what it can be complete of; of all others the inventory does.
_NAMED_IN: dict[Table, str] = {
    "members": "domain",
    "logins": "domain",
    "scopes": "external",
    "networks": "physical_networks",
}


def check_completeness(view: SiteView) -> None:
    """Adds faults of `complete`, of ports that are said to be empty, and of interfaces that lead to a BMC."""
    _check_devices(view)
    _check_empty_ports(view)
    _check_bmcs(view)


def _check_devices(view: SiteView) -> None:
    # Somewhere it is tomorrow already.
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    for table, index, declared in view.file.complete.declared():
        path = ("complete", table, index, "of")
        known = set(view.site.subjects(table))
        others = CLOUD_TABLES.get(table, "a host, machine or device")
        what = "a switch" if table in SWITCH_TABLES else others
        if date.fromisoformat(str(declared.seen)) > tomorrow:
            hint = "write the day on which somebody looked"
            view.faults.add(Code.VALUE, ("complete", table, index, "seen"), f"{declared.seen} is yet to come", hint)
        if not declared.of:
            hint = "name what was looked at; a whole site at once cannot be declared"
            view.faults.add(Code.VALUE, path, "of nothing", hint)
        for name in () if view.faults.short_of(_NAMED_IN.get(table, "")) else declared.of:
            view.faults.need(path, what, name, known)


def _check_empty_ports(view: SiteView) -> None:
    for switch in view.site.switches:
        for port in switch.ports:
            cable = view.site.cable_at.get((switch.name, str(port.port)))
            if port.empty and cable is not None:
                far = view.site.far_end(switch.name, str(port.port))
                message = f"port {port.port} of `{switch.name}` is said to be empty, and a cable leads to {far}"
                hint = "take out `empty: true`, or the cable"
                view.faults.add(Code.CONTRADICTION, view.device_paths[switch.name], message, hint)


def _check_bmcs(view: SiteView) -> None:
    for name, host in view.file.hosts.items():
        if host.bmc is not None and any(host.bmc in listed for listed in host.interfaces.values()):
            message = f"`{host.bmc}` leads to the BMC, and guests cannot reach a network by it"
            hint = "take it out of `interfaces`, or name the interface that leads to the BMC"
            view.faults.add(Code.CONTRADICTION, ("hosts", name, "bmc"), message, hint)
