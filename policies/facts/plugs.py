"""Plugs of machines: which parts are at one its model says, never how somebody calls it."""

from __future__ import annotations

from interlock.hardware import MACHINE_PLUGS
from interlock.model.site.inventory import Endpoint, Site
from policies.about import Fact, SaidFact


def parts_at(site: Site, end: Endpoint) -> tuple[str, ...]:
    """Which parts of a machine are at a plug, by its model: a management port carries gateway and BMC.

    None for a plug that the model does not have, and for whatever is no machine.
    """
    machine = site.machine.get(end.device)
    return () if machine is None else MACHINE_PLUGS[machine.generation].get(end.interface, ())


def plug_doubt(site: Site, end: Endpoint) -> tuple[Fact, ...]:
    """What nobody knows of a plug that the machine's model does not have: it may be any part's."""
    unknown = end.device in site.machine and not parts_at(site, end)
    return (SaidFact(f"which plug of {end.device} `{end.interface}` is"),) if unknown else ()
