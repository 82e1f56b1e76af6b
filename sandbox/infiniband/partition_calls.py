"""What UFM's calls on partitions do to a live subnet, and what they see there. No table of its own.

A write changes partitions.conf, sends SIGHUP, and has ended when the ports' tables show it. An answer about members is
read from these tables; only GUIDs that are not in the subnet, for which there is no table, and partitions without a
member come from partitions.conf.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from .partitions import DEFAULT_KEY, FULL, KEY_BITS, ConfiguredPartition, Membership
from .processes import SubnetFailed, wait_until
from .profiles import UfmProfile
from .requests import MTU_CODES, RATE_CODES, MemberRequest, UfmRefused
from .subnet import LiveSubnet, PortTables
from .topology import hex16

#: Seconds within which a write shows in the tables of all ports.
_SHOWN_SECONDS = 10.0

Members = Mapping[int, Membership]
#: What becomes of one partition: None deletes it.
Step = Callable[[ConfiguredPartition | None], ConfiguredPartition | None]


class PartitionCalls:
    """The calls, for one profile. One write at a time."""

    def __init__(self, subnet: LiveSubnet, profile: UfmProfile) -> None:
        self.subnet = subnet
        self.profile = profile
        self._writing = threading.Lock()

    # What is there

    def keys(self) -> list[str]:
        """Every key that is listed."""
        return [f"{key:#x}" for key in sorted(self._listed(self.subnet.tables()))]

    def all(self, *, qos: bool) -> dict[str, Any]:
        """Key -> what is told of it: its GUIDs, or its quality of service."""
        tables, configured = self.subnet.tables(), self._configured()
        return {
            f"{key:#x}": self._told(key, tables, configured.get(key), guids=not qos, qos=qos)
            for key in sorted(self._listed(tables))
        }

    def one(self, key: int, *, guids: bool, qos: bool) -> dict[str, Any] | None:
        """One partition; None if it is not there."""
        tables = self.subnet.tables()
        if key != DEFAULT_KEY and key not in self._listed(tables):
            return None
        return self._told(key, tables, self._configured().get(key), guids=guids, qos=qos)

    def _listed(self, tables: Mapping[int, PortTables]) -> frozenset[int]:
        seen = {row & KEY_BITS for item in tables.values() for row in item.host} | set(self._configured())
        return frozenset(seen if self.profile.lists_default else seen - {DEFAULT_KEY})

    def _configured(self) -> dict[int, ConfiguredPartition]:
        return {item.key: item for item in self.subnet.partitions()}

    def _told(
        self,
        key: int,
        tables: Mapping[int, PortTables],
        configured: ConfiguredPartition | None,
        *,
        guids: bool,
        qos: bool,
    ) -> dict[str, Any]:
        name = "management" if key == DEFAULT_KEY else configured.name if configured else ""
        told: dict[str, Any] = {"partition": name, "ip_over_ib": configured.ip_over_ib if configured else True}
        if guids:
            stale = {
                guid: kind for guid, kind in (configured.members if configured else {}).items() if guid not in tables
            }
            members = {**seen_members(key, tables), **stale}
            told["guids"] = [
                {"guid": hex16(guid), "membership": kind, "index0": _is_first(key, tables.get(guid))}
                for guid, kind in sorted(members.items())
            ]
            if key == DEFAULT_KEY:
                told["membership"] = self.subnet.settings.default_membership
        if qos:
            told["qos_conf"] = _quality(configured.flags if configured else {})
        return told

    # What is done. `half`: the connection breaks in the middle, with half of the members done.

    def add_empty(self, asked: MemberRequest) -> None:
        """POST /resources/pkeys/add. Raises UfmRefused if the key is there."""

        def step(before: ConfiguredPartition | None) -> ConfiguredPartition:
            if before is not None:
                raise UfmRefused(self.profile.duplicate, f"PKey {asked.key:#x} already exists")
            return _made(asked, {})

        self._write(asked.key, step)

    def add_members(self, asked: MemberRequest, *, half: bool = False) -> None:
        """POST /resources/pkeys: whoever is in stays."""
        self._refuse_unknown(asked.members)
        heeded = self.profile.post_heeds_memberships or not asked.each
        members: Members = asked.members if heeded else dict.fromkeys(asked.members, "full")

        def step(before: ConfiguredPartition | None) -> ConfiguredPartition:
            here = before.members if before else {}
            return _made(asked, _reached(here, {**here, **members}, half=half), before)

        self._write(asked.key, step)

    def replace_members(self, asked: MemberRequest, *, half: bool = False) -> None:
        """PUT /resources/pkeys: nobody else is in."""
        self._refuse_unknown(asked.members)

        def step(before: ConfiguredPartition | None) -> ConfiguredPartition:
            return _made(asked, _reached(before.members if before else {}, asked.members, half=half), before)

        self._write(asked.key, step)

    def remove_members(self, key: int, guids: Iterable[int], *, half: bool = False) -> None:
        """DELETE of GUIDs: a partition goes with its last member. Raises UfmRefused if it is not there."""
        gone = frozenset(guids)

        def step(before: ConfiguredPartition | None) -> ConfiguredPartition | None:
            if before is None:
                raise UfmRefused(404, f"PKey {key:#x} not found")
            stays = {guid: kind for guid, kind in before.members.items() if guid not in gone}
            left = _reached(before.members, stays, half=half)
            return replace(before, members=left) if left or not before.members else None

        self._write(key, step)

    def delete(self, key: int, *, half: bool = False) -> None:
        """DELETE of a partition. Raises UfmRefused if it is not there."""

        def step(before: ConfiguredPartition | None) -> ConfiguredPartition | None:
            if before is None:
                raise UfmRefused(404, f"PKey {key:#x} not found")
            return replace(before, members=_reached(before.members, {}, half=True)) if half else None

        self._write(key, step)

    def _refuse_unknown(self, members: Members) -> None:
        if not self.profile.refuses_unknown_guids:
            return
        unknown = sorted(set(members) - set(self.subnet.tables()))
        if unknown:
            raise UfmRefused(404, f"guid {hex16(unknown[0])} not found")

    def _write(self, key: int, step: Step) -> None:
        with self._writing:
            before = self._configured()
            after = step(before.pop(key, None))
            wanted = [*before.values(), *([after] if after else [])]
            try:
                self.subnet.apply(wanted)
                seconds = _SHOWN_SECONDS * self.subnet.patience
                wait_until(lambda: self._shows(key, after), f"tables show {key:#x}", seconds=seconds)
            except SubnetFailed as error:
                raise UfmRefused(503, f"the subnet manager did not take it: {str(error).splitlines()[0]}") from error

    def _shows(self, key: int, wanted: ConfiguredPartition | None) -> bool:
        tables = self.subnet.tables()
        members = {guid: kind for guid, kind in (wanted.members if wanted else {}).items() if guid in tables}
        return seen_members(key, tables) == members


def seen_members(key: int, tables: Mapping[int, PortTables]) -> dict[int, Membership]:
    """Who is in a partition, as the tables of host ports say."""
    found: dict[int, Membership] = {}
    for guid, item in tables.items():
        rows = [row for row in item.host if row & KEY_BITS == key]
        if rows:
            found[guid] = "full" if any(row & FULL for row in rows) else "limited"
    return found


def _reached(before: Members, after: Members, *, half: bool) -> Members:
    """`after`; or what is there once half of the GUIDs that come or change, and half of those that go, have done so."""
    if not half:
        return after
    come = sorted(guid for guid, kind in after.items() if before.get(guid) != kind)
    go = sorted(guid for guid in before if guid not in after)
    late = frozenset((*come[(len(come) + 1) // 2 :], *go[(len(go) + 1) // 2 :]))
    mixed = {guid: kind for guid, kind in after.items() if guid not in late}
    return mixed | {guid: kind for guid, kind in before.items() if guid in late}


def _made(asked: MemberRequest, members: Members, before: ConfiguredPartition | None = None) -> ConfiguredPartition:
    """`index0` and `ip_over_ib` are of the whole partition for OpenSM: the last request says them."""
    return ConfiguredPartition(
        key=asked.key,
        name=asked.name or (before.name if before else f"api_pkey_{asked.key:#x}"),
        members=members,
        index0=asked.index0,
        ip_over_ib=asked.ip_over_ib,
        flags={**(before.flags if before else {}), **asked.flags},
    )


def _is_first(key: int, tables: PortTables | None) -> bool:
    return tables is not None and bool(tables.host) and tables.host[0] & KEY_BITS == key


def _quality(flags: Mapping[str, int]) -> dict[str, Any]:
    mtu = {code: value for value, code in MTU_CODES.items()}
    rate = {code: value for value, code in RATE_CODES.items()}
    return {
        "mtu_limit": mtu[flags.get("mtu", MTU_CODES[2])],
        "service_level": flags.get("sl", 0),
        "rate_limit": rate[flags.get("rate", RATE_CODES[10])],
    }
