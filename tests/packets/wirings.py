"""Random small fabrics as sites: a tree of switches, and devices on them that may send any frame.

Everything is stated. A trunk may leave its native VLAN out of its list: the switches here take it all the same.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle.drafting import Draft, Ranges

#: VLANs that lists name; OTHER stands for all that no list names, QUARANTINE for the ports of nobody.
VLANS = (10, 20, 30, 40)
OTHER, QUARANTINE = 999, 4000
#: Every tag that hosts send, () being none.
TAGS: tuple[tuple[int, ...], ...] = ((), *((vlan,) for vlan in (*VLANS, OTHER, QUARANTINE)))
#: Two tags, the outer one first; 0 says nothing.
SECOND: tuple[tuple[int, ...], ...] = tuple((outer, inner) for outer in (0, *VLANS) for inner in (*VLANS, OTHER))


def wiring(rng: Random) -> Draft:
    """Two to four switches and up to three devices on each."""
    draft = Draft()
    names = [f"switch-{number}" for number in range(1, rng.randint(2, 4) + 1)]
    for place, name in enumerate(names):
        draft.switch(name)
        if place:
            ends = _ends(rng)
            draft.link(name, rng.choice(names[:place]), *ends)
    for name in names:
        for number in range(rng.randint(1, 3)):
            draft.appliance(f"{name}-device-{number}", name, **_of_device(rng))
    return draft


def _ends(rng: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both ends of a link: most of the time the same, else each for itself."""
    here = _uplink(rng)
    return (here, here) if rng.random() < 0.5 else (here, _uplink(rng))


def _uplink(rng: Random) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.06:
        return {"mode": "disabled"}
    if kind < 0.14:
        return {"mode": "access", "untagged": rng.choice(VLANS)}
    return _trunk(rng, pruned=0.8)


def _of_device(rng: Random) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.1:
        return {"mode": "disabled"}
    if kind < 0.25:
        return {"mode": "access", "untagged": QUARANTINE}
    if kind < 0.75:
        return {"mode": "access", "untagged": rng.choice(VLANS)}
    return _trunk(rng, pruned=0.95)


def _trunk(rng: Random, pruned: float) -> dict[str, Any]:
    native = rng.choice(VLANS) if rng.random() < 0.4 else None
    tag_native = rng.random() < 0.25
    listed = set(rng.sample(VLANS, rng.randint(0, len(VLANS)))) if rng.random() < pruned else None
    if listed is not None and native is not None and not tag_native and rng.random() < 0.5:
        listed.add(native)
    tagged: Ranges | None = None if listed is None else tuple((vlan, vlan) for vlan in sorted(listed))
    return {"mode": "trunk", "untagged": native, "tag_native": tag_native, "tagged": tagged}
