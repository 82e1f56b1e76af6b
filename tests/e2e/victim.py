"""A small tenant that tests kill, attack and destroy."""

from __future__ import annotations

from tests.e2e.project import Project

TENANT = """\
name: Initech
on_delete: erase
access:
  members: [bob]
  ssh_public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKr02uEjnP4eKInAoZpd9RjVn5+oETOPEk/TeADGI9jM bob@initech.example
vpods:
  lab:
    machines: 1
    poplar: {servers: 1, flavor: poplar.quarter, volume: 10GiB}
buckets:
  results: {versioning: true}
"""
STACK = "lyon-initech"
CONFIG = "config:\n  clusters:site: lyon\n  clusters:tenant: initech\n"


def move_in(project: Project) -> Project:
    """Add the tenant to the project's site, locked and not applied."""
    stacks = project.folder / "stacks"
    (stacks / "lyon/tenants/initech.yaml").write_text(TENANT)
    (stacks / f"Pulumi.{STACK}.yaml").write_text(CONFIG)
    project.must(project.interlock("lock", "initech"))
    project.init(STACK)
    return project
