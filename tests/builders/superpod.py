"""Nodes and tenants of the site `superpod`, and of halls like it of other sizes.

`python -m tests.builders.superpod` writes `nodes.csv` and the requests of the tenants again. Serials, MAC addresses and
GUIDs are numbered by place, and are those of no real device.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.builders.pod64 import ssh_key

STACKS = Path(__file__).resolve().parents[2] / "stacks"
SITE = "superpod"
#: Places of a scalable unit; in the last unit of a hall the last place is UFM's.
PLACES = 32
RAILS = 8

#: Tenant -> its clusters: nodes of each, and the scheduler where it is not `none`. 124 of 127 nodes in all.
TENANTS: dict[str, dict[str, tuple[int, str]]] = {
    # More than a unit has: a whole one, and 8 nodes of another.
    "acme": {"train": (40, "slurm")},
    # As many as the last unit has beside UFM.
    "globex": {"train": (31, "slurm")},
    "initech": {"train": (16, "slurm")},
    "hooli": {"train": (8, "slurm")},
    "umbrella": {"tune": (4, "slurm"), "serve": (2, "")},
    "cyberdyne": {"tune": (4, "")},
    "soylent": {"tune": (4, "")},
    "tyrell": {"tune": (3, "")},
    "wonka": {"tune": (2, "")},
    "stark": {"tune": (2, "")},
    "wayne": {"tune": (2, "")},
    "oscorp": {"tune": (2, "")},
    "aperture": {"lab": (1, "")},
    "dunder": {"lab": (1, "")},
    "vandelay": {"lab": (1, "")},
    "gekko": {"lab": (1, "")},
}

HEADER = """\
# yaml-language-server: $schema=../../../docs/schema/tenant.schema.json
"""
REQUEST = """\
name: {title}
on_delete: erase
access:
  members: [{member}]
  # An example, whose private half nobody kept.
  ssh_public_key: {key}
clusters:
"""


def places(units: int) -> Iterator[tuple[int, int]]:
    """(unit, number) of each place that a node can have."""
    for unit in range(1, units + 1):
        for number in range(1, PLACES + 1):
            if (unit, number) != (units, PLACES):
                yield unit, number


def inventory(units: int) -> str:
    """The CSV file of a hall of so many units, each place taken."""
    rails = range(1, RAILS + 1)
    head = ["place", "serial", "mac in-band1", "mac bmc", *(f"guid compute{rail}" for rail in rails)]
    return "\n".join([",".join(head), *(_line(unit, number) for unit, number in places(units))]) + "\n"


def _line(unit: int, number: int) -> str:
    guids = (f"0x0002c9{unit:02x}{number:02x}00{rail:04x}" for rail in range(1, RAILS + 1))
    macs = (f"02:00:{kind}:00:{unit:02x}:{number:02x}" for kind in ("0c", "0d"))
    return ",".join([f"su{unit:02}-n{number:02}", f"PLACEHOLDER-DGX-{unit}-{number}", *macs, *guids])


def request(name: str, clusters: dict[str, tuple[int, str]]) -> str:
    """The file of a tenant."""
    lines = [
        f"  {cluster}: {{nodes: {nodes}, type: dgx-h100, image: gpu-node{scheduler and f', scheduler: {scheduler}'}}}\n"
        for cluster, (nodes, scheduler) in clusters.items()
    ]
    return HEADER + REQUEST.format(title=name.capitalize(), member=f"{name}-ops", key=ssh_key(name)) + "".join(lines)


def main() -> int:
    """Write the files."""
    folder = STACKS / SITE
    (folder / "nodes.csv").write_text(inventory(4), encoding="utf-8")
    for name, clusters in TENANTS.items():
        (folder / "tenants" / f"{name}.yaml").write_text(request(name, clusters), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
