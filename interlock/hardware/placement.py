"""Which IPU-Machines can make one vPOD: neighbours in one chain, or whole logical racks joined by GW-Links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from .sizes import MACHINES_PER_LOGICAL_RACK, is_vpod_size
from .verdicts import OK, PlacementVerdict, fault, warning

#: (number of the logical rack, position in its chain from 1 to 16).
Place = tuple[int, int]

_RACK = MACHINES_PER_LOGICAL_RACK.value


def vpod_fault(
    machines: Sequence[Place], *, wrap: bool = False, gw_links: Collection[tuple[int, int]] = ()
) -> PlacementVerdict:
    """Whether these machines can make one vPOD.

    `wrap`: every logical rack here has the IPU-Link cable from machine 16 back to machine 1 (a torus).
    `gw_links`: pairs of logical racks whose machines of equal position are joined by GW-Links, by cable or
    over a GW-Link switch. Basis: a vPOD needs IPU-Links or GW-Links between all of its machines (Graphcore,
    IPU-POD64 and IPU-POD128 datasheets); aligned blocks are our rule against fragmentation, not physics.
    """
    wrong = _list_fault(machines)
    if wrong:
        return fault(wrong)
    racks = sorted({rack for rack, _ in machines})
    if len(machines) > _RACK:
        return _over_racks(machines, racks, wrap, gw_links)
    if len(racks) > 1:
        return fault(
            f"{len(machines)} machines in logical racks {_numbers(racks)}: up to {_RACK} machines must stand in one, "
            "since IPU-Links end with the rack"
        )
    return _in_one_rack(sorted(position for _, position in machines), wrap)


def gw_link_fault(one: Place, other: Place) -> PlacementVerdict:
    """Whether a GW-Link may join these two machines: different logical racks, equal positions.

    Basis: GW-Links join same-numbered machines (Graphcore, IPU-POD direct-attach guide, overview).
    """
    if one[0] == other[0]:
        return fault(f"a GW-Link inside logical rack {one[0]}: GW-Links join different logical racks")
    if one[1] != other[1]:
        return fault(f"a GW-Link from position {one[1]} to position {other[1]}: both ends need the same position")
    return OK


def _list_fault(machines: Sequence[Place]) -> str | None:
    """What is wrong with the list itself: size, positions, doubles."""
    if not is_vpod_size(len(machines)):
        return f"{len(machines)} machines: a vPOD has 1, 2, 4, 8, 16 … IPU-Machines, whole logical racks above 16"
    outside = [place for place in machines if not 1 <= place[1] <= _RACK]
    if outside:
        return f"position {outside[0][1]} in logical rack {outside[0][0]}: positions are 1 to {_RACK}"
    if len(set(machines)) < len(machines):
        return "a machine is named twice"
    return None


def _over_racks(
    machines: Sequence[Place], racks: Sequence[int], wrap: bool, gw_links: Collection[tuple[int, int]]
) -> PlacementVerdict:
    if len(machines) != len(racks) * _RACK:
        return fault(f"{len(machines)} machines in logical racks {_numbers(racks)}: above {_RACK}, only whole racks")
    if not wrap:
        return fault("several logical racks need the torus in each: the cable from machine 16 back to machine 1")
    apart = sorted(set(racks) - _reached(racks, gw_links))
    if apart:
        return fault(f"no GW-Links lead from logical rack {racks[0]} to {_numbers(apart)}")
    return OK


def _reached(racks: Sequence[int], gw_links: Collection[tuple[int, int]]) -> set[int]:
    """Racks that GW-Links reach from the first one, over these racks alone."""
    import networkx as nx

    links: nx.Graph[int] = nx.Graph((a, b) for a, b in gw_links if a in racks and b in racks)
    links.add_node(racks[0])
    found: set[int] = nx.node_connected_component(links, racks[0])
    return found


def _in_one_rack(positions: Sequence[int], wrap: bool) -> PlacementVerdict:
    if len(positions) == _RACK:
        return OK
    breaks = [a for a, b in pairwise(positions) if b != a + 1]
    around = positions[0] == 1 and positions[-1] == _RACK
    if len(breaks) > 1 or (breaks and not around):
        return fault(f"positions {_numbers(positions)} have a gap: no IPU-Link leads over it")
    if breaks and not wrap:
        return fault(f"positions {_numbers(positions)} go around the end: no cable from machine 16 back to 1")
    if breaks or (positions[0] - 1) % len(positions):
        return warning(
            f"positions {_numbers(positions)} are not aligned: blocks of {len(positions)} that begin elsewhere "
            "leave holes in the rack"
        )
    return OK


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)
