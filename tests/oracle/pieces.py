"""vPODs in pieces: TOP-28 a second time, over cables and what has failed, in racks made for it.

Written from docs/design/semantics.md alone. Every machine is asked what it reaches, step by step, until nothing is new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from interlock.model.site.inventory import Cable, Endpoint, Machine, Site, Switch

#: Machines of a rack that the vPOD has, from position 1; a cable for each is enough for every kind of hole.
HEIGHT = 4
GATEWAY = "gw-1"


@dataclass(frozen=True)
class Racks:
    """A site, the machines of a vPOD on it, and those of them whose cables nobody says are all listed."""

    site: Site
    vpod: tuple[str, ...]
    unsure: frozenset[str]


def racks(rng: Random, base: Site) -> Racks:
    """One to three logical racks in a row, cables that lack or lead around, and failures, whole racks as well."""
    count = rng.choice((1, 2, 3, 3))
    names = {(rack, at): f"m-{rack}-{at}" for rack in range(count) for at in range(HEIGHT)}
    dead, rate = {rack for rack in range(count) if rng.random() < 0.25}, rng.choice((0, 0.1, 0.3))
    machines = tuple(
        Machine(
            name=name, serial=f"SN-{name}", logical_rack=f"rack-{rack}", position=at + 1, state_reason="dead",
            state="failed" if rack in dead or rng.random() < rate else rng.choice(("ok", "ok", "maintenance")),
        )
        for (rack, at), name in names.items()
    )  # fmt: skip
    pairs = list(_cabled(rng, count, names))
    by_switch = [name for name in names.values() if rng.random() < 0.3] if rng.random() < 0.25 else []
    cables = [_cable(number, kind, one, other) for number, (kind, one, other) in enumerate(pairs)]
    cables += [_cable(100 + number, "gw-link", name, GATEWAY) for number, name in enumerate(by_switch)]
    switch = Switch(name=GATEWAY, serial="SN-gw", model="arista-7060px4", role="gw-link", port_groups=((100, 64),))
    open_ends = rng.choice((0, 0.7, 1))
    unsure = frozenset(name for name in names.values() if rng.random() < open_ends)
    complete = tuple(
        item.model_copy(update={"devices": (*item.devices, *sorted({*names.values()} - unsure))})
        for item in base.complete
        if item.table == "attachments"
    )
    fields = {name: getattr(base, name) for name in Site.model_fields}
    changes = {
        "machines": machines,
        "cables": tuple(cables),
        "switches": (*base.switches, switch),
        "complete": complete,
    }
    return Racks(Site.model_validate(fields | changes), tuple(names.values()), unsure)


def _cabled(rng: Random, count: int, names: dict[tuple[int, int], str]) -> Iterator[tuple[str, str, str]]:
    for (rack, at), name in names.items():
        if at + 1 < HEIGHT and rng.random() < 0.95:
            yield "ipu-link", name, names[rack, at + 1]
        if at + 2 < HEIGHT and rng.random() < 0.1:
            yield "ipu-link", name, names[rack, at + 2]
        if rack + 1 < count and rng.random() < 0.7:
            yield "gw-link", name, names[rack + 1, at]
        if rack + 2 < count and rng.random() < 0.15:
            yield "gw-link", name, names[rack + 2, at]


def _cable(number: int, kind: str, one: str, other: str) -> Cable:
    ends = (Endpoint(device=one, interface=f"{kind}-{number}"), Endpoint(device=other, interface=f"{kind}-{number}"))
    return Cable.model_validate({"a": ends[0], "b": ends[1], "kind": kind})


def verdict(made: Racks) -> str:
    """V in pieces, N if unlisted cables may make it whole, P whole; what never was whole is another rule's."""
    holes = list(_holes(made))
    return "P" if not holes else "V" if "V" in holes else "N"


def _holes(made: Racks) -> Iterator[str]:
    """One word for each hole: whether it is there in every completion."""
    state = {machine.name: machine.state for machine in made.site.machines}
    rack = {machine.name: machine.logical_rack for machine in made.site.machines}
    left = [name for name in made.vpod if state[name] != "failed"]
    if not left:
        yield "V"
        return
    for one in dict.fromkeys(rack.values()):
        every, some = ([name for name in names if rack[name] == one] for names in (made.vpod, left))
        wires = list(_wires(made.site, "ipu-link"))
        if _is_one(every, wires) and not _is_one(some, wires):
            # In the fullest completion each of which nobody knows is cabled to each.
            unlisted = list(product(made.unsure, made.unsure))
            yield "N" if _is_one(some, [*wires, *unlisted]) else "V"
    within = [(a, b) for a, b in product(made.vpod, made.vpod) if rack[a] == rack[b]]
    gateways = [*_wires(made.site, "gw-link"), *within]
    if _is_one([*made.vpod], gateways, {GATEWAY}) and not _is_one(left, gateways, {GATEWAY}):
        yield "V"


def _wires(site: Site, kind: str) -> Iterator[tuple[str, str]]:
    return ((cable.a.device, cable.b.device) for cable in site.cables if cable.kind == kind)


def _is_one(names: Collection[str], wires: Iterable[tuple[str, str]], more: Collection[str] = ()) -> bool:
    """Whether each reaches each, over these names and `more` alone."""
    there = {*names, *more}
    reach = {name: {name} for name in there}
    hops = [(a, b) for one, other in wires if {one, other} <= there for a, b in ((one, other), (other, one))]
    while True:
        before = sum(map(len, reach.values()))
        for a, b in hops:
            reach[a] |= reach[b]
        if sum(map(len, reach.values())) == before:
            return all({*names} <= reach[name] for name in names)
