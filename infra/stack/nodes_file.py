"""The file of what is to be enrolled at Ironic for a site, as `interlock nodes` prints it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infra.program.places import stacks
from interlock.model.load import load_site_of_fleet
from interlock.model.lock.files import SITE, load_lock, lock_file
from interlock.model.lock.record import SiteLock
from interlock.model.site.ironic import Ironic
from interlock.model.site.loading import LoadedSite
from interlock.planning.enrolment import Enrolment, enrolment_of


def enrolled(loaded: LoadedSite, ironic: Ironic, site: str) -> Enrolment:
    """What is to be enrolled, on the service networks that the site's lock gives. Raises InputErrors."""
    file = lock_file(stacks() / site, SITE)
    lock = load_lock(file, str(file.relative_to(stacks().parent)), SiteLock) if file.exists() else None
    return enrolment_of(loaded.site, ironic, lock.services if lock is not None else {})


def nodes_as_json(found: Enrolment) -> dict[str, Any]:
    """The form that `openstack baremetal create` reads."""
    return {"nodes": [node.model_dump(mode="json") for node in found.nodes]}


def write_nodes(site: str, file: Path) -> Path:
    """Write the file of a site that has Ironic; returns where it is. Raises InputErrors."""
    loaded = load_site_of_fleet(stacks(), site)
    if loaded.site.ironic is None:
        raise ValueError(f"site {site} has no Ironic")
    found = enrolled(loaded, loaded.site.ironic, site)
    file.write_text(json.dumps(nodes_as_json(found)), encoding="utf-8")
    return file
