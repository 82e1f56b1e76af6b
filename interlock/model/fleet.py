"""A fleet: the sites below a folder with `fleet.yaml`. No two of them may claim one real thing (A12).

Site files are proved one by one; that is sound only if nothing real is in two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.model.site.loading import FLEET, LoadedSite, load_site
from interlock.model.site.places import places
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.source import KEY, Source, Step
from interlock.model.text.validation import FileModel, nearest, validated

SITE = "site.yaml"
SERIAL = "the serial"
ONE_THING = "each site is proved by itself (assumption A12): describe one real thing in one site only"


class FleetSiteFile(FileModel):
    """What a fleet says of one of its sites."""

    #: True for the site that commands take where none is named.
    default: bool = False


class FleetFile(FileModel):
    """`fleet.yaml`."""

    name: str
    #: By folder below the fleet's; sites need no entry here.
    sites: dict[str, FleetSiteFile] = {}


def load_fleet(folder: Path, base: Path) -> tuple[LoadedSite, ...]:
    """All sites of the fleet in `folder`, by folder name. Raises InputErrors, also if two claim one thing."""
    read_fleet(folder, base)
    sites, errors = list[LoadedSite](), list[InputError]()
    for found in site_folders(folder):
        try:
            sites.append(load_site(found, base))
        except InputErrors as error:
            errors += error.errors
    errors += claimed_twice(sites)
    if errors:
        raise InputErrors(errors)
    return tuple(sites)


def read_fleet(folder: Path, base: Path) -> tuple[FleetFile, Source]:
    """`fleet.yaml` of a folder, and where its entries stand. Raises InputErrors."""
    source = Source.read(folder / FLEET, (folder / FLEET).relative_to(base).as_posix())
    return validated(FleetFile, source), source


def default_site(stacks: Path) -> str:
    """The folder below `stacks` of the site that is meant where none is named.

    The one with `default: true` in `stacks/fleet.yaml`, else the only one there is. Raises InputErrors.
    """
    stacks = stacks.absolute()
    known = [folder.relative_to(stacks).as_posix() for folder in site_folders(stacks)] if stacks.is_dir() else []
    if len(known) == 1 and not (stacks / FLEET).is_file():
        return known[0]
    fleet, source = read_fleet(stacks, stacks.parent)
    chosen = [name for name, said in fleet.sites.items() if said.default]
    if len(chosen) > 1:
        path = ("sites", chosen[1], "default")
        raise InputErrors([source.error(Code.TWICE, path, "another site is the default already", "take one away")])
    if chosen and chosen[0] not in known:
        path = ("sites", chosen[0], KEY)
        message = f"there is no site `{chosen[0]}` below this folder"
        raise InputErrors([source.error(Code.NO_SUCH, path, message, nearest(chosen[0], known))])
    names = chosen or known
    if len(names) != 1:
        message = "no site is named, and none is the default" if names else "there is no site"
        hint = f"give --site or INTERLOCK_SITE, or write `sites: {{<site>: {{default: true}}}}`; {nearest('', known)}"
        raise InputErrors([source.error(Code.MISSING_KEY, (), message, hint)])
    return names[0]


def fleet_folder(site_folder: Path, stacks: Path) -> Path | None:
    """The fleet that a site belongs to: the nearest folder with `fleet.yaml`, up to `stacks`."""
    for folder in (site_folder, *site_folder.parents):
        if (folder / FLEET).is_file():
            return folder
        if folder == stacks:
            break
    return None


def site_folders(fleet: Path) -> Iterator[Path]:
    """Folders with a site, not below another fleet. Below a site there is none: a tenant may be called so."""
    if (fleet / SITE).is_file():
        yield fleet
        return
    for folder in sorted(path for path in fleet.iterdir() if path.is_dir()):
        if not (folder / FLEET).is_file():
            yield from site_folders(folder)


def claimed_twice(sites: list[LoadedSite]) -> list[InputError]:
    """A fault for everything that a site claims and one before it has claimed."""
    errors, owners = list[InputError](), dict[str, str]()
    for index, loaded in enumerate(sites):
        errors += _same_cloud(loaded, sites[:index])
        for what, value, path in _claims(loaded):
            # Labels are read by people and scanners: serials that differ in case alone are of one device.
            same = value.casefold() if what == SERIAL else value
            owner = owners.setdefault(f"{what} {same}", loaded.source.name)
            if owner != loaded.source.name:
                message = f"{what} `{value}` belongs to {owner} already"
                errors.append(loaded.source.error(Code.FLEET, path, message, ONE_THING))
    return errors


def _same_cloud(loaded: LoadedSite, before: list[LoadedSite]) -> Iterator[InputError]:
    """A fault where a site before this one has its cloud, and both do not state that they have two regions of it.

    One Keystone serves several regions, and networks, servers and volumes are those of one (decision 2).
    """
    site = loaded.site
    for other in (item for item in before if item.site.cloud == site.cloud):
        if not (site.region and other.site.region):
            message = f"the cloud `{site.cloud}` belongs to {other.source.name} already"
            hint = "one cloud has one site (assumption A12), or one for each region: then state `region:` in both"
            yield loaded.source.error(Code.FLEET, ("cloud",), message, hint)
            return
        if site.region == other.site.region:
            message = f"region `{site.region}` of the cloud `{site.cloud}` belongs to {other.source.name} already"
            yield loaded.source.error(Code.FLEET, ("region",), message, ONE_THING)
            return


def _claims(loaded: LoadedSite) -> Iterator[tuple[str, str, tuple[Step, ...]]]:
    """(what, value, where in the file) of everything that only one site of a fleet may have."""
    yield "the name", loaded.site.name, ("name",)
    for place in places(loaded.file):
        yield SERIAL, place.serial, place.serial_path
    for name in loaded.file.underlays:
        yield "the underlay", name, ("underlays", name, KEY)
    for name, subnet in loaded.file.infiniband.items():
        yield "the InfiniBand subnet", subnet.prefix, ("infiniband", name, "prefix")
