"""Reading back 1000 objects of a real Neutron by lists, against one GET and one SDK object each.

On an embedded cloud of its own: 500 networks with a subnet each. `by lists` is what `interlock audit` does: every list,
raw JSON, and each object read by its actuator; `one by one` is openstacksdk, one request and one object each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import openstack

from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed
from benchmarks.report import Report, Table, median, options, run
from benchmarks.world import empty_cloud, say
from interlock.provider.actuators import ACTUATORS
from interlock.provider.audit.listing import listed
from interlock.provider.audit.mirror import Mirror
from interlock.provider.clouds import Cloud
from interlock.provider.registers import REGISTERS

ROUNDS = 3
GOAL = 20.0
COUNT = 1000
#: Objects of one request that makes many.
BULK = 50

#: The lists in which a tenant's own objects are: what has to be read to read a tenant back.
OWN = [register for register in REGISTERS if register.kind in ("Network", "Subnet")]


def fill(cloud: Cloud) -> list[tuple[str, str]]:
    """(kind, id) of every object made."""
    api, made = cloud.api("network"), list[tuple[str, str]]()
    api.put(f"/quotas/{cloud.login.project}", {"quota": {"network": -1, "subnet": -1}})
    for first in range(0, COUNT // 2, BULK):
        numbers = range(first, first + BULK)
        networks = [
            {"name": f"n{number}", "provider:network_type": "vxlan", "provider:segmentation_id": 10_000 + number}
            for number in numbers
        ]
        found = [item["id"] for item in api.post("/networks", {"networks": networks})["networks"]]
        subnets = [
            {
                "network_id": ident,
                "ip_version": 4,
                "cidr": f"10.{number // 256}.{number % 256}.0/24",
                "enable_dhcp": False,
            }
            for ident, number in zip(found, numbers, strict=True)
        ]
        made += [("Network", ident) for ident in found]
        made += [("Subnet", item["id"]) for item in api.post("/subnets", {"subnets": subnets})["subnets"]]
    return made


def by_lists(cloud: Cloud, objects: list[tuple[str, str]]) -> int:
    """Read all; returns the number of requests for lists."""
    found = listed(cloud, OWN)
    mirror = Mirror(cloud, found)
    seen = [ACTUATORS[kind].read(mirror, ident) for kind, ident in objects]
    if not all(seen):
        raise BenchmarkFailed("a list lacks what was made")
    return found.requests


def one_by_one(connection: Any, objects: list[tuple[str, str]]) -> int:
    """Read all; returns the number of requests."""
    get: dict[str, Callable[[str], Any]] = {
        "Network": connection.network.get_network,
        "Subnet": connection.network.get_subnet,
    }
    return len([get[kind](ident) for kind, ident in objects])


def timed(call: Callable[[], int]) -> tuple[float, int]:
    """Seconds of wall time, and requests."""
    begun = time.monotonic()
    requests = call()
    return time.monotonic() - begun, requests


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark."""
    machine = Machine.here()
    ways: dict[str, list[tuple[float, int]]] = {"by lists": [], "one by one": []}
    with empty_cloud():
        cloud, connection = Cloud("sandbox"), openstack.connect(cloud="sandbox", app_name="benchmark")
        objects = fill(cloud)
        say(f"{len(objects)} objects")
        for _ in range(chosen.rounds):
            ways["by lists"].append(timed(lambda: by_lists(cloud, objects)))
            ways["one by one"].append(timed(lambda: one_by_one(connection, objects)))
            say(str({way: round(runs[-1][0], 2) for way, runs in ways.items()}))
        connection.close()
    seconds = {way: median([one[0] for one in runs]) for way, runs in ways.items()}
    ratio = seconds["one by one"] / seconds["by lists"]
    return Report(
        name="reading",
        ratios={"one by one / by lists (goal: at least 20)": ratio},
        table=Table(
            ("1000 objects", "requests", "seconds"),
            tuple((way, runs[0][1], seconds[way]) for way, runs in ways.items()),
        ),
        machine=machine,
        runs=[{"what": way, "seconds": one} for way, runs in ways.items() for one, _ in runs],
        remarks=("The goal is reached." if ratio >= GOAL else "The goal is missed.",),
    )


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often (default {ROUNDS})")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
