"""A site and one tenant with every kind, made through the servicer in this process: for tests of the provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.provider.clouds import Cloud
from tests.support.cloud.nodes import enrolled
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world.declared import metal_leg, site, tenant

#: On which the tenant's whole host is deployed and cleaned.
SERVICE_VLAN = 3090
SITE_OWNER, OWNER = "5172e0", "0a11ce"

#: Lists of what a site and a tenant have on the network.
NETWORK = (
    "networks", "subnets", "routers", "floatingips", "ports", "security-groups", "subnetpools", "address-scopes",
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """The stacks that exist, and what was on the network before them."""

    site: Stack
    tenant: Stack
    before: dict[str, frozenset[str]]


def on_the_network(cloud: Cloud) -> dict[str, frozenset[str]]:
    """Ids of everything on the network, by list."""
    api = cloud.api("network")
    return {
        path: frozenset(str(item["id"]) for item in api.items(f"/{path}", path.replace("-", "_"))) for path in NETWORK
    }


@contextmanager
def small_world(cloud: Cloud, folder: Path) -> Iterator[World]:
    """A site and a tenant, as an `up` of each makes them; afterwards nothing of them is left."""
    processes = [Process(), Process()]
    objects: Any = {"site_owner": SITE_OWNER, "folder": folder}
    operators = Stack(processes[0], "lyon-site", SITE_OWNER, site("prov", 700), **objects)
    alice = Stack(processes[1], "lyon-alice", OWNER, tenant("alice", 2100), **objects)
    with enrolled(cloud, "node-alice", SERVICE_VLAN, metal_leg(2100)):
        # The node's own network is the operator's, and is there before and after.
        yield from _made(operators, alice, on_the_network(cloud), processes)


def _made(
    operators: Stack, alice: Stack, before: dict[str, frozenset[str]], processes: list[Process]
) -> Iterator[World]:
    try:
        for stack in (operators, alice):
            assert stack.admit(preview=False) == []
            stack.create_all()
        yield World(operators, alice, before)
    finally:
        for stack in (alice, operators):
            stack.delete_all()
        for process in processes:
            process.close()
