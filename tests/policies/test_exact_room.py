"""What servers take of hosts, as premises say it and back again, and what stands and is plugged where in a hall."""

from __future__ import annotations

import pytest

from interlock.model.site.physical import Cable, Endpoint, Host, Placement
from policies.facts.hall import Hall
from policies.facts.kinds import PortFact, ServerFact
from policies.facts.plan import plan_facts
from policies.facts.room import (
    CPUS,
    FUNCTIONS,
    MEMORY,
    PAGES,
    TakenRoom,
    most_released,
    place_of,
    released_room,
    room_of,
    taken_by,
)
from policies.facts.site import SiteFacts
from tests.builders.pod64 import cable
from tests.policies.joining import small
from tests.policies.test_exact_plan_facts import planned
from tests.policies.workspace import full_site

SITE = SiteFacts(full_site())
HOST = Host(
    name="h", serial="SN-h", role="poplar", dedicated_cpus=8, huge_pages_gib=16, virtual_functions=4, ram_gib=48
)


def amounts(cpus: int | None, pages: int | None, memory: int | None, functions: int | None) -> dict[str, int | None]:
    """So much of each quantity."""
    return {CPUS: cpus, PAGES: pages, MEMORY: memory, FUNCTIONS: functions}


WHOLE = TakenRoom((0, 0, 0, 0), whole=True)


@pytest.mark.parametrize(
    ("room", "columns"),
    [
        (TakenRoom((4, 8, 0, 2)), ("4", "8", "0", "2")),
        (TakenRoom((None, None, None, 1)), ("?", "?", "?", "1")),
        (WHOLE, ("whole", "whole", "whole", "whole")),
        (TakenRoom((0, 0, 0, 0), released=True), ("released", "")),
        (TakenRoom((0, 0, 0, 0), released=True, flavor="poplar.half"), ("released", "poplar.half")),
    ],
)
def test_a_room_is_what_its_columns_say(room: TakenRoom, columns: tuple[str, ...]) -> None:
    assert room.columns == columns
    assert TakenRoom.of(columns) == room


def test_columns_of_others() -> None:
    """A flavour may be called `released`; locks of before flavours were recorded say that word alone."""
    assert TakenRoom.of(("released",)) == released_room()
    assert TakenRoom.of(("4", "released", "0", "2")) == TakenRoom((4, None, 0, 2))


def test_a_room_of_too_few_quantities_has_no_names() -> None:
    assert TakenRoom((4, 8, 0, 2)).by_name == amounts(4, 8, 0, 2)
    with pytest.raises(ValueError, match="shorter"):
        _ = TakenRoom((4, 8)).by_name


@pytest.mark.parametrize(
    ("flavor", "is_pinned", "expected"),
    [
        ("poplar.half", True, amounts(112, 232, 0, 2)),
        # Of a flavour that nobody recorded, or that the site has no more: the largest.
        ("", True, amounts(224, 464, 0, 2)),
        ("gone", True, amounts(224, 464, 0, 2)),
        # A controller takes memory alone, whatever its columns say.
        ("poplar.half", False, amounts(0, 0, 8, 0)),
    ],
)
def test_the_most_that_a_released_server_takes(flavor: str, is_pinned: bool, expected: object) -> None:
    assert most_released(SITE, released_room(flavor), is_pinned=is_pinned) == expected


def test_a_released_controller_of_a_flavour_that_is_gone() -> None:
    rest = tuple(item for item in SITE.site.flavors if item.name != "controller")
    site = SiteFacts(full_site(flavors=rest))
    assert most_released(site, released_room(), is_pinned=False) == amounts(0, 0, 0, 0)


def served(flavor: str, *vnics: str, **fields: object) -> TakenRoom:
    """What a server with these ports takes, and one port more that the plan does not tell of."""
    ports = tuple(
        PortFact(str(number), "acme", "n", "s", "", kind, True, "srv", "h")  # type: ignore[arg-type]
        for number, kind in enumerate(vnics)
    )
    names = (*(port.name for port in ports), "gone")
    item = ServerFact("srv", frozenset({"acme"}), "h", None, names, is_controller=False, flavor=flavor)
    facts = plan_facts(planned())
    whole = {name: getattr(facts, name) for name in type(facts).__dataclass_fields__} | {"ports": ports}
    changed = ServerFact(**{name: getattr(item, name) for name in type(item).__dataclass_fields__} | fields)
    return taken_by(changed, type(facts)(**whole), SITE)


@pytest.mark.parametrize(
    ("flavor", "vnics", "expected"),
    [
        ("site:Flavor/poplar.half", ("direct", "direct"), (112, 232, 0, 2)),
        ("site:Flavor/poplar.whole", ("direct", "normal"), (224, 464, 0, 1)),
        ("site:Flavor/controller", ("normal",), (0, 0, 8, 0)),
        # Of a flavour that no file describes the virtual functions alone are known.
        ("site:Flavor/gone", ("direct",), (None, None, None, 1)),
        ("a-flavor-of-the-plan", (), (None, None, None, 0)),
        ("", ("baremetal",), (None, None, None, 0)),
    ],
)
def test_what_a_server_takes(flavor: str, vnics: tuple[str, ...], expected: tuple[int | None, ...]) -> None:
    assert served(flavor, *vnics) == TakenRoom(expected)


def test_a_whole_host_is_all_of_it() -> None:
    assert served("site:Flavor/poplar.half", "direct", is_bare_metal=True) == WHOLE


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (WHOLE, "cpu:SN-h"),
        (TakenRoom((4, 8, 0, 2)), "cpu:SN-h"),
        (TakenRoom((0, 0, 0, 1)), "cpu:SN-h"),
        (TakenRoom((None, None, None, 0)), "cpu:SN-h"),
        # Memory is the operator's to share out.
        (TakenRoom((0, 0, 8, 0)), "host:SN-h"),
        (TakenRoom((0, 0, None, 0)), "host:SN-h"),
        (released_room(), "host:SN-h"),
    ],
)
def test_where_servers_meet(room: TakenRoom, expected: str) -> None:
    assert place_of(HOST, room) == expected


@pytest.mark.parametrize(("ram", "pages", "memory"), [(48, 16, 32), (16, 16, 0), (0, 16, 0), (13, 6, 7)])
def test_what_a_host_has(ram: int, pages: int, memory: int) -> None:
    """Memory in pages is no other server's; of a host of which only its pages are stated there is no other memory."""
    host = HOST.model_copy(update={"ram_gib": ram, "huge_pages_gib": pages})
    assert room_of(host) == amounts(8, pages, memory, 4)


# Halls.


def power(a: str, b: str, kind: str) -> Cable:
    """A cable that is not for frames."""
    one, other = a.split(":"), b.split(":")
    ends = [Endpoint(device=device, interface=interface) for device, interface in (one, other)]
    return Cable.model_validate({"a": ends[0], "b": ends[1], "kind": kind})


def test_cables_and_places_of_a_hall() -> None:
    frames, links = cable("a:e0", "b:e1"), [power("a:up", "b:down", "ipu-link"), power("b:up", "a:down", "ipu-link")]
    loop, feed = power("c:1", "c:2", "ipu-link"), power("pdu:1", "a:psu", "power")
    places = tuple(
        Placement(device=name, rack=rack, unit=unit)
        for name, rack, unit in (("a", "r1", 1), ("b", "r2", 1), ("c", "r1", 5))
    )
    hall = Hall(small(cables=(frames, *links, loop, feed), placements=places))
    assert hall.links_at == {"a": (*links, feed), "b": tuple(links), "c": (loop,), "pdu": (feed,)}
    assert hall.standing_in == {"r1": (places[0], places[2]), "r2": (places[1],)}
    assert hall.rack_of == {"a": "r1", "b": "r2", "c": "r1"}
    assert hall.plugs_of == {
        "a": {"e0", "up", "down", "psu"}, "b": {"e1", "up", "down"}, "c": {"1", "2"}, "pdu": {"1"},
    }  # fmt: skip
    # Power joins no machines, nor do frames.
    assert hall.ipu_links == {frozenset({"a", "b"}): 2, frozenset({"c"}): 1}
