"""What is asked of readings of V-IPU controllers, and what one of them said (`interlock controllers --record`)."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final

from pydantic import Field, field_serializer

from interlock.model.evidence.values import Age, age_text
from interlock.model.text.validation import FileModel
from interlock.resources import Frozen

#: Command that writes them again.
RENEW_CONTROLLERS: Final = "interlock controllers --record"
MAX_AGE_H, BACKUP_H = 30 * 24, 7 * 24
#: Where something listens at every address, of IPv4 and of IPv6.
EVERYWHERE: Final = "*"


class ControllerReadings(FileModel):
    """How old readings and backups may be. A site that states it wants a reading of each controller."""

    max_age: Age = Field(default=MAX_AGE_H, description="how old a reading may be; an older one counts for nothing")
    backup: Age = Field(default=BACKUP_H, description="how old the backup of a controller's state may be")

    @field_serializer("max_age", "backup")
    def _as_written(self, hours: int) -> str:
        return age_text(hours)


class ControllerSeen(Frozen):
    """What one file of evidence says of a controller. None: nobody said it."""

    #: Its plan name, and whose plan it is of.
    name: str
    tenant: str
    #: The file, relative to the site's folder.
    file: str
    #: When it was asked, as in `2026-11-23T10:05:00Z`.
    read: str
    by: str
    release: str | None = None
    #: Agent -> its release.
    agents: dict[str, str | None] = {}
    keys_asked: bool | None = None
    certificates: bool | None = None
    #: `ipv4`, `ipv6` -> whether its machine forwards nothing.
    forwarding_off: dict[str, bool | None] = {}
    #: Whether a place of backups was looked into.
    backup_read: bool = False
    #: Up to when its state is in the backup, in the same form; empty: there is none.
    backup_state: str = ""
    backup_certificates: bool = False
    #: Port of its admin API, and where something listens at it; `*` is every address.
    admin_port: int | None = None
    admin_addresses: tuple[str, ...] = ()
    #: False: a key stands in the user data on its machine.
    user_data_clean: bool | None = None

    def too_old(self, now: datetime.datetime, max_age_h: int) -> str:
        """Why it does not count at a moment; empty if it does."""
        if now - datetime.datetime.fromisoformat(self.read) > datetime.timedelta(hours=max_age_h):
            return f"the reading of {self.name} is of {self.read}, older than {age_text(max_age_h)}"
        return ""


def open_within(addresses: Iterable[str], prefixes: Collection[IPv4Network | IPv6Network]) -> tuple[str, ...]:
    """The addresses at which a machine with an address in each of these prefixes takes calls from there."""
    return tuple(item for item in addresses if any(_is_within(item, prefix) for prefix in prefixes))


def _is_within(address: str, prefix: IPv4Network | IPv6Network) -> bool:
    if address == EVERYWHERE:
        return True
    found = ip_address(address)
    # At `::` also by the address that each interface has on its link.
    return (found.version == 6 or prefix.version == 4) if found.is_unspecified else found in prefix
