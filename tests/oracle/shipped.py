"""The sites that are shipped, as worlds: what `interlock check` judges, read from the same files."""

from __future__ import annotations

from pathlib import Path

from interlock.model.load import Workspace, load_workspace
from interlock.planning import plan_site
from interlock.planning.tenant_plan import plan_tenant

from .world import World

STACKS = Path(__file__).parents[2] / "stacks"

#: Every folder with a site file, as its place below the stacks.
SITES = tuple(sorted(str(file.parent.relative_to(STACKS)) for file in STACKS.rglob("site.yaml")))


def shipped(place: str, stacks: Path = STACKS) -> World:
    """The world of a site's files."""
    return world_of(load_workspace(stacks, place))


def world_of(workspace: Workspace) -> World:
    """Everybody's plans by their locks."""
    site, site_lock = workspace.site, workspace.site_lock
    assert site_lock is not None, f"{site.name} has no lock"
    plans = {
        name: plan_tenant(site, site_lock, tenant, workspace.locks[name]) for name, tenant in workspace.tenants.items()
    }
    released = {name: lock.released for name, lock in workspace.locks.items()}
    return World(site, plans, plan_site(site, site_lock), released)
