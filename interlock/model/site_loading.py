"""One `site.yaml` -> `Site`, with its source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import Code
from .faults import Faults
from .rack_checks import check_before_expansion
from .site import Site
from .site_checks import check_site
from .site_expansion import expand_site
from .site_file import SiteFile, TenantDefaultsFile
from .source import Source
from .validation import validated

#: Marks a folder whose sites share nothing real with sites elsewhere.
FLEET = "fleet.yaml"


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
    file = validated(SiteFile, source)
    faults = Faults(source)
    check_before_expansion(file, faults)
    faults.raise_if_any()
    site, others = expand_site(file)
    check_site(file, site, others, faults)
    # A folder that is a fleet of its own is no neighbour of other sites: it may be called after its purpose.
    if site.name != folder.name and not (folder / FLEET).exists():
        hint = f"name the site `{folder.name}`, or the folder `{site.name}`"
        message = f"the site is called `{site.name}`, its folder `{folder.name}`"
        faults.add(Code.CONTRADICTION, ("name",), message, hint)
    faults.raise_if_any()
    return LoadedSite(site, file, source)
