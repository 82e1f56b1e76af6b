"""The doors through which files come in, and what is wrong if anything but an InputError comes out of one."""

from __future__ import annotations

import re
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.model.load import load_workspace
from interlock.model.lock.files import load_lock
from interlock.model.lock.record import Lock, SiteLock
from interlock.model.site.loading import FLEET, load_site
from interlock.model.tenant.expansion import read_tenant
from interlock.model.tenant.reading import Offered
from interlock.model.tenant.request import Tenant
from interlock.model.text.errors import Code, InputErrors
from interlock.model.text.source import Source
from tests.fuzz.mutating import mutated
from tests.model.test_tenant import EVERYTHING, TEN_LINES

ROOT = Path(__file__).parents[2]
STACKS = ROOT / "stacks"
BASE = ROOT / "tests/errors/base"
HEAD = re.compile(r"(?P<position>[^\n]+): (?P<code>IN-\d{3}) \S")
PLACE = re.compile(r"(?P<name>.+?)(:(?P<line>\d+):(?P<column>\d+))?")


@dataclass(frozen=True)
class Door:
    """A way in: what it reads, the name of the file, and right files to begin with."""

    name: str
    read: Callable[[Path], object]
    seeds: tuple[bytes, ...]


def wrong(door: Door, folder: Path, data: bytes) -> str | None:
    """What is wrong with how a door takes these bytes; None if it reads them or refuses them as it should."""
    file = folder / door.name
    file.write_bytes(data)
    try:
        door.read(file)
    except InputErrors as error:
        return next((fault for item in error.errors if (fault := _badly_told(str(item), door, data))), _empty(error))
    except Exception:  # noqa: BLE001 - this is what is looked for
        return traceback.format_exc(limit=-6)
    return None


def _empty(error: InputErrors) -> str | None:
    return None if error.errors else "refused without a word"


def _badly_told(text: str, door: Door, data: bytes) -> str | None:
    """A message has a place in the file, a code that there is, and no character that moves the cursor."""
    head = HEAD.match(text)
    if head is None or head["code"] not in set(Code):
        return f"no place or no code: {text!r}"
    place = PLACE.fullmatch(head["position"])
    if place is None or not place["name"].endswith(door.name):
        return f"no place in {door.name}: {text!r}"
    lines = max(data.count(b"\n"), len(data.decode("utf-8", "replace").splitlines())) + 1
    if place["line"] is not None and not 1 <= int(place["line"]) <= lines:
        return f"line {place['line']} of {lines}: {text!r}"
    return None if text.replace("\n  hint: ", "").isprintable() else f"unprintable: {text!r}"


def found_wrong(work: tuple[str, int, int]) -> list[str]:
    """(door, first seed, number of seeds) -> everything that is wrong, with the seed that shows it again."""
    name, first, count = work
    door, found = doors()[name], list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            fault = wrong(door, Path(folder), mutated(seed, door.seeds))
            if fault is not None:
                found.append(f"{name}, seed {seed}: {fault}")
    return found


def doors() -> dict[str, Door]:
    """All of them by name. Made once in a process."""
    if not _DOORS:
        _DOORS.update((door.name, door) for door in _made())
    return _DOORS


_DOORS: dict[str, Door] = {}


def _made() -> Iterator[Door]:
    yield Door("acme.yaml", _tenant_reader(), _requests())
    yield Door("site.yaml", _read_site, _sites())
    lock = (STACKS / "lyon/tenants/acme.lock.json").read_bytes()
    yield Door("acme.lock.json", lambda file: load_lock(file, file.name, Lock), (lock,))
    site_lock = (STACKS / "lyon/site.lock.json").read_bytes()
    yield Door("site.lock.json", lambda file: load_lock(file, file.name, SiteLock), (site_lock,))


def _read_site(file: Path) -> object:
    """A folder that is a fleet of its own need not be called after its site."""
    (file.parent / FLEET).touch()
    return load_site(file.parent, file.parent)


def _tenant_reader() -> Callable[[Path], Tenant]:
    """Against the short site, with share types, rings and prices besides."""
    workspace = load_workspace(BASE, "yard")
    offered = Offered.of(workspace.site, workspace.loaded.defaults)
    offered = replace(offered, share_types={"nfs"}, torus=True, currency="EUR")
    offered = replace(offered, gpu_nodes={"dgx-h100": {"hall": 4}, "gcore-l40s": {"hall": 2}})
    return lambda file: read_tenant("acme", Source.read(file, file.name), offered)[0]


def _requests() -> tuple[bytes, ...]:
    shipped = (STACKS / "lyon/tenants/acme.yaml").read_text(encoding="utf-8")
    # The short site has no defaults for them.
    shipped = shipped.replace("volume: 100GiB", "volume: {size: 100GiB, type: fast}")
    shipped = shipped.replace("datasets: 100GiB", "datasets: {size: 100GiB, type: nfs}")
    shares = "shares: {datasets: {size: 20TiB, type: nfs, vpods: [train], access: ro, on_delete: keep}}\n"
    clusters = (
        "clusters:\n  gpu: {nodes: 2, type: dgx-h100, image: poplar}\n"
        "  inference: {gpus: 16, type: gcore-l40s, image: poplar, fabric: none, scheduler: slurm}\n"
    )
    texts = (shipped, TEN_LINES, f"{TEN_LINES}{shares}", f"{TEN_LINES}{clusters}", EVERYTHING, EVERYTHING)
    return tuple(text.encode() for text in texts)


def _sites() -> tuple[bytes, ...]:
    return ((STACKS / "lyon/site.yaml").read_bytes(), (BASE / "yard/site.yaml").read_bytes())
