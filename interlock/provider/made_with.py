"""What servers and whole hosts were made with, as the cloud says it: their user data, and the key of their key pair.

Nova and Ironic give a server the key that its pair has when the server is made, and nobody can ask for it afterwards:
only the name of the pair stays. So the key of a server is that of the pair of its name if the server was made later
than the pair, and unknown otherwise. Reads only.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from interlock.vocabulary.markers import Marker
from interlock.vocabulary.owners import OwnerId

from .actuators.bare_metal_node import DEPLOYED_WITH, node_named
from .clouds import Cloud
from .registers import REGISTERS, Register, marker_of, plain_id

#: Kinds that people log in to.
OPENED = ("Server", "BareMetalServer")


@dataclass(frozen=True)
class MadeWith:
    """One server or whole host that is there."""

    kind: str
    #: Plan name.
    name: str
    id: str
    user_data: str = ""
    #: Of the key pair that it was made with; empty: it has none, or nobody knows.
    public_key: str = ""
    #: Why nobody knows all that it was made with; empty: it is known.
    unknown: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.id})"


def made_with(cloud: Cloud, owner: OwnerId) -> Iterator[MadeWith]:
    """Of everything with one owner id that people log in to. Raises `Failure` if it cannot be asked for."""
    look = _Looking(cloud)
    for register in (item for item in REGISTERS if item.kind in OPENED):
        for item in register.objects(cloud):
            mark = Marker.named(marker_of(item, register))
            if mark is not None and mark.owner == owner:
                yield look.at(register, mark.name, item)


class _Looking:
    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._pair = cache(self._find_pair)

    def at(self, register: Register, name: str, item: Mapping[str, Any]) -> MadeWith:
        read = self._of_server if register.kind == "Server" else self._of_host
        return MadeWith(register.kind, name, plain_id(item), *read(item))

    def _of_server(self, item: Mapping[str, Any]) -> tuple[str, str, str]:
        encoded = item["OS-EXT-SRV-ATTR:user_data"] or ""
        try:
            document = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return "", "", "its user data are no text"
        if item["user_id"] != self._cloud.login.user and item["key_name"]:
            return document, "", f"its key pair {item['key_name']} is another user's"
        return document, *self._key(item["key_name"], item["created"])

    def _of_host(self, item: Mapping[str, Any]) -> tuple[str, str, str]:
        """An allocation comes before the deployment, so a pair that is older than it was there at the deployment."""
        node = node_named(self._cloud, item["node_uuid"]) if item["node_uuid"] else None
        said = node["instance_info"].get(DEPLOYED_WITH) if node is not None else None
        if said is None:
            return "", "", "no node says what it was deployed with"
        return said["user_data"], *self._key(said["keypair"], item["created_at"])

    def _key(self, name: str | None, made: str) -> tuple[str, str]:
        """(key, why it is not known) of what was made at a time with the pair of a name."""
        if not name:
            return "", ""
        pair = self._pair(name)
        if pair is None:
            return "", f"its key pair {name} is not there any more"
        if _moment(made) <= _moment(pair["created_at"]):
            return "", f"it is as old as its key pair {name}, or older: which key the pair had then nobody can say"
        return str(pair["public_key"]), ""

    def _find_pair(self, name: str) -> Mapping[str, Any] | None:
        found = self._cloud.api("compute").find(f"/os-keypairs/{name}")
        return None if found is None else found["keypair"]


def _moment(text: str) -> datetime:
    """In whole seconds, since Nova says no more of servers; without a zone it is UTC."""
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
