"""The peer of loading: the same files read with PyYAML (C loader) and json, validated with plain pydantic models.

It fills in no defaults, expands no short form, looks up no name, knows no line of a file and checks no hash: it is
what a reader of such files costs that does nothing but look at their shape.

python -m benchmarks.plain FOLDER     the folder of one site; prints how many files there were
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A mapping without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Access(Strict):
    """`access:` of a tenant."""

    members: list[str] = []
    ssh_public_key: str
    ssh_from: list[str] = []


class Poplar(Strict):
    """`poplar:` of a vPOD."""

    servers: int = 1
    flavor: str | None = None
    image: str | None = None
    volume: str | None = None


class VPod(Strict):
    """One vPOD."""

    machines: int
    poplar: Poplar = Poplar()


class Bucket(Strict):
    """One bucket."""

    versioning: bool = True


class Tenant(Strict):
    """`tenants/<id>.yaml`."""

    name: str
    access: Access
    vpods: dict[str, VPod]
    buckets: dict[str, Bucket] = {}


class Lock(BaseModel):
    """`tenants/<id>.lock.json`."""

    format: int
    id: str
    owner: str
    serial: int
    request: str
    site: str
    allocation: dict[str, dict[str, dict[str, Any]]]
    released: list[dict[str, str]]
    footprint: dict[str, Any]
    hash: str


class Devices(BaseModel):
    """Machines or servers of a rack."""

    names: str
    serials: str


class Switch(BaseModel):
    """A switch of a rack."""

    name: str
    serial: str
    ports: dict[str, str]


class Rack(BaseModel):
    """A rack of a site."""

    name: str
    design: str
    machines: Devices
    poplar: Devices
    tor: Switch
    management: Switch


class Site(BaseModel):
    """`site.yaml`."""

    name: str
    cloud: str
    racks: list[Rack]
    hosts: dict[str, dict[str, Any]]
    cables: list[dict[str, list[str]]]
    physical_networks: dict[str, list[str]]
    pools: dict[str, Any]


def read_all(folder: Path) -> int:
    """Read and validate a site's folder; returns how many files there were."""
    Site.model_validate(_yaml(folder / "site.yaml"))
    tenants = [Tenant.model_validate(_yaml(file)) for file in sorted((folder / "tenants").glob("*.yaml"))]
    files = sorted((folder / "tenants").glob("*.lock.json"))
    locks = [Lock.model_validate(json.loads(file.read_text())) for file in files]
    return 1 + len(tenants) + len(locks)


def _yaml(file: Path) -> Any:
    return yaml.load(file.read_text(), Loader=yaml.CSafeLoader)


if __name__ == "__main__":
    print(read_all(Path(sys.argv[1])))
