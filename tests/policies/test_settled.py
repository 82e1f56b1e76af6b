"""What was cleaned and given out again rests on A9 for as long as its former holder's lock notes it.

acme had ipum-07 and poplar-4 (whole) long ago, both cleaned; now globex has them
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from infra.checker import complaints
from interlock.model.lock.record import Settled
from interlock.model.site.inventory import Site
from interlock.vocabulary import nodes
from policies import Judgement, Verdict, judge
from policies.certificate import certificate
from policies.footprints.neighbours import Neighbours
from policies.judging import seen_by
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, tenant
from tests.policies.workspace import Made, assumptions, full_site, made, pair, sharing, text, verdicts

A9 = "assumptions.A9.steps_erase"
GLOBEX = tuple(f"ipum-{number:02}" for number in range(5, 13))
P, N, V = Verdict.PROVED, Verdict.NOT_PROVABLE, Verdict.VIOLATED
#: Exit code by what is stated of A9.
DECIDES = {True: 0, None: 3, False: 1}


def cleaned(holder: Made, *identities: str) -> Made:
    """Its lock notes these as settled on evidence."""
    notes = tuple(Settled(identity=name, at="2026-11-23T10:00:00Z", by="Anne") for name in identities)
    return Made(holder.plan, holder.lock.model_copy(update={"settled": notes}).sealed())


@cache
def machines() -> tuple[Made, Made]:
    """(acme, globex); globex has ipum-07."""
    acme, globex = pair(full_site(), globex={"machines": GLOBEX, "hosts": ("poplar-3",)})
    serial = full_site().machine["ipum-07"].serial
    return cleaned(acme, str(nodes.HeldMachine(serial))), globex


def metal_site(**stated: bool | None) -> Site:
    return bare_metal_pod64(sharing=sharing(), assumptions=assumptions(**stated))


@cache
def hosts() -> tuple[Made, Made]:
    """The same of a host given out whole."""
    site = metal_site()
    acme = made(site, tenant("acme", vpods=(bare_metal_vpod(servers=1),)))
    globex = made(site, tenant("globex", vpods=(bare_metal_vpod(servers=1),)), [acme.lock])
    (name,) = globex.lock.allocation.vpods["train"].hosts
    return cleaned(acme, str(nodes.HeldHost(site.host[name].serial))), globex


def machine_site(**stated: bool | None) -> Site:
    return full_site(assumptions=assumptions(**stated))


CASES = {"a machine": (machines, machine_site), "a whole host": (hosts, metal_site)}


def asked(case: str, erases: bool | None, who: int = 1) -> Judgement:
    made_of, site_of = CASES[case]
    both, site = made_of(), site_of(steps_erase=erases)
    return judge(site, both[who].plan, [item.lock for item in both])


@pytest.mark.parametrize("erases", DECIDES)
@pytest.mark.parametrize("case", CASES)
def test_a9_decides_about_whoever_has_it_now(case: str, erases: bool | None) -> None:
    judgement = asked(case, erases)
    assert judgement.exit_code == DECIDES[erases], [str(item.message) for item in judgement.findings]
    named = {fact for item in judgement.findings for fact in item.missing}
    assert named == ({A9} if erases is None else set())
    if erases is False:
        assert "what acme may have left on" in " ".join(text(item) for item in judgement.findings)


@pytest.mark.parametrize("restored", DECIDES)
def test_firmware_is_of_whole_hosts(restored: bool | None) -> None:
    """A23 decides about a whole host that was cleaned, whoever is asked; a machine has nothing that rests on it."""
    for case, expected in {"a whole host": DECIDES[restored], "a machine": 0}.items():
        made_of, site_of = CASES[case]
        both, site = made_of(), site_of(firmware_restored=restored)
        for item in both:
            judgement = judge(site, item.plan, [other.lock for other in both])
            assert judgement.exit_code == expected
            named = {fact for found in judgement.findings for fact in found.missing}
            assert named == ({"assumptions.A23.firmware_restored"} if expected == 3 else set())


@pytest.mark.parametrize("case", CASES)
def test_a9_left_out_is_a9_unknown(case: str) -> None:
    made_of, site_of = CASES[case]
    both, site = made_of(), site_of()
    kept = tuple(item for item in site.assumptions if item.id != "A9")
    without = Site.model_validate({name: getattr(site, name) for name in Site.model_fields} | {"assumptions": kept})
    assert judge(without, both[1].plan, [item.lock for item in both]).exit_code == 3


@pytest.mark.parametrize("erases", DECIDES)
@pytest.mark.parametrize("case", CASES)
def test_the_former_holder_is_told_as_well(case: str, erases: bool | None) -> None:
    """Both plans answer for it while it may be a leak; while A9 is held the former holder has nothing to do with it."""
    assert asked(case, erases, who=0).exit_code == DECIDES[erases]


@pytest.mark.parametrize("erases", DECIDES)
def test_what_nobody_else_has_rests_on_nothing(erases: bool | None) -> None:
    """A free machine, one that its former holder has again, and one that the site has no more."""
    acme, globex = machines()
    site = machine_site(steps_erase=erases)
    for serial in (site.machine["ipum-16"].serial, site.machine["ipum-01"].serial, "GONE-1"):
        again = cleaned(acme, str(nodes.HeldMachine(serial)))
        for plan in (acme.plan, globex.plan):
            assert judge(site, plan, [again.lock, globex.lock]).exit_code == 0


def in_acmes_vlan(erases: bool | None, *, again: bool = False) -> list[Judgement]:
    """The port of a machine that acme gave up, or has `again`, is in acme's VLAN by the site file; of both plans."""
    acme, globex = machines()
    name, vlan = ("ipum-01" if again else "ipum-16"), acme.lock.allocation.vpods["train"].ipu_data_vlan
    whole = machine_site(steps_erase=erases)
    tor = whole.switch["tor-1"]
    ports = tuple(
        port.model_copy(update={"untagged": vlan}) if port.port == int(name[-2:]) else port for port in tor.ports
    )
    switches = tuple(tor.model_copy(update={"ports": ports}) if item is tor else item for item in whole.switches)
    site = Site.model_validate({key: getattr(whole, key) for key in Site.model_fields} | {"switches": switches})
    noted = cleaned(acme, str(nodes.HeldMachine(site.machine[name].serial)))
    locks = [noted.lock, globex.lock]
    found = [judge(site, item.plan, locks) for item in (noted, globex)]
    assert found == [judge(site, item.plan, Neighbours.of(site, locks)) for item in (noted, globex)]
    return found


@pytest.mark.parametrize(("erases", "expected"), [(True, V), (None, N), (False, P)])
def test_an_idle_one_on_its_former_holders_wire_may_be_the_operators(erases: bool | None, expected: Verdict) -> None:
    """Known to be clean it is the operator's, on acme's wire; known not to be, it is acme's still.

    That acme's segment carries a machine of no vPOD is ISO-03's whatever cleaning is worth.
    """
    mine, others = in_acmes_vlan(erases)
    assert verdicts(mine)["ISO-02"] is expected
    found = [item for item in mine.findings if item.rule == "ISO-02"]
    assert {fact for item in found for fact in item.missing} == ({A9} if erases is None else set())
    if erases is None:
        words = "? the operator, who has ipum-16 if nothing was left on it [op]"
        assert words in " ".join(map(text, found))
    assert others.exit_code == 0


@pytest.mark.parametrize("erases", DECIDES)
def test_one_that_its_former_holder_has_again_is_not_the_operators(erases: bool | None) -> None:
    assert [item.exit_code for item in in_acmes_vlan(erases, again=True)] == [0, 0]


def test_what_was_read_back_only_rests_on_nothing() -> None:
    acme, globex = machines()
    vlan = str(nodes.HeldSegment("L:T-1:1001"))
    assert judge(machine_site(steps_erase=False), globex.plan, [cleaned(acme, vlan).lock, globex.lock]).exit_code == 0


@pytest.mark.parametrize("erases", DECIDES)
@pytest.mark.parametrize("case", CASES)
def test_beside_neighbours_as_beside_all(case: str, erases: bool | None) -> None:
    made_of, site_of = CASES[case]
    site, locks = site_of(steps_erase=erases), [item.lock for item in made_of()]
    for item in made_of():
        assert judge(site, item.plan, Neighbours.of(site, locks)) == judge(site, item.plan, locks)


def test_the_certificate_says_what_it_rests_on_and_the_checker_asks_for_it() -> None:
    acme, globex = machines()
    site = machine_site()
    judgement = judge(site, globex.plan, [acme.lock])
    found: dict[str, Any] = certificate(seen_by(site, globex.plan, [acme.lock]), judgement).model_dump(mode="json")
    assert list(complaints(found)) == []
    ((device, former),) = found["statement"]["ground"]["cleaned"]
    assert not any("are joined" in said for said in complaints(found))
    found["statement"]["guards"][A9] = None
    assert any(f"{device} and former:{former} are joined" in said for said in complaints(found))


def test_the_rules_name_it() -> None:
    assert verdicts(asked("a machine", False))["ISO-02"].name == "VIOLATED"
