"""One `site.yaml` -> `Site`, with its source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from interlock.model.hall.form_checks import check_halls_before_expansion
from interlock.model.hall.inventory import read_inventories
from interlock.model.rack.checks import check_before_expansion
from interlock.model.text.errors import Code, InputErrors
from interlock.model.text.faults import Faults
from interlock.model.text.source import Source
from interlock.model.text.validation import WellFormed, well_formed

from .checks import check_site
from .expansion import expand_site
from .file import SiteFile, TenantDefaultsFile
from .form_checks import check_form
from .inventory import Site

#: Marks a folder whose sites share nothing real with sites elsewhere.
FLEET = "fleet.yaml"

#: Sections on which all others rest: once a part of them is gone, what else is wrong follows from that.
EXPANDED = (
    "racks", "halls", "rooms", "physical_racks", "logical_racks", "machines", "hosts", "gpu_nodes", "switches",
    "fabric_switches", "devices", "cables",
)  # fmt: skip


@dataclass(frozen=True)
class LoadedSite:
    """A site in full form, as it was written, and the file it came from."""

    site: Site
    file: SiteFile
    source: Source

    @property
    def defaults(self) -> TenantDefaultsFile:
        """What tenants get that do not say."""
        return self.file.tenant_defaults


def load_site(folder: Path, base: Path) -> LoadedSite:
    """The site in `folder`; messages name files relative to `base`. Raises InputErrors."""
    path = folder / "site.yaml"
    source = Source.read(path, path.relative_to(base).as_posix())
    form = well_formed(SiteFile, source)
    if form.file is None:
        raise InputErrors(form.errors)
    faults, inventories = Faults.of(form), read_inventories(form.file, folder, base, source)
    faults.found += inventories.errors
    file = inventories.file
    check_before_expansion(file, faults)
    check_halls_before_expansion(file, faults)
    check_form(file, faults)
    if len(faults.found) > len(form.errors) or _is_torn(form):
        faults.raise_if_any()
    site = expand_site(file)
    check_site(file, site, faults)
    # A folder that is a fleet of its own is no neighbour of other sites: it may be called after its purpose.
    if site.name != folder.name and not (folder / FLEET).exists():
        hint = f"name the site `{folder.name}`, or the folder `{site.name}`"
        message = f"the site is called `{site.name}`, its folder `{folder.name}`"
        faults.add(Code.CONTRADICTION, ("name",), message, hint)
    faults.raise_if_any()
    return LoadedSite(site, file, source)


def _is_torn(form: WellFormed[SiteFile]) -> bool:
    """Whether a fault of form took something away from the inventory."""
    salvage = form.salvage
    return salvage is not None and any(salvage.touches((section,)) for section in EXPANDED)
