"""What a site with IPU-Machines has to say besides: where vPODs' networks come from, and how their controllers run."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.text.errors import Code

from .places import Path
from .view import SiteView

#: Section -> keys of it that vPODs cannot do without.
NEEDED: dict[str, tuple[str, ...]] = {
    "pools": ("ipu_data", "storage", "management", "control"),
    "limits": ("controller_instances", "controller_cores", "controller_ram"),
}


def check_vpods(view: SiteView) -> None:
    """Adds a fault for each key that is missing. A site without IPU-Machines needs none of them."""
    if not view.site.machines:
        return
    for path, key in _missing(view):
        if not view.faults.lost(*path, key):
            message = f"`{key}` is missing: this site has IPU-Machines, and vPODs cannot be made without it"
            view.faults.add(Code.MISSING_KEY, path, message, f"add `{key}:` here")


def _missing(view: SiteView) -> Iterator[tuple[Path, str]]:
    if view.file.controller is None:
        yield (), "controller"
    if "limits" not in view.file.model_fields_set:
        yield (), "limits"
    for section, keys in NEEDED.items():
        if view.faults.lost(section) or (section == "limits" and section not in view.file.model_fields_set):
            continue
        yield from (((section,), key) for key in keys if getattr(getattr(view.file, section), key) is None)
