"""What stands in for Placement where tests cut off calls, and what cuts them off, of the double or of the real one.

The double keeps what Placement keeps of devices: inventories, who uses them, and a generation that a change must name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from interlock.provider.errors import Failure, Trouble
from interlock.provider.passed_devices import MANAGED, ONE_TIME_USE, SERVICE


@dataclass
class DoubleDevice:
    """One provider below a host."""

    traits: tuple[str, ...] = (MANAGED, ONE_TIME_USE)
    reserved: int = 1
    used: int = 0
    generation: int = 3


@dataclass
class PlacementDouble:
    """Hosts with devices, by name; answers as `Cloud.api` of Placement does."""

    hosts: Mapping[str, Mapping[str, DoubleDevice]]
    #: Server -> what it has, by name.
    allocations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Services of the catalogue.
    regions: tuple[str, ...] = (SERVICE,)

    @property
    def login(self) -> SimpleNamespace:
        """Its catalogue alone."""
        return SimpleNamespace(catalogue=SimpleNamespace(regions=self.regions))

    def api(self, _: str) -> PlacementDouble:
        """Itself, whatever service is asked for."""
        return self

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """The few answers that are asked for."""
        if path == "/resource_providers":
            host = query.get("name") or query["in_tree"].removeprefix("id-")
            return {"resource_providers": list(self._tree(host, whole="in_tree" in query))}
        if path.startswith("/allocations/"):
            return {"allocations": {key: {} for key in self.allocations.get(path.rpartition("/")[2], ())}}
        device, last = self._device(path), path.rpartition("/")[2]
        match path.split("/")[3:]:
            case []:
                return {"name": last}
            case ["traits"]:
                return {"traits": list(device.traits)}
            case ["usages"]:
                return {"usages": {"CUSTOM_GPU": device.used}}
            case _:
                inventory = {"total": 1, "reserved": device.reserved}
                return {"inventories": {"CUSTOM_GPU": inventory}, "resource_provider_generation": device.generation}

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        """Another inventory, if nothing of the device has changed since it was read."""
        device = self._device(path)
        if body["resource_provider_generation"] != device.generation:
            raise Failure(Trouble.CONFLICT, "another generation")
        # A device in use as well: Placement lets that pass.
        device.reserved, device.generation = body["reserved"], device.generation + 1

    def take(self, host: str, name: str) -> None:
        """Somebody gives a device back by hand, and a server has it at once, for which Nova reserves it."""
        device = self.hosts[host][name]
        device.reserved, device.used, device.generation = 1, 1, device.generation + 3

    def _tree(self, host: str, *, whole: bool) -> Iterator[dict[str, str]]:
        if host in self.hosts:
            yield {"name": host, "uuid": f"id-{host}"}
            yield from ({"name": name, "uuid": name} for name in self.hosts[host] if whole)

    def _device(self, path: str) -> DoubleDevice:
        name = path.split("/")[2]
        return next(devices[name] for devices in self.hosts.values() if name in devices)


class CutShort(Exception):
    """The process that asks is gone."""


@dataclass
class CutCloud:
    """A cloud of which a call is the last one: its process is gone before it, or before the answer.

    `happens`: what somebody else does right before that call, which then goes on as do all others.
    """

    cloud: Any
    last: int
    answered: bool = False
    #: Only calls that change something count.
    changes_only: bool = False
    happens: Callable[[], None] | None = None
    count: int = 0

    def api(self, service: str) -> CutCloud:
        """A client of the service that may be cut off."""
        self._api = self.cloud.api(service)
        return self

    def get(self, path: str, **query: Any) -> Any:
        """Reads."""
        return self._asked(lambda: self._api.get(path, **query), counts=not self.changes_only)

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Changes."""
        return self._asked(lambda: self._api.put(path, body), counts=True)

    def _asked(self, call: Callable[[], Any], *, counts: bool) -> Any:
        self.count += counts
        here = counts and self.count == self.last
        if here and self.happens is not None:
            self.happens()
            return call()
        if here and not self.answered:
            raise CutShort
        answer = call()
        if here:
            raise CutShort
        return answer
