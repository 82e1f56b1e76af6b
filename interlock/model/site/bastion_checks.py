"""The bastion's prefixes: nobody but the bastion may be in them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from interlock.model.text.errors import Code

from .view import SiteView

#: First and last address.
Span = tuple[str, str]


def check_bastion(view: SiteView) -> None:
    """Adds faults of prefixes that are none, that are there twice, or that tenants' packets come from as well."""
    bastion, faults = view.file.bastion, view.faults
    if bastion is None:
        return
    if not bastion.prefixes and not faults.lost("bastion", "prefixes"):
        hint = "state the address that servers see, as in 192.0.2.10/32"
        faults.add(Code.VALUE, ("bastion", "prefixes"), "a bastion that comes from nowhere", hint)
    seen = set[str]()
    for index, prefix in enumerate(bastion.prefixes):
        path = ("bastion", "prefixes", index)
        if prefix in seen:
            faults.add(Code.TWICE, path, f"`{prefix}` is there twice")
        seen.add(prefix)
        tenants = next((what for what, span in _of_tenants(view) if meet(prefix, span)), None)
        if tenants is not None:
            message = f"`{prefix}` holds addresses of `{tenants}`, which tenants' packets come from"
            faults.add(Code.CONTRADICTION, path, message, "state the bastion's own addresses alone")


def meet(prefix: str, span: Span) -> bool:
    """True if an address of the span is in the prefix."""
    network = ipaddress.IPv4Network(prefix)
    first, last = (int(ipaddress.IPv4Address(text)) for text in span)
    return int(network[0]) <= last and first <= int(network[-1])


def _of_tenants(view: SiteView) -> Iterator[tuple[str, Span]]:
    yield "external.pool", view.site.external.pool
    for name, (prefix, _) in view.site.pools.subnets_by_name.items():
        network = ipaddress.IPv4Network(prefix)
        yield f"pools.{name}", (str(network[0]), str(network[-1]))
