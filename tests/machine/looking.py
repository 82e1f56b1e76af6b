"""The whole cloud at one moment, out of a few lists; single objects are read out of these lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from interlock.provider.actuators import ACTUATORS
from interlock.provider.calls import Api
from interlock.provider.census import Counted, census
from interlock.provider.clouds import Cloud
from interlock.provider.registers import REGISTERS, Register
from interlock.provider.state import as_seen, declared, differing, recorded_target
from interlock.switches.observed import ObservedSwitch
from tests.support.engine.stack import Stack

#: Kinds of tenants' stacks that these tenants ever have, and that carry a marker.
KINDS = (
    "Project", "ServiceUser", "Network", "Subnet", "Router", "SecurityGroup", "Port", "Server", "Keypair", "Volume",
)  # fmt: skip
LISTS = tuple(register for register in REGISTERS if register.kind in KINDS)

#: Words about an object that change although nobody touches it.
PASSING = ("updated_at", "revision_number", "migration_status")


@dataclass
class Snapshot:
    """Stands for a cloud. What it does not hold it asks for."""

    cloud: Cloud
    lists: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    #: What switches said, each asked once.
    said: dict[tuple[str, str | None], ObservedSwitch] = field(default_factory=dict)

    @property
    def switches(self) -> Snapshot:
        return self

    def now(self, switch: str, mac: str | None) -> ObservedSwitch:
        """What a switch says, at this moment."""
        assert self.cloud.switches is not None
        if (switch, mac) not in self.said:
            self.said[switch, mac] = self.cloud.switches.now(switch, mac)
        return self.said[switch, mac]

    @property
    def login(self) -> Any:
        return self.cloud.login

    @property
    def region(self) -> str:
        return self.cloud.region

    @property
    def retry_policy(self) -> Any:
        return self.cloud.retry_policy

    def api(self, service: str, project: str | None = None) -> Any:
        return _Listed(self, self.cloud.api(service, project), service)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cloud, name)

    def objects(self) -> list[Counted]:
        """Everything that carries a marker."""
        return census(cast(Cloud, self), LISTS)

    def strange(self, service: str, key: str, ident: str) -> Any:
        """One object as it is listed, without what changes by itself; None if it is not there."""
        found = next((item for item in self.lists[service, key] if item["id"] == ident), None)
        return {name: value for name, value in found.items() if name not in PASSING} if found else None

    def in_project(self, project: str) -> list[str]:
        """What still lies in a project, as far as it is listed."""
        owners = ("project_id", "tenant_id", "os-vol-tenant-attr:tenant_id", "default_project_id")
        return [
            f"{key} {item.get('name') or item['id']}"
            for (_, key), items in self.lists.items()
            for item in items
            if project in [item.get(name) for name in owners]
        ]

    def differs(self, stack: Stack, name: str) -> str:
        """How an object is otherwise than the state says; empty if it is not."""
        recorded = stack.state[name]
        item = declared(stack.ever[name].KIND, name, recorded.outputs)
        target = recorded_target(item, recorded.outputs)
        seen = ACTUATORS[item.kind].read(cast(Cloud, self), recorded.id, target)
        if seen is None:
            return "it is gone"
        # The state says in names what an object refers to; of what went, as a server's port, it keeps the id beside.
        told = as_seen(target, seen)
        found = {name for name in differing(target, seen) if name not in told or told[name] != recorded.outputs[name]}
        found |= {seen.reason} if seen.phase != "ready" else set()
        # A marker that somebody took away is missing in the state, too, once that was refreshed.
        if seen.marker == recorded.outputs["marker"]:
            found -= {"marker"}
        return ", ".join(sorted(found))


class _Listed:
    """One service, of which lists are asked for once."""

    def __init__(self, snapshot: Snapshot, api: Api, service: str) -> None:
        self._snapshot = snapshot
        self._api = api
        self._service = service

    def items(self, path: str, key: str, **params: Any) -> Any:
        return self.pages(path, key, params)

    def pages(self, path: str, key: str, params: Mapping[str, Any], **options: Any) -> Any:
        register = _register(self._service, key)
        whole = register is not None and (path, dict(register.query)) == (register.path, dict(params))
        if not whole and path != "/types":
            return self._api.pages(path, key, params, **options)
        where = (self._service, key)
        if where not in self._snapshot.lists:
            self._snapshot.lists[where] = list(self._api.pages(path, key, params, **options))
        return iter(self._snapshot.lists[where])

    def find(self, path: str, **options: Any) -> Any:
        held = re.fullmatch(r"/([a-z-]+)/([^/]+)", path)
        key = held[1].replace("-", "_") if held else ""
        register = _register(self._service, key)
        if held is None or register is None or register.inside:
            return self._api.find(path, **options)
        if register.microversion:
            options = {"microversion": register.microversion}
        items = self.pages(register.path, key, register.query, **options)
        one = key.removesuffix("s")
        return next(({one: item} for item in items if item["id"] == held[2]), None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)


def _register(service: str, key: str) -> Register | None:
    return next((one for one in LISTS if (one.service, one.key) == (service, key)), None)
