"""What the bare script tells a V-IPU controller: commands as a person types them, with no look before or after.

How a controller is reached stands in `vipu.yaml`, beside the `clouds.yaml` in use.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import yaml

from benchmarks.bare_operator import Ids, Operator, Spec


def agent(_operator: Operator, spec: Spec, ids: Ids) -> str:
    """A machine's agent."""
    return _told(spec, ids, "create", "agent", spec["name"], "--host", spec["host"], "--port", str(spec["port"]))


def cluster(_operator: Operator, spec: Spec, ids: Ids) -> str:
    """Agents as one cluster; the command waits until it is there."""
    agents = ",".join(_named(ids[item]) for item in spec["agents"])
    return _told(spec, ids, "create", "cluster", spec["name"], "--agents", agents, "--topology", spec["topology"])


def allocation(_operator: Operator, spec: Spec, ids: Ids) -> str:
    """All agents of a cluster."""
    return _told(spec, ids, "create", "allocation", spec["name"], "--cluster", _named(ids[spec["cluster"]]))


def user(_operator: Operator, spec: Spec, ids: Ids) -> str:
    """A user of allocations; its key is forgotten."""
    allocations = ",".join(_named(ids[item]) for item in spec["allocations"])
    return _told(spec, ids, "create", "user", spec["name"], "--allocations", allocations)


def partition(_operator: Operator, spec: Spec, ids: Ids) -> str:
    """IPUs of an allocation; the command waits until they are a partition."""
    words = ["--size", str(spec["ipus"]), "--allocation", _named(ids[spec["allocation"]])]
    words += ["--num-gcds", str(spec["gcds"]), "--total-num-replicas", str(spec["replicas"])]
    words += ["--sync-type", spec["sync_type"]]
    return _told(spec, ids, "create", "partition", spec["name"], *words, program="user_command")


def _told(spec: Spec, ids: Ids, *words: str, program: str = "command") -> str:
    server = ids[spec["controller"]]
    file = Path(os.environ["OS_CLIENT_CONFIG_FILE"]).with_name("vipu.yaml")
    entry = yaml.safe_load(file.read_text(encoding="utf-8"))["controllers"]["default"]
    command = [word.replace("{server}", server) for word in entry[program]]
    # Quiet: the answer to `create user` tells its key.
    subprocess.run([*command, *words], check=True, stdout=subprocess.DEVNULL)
    return f"{server}/{spec['name']}"


def _named(ident: str) -> str:
    return ident.partition("/")[2]
