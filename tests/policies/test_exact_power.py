"""PWR-01 to PWR-07: what each says of one flaw, and which figures it asks for."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Site
from interlock.model.site.physical import Device, Feed, Placement, Room
from interlock.planning import plan_site
from policies import Severity
from policies.about import SiteDevice, SiteFact
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.proof import RuleResult
from tests.builders.pod64 import site_locked
from tests.policies.exact_answers import asked_of_facts, messages, only
from tests.policies.test_site_rules import standing, with_machine, with_rack, with_room
from tests.policies.workspace import NA, N, P, V, changed

E, W = Severity.ERROR, Severity.WARN
MORE = "if this rack's takes more, state its limit"
STATE = "state it in the site file"


@cache
def _operators() -> PlanFacts:
    site = standing()
    return plan_facts(plan_site(site, site_locked(site)))


def of(rule: str, site: Site) -> RuleResult:
    return asked_of_facts(rule, site, _operators())


def standing_too(*more: Placement, **fields: object) -> Site:
    """The two racks with more in them."""
    return changed(standing(), placements=(*standing().placements, *more), **fields)


def without_nameplates(site: Site, *names: str) -> Site:
    placed = (
        item.model_copy(update={"nameplate_w": None}) if item.device in names else item for item in site.placements
    )
    return changed(site, placements=tuple(placed))


TWO = ("ipum-02", "ipum-03")
COOLER = "move devices to another rack, or state what this rack's cooling really takes"


@pytest.mark.parametrize(
    ("rule", "site", "severity", "reason", "missing", "hint"),
    [
        (
            "PWR-01", with_rack(cooling_limit_w=15999), None,
            "16000 W: the cooling of this rack takes 15999 W", (), COOLER,
        ),
        (
            "PWR-01", with_rack(cooling=None), W,
            "neither the cooling method of this rack nor its limit is stated",
            ("physical_racks.rack-1.cooling",), STATE,
        ),
        # Of several figures that nobody stated the first is enough: PWR-06 lists them all.
        (
            "PWR-01", without_nameplates(with_rack(cooling=None, cooling_limit_w=20000), *TWO), W,
            "not stated for ipum-02, ipum-03: the cooling of this rack takes 20000 W",
            ("placements.ipum-02.nameplate_w",), STATE,
        ),
        (
            "PWR-01", without_nameplates(with_rack(), *TWO), W,
            f"not stated for ipum-02, ipum-03: in-row-air usually takes 30000 W; {MORE}",
            ("placements.ipum-02.nameplate_w",), STATE,
        ),
        (
            "PWR-01", without_nameplates(with_rack(cooling=None), *TWO), W,
            "neither the cooling method of this rack nor its limit is stated",
            ("physical_racks.rack-1.cooling", "placements.ipum-02.nameplate_w"), STATE,
        ),
        (
            "PWR-02", with_rack(feeds=(Feed(name="A", capacity_w=16000),)), None,
            "16000 W: feed A gives 12800 W (16000 × 0.8)", (),
            "move devices to another rack: each feed alone must carry all of it",
        ),
        (
            "PWR-02", with_rack(feeds=(Feed(name="A", capacity_w=22000),)), W,
            "one feed only: when A fails, the rack is dark", (),
            "move devices to another rack: each feed alone must carry all of it",
        ),
        (
            "PWR-02", with_rack(feeds=()), W,
            "no feed of this rack is stated", ("physical_racks.rack-1.feeds",), STATE,
        ),
        (
            "PWR-02", without_nameplates(with_rack(feeds=(Feed(name="A", capacity_w=22000),)), *TWO), W,
            "not stated for ipum-02, ipum-03: feed A gives 17600 W (22000 × 0.8)",
            ("placements.ipum-02.nameplate_w",), STATE,
        ),
        (
            "PWR-04", with_rack(max_weight_kg=262), None,
            "262.4 kg: the rack carries 262 kg", (), "move devices to another rack",
        ),
        (
            "PWR-04", with_rack(max_weight_kg=None), W,
            "what this rack carries is not stated", ("physical_racks.rack-1.max_weight_kg",), STATE,
        ),
        (
            "PWR-04", with_machine("ipum-02", weight_kg=None), W,
            "not stated for ipum-02: the rack carries 900 kg", ("placements.ipum-02.weight_kg",), STATE,
        ),
        (
            "PWR-04", with_machine("ipum-02", unit=None), W,
            "nobody states the unit of ipum-02", ("placements.ipum-02.unit",),
            "state `unit`, the lowest one it takes",
        ),
        (
            "PWR-06", without_nameplates(with_rack(), *TWO), W,
            "nobody states the nameplate of ipum-02, ipum-03",
            ("placements.ipum-02.nameplate_w", "placements.ipum-03.nameplate_w"),
            "read it off the device and state `nameplate`",
        ),
    ],
)  # fmt: skip
def test_a_rack(
    rule: str, site: Site, severity: Severity | None, reason: str, missing: tuple[str, ...], hint: str
) -> None:
    found = only(of(rule, site))
    assert (found.message, found.witness) == (f"rack rack-1 in hall: {reason}", ("rack rack-1 in hall",))
    assert (found.severity, found.missing, found.hint) == (severity or E, missing, hint)
    assert found.verdict is (N if missing else V)
    assert found.specificity == 28


def test_two_devices_in_one_unit() -> None:
    found = only(of("PWR-04", with_machine("ipum-02", unit=1)))
    assert found.message == "rack rack-1 in hall: ipum-02 and ipum-01 both take unit 1"
    assert found.hint == "correct the unit, or move the device"
    assert found.subjects == (SiteDevice("ipum-02"), SiteDevice("ipum-01"))


def test_what_stands_beside_the_units_has_none() -> None:
    beside = Placement(device="cabinet", rack="rack-1", height_u=0, nameplate_w=0, weight_kg=1)
    assert of("PWR-04", standing_too(beside)).verdict is P
    assert only(of("PWR-04", standing_too(beside.model_copy(update={"height_u": 1})))).missing == (
        "placements.cabinet.unit",
    )


@pytest.mark.parametrize(("role", "listed", "draws"), [("pdu", True, 0), ("pdu", False, 0), ("appliance", False, 1)])
def test_a_pdu_passes_on_what_others_draw(role: str, listed: bool, draws: int) -> None:
    """It is one by its role, or since its rack lists it."""
    more = Placement(device="strip", rack="rack-1", height_u=0, weight_kg=1)
    racks = standing().physical_racks
    first = racks[0].model_copy(update={"pdus": racks[0].pdus | ({"strip": "A"} if listed else {})})
    devices = (*standing().devices, Device.model_validate({"name": "strip", "role": role}))
    answer = of("PWR-06", standing_too(more, devices=devices, physical_racks=(first, *racks[1:])))
    assert (answer.count, answer.verdict) == (32 + draws, N if draws else P)


def test_a_pdu_that_only_its_rack_lists() -> None:
    more = Placement(device="pdu-1a", rack="rack-1", height_u=0, weight_kg=1)
    assert of("PWR-06", standing_too(more, devices=())).count == 32


def test_how_many_racks_were_looked_at() -> None:
    assert {rule: of(rule, standing()).count for rule in ("PWR-01", "PWR-02", "PWR-04")} == dict.fromkeys(
        ("PWR-01", "PWR-02", "PWR-04"), 2
    )
    nowhere = changed(standing(), physical_racks=(), placements=())
    assert [of(f"PWR-0{number}", nowhere).verdict for number in (1, 2, 3, 4, 6, 7)] == [NA] * 6


# PWR-03.


def corded(*cords: Cable, **fields: object) -> Site:
    """The two racks with these power cords alone."""
    kept = tuple(item for item in standing().cables if item.kind != "power")
    return changed(standing(), cables=(*kept, *cords), **fields)


def cord(device: str, pdu: str, turned: bool = False) -> Cable:
    ends = (Endpoint(device=device, interface=f"psu-{pdu}"), Endpoint(device=pdu, interface=f"outlet-{device}"))
    a, b = reversed(ends) if turned else ends
    return Cable(a=a, b=b, kind="power")


def test_one_cord_says_that_the_cords_of_its_rack_are_listed() -> None:
    """Where one is listed, a device without any has none; of a rack without any nobody states them."""
    answer = of("PWR-03", corded(cord("ipum-01", "pdu-1a"), cord("ipum-01", "pdu-1b", turned=True)))
    none = [item for item in answer.findings if item.verdict is V]
    assert [item.message for item in none] == [f"ipum-{number:02} has no power cord" for number in range(2, 17)]
    assert (none[0].witness, none[0].subjects) == (("ipum-02",), (SiteDevice("ipum-02"),))
    assert none[0].hint == "plug its two power inputs into PDUs of two feeds"
    assert [item.specificity for item in answer.findings] == [29] * 15 + [4]
    silent = answer.findings[-1]
    assert (silent.message, silent.witness) == ("nobody states the power cords in rack rack-2", ("rack rack-2",))
    assert (silent.verdict, silent.severity) == (N, W)
    assert silent.missing == ("cables of kind power in rack-2",)
    assert silent.hint == "state the power cables, or `power: both-pdus` of the rack"
    assert (answer.count, len(answer.findings)) == (32, 16)


@pytest.mark.parametrize(
    ("cords", "words"),
    [
        ((cord("ipum-01", "pdu-1a"),), "hangs on A alone"),
        # A PDU whose feed nobody states is a feed of its own; what is no PDU feeds nothing.
        ((cord("ipum-01", "pdu-9"),), "hangs on pdu-9 alone"),
        ((cord("ipum-01", "pdu-1a"), cord("ipum-01", "ipum-02")), "hangs on A alone"),
        ((cord("ipum-01", "pdu-1a"), cord("ipum-01", "files")), "hangs on A alone"),
        ((cord("ipum-01", "pdu-9"), cord("ipum-01", "pdu-1a")), None),
    ],
)
def test_where_the_cords_of_a_machine_lead_to(cords: tuple[Cable, ...], words: str | None) -> None:
    more = (Device(name="pdu-9", role="pdu"), Device(name="files", role="appliance"))
    site = corded(*cords, devices=(*standing().devices, *more))
    found = [item for item in of("PWR-03", site).findings if item.message.startswith("ipum-01 ")]
    assert [item.message for item in found] == ([f"ipum-01 {words}"] if words else [])
    assert [item.witness for item in found] == ([("ipum-01", words.split()[2])] if words else [])


def test_a_cord_of_a_device_that_stands_nowhere() -> None:
    """It says nothing about any rack."""
    answer = of("PWR-03", corded(cord("elsewhere", "pdu-1a"), cord("elsewhere", "pdu-2a")))
    assert messages(answer) == [f"nobody states the power cords in rack rack-{number}" for number in (1, 2)]


def test_a_network_cable_is_no_power_cord() -> None:
    ethernet = cord("ipum-01", "pdu-1a").model_copy(update={"kind": "ethernet"})
    assert len(of("PWR-03", corded(ethernet)).findings) == 2


# PWR-05 and PWR-07.


@pytest.mark.parametrize(
    ("rule", "site", "place", "reason", "missing"),
    [
        ("PWR-05", with_room(power_w=31999), "room hall", "32000 W: the room gives 31999 W", ()),
        # What is too much already is so whatever else is unknown.
        (
            "PWR-05", without_nameplates(with_room(power_w=20000), *TWO), "room hall",
            "30000 W and 2 more not stated: the room gives 20000 W", (),
        ),
        (
            "PWR-05", without_nameplates(with_room(power_w=None), *TWO), "room hall",
            "what this room gives is not stated", ("rooms.hall.power", "placements.ipum-02.nameplate_w"),
        ),
        (
            "PWR-05", with_rack(room=None), "room hall", "nobody states in which room rack-1 stands",
            ("physical_racks.rack-1.room",),
        ),
        (
            "PWR-07", with_rack(room=None), "rack rack-1", "nobody states in which room it stands",
            ("physical_racks.rack-1.room",),
        ),
        (
            "PWR-07", with_machine("ipum-02", weight_kg=None), "rack rack-1 in hall",
            "not stated for ipum-02: the floor carries 600 kg/m² on 0.72 m²", ("placements.ipum-02.weight_kg",),
        ),
        (
            "PWR-07", with_machine("ipum-02", weight_kg=400), "rack rack-1 in hall",
            "780.09 kg: the floor carries 600 kg/m² on 0.72 m²", (),
        ),
    ],
)  # fmt: skip
def test_a_room(rule: str, site: Site, place: str, reason: str, missing: tuple[str, ...]) -> None:
    found = only(of(rule, site))
    assert (found.message, found.missing) == (f"{place}: {reason}", missing)
    assert (found.verdict, found.severity) == ((N, W) if missing else (V, E))
    racks = ("rack rack-1", "rack rack-2") if rule == "PWR-05" and not missing else ()
    assert found.witness == (place, *racks)
    mend = {
        "PWR-05": "move racks to another room, or state what this room gives",
        "PWR-07": "spread the load, or move devices to another rack",
    }
    assert found.hint == (STATE if missing else mend[rule])
    assert found.specificity == {"PWR-05": 27, "PWR-07": 26}[rule]


def test_each_floor_figure_that_nobody_stated() -> None:
    site = with_room(floor_kg_m2=None)
    placed = (item.model_copy(update={"weight_kg": None}) if item.device in TWO else item for item in site.placements)
    answer = of("PWR-07", changed(site, placements=tuple(placed)))
    assert answer.count == 2
    assert [item.missing for item in answer.findings] == [
        ("rooms.hall.floor_kg_m2", "placements.ipum-02.weight_kg"),
        ("rooms.hall.floor_kg_m2",),
    ]
    assert [item.subjects for item in answer.findings] == [
        (SiteFact("rooms.hall.floor_kg_m2"), SiteFact("placements.ipum-02.weight_kg")),
        (SiteFact("rooms.hall.floor_kg_m2"),),
    ]


def test_each_room_gives_its_own_racks_power() -> None:
    """16 kW in either room: what stands in the other is not asked of it."""
    one, other = standing().physical_racks
    rooms = (Room(name="hall", power_w=15999), Room(name="annex", power_w=16000))
    racks = (one, other.model_copy(update={"room": "annex"}))
    answer = of("PWR-05", changed(standing(), rooms=rooms, physical_racks=racks))
    assert (messages(answer), answer.count) == (["room hall: 16000 W: the room gives 15999 W"], 2)


def test_a_rack_in_a_room_that_no_file_lists() -> None:
    assert [item.missing for item in of("PWR-07", changed(standing(), rooms=())).findings] == [
        (f"physical_racks.rack-{number}.room",) for number in (1, 2)
    ]
