"""A small tenant that tests kill, attack and destroy."""

from __future__ import annotations

from tests.builders.pod64 import ssh_key
from tests.e2e.project import Project

_REQUEST = """\
name: {title}
on_delete: erase
access:
  members: [bob]
  ssh_public_key: {key}
vpods:
  lab:
    machines: 1
    poplar: {{servers: 1, flavor: poplar.quarter, volume: 10GiB}}
buckets:
  results: {{versioning: true}}
"""
STACK = "lyon-initech"
CONFIG = "config:\n  clusters:site: lyon\n  clusters:tenant: initech\n"


def request_of(name: str) -> str:
    """The same tenant under another name, and with a key of its own."""
    return _REQUEST.format(title=name.capitalize(), key=ssh_key(name))


def move_in(project: Project) -> Project:
    """Add the tenant to the project's site, locked and not applied."""
    stacks = project.folder / "stacks"
    (stacks / "lyon/tenants/initech.yaml").write_text(request_of("initech"))
    (stacks / f"Pulumi.{STACK}.yaml").write_text(CONFIG)
    project.must(project.interlock("lock", "initech"))
    project.init(STACK)
    return project
