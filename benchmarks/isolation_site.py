"""The tenants of a fleet as a real site, for `interlock check`: files and locks, with the same pairs on one VLAN.

Every tenant is one of `benchmarks.halls`: a machine, a server, a volume and a bucket, of which a plan has 34 resources.
The second of each pair pins the VLAN that the first one has. What the fleet's bridging servers do cannot be written in
these files, so those conflicts are not in the site.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from benchmarks.halls import SITE, measured, tenant_name, write_halls
from benchmarks.isolation_fleet import Fleet, Pair

#: `interlock check` ends with this where it finds something, and here it must.
VIOLATED = 1
CHECK = f'"$@"; test $? -eq {VIOLATED}'


def check(fleet: Fleet, folder: Path) -> list[str | Path]:
    """The command; the site is made, and all of it locked, the first time."""
    stacks = folder / "stacks"
    if not stacks.exists():
        _write(fleet, stacks)
    environment = ["env", f"INTERLOCK_STACKS={stacks}", "NO_COLOR=1"]
    ours = [sys.executable, "-P", "-m", "infra.cli", "check", "--site", SITE, "--format", "json"]
    return ["sh", "-c", CHECK, "sh", *environment, *ours]


def pairs_of(_: Fleet, said: str) -> set[Pair]:
    """The pairs of tenants that ISO-01 finds on one segment: whose plan it is, and whose locks the finding names."""
    found: set[Pair] = set()
    for report in json.loads(said)["stacks"]:
        for finding in report["findings"]:
            if finding["rule"] == "ISO-01" and finding["verdict"] == "violated":
                named = re.findall(rf"(?:{SITE}-|lock:)t(\d+)", " ".join([report["stack"], *finding["about"]]))
                first, second = sorted(set(named))
                found.add((_in_fleet(first), _in_fleet(second)))
    return found


def _write(fleet: Fleet, stacks: Path) -> None:
    write_halls(stacks, len(fleet.tenants))
    measured(stacks, "infra.cli", "lock", "--site", SITE)
    tenants = stacks / SITE / "tenants"
    pinned = []
    for first, second in sorted(fleet.on_one_vlan):
        one, two = _in_site(first), _in_site(second)
        taken = json.loads((tenants / f"{one}.lock.json").read_text())["allocation"]["vpods"]["train"]["ipu_data_vlan"]
        with (tenants / f"{two}.yaml").open("a") as file:
            file.write(f"pins: {{train: {{ipu_data_vlan: {taken}}}}}\n")
        pinned.append(two)
    measured(stacks, "infra.cli", "lock", "--site", SITE, *pinned)


def _in_site(tenant: str) -> str:
    """The fleet counts from 0, the site from 1."""
    return tenant_name(int(tenant[1:]) + 1)


def _in_fleet(number: str) -> str:
    return f"t{int(number) - 1:06}"
