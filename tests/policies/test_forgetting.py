"""Less knowledge never gives a better verdict (docs/design/semantics.md §8), on the shipped sites and seeded worlds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from interlock.model.load import load_workspace
from interlock.model.lock.record import Lock
from interlock.model.site.completeness import CLOUD_TABLES
from interlock.model.site.inventory import Device, Site, SwitchPortConfig
from interlock.planning import Plan, plan_site, plan_tenant
from policies import Severity, Verdict, footprint, judge
from policies.facts.site import SiteFacts
from policies.judging import operators_part
from tests.builders.pod64 import cable, cables, site_locked, tor
from tests.policies.forgetting import Forgotten, changed, less, undeclared, without_cables
from tests.policies.workspace import N, P, V, full_site, judged, pair, sharing, verdicts
from tests.support.sampling import Sampling

STACKS = Path(__file__).parents[2] / "stacks"
SITES = ("lyon", *sorted(f"leaky/{folder.name}" for folder in (STACKS / "leaky").iterdir() if folder.is_dir()))

#: Rules about power, weight, places, prices, addresses of machines and how fast a fabric is: no tenant reaches another
#: by what they find.
EXCUSED = {
    "CST-01", "TOP-08", "TOP-09", "TOP-14", "TOP-17", "TOP-18", "TOP-19", "TOP-25", "CAP-03",
    *(f"PWR-0{number}" for number in range(1, 8)),
}  # fmt: skip
#: How many of a site's facts a usual run forgets.
SOME = 12


class Known:
    """A shipped site with its plans and locks as they are committed."""

    def __init__(self, name: str) -> None:
        space = load_workspace(STACKS, name)
        assert space.site_lock is not None
        self.site = space.site
        self.plans: list[Plan] = [plan_site(space.site, space.site_lock)]
        self.locks: list[Lock] = []
        for tenant, wish in sorted(space.tenants.items()):
            self.plans.append(plan_tenant(space.site, space.site_lock, wish, space.locks[tenant]))
            self.locks.append(space.locks[tenant])

    def verdicts(self, site: Site) -> list[dict[str, Verdict]]:
        """By rule, of each stack on a site that knows as much or less, footprints derived from the plans."""
        facts = SiteFacts(site)
        held = [
            lock.model_copy(update={"footprint": footprint(facts, plan, lock.released)}).sealed()
            for plan, lock in zip(self.plans[1:], self.locks, strict=True)
        ]
        found, operators = [], operators_part(facts, self.plans[0])
        for plan in self.plans:
            others = [lock for lock in held if lock.id != plan.tenant]
            if plan.tenant is not None:
                others.append(operators)
            found.append(verdicts(judge(facts, plan, others)))
        return found


@cache
def known(name: str) -> Known:
    return Known(name)


@cache
def before(name: str) -> list[dict[str, Verdict]]:
    return known(name).verdicts(known(name).site)


#: Sep, Excl, Auth and Expo: the rules that say a theorem as a whole. Another may have nothing left to look at.
THEOREMS = {"ISO-02", "ISO-03", "TOP-06", "AUTH-01", "EXPO-01"}
PROVED = (Verdict.PROVED, Verdict.NOT_APPLICABLE)


def better(then: dict[str, Verdict], now: dict[str, Verdict]) -> list[str]:
    """What forgetting must not give: a theorem or the whole proved, or anything violated that was proved."""
    whole = [] if passes(then) or not passes(now) else ["the gate: now proved"]
    return whole + [
        f"{rule}: {then[rule].value} became {found.value}"
        for rule, found in now.items()
        if rule not in EXCUSED
        and (
            (rule in THEOREMS and then[rule] not in PROVED and found in PROVED)
            or (then[rule] in PROVED and found is Verdict.VIOLATED)
        )
    ]


def passes(found: dict[str, Verdict]) -> bool:
    """True if no rule stands in the way, those excused aside."""
    return all(verdict in PROVED for rule, verdict in found.items() if rule not in EXCUSED)


@pytest.mark.parametrize("name", SITES)
def test_forgetting_any_one_thing_of_a_shipped_site(name: str, sampling: Sampling) -> None:
    world = known(name)
    for item in sampling.some(f"forget {name}", less(world.site), SOME if name == "lyon" else 3):
        for then, now in zip(before(name), world.verdicts(item.site), strict=True):
            assert better(then, now) == [], item


def test_forgetting_in_chains(sampling: Sampling) -> None:
    """One thing after another: each step of a chain only ever loses a proof."""
    world, random = known("lyon"), sampling.random("chains")
    for _ in range(40 if sampling.long else 2):
        site, then = world.site, before("lyon")
        for _ in range(4):
            forgotten = list[Forgotten]()
            for _ in range(6):
                forgotten.append(random.choice(list(less(site))))
                site = forgotten[-1].site
            now = world.verdicts(site)
            for old, new in zip(then, now, strict=True):
                assert better(old, new) == [], forgotten
            then = now


@pytest.mark.parametrize("item", ["cables", "routing", "external_attachments"])
@pytest.mark.parametrize("switch", ["tor-1", "mgmt-1"])
def test_no_declaration_no_proof(item: str, switch: str) -> None:
    """Each table alone decides: the fact that is lacking is named by its place."""
    acme, globex = pair(full_site())
    site = undeclared(full_site(), item, switch)  # type: ignore[arg-type]
    judgement = judged(site, acme.plan, globex)
    assert (judgement.exit_code, verdicts(judgement)["ISO-02"]) == (3, N)
    assert f"complete.{item}.{switch}" in {fact for finding in judgement.findings for fact in finding.missing}


@pytest.mark.parametrize("device", ["poplar-1", "infra-1", "ipum-01"])
def test_unlisted_attachments(device: str) -> None:
    acme, globex = pair(full_site())
    judgement = judged(undeclared(full_site(), "attachments", device), acme.plan, globex)
    assert (judgement.exit_code, verdicts(judgement)["ISO-02"]) == (3, N)
    assert f"complete.attachments.{device}" in {fact for finding in judgement.findings for fact in finding.missing}


@pytest.mark.parametrize("device", ["poplar-1", "ipum-01", "infra-1"])
def test_a_device_of_which_no_cable_is_known_may_be_where_it_belongs(device: str) -> None:
    """Of a Poplar host both legs: each alone left the port on its segment. With complete tables it is not there."""
    acme, globex = pair(full_site())
    site = without_cables(full_site(), device)
    assert verdicts(judged(site, acme.plan, globex))["ISO-03"] in (P, N)
    known = full_site(cables=site.cables)
    wanted = P if device == "infra-1" else V
    assert verdicts(judged(known, acme.plan, globex))["ISO-03"] == wanted


#: Declarations about what the cloud holds, and the rule that says what a theorem lacks without each.
IN_CLOUD = {
    "rights.Network": "ISO-02", "rights.AddressScope": "ISO-02", "rights.SubnetPool": "ISO-02",
    "members.default": "AUTH-01", "logins.default": "SEC-05", "scopes.external": "ISO-02",
    "networks.fabric100g": "ISO-02", "networks.mgmt1g": "ISO-02", "networks.vxlan": "ISO-02",
    "networks.external": "ISO-02",
}  # fmt: skip


def test_every_table_of_the_cloud_is_asked_about() -> None:
    site = full_site()
    assert set(IN_CLOUD) == {f"{table}.{subject}" for table in CLOUD_TABLES for subject in site.subjects(table)}


@pytest.mark.parametrize("place", IN_CLOUD)
def test_what_the_cloud_may_hold_besides(place: str) -> None:
    """A tenant's judgement and the operator's: each names the declaration that is lacking, and nothing else."""
    table, _, subject = place.partition(".")
    acme, globex = pair(full_site())
    site = undeclared(full_site(), table, subject)  # type: ignore[arg-type]
    own = plan_site(site, site_locked(site))
    for judgement in (judged(site, acme.plan, globex), judged(site, own, acme, globex)):
        assert (judgement.exit_code, verdicts(judgement)[IN_CLOUD[place]]) == (3, N)
        counted = (finding for finding in judgement.findings if finding.severity is not Severity.WARN)
        assert {fact for finding in counted for fact in finding.missing} == {f"complete.{place}"}


@pytest.mark.parametrize(("days", "max_age", "verdict"), [(30, 30, P), (31, 30, N), (3000, None, P)])
def test_a_declaration_counts_for_so_long_as_the_site_says(days: int, max_age: int | None, verdict: Verdict) -> None:
    """What is too old counts like none, and is named like one that is lacking."""
    acme, globex = pair(full_site())
    site = changed(full_site(), complete_max_age_h=None if max_age is None else max_age * 24)
    facts = SiteFacts(site, datetime(2026, 11, 20, tzinfo=UTC) + timedelta(days=days))
    judgement = judge(facts, acme.plan, [globex.lock])
    assert verdicts(judgement)["ISO-02"] == verdict
    named = {fact for finding in judgement.findings for fact in finding.missing}
    assert ("complete.cables.tor-1" in named) == (verdict == N)


def test_one_that_was_given_again_counts() -> None:
    site = changed(full_site(), complete_max_age_h=24)
    day = datetime(2026, 12, 24, tzinfo=UTC)
    again = tuple(item.model_copy(update={"seen": "2026-12-24"}) for item in site.complete)
    assert SiteFacts(site, day).undeclared("cables", "tor-1")
    assert not SiteFacts(changed(site, complete=(*site.complete, *again)), day).undeclared("cables", "tor-1")


def with_port(site: Site, **settings: object) -> Site:
    """tor-1 with an enabled port 30 that has no cable."""
    port = SwitchPortConfig.model_validate({"port": 30, "mode": "trunk", "tagged": ((1000, 1000),)} | settings)
    kept = tuple(item for item in tor().ports if item.port != 30)
    switch = site.switch["tor-1"].model_copy(update={"ports": (*kept, port)})
    others = tuple(item for item in site.switches if item.name != "tor-1")
    # `complete` is given, so that the helper does not close the port.
    return changed(site, switches=(*others, switch), complete=site.complete)


@pytest.mark.parametrize(("settings", "expected"), [({}, N), ({"empty": True}, P), ({"tagged": ((1500, 1500),)}, P)])
def test_an_enabled_port_without_a_cable(settings: dict[str, object], expected: Verdict) -> None:
    """Also under a complete list of cables: the two contradict each other, until somebody says that it is empty."""
    acme, globex = pair(full_site())
    site = with_port(full_site(), **settings)
    whole = tuple(
        SwitchPortConfig(port=number, mode="disabled") for number in range(1, 35) if number not in {30, *range(1, 25)}
    )
    switch = site.switch["tor-1"]
    site = changed(
        site,
        switches=(site.switch["mgmt-1"], switch.model_copy(update={"ports": (*switch.ports, *whole)})),
    )
    assert verdicts(judged(site, acme.plan, globex))["ISO-02"] == expected


def watched(*declared: object) -> Site:
    """A device of role `other` on the VLAN of acme, whose further attachments nobody listed."""
    base = full_site(sharing=tuple(declared) or sharing())
    port = SwitchPortConfig(port=30, mode="access", untagged=20)
    kept = tuple(item for item in base.switch["tor-1"].ports if item.port != 30)
    switch = base.switch["tor-1"].model_copy(update={"ports": (*kept, port)})
    return changed(
        base, switches=(switch, base.switch["mgmt-1"]), cables=(*cables(), cable("router:eth0", "tor-1:30")),
        devices=(Device(name="router", role="other"),), complete=base.complete,
    )  # fmt: skip


def test_a_router_of_which_one_cable_is_listed() -> None:
    """It stands on the operator's VLAN 20; where its other cables lead, nobody says."""
    acme, globex = pair(full_site())
    site = watched()
    judgement = judge(site, plan_site(site, site_locked(site)), [acme.lock, globex.lock])
    assert verdicts(judgement)["ISO-02"] == N
    assert "complete.attachments.router" in {fact for item in judgement.findings for fact in item.missing}


def test_a_key_left_out_is_unknown() -> None:
    """A guard that is not stated counts as one that is stated as unknown."""
    site, (acme, globex) = full_site(), pair(full_site())
    for index, item in enumerate(site.assumptions):
        for name in item.guards:
            said = item.model_copy(update={"guards": item.guards | {name: None}})
            left = item.model_copy(update={"guards": {key: value for key, value in item.guards.items() if key != name}})
            both = [
                judged(
                    changed(site, assumptions=(*site.assumptions[:index], one, *site.assumptions[index + 1 :])),
                    acme.plan, globex,
                )
                for one in (said, left)
            ]  # fmt: skip
            assert verdicts(both[0]) == verdicts(both[1]), name


def test_a_violated_world_stays_so() -> None:
    acme, globex = pair(full_site(), globex={"ipu_data_vlan": 1000})
    site = full_site()
    assert verdicts(judged(site, acme.plan, globex))["ISO-02"] == V
    for item in less(site):
        if item.what.startswith(("complete", "assumptions", "sharing")):
            assert verdicts(judged(item.site, acme.plan, globex))["ISO-02"] != P, item
