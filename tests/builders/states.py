"""Sites where some machines or hosts are out of service."""

from __future__ import annotations

from typing import TypeVar

from interlock.model.site.inventory import Host, Machine, Site
from interlock.model.site.physical import ServiceState

D = TypeVar("D", Machine, Host)

DEAD = "RNIC dead, ticket 123"


def out(site: Site, *names: str, state: ServiceState = "failed", reason: str = DEAD) -> Site:
    """The site with these machines and hosts out of service; made anew, as a copy keeps what was looked up before."""
    assert set(names) <= {*site.machine, *site.host}

    def changed(items: tuple[D, ...]) -> tuple[D, ...]:
        update = {"state": state, "state_reason": reason}
        return tuple(item.model_copy(update=update) if item.name in names else item for item in items)

    fields = {name: getattr(site, name) for name in Site.model_fields}
    return Site(**fields | {"machines": changed(site.machines), "hosts": changed(site.hosts)})
