"""The nodes of a cluster by name, as `/etc/hosts`: no name server knows them.

The file is written whole, so it says localhost, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .document import Part
from .files import GuestFile

HOSTS = "/etc/hosts"

_OWN = """\
127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
"""


@dataclass(frozen=True)
class Peer:
    """One node of a cluster: its host name, and its address in band."""

    name: str
    address: str


def hosts_file(peers: Sequence[Peer]) -> Part:
    """The file with every node of the cluster, the server itself among them."""
    lines = "".join(f"{peer.address} {peer.name}\n" for peer in peers)
    return Part(files=(GuestFile(HOSTS, f"{_OWN}{lines}"),))
