"""Where a machine takes connections to a port, by `ss` of iproute2: of its own network namespace, before any filter.

What a packet filter lets through is not read: rules of nftables, of a hypervisor and of security groups stand in other
places, and nobody could say of one alone what it lets in.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from interlock.model.site.controller_readings import EVERYWHERE
from interlock.vocabulary.digits import is_number

#: TCP sockets that listen, without a heading, addresses and ports as numbers (ss(8)).
LISTENING = ("ss", "-H", "-l", "-t", "-n")
#: State, two queues, own end, other end.
_COLUMNS, _OWN = 5, 3


def listening_at(said: str, port: int) -> tuple[str, ...] | None:
    """Addresses at which something listens at a port, sorted; none if nothing does; None if it is not understood."""
    found = set[str]()
    for line in said.splitlines():
        words = line.split()
        if not words:
            continue
        where, _, at = words[_OWN].rpartition(":") if len(words) >= _COLUMNS else ("", "", "")
        address = _address(where)
        if address is None or not (is_number(at) or at == EVERYWHERE):
            return None
        if is_number(at) and int(at) == port:
            found.add(address)
    return tuple(sorted(found))


def _address(text: str) -> str | None:
    """As addresses are written elsewhere: without brackets and interface, and IPv4 as IPv4. None: it is none."""
    if text.partition("%")[0] == EVERYWHERE:
        return EVERYWHERE
    try:
        found = ip_address(text.replace("[", "").replace("]", "").partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(found if mapped is None else mapped)
