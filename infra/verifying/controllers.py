"""LIF-08, LIF-12 and SEC-01 of V-IPU controllers, found again from their files of evidence, site and plans.

Of SEC-02 and SEC-04 what was read is found again; filters of ports and planned user data are not.

Written from docs/design/semantics.md §7 and docs/reference/evidence-file.md: nothing is used of what the loader made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from infra.checker import digest

from . import references
from .address_ranges import inside, ip_ranges
from .ground import Json
from .plans import PlanOfStack

_FILE = "evidence/controllers-"
#: Hours, where a site states none.
_READING, _BACKUP = 30 * 24, 7 * 24
_HOURS = {"d": 24, "h": 1}
#: V-IPU and Poplar SDK that a source has in one image.
_TOGETHER = {(1, 18): {(3, 0)}}
#: From here on users are asked for keys by default.
_ASKS = (1, 18)
_EVERYWHERE = ("*", "0.0.0.0", "::")


def controllers_in(files: dict[str, Json]) -> dict[str, Json]:
    """Controller -> its file, by the names of files."""
    return {
        name.removeprefix(_FILE).removesuffix(".json"): found
        for name, found in files.items()
        if name.startswith(_FILE)
    }  # fmt: skip


def skewed(plan: PlanOfStack) -> Iterator[str]:
    """Releases that do not go together, or that nobody knows."""
    for name, found in _read(plan):
        if isinstance(found, str):
            yield found
            continue
        agents = [item["release"] for item in found["agents"]]
        if not agents:
            yield f"{name} lists no agent"
        known = {release for release in agents if release is not None}
        if None in agents or len(known) > 1:
            yield f"agents of {name} have releases {sorted(known)}, or say none"
        own = _minor(found["release"])
        if own is None:
            yield f"{name} says no release"
            continue
        if len(known) == 1 and _minor(known.pop()) != own:
            yield f"agents of {name} are not of its release"
        for image in _images(plan, name):
            yield from _of_image(name, own, image)


def _of_image(name: str, own: tuple[int, int], image: Json) -> Iterator[str]:
    said = image["properties"]
    if said["vipu"] is not None and _minor(said["vipu"]) != own:
        yield f"{name} and image {image['name']} have other releases of V-IPU"
    if said["sdk"] is None or _minor(said["sdk"]) not in _TOGETHER.get(own, ()):
        yield f"nothing says that the SDK of image {image['name']} goes with {name}"


def not_backed_up(plan: PlanOfStack) -> Iterator[str]:
    """Controllers whose state is in no backup that is young enough, or of which nobody knows."""
    most, now = timedelta(hours=_limit(plan, "backup", _BACKUP)), plan.inventory.moment
    for name, found in _read(plan):
        if isinstance(found, str):
            yield found
        elif found["backup"] is None or found["backup"]["state"] is None:
            yield f"of {name} no backup was seen"
        elif now - _moment(found["backup"]["state"]) > most:
            yield f"the backup of {name} is too old"
        elif not found["backup"]["certificates"]:
            yield f"the backup of {name} has no certificates"


def without_keys(plan: PlanOfStack) -> Iterator[str]:
    """Controllers that may take calls without a key or without TLS: as the site states it, or as one was read."""
    stated: Json = next((item["guards"] for item in plan.inventory.site["assumptions"] if item["id"] == "A4"), {})
    if stated.get("secure_tls") is not True:
        yield from (f"nobody states that {name} takes calls with keys over TLS only" for name in _controllers(plan))
    # However long ago: what was seen to be open is open until somebody has seen otherwise.
    for name, found in _files(plan):
        if found is None:
            continue
        own = _minor(found["release"])
        is_older = found["keys_asked"] is None and own is not None and own < _ASKS
        if found["keys_asked"] is False or found["certificates"] is False or is_older:
            yield f"{name} was read, and may take calls without a key or without TLS"


def called_elsewhere(plan: PlanOfStack) -> Iterator[str]:
    """Controllers that were seen to forward, or to take calls of the admin API from a tenant's network."""
    for name, found in _files(plan):
        if found is None:
            continue
        off, api = found["forwarding_off"], found.get("admin_api")
        yield from (f"{name} was read, and forwards {family}" for family in sorted(off) if off[family] is False)
        if api is None:
            continue
        prefixes = _tenants_prefixes(plan, name)
        for address in api["addresses"]:
            meets = _is_reached(address, prefixes) if address in _EVERYWHERE else inside(address, ip_ranges(prefixes))
            if meets:
                yield f"{name} was read, and its admin API listens at {address}"


def keys_told(plan: PlanOfStack) -> Iterator[str]:
    """Controllers with a key in the user data on their machines."""
    for name, found in _files(plan):
        if found is not None and found.get("user_data_clean") is False:
            yield f"{name} was read, and has a key in the user data on its machine"


def _tenants_prefixes(plan: PlanOfStack, controller: str) -> list[str]:
    """Of the networks that it has a port on, but for those of management and of unknown use."""
    ports, networks = plan.all("Port"), set[str]()
    for port in plan.ports_of(plan.servers[controller]):
        network = ports[port]["network"] if port in ports else None
        if network in plan.all("Network") and plan.role_of(network) not in (None, "management"):
            networks.add(network)
    return [item["cidr"] for item in plan.all("Subnet").values() if item["network"] in networks]


def _is_reached(address: str, prefixes: list[str]) -> bool:
    """Whether who listens at all addresses does so there: `0.0.0.0` is of IPv4 alone."""
    return any(address != "0.0.0.0" or ":" not in prefix for prefix in prefixes)


def _controllers(plan: PlanOfStack) -> list[str]:
    """What runs as one, and what something names as one."""
    named = {item["controller"] for item in plan.all("VipuAllocation").values()}
    return [name for name in plan.servers if plan.is_controller(name) or name in named]


def _read(plan: PlanOfStack) -> Iterator[tuple[str, Json | str]]:
    """Controller -> its file, or why none counts; nothing of one that has none where the site wants none."""
    wanted = _terms(plan) is not None
    most = timedelta(hours=_limit(plan, "max_age", _READING))
    for name, found in _files(plan):
        if found is None and wanted:
            yield name, f"of {name} there is no reading"
        elif found is not None and plan.inventory.moment - _moment(found["read"]) > most:
            yield name, f"the reading of {name} is too old"
        elif found is not None:
            yield name, found


def _files(plan: PlanOfStack) -> Iterator[tuple[str, Json | None]]:
    """Controller -> its file, if it has one that is of it."""
    for name in _controllers(plan):
        found = plan.inventory.controllers.get(name)
        yield name, found if found is not None and _is_of(plan, name, found) else None


def _is_of(plan: PlanOfStack, name: str, found: Json) -> bool:
    whole = {key: value for key, value in found.items() if key != "digest"}
    about = (found["site"], found["tenant"], found["controller"])
    return found["digest"] == digest(whole) and about == (plan.inventory.site["name"], plan.owner, name)


def _terms(plan: PlanOfStack) -> Json | None:
    controller: Json | None = plan.inventory.site["controller"]
    return None if controller is None else controller["readings"]


def _limit(plan: PlanOfStack, key: str, usual: int) -> int:
    terms = _terms(plan)
    return usual if terms is None else int(terms[key][:-1]) * _HOURS[terms[key][-1]]


def _images(plan: PlanOfStack, controller: str) -> list[Json]:
    """Those of the site that servers beside a controller boot."""
    vpod = plan.vpod_of(controller)
    beside = (
        item for name, item in plan.servers.items() if plan.vpod_of(name) == vpod and not plan.is_controller(name)
    )
    names = {item["image"] for item in beside}
    return [image for image in plan.inventory.site["images"] if references.image_of(image["name"]) in names]


def _minor(release: str | None) -> tuple[int, int] | None:
    found = re.match(r"([0-9]{1,18})\.([0-9]{1,18})", release or "")
    return None if found is None else (int(found[1]), int(found[2]))


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
