"""PCI devices of hypervisors as Placement has them: who uses one, and which are kept back after their server.

Nova makes a resource provider below its host's for each device, with the trait `COMPUTE_MANAGED_PCI_DEVICE`
(`[pci] report_in_placement`). A device for one use has `HW_PCI_ONE_TIME_USE` as well: Nova reserves it while a server
has it, and nobody but an operator sets that back (Nova admin guide, PCI passthrough, one-time-use devices).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from interlock.resources import Server

from .clouds import Cloud
from .errors import Failure, Trouble, refused
from .state import Declared

MANAGED, ONE_TIME_USE = "COMPUTE_MANAGED_PCI_DEVICE", "HW_PCI_ONE_TIME_USE"
SERVICE = "placement"


@dataclass(frozen=True)
class ProvidedDevice:
    """One device, as Placement says at one moment."""

    provider: str
    #: `<host>_<PCI address>`.
    name: str
    resource_class: str
    #: Its inventory and the generation of the provider: with both it is changed, or not if somebody was first.
    inventory: dict[str, Any]
    generation: int
    used: int
    one_time_use: bool

    @property
    def is_kept_back(self) -> bool:
        """Reserved, and no server has it."""
        return self.inventory["reserved"] >= self.inventory["total"] and not self.used


def devices_of(cloud: Cloud, host: str) -> tuple[ProvidedDevice, ...]:
    """The devices below one hypervisor, by name; none where Placement does not know the host. Raises `Failure`."""
    api = cloud.api(SERVICE)
    roots = api.get("/resource_providers", name=host)["resource_providers"]
    if not roots:
        return ()
    tree = api.get("/resource_providers", in_tree=roots[0]["uuid"])["resource_providers"]
    below = sorted((item["name"], item["uuid"]) for item in tree if item["uuid"] != roots[0]["uuid"])
    return tuple(device for name, ident in below for device in _devices(cloud, name, ident))


def _devices(cloud: Cloud, name: str, ident: str) -> Iterator[ProvidedDevice]:
    api, path = cloud.api(SERVICE), f"/resource_providers/{ident}"
    traits = api.get(f"{path}/traits")["traits"]
    if MANAGED not in traits:
        return
    # Inventories first: a server that gets the device after this makes the generation another one.
    found = api.get(f"{path}/inventories")
    usages = api.get(f"{path}/usages")["usages"]
    for resource_class, inventory in sorted(found["inventories"].items()):
        generation, used = found["resource_provider_generation"], usages.get(resource_class, 0)
        reused = ONE_TIME_USE in traits
        yield ProvidedDevice(ident, name, resource_class, dict(inventory), generation, used, reused)


def give_back(cloud: Cloud, host: str) -> tuple[str, ...]:
    """Ends the reservation of each device for one use below a host; the names of those.

    None is touched while one is in use: Placement would let that pass, and the device would go to the next server as
    its last one left it. Raises `Failure`, also where somebody got a device in between.
    """
    devices = devices_of(cloud, host)
    used = [device.name for device in devices if device.used]
    if used:
        raise Failure(
            Trouble.CONFLICT,
            f"PCI devices of {host} are not given back: {', '.join(used)} {'is' if len(used) == 1 else 'are'} in use",
            "delete the server that has them, and clean the node again",
        )
    kept = [device for device in devices if device.one_time_use and device.inventory["reserved"]]
    for device in kept:
        path = f"/resource_providers/{device.provider}/inventories/{device.resource_class}"
        # Of an older generation Placement refuses it.
        body = device.inventory | {"reserved": 0, "resource_provider_generation": device.generation}
        cloud.api(SERVICE).put(path, body)
    return tuple(device.name for device in kept)


def check_redone(
    cloud: Cloud, item: Declared, ident: str, host: str | None, fields: Collection[str] = ("--replace",)
) -> None:
    """Raises `Failure` if a server is to be replaced on its host, and has devices that no other server would get.

    `host`: where the next one is planned. Nova would delete it and find no host for the next one, which would wait for
    whoever gives the devices back: on another host, or without such devices, nothing stands in the way.
    """
    if not isinstance(item.spec, Server) or item.spec.host != host or SERVICE not in cloud.login.catalogue.regions:
        return
    kept = _reserved_of(cloud, ident)
    if kept is None:
        return
    raise refused(
        f"Server {item.name} ({ident}) is not replaced on {host}, for {', '.join(sorted(fields))}: its devices, as "
        f"{kept}, are for one use, and Nova gives them to no other server until the node was settled",
        "say `state: released` for its cluster, run `interlock lock` and `pulumi up`, settle the nodes, then say "
        "`state: present` and what is new; of one node: name it under `without`",
    )


def _reserved_of(cloud: Cloud, server: str) -> str | None:
    """A device for one use that a server has and that is reserved, by name; None if it has none."""
    api = cloud.api(SERVICE)
    for provider in sorted(api.get(f"/allocations/{server}")["allocations"]):
        path = f"/resource_providers/{provider}"
        if ONE_TIME_USE not in api.get(f"{path}/traits")["traits"]:
            continue
        if any(found["reserved"] for found in api.get(f"{path}/inventories")["inventories"].values()):
            return str(api.get(path)["name"])
    return None
