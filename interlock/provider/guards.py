"""What stands before a deletion or a look at a recorded object. `destroy` and `refresh` run no program and no
gate, so these rest on the state and on the cloud alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.resources import Volume

from .actuators import Observed, Phase, Target
from .clouds import Cloud
from .errors import refused
from .markers import CARRIERS, owner_of, split
from .state import Declared

#: Stacks of operators end so; no tenant may be called `site`.
SITE_STACK = "-site"


def check_cloud(cloud: Cloud, item: Declared, values: Mapping[str, Any]) -> None:
    """Raises `Failure` if this is not the cloud on which the object was made.

    Otherwise `refresh` against another cloud of the same name would find nothing and drop the whole state.
    """
    recorded, present = values.get("cloud_id"), cloud.login.fingerprint
    if recorded and recorded != present:
        raise refused(
            f"{item.kind} {item.name} lies on the cloud {recorded}; {cloud.name!r} in clouds.yaml is now {present}",
            "point that entry of clouds.yaml (or OS_CLIENT_CONFIG_FILE) to the cloud on which this stack was applied",
        )


def check_owner(target: Target[Any], seen: Observed) -> None:
    """Raises `Failure` if the object carries another owner's marker."""
    if CARRIERS[target.spec.KIND].field and owner_of(seen.marker) not in ("", target.owner):
        raise refused(
            f"{target.spec.KIND} {target.name}: {seen.id} belongs to another stack ({seen.marker})",
            "the state does not fit the cloud: run `pulumi refresh`",
        )


def check_data(target: Target[Any], seen: Observed) -> None:
    """Raises `Failure` if the object holds data that is to be kept."""
    spec = target.spec
    if not spec.HOLDS_DATA or getattr(spec, "on_delete", "erase") == "erase":
        return
    if isinstance(spec, Volume) and seen.phase is Phase.BROKEN:
        return  # Cinder's `error` is a volume that was never made; it holds nothing.
    raise refused(
        f"{spec.KIND} {spec.canonical()['name']} ({seen.id}) holds data and says `on_delete: keep`",
        "set `on_delete: erase` for it, run `pulumi up`, then delete it again",
    )


def check_tenants(cloud: Cloud, target: Target[Any], stack: str) -> None:
    """Raises `Failure` if an object of the site is to go while tenants are on the cloud."""
    if not stack.endswith(SITE_STACK):
        return
    others = sorted(
        f"{project['name']} ({project['id']})"
        for project in cloud.api("identity").items("/projects", "projects")
        if owner_of(split(project.get("description"))[1]) not in ("", target.owner)
    )
    if others:
        raise refused(
            f"{target.spec.KIND} {target.name} belongs to the site, and tenants still use the site: "
            f"{', '.join(others)}",
            "destroy the tenants' stacks first",
        )
