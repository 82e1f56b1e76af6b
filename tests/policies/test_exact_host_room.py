"""CAP-02: how room is counted, who is counted once, and all that is said of a host that is promised too often."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.lock.record import Footprint, Premise
from interlock.model.site.inventory import Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies.edges.shape import Relation
from policies.graph.naming import Names
from policies.judging import model_of
from policies.rules.host_room import CAP_02
from policies.rules.rule import RuleAnswer
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, site_locked, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.test_rules_host_room import HOST, SITE, carol, given_up, with_host
from tests.policies.workspace import Made, added, edited, full_site, made, with_footprint

SERVER = "acme-train-poplar-0"
CONTROLLER = "acme-train-controller"


@cache
def alone() -> Made:
    """One tenant with a half of a host: 112 CPUs, 232 pages and 2 virtual functions of it."""
    return made(SITE, tenant("acme", servers=1), hosts=(HOST,))


@cache
def beside() -> Made:
    """Another one with the other half."""
    return made(SITE, tenant("globex", machines=8, servers=1), [alone().lock], hosts=(HOST,))


def many(count: int) -> Plan:
    """So many servers on one host: the tenant's first and copies of it without ports."""
    plan = alone().plan
    server = plan.by_name[SERVER].resource
    for number in range(1, count):
        copy = server.model_copy(update={"ports": ()})
        plan = added(plan, f"acme-train-poplar-{number}", "acme-train", copy)
    return plan


# Too much.


def test_all_that_is_said_of_a_host_that_is_promised_twice() -> None:
    """Entries are shown of the plan's own servers, which can be changed."""
    takers = f"{SERVER} of acme: 112 dedicated CPUs / globex-train-poplar-0 of globex: 112 dedicated CPUs"
    assert told(answered(CAP_02, with_host(dedicated_cpus=223), alone().plan, beside())) == [
        f"V 45: host {HOST} has 223 dedicated CPUs, and is promised to 2 servers of acme and globex: they take 224",
        f"  witness: host {HOST} / {takers}",
        f"  about: {SERVER}, acme, globex, {HOST}",
    ]


@pytest.mark.parametrize(("count", "rest"), [(8, []), (9, ["1 more"]), (11, ["3 more"])])
def test_eight_servers_are_listed(count: int, rest: list[str]) -> None:
    (cause, *_) = answered(CAP_02, SITE, many(count)).violated
    assert cause.witness[0] == f"host {HOST}"
    assert list(cause.witness[9:]) == rest
    assert f"is promised to {count} servers of acme: they take {112 * count}" in cause.message


def test_who_takes_nothing_of_a_quantity_is_not_among_those_who_do() -> None:
    """A controller takes memory, of which a Poplar host of these has none."""
    plan = edited(alone().plan, CONTROLLER, host=HOST)
    few = with_host(dedicated_cpus=111, ram_gib=464 + 8)
    assert messages(answered(CAP_02, few, plan)) == [
        f"V host {HOST} has 111 dedicated CPUs, and is promised to 1 servers of acme: they take 112"
    ]
    none = with_host(ram_gib=464 + 7)
    assert told(answered(CAP_02, none, plan)) == [
        f"V 45: host {HOST} has 7 GiB of memory, and is promised to 1 servers of acme: they take 8",
        f"  witness: host {HOST} / {CONTROLLER} of acme: 8 GiB of memory",
        f"  about: {CONTROLLER}, acme, {HOST}",
    ]


def test_a_tenant_answers_for_the_memory_of_its_own_controller() -> None:
    """That of another's on the same host is for the operator to see."""
    plan = edited(alone().plan, CONTROLLER, host=HOST)
    other = with_footprint(SITE, edited(beside().plan, "globex-train-controller", host=HOST), beside().lock)
    site = with_host(ram_gib=464 + 8)
    assert messages(answered(CAP_02, site, plan, other)) == []
    own = with_footprint(SITE, plan, alone().lock)
    assert messages(answered(CAP_02, site, plan_site(SITE, site_locked(SITE)), own, other)) == [
        f"V host {HOST} has 8 GiB of memory, and is promised to 2 servers of acme and globex: they take 16"
    ]


# Whole hosts.


@cache
def whole_host() -> tuple[Site, Made]:
    site = bare_metal_pod64()
    return site, made(site, tenant("acme", vpods=(bare_metal_vpod(servers=1),)))


def test_a_whole_host_carries_one_server() -> None:
    """Whatever the other takes; alone it is all right."""
    site, acme = whole_host()
    assert answered(CAP_02, site, acme.plan).violated == ()
    (name,) = (server.host for server in model_of(site, acme.plan, []).plan.servers if server.name == SERVER)
    plan = edited(acme.plan, CONTROLLER, host=name)
    assert told(answered(CAP_02, site, plan)) == [
        f"V 45: host {name} is given out whole, and is promised to 2 servers of acme: a whole host carries one server",
        f"  witness: host {name} / {CONTROLLER} of acme: 0 pages of 1 GiB / {SERVER} of acme: all of it",
        f"  about: {CONTROLLER}, {SERVER}, acme, {name}",
    ]


# As it is applied, and as it will be.

HALF = ("112", "232", "0", "2")


def with_applied(plan: Plan, columns: tuple[str, ...], site: Site = SITE) -> RuleAnswer:
    """The plan, while its server is applied with other columns, beside a neighbour with the other half."""
    mark = Footprint(classes=(), labels={}, exclusive=(), premises=tuple(_changed(columns)))
    model = model_of(site, plan, [beside().lock], applied=mark)
    return CAP_02.ask(model, Names(model))


def _changed(columns: tuple[str, ...]) -> list[Premise]:
    known = [item for item in alone().lock.footprint.premises if item.relation == Relation.TAKES]
    ((place, server, *was),) = (item.tuple for item in known if SERVER in item.tuple[1])
    assert tuple(was) == HALF
    return [Premise(relation=Relation.TAKES, tuple=(place, server, *columns))]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (HALF, []),
        (("100", "200", "0", "1"), []),
        (("113", "100", "0", "1"), ["V has 224 dedicated CPUs: they take 225"]),
        (("100", "233", "0", "1"), ["V has 464 pages of 1 GiB: they take 465"]),
        (("?", "?", "?", "2"), ["N unknown"]),
        (("whole",) * 4, ["V is given out whole: a whole host carries one server"]),
        (("released", "poplar.whole"), []),
    ],
)
def test_a_server_that_is_changed_takes_the_larger_of_both(columns: tuple[str, ...], expected: list[str]) -> None:
    """Room that it gives up is somebody else's once it is applied; one that is planned is not given up."""
    found = with_applied(alone().plan, columns)
    said = [f"V {_what(item.message)}: {item.message.rpartition(': ')[2]}" for item in found.violated]
    assert said + ["N unknown" for _ in found.unknown] == expected


def _what(message: str) -> str:
    return message.removeprefix(f"host {HOST} ").partition(",")[0]


def test_a_server_that_takes_nothing_pinned_any_more_has_what_it_had() -> None:
    """Its room is at the host's memory now, and its CPUs are free once that is applied."""
    plan = edited(alone().plan, SERVER, flavor="site:Flavor/controller", ports=())
    site = with_host(dedicated_cpus=223, ram_gib=512)
    assert messages(with_applied(plan, HALF, site)) == [
        f"V host {HOST} has 223 dedicated CPUs, and is promised to 2 servers of acme and globex: they take 224"
    ]
    assert messages(answered(CAP_02, site, plan, beside())) == []


# What is not known.


def test_all_that_is_said_of_a_server_whose_flavour_nobody_states() -> None:
    """What it takes is unknown; what others take still counts."""
    plan = edited(alone().plan, SERVER, flavor="cloud:Flavor/huge")
    assert told(answered(CAP_02, with_host(dedicated_cpus=111), plan, beside())) == [
        f"V 45: host {HOST} has 111 dedicated CPUs, and is promised to 1 servers of globex: they take 112",
        f"  witness: host {HOST} / globex-train-poplar-0 of globex: 112 dedicated CPUs",
        f"  about: globex, {HOST}",
        f"N 40: how much of host {HOST} {SERVER} takes is unknown: the site states no such flavour",
        f"  witness: host {HOST} / server {SERVER} of acme",
        f"  missing: the flavour of {SERVER}",
        f"  about: {SERVER}",
    ]


# What was released and may still be there.


def after(*flavors: str, cpus: int, pages: int = 2000, functions: int = 100) -> RuleAnswer:
    """acme with a half, and a neighbour that gave up servers of these flavours."""
    third = carol(alone())
    for flavor in flavors:
        third = given_up(third, HOST, flavor=flavor)
    site = with_host(dedicated_cpus=cpus, huge_pages_gib=pages, virtual_functions=functions)
    return answered(CAP_02, site, alone().plan, third)


@pytest.mark.parametrize(
    ("cpus", "letters"), [(111, "V"), (112, "N"), (223, "N"), (224, "")],
)  # fmt: skip
def test_with_what_was_released_it_is_perhaps_too_much(cpus: int, letters: str) -> None:
    """Too much without it is violated, and what fits with it is proved."""
    assert "".join(line[0] for line in messages(after("poplar.half", cpus=cpus))) == letters


@pytest.mark.parametrize(
    ("flavor", "words", "most"),
    [("poplar.half", "poplar.half", 112), ("", "there, its flavour is not recorded", 224)],
)
def test_all_that_is_said_of_what_was_released(flavor: str, words: str, most: int) -> None:
    gone = f"released hosts {HOST} 1"
    why = f"they take 112, and what was released up to {most} more until it is seen to be gone"
    assert told(after(flavor, cpus=113)) == [
        f"N 45: host {HOST} has 113 dedicated CPUs, and is promised to 2 servers of acme and carol: {why}",
        f"  witness: host {HOST} / {SERVER} of acme: 112 dedicated CPUs / {gone} of carol: perhaps still {words}",
        f"  missing: whether {gone} of carol is gone",
        f"  about: {SERVER}, acme, carol, {HOST}",
    ]


def test_a_released_controller_takes_no_cpus() -> None:
    """Only the operator meets controllers of all: one is listed where memory is short, and nowhere else."""
    full = full_site()
    gone = given_up(given_up(carol(alone()), HOST, flavor="poplar.half"), HOST, claim="controller_host")
    both = gone.lock.footprint.premises + given_up(carol(alone()), HOST, flavor="poplar.half").lock.footprint.premises
    lock = gone.lock.model_copy(update={"footprint": gone.lock.footprint.model_copy(update={"premises": both})})
    site = with_host(dedicated_cpus=112, huge_pages_gib=464, ram_gib=464 + 7)
    plan = plan_site(full, site_locked(full))
    found = answered(CAP_02, site, plan, alone(), Made(gone.plan, lock.sealed()))
    missing = {item.message.partition(",")[0]: tuple(map(str, item.missing)) for item in found.unknown}
    assert missing == {
        f"host {HOST} has 112 dedicated CPUs": (f"whether released hosts {HOST} 1 of carol is gone",),
        f"host {HOST} has 7 GiB of memory": (f"whether released controller_host {HOST} 1 of carol is gone",),
    }
    witnesses = [step for item in found.unknown for step in item.witness]
    assert sum("released controller_host" in step for step in witnesses) == 1
