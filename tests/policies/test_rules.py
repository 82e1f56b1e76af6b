"""For each rule a defect that it explains best; with it off, nothing or the named general rule finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.model.site.inventory import SwitchPortConfig, VlanPool
from interlock.planning import plan_site
from interlock.resources import Port, RoleAssignment
from policies import RULES, Judgement, Rule, Severity, Verdict, judge
from policies.findings.report import by_specificity
from tests.builders.pod64 import external, hosts, management_switch, pools, site_locked, tenant, tor
from tests.policies.forgetting import undeclared as without
from tests.policies.test_site_rules import FLAWS
from tests.policies.workspace import (
    NA,
    N,
    P,
    V,
    added,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    text,
    verdicts,
)

HERE = Path(__file__).parent
SITE = full_site()
Case = Callable[[tuple[Rule, ...]], Judgement]


def two_claims(rules: tuple[Rule, ...]) -> Judgement:
    acme = made(SITE, tenant("acme"))
    globex = made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], ipu_data_vlan=1000)
    return judge(SITE, globex.plan, [acme.lock], rules)


def no_scope(rules: tuple[Rule, ...]) -> Judgement:
    site = full_site(external=external(address_scope=None))
    acme, globex = pair(site)
    return judge(site, acme.plan, [globex.lock], rules)


def stray_rnic(rules: tuple[Rule, ...]) -> Judgement:
    acme, globex = pair(SITE)
    name = next(item.name for item in globex.plan.resources if "-rnic-" in item.name)
    return judge(SITE, edited(globex.plan, name, vlan=1000), [acme.lock], rules)


def tenants_controller(rules: tuple[Rule, ...]) -> Judgement:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-controller", project="acme-project")
    return judge(SITE, plan, [globex.lock], rules)


def unchecked_function(rules: tuple[Rule, ...]) -> Judgement:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-poplar-0-storage", port_security=False)
    return judge(SITE, plan, [globex.lock], rules)


def hidden_sameness(rules: tuple[Rule, ...]) -> Judgement:
    """Storage and ipu-data of one tenant on one VLAN, under two physical networks of one ToR."""
    base = full_site()
    names = tuple(base.physical_networks[0].model_copy(update={"name": name}) for name in ("data", "storage"))
    legs = {"data": ("ens161f0", "ens161f1"), "storage": ("ens161f0", "ens161f1")}
    site = full_site(
        hosts=tuple(
            host.model_copy(update={"interfaces": legs}) if host.role == "poplar" else host for host in hosts()
        ),
        physical_networks=names + base.physical_networks[1:],
        pools=pools(
            ipu_data=VlanPool(physical_networks=("data",), vlans=((1000, 1999),)),
            storage=VlanPool(physical_networks=("storage",), vlans=((1000, 2999),)),
        ),
    )
    acme = made(site, tenant("acme"), storage_vlan=2000)
    globex = made(site, tenant("globex", machines=8, servers=1), [acme.lock], ipu_data_vlan=1002, storage_vlan=1000)
    return judge(site, globex.plan, [acme.lock], rules)


def reserved_id(rules: tuple[Rule, ...]) -> Judgement:
    site = full_site(pools=pools(reserved_vlans=(1, 2500, 4095)))
    return judge(site, made(site, tenant("acme"), storage_vlan=2500).plan, [], rules)


def overlap_on_router(rules: tuple[Rule, ...]) -> Judgement:
    acme = made(SITE, tenant("acme"))
    data = acme.lock.allocation.vpods["train"].ipu_data_subnet
    plan = edited(acme.plan, "acme-train-storage-subnet", cidr=data)
    for port in ("acme-train-poplar-0-storage", "acme-train-poplar-1-storage"):
        beside = acme.plan.by_name[port.replace("storage", "ipu-data")].resource
        assert isinstance(beside, Port)
        plan = edited(plan, port, address=beside.address)
    return judge(SITE, plan, [], rules)


def three_machines(rules: tuple[Rule, ...]) -> Judgement:
    machines = ("ipum-01", "ipum-02", "ipum-03")
    return judge(SITE, made(SITE, tenant("acme", machines=3), machines=machines).plan, [], rules)


def a_hole(rules: tuple[Rule, ...]) -> Judgement:
    machines = ("ipum-01", "ipum-02", "ipum-03", "ipum-05")
    return judge(SITE, made(SITE, tenant("acme"), machines=machines).plan, [], rules)


def shared_machines(rules: tuple[Rule, ...]) -> Judgement:
    acme = made(SITE, tenant("acme"))
    held = acme.lock.allocation.vpods["train"].machines
    globex = made(SITE, tenant("globex"), [acme.lock], machines=held)
    return judge(SITE, globex.plan, [acme.lock], rules)


def narrow_subnet(rules: tuple[Rule, ...]) -> Judgement:
    acme = made(SITE, tenant("acme"))
    subnet = acme.lock.allocation.vpods["train"].ipu_data_subnet
    narrow = subnet.rpartition("/")[0] + "/30"
    plan = edited(acme.plan, "acme-train-ipu-data-subnet", cidr=narrow)
    prefix = narrow.rpartition(".")[0]
    for number, port in enumerate(("acme-train-poplar-0-ipu-data", "acme-train-poplar-1-ipu-data")):
        plan = edited(plan, port, address=f"{prefix}.{2 + number}")
    return judge(SITE, plan, [], rules)


@dataclass(frozen=True)
class Defect:
    """A defect, the rule that explains it best, and the one that finds it with that one off, if any."""

    rule: str
    case: Case
    otherwise: str | None


DEFECTS = (
    Defect("ISO-01", two_claims, "ISO-11"),
    Defect("ISO-02", no_scope, "AUTH-01"),
    Defect("ISO-03", stray_rnic, "ISO-01"),
    Defect("ISO-05", tenants_controller, "ISO-06"),
    Defect("ISO-08", unchecked_function, "ISO-09"),
    Defect("ISO-11", hidden_sameness, "ISO-01"),
    Defect("ISO-12", reserved_id, None),
    Defect("L3-04", overlap_on_router, None),
    Defect("TOP-02", three_machines, None),
    Defect("TOP-03", a_hole, None),
    Defect("TOP-06", shared_machines, "ISO-01"),
    Defect("CAP-05", narrow_subnet, "L3-07"),
)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.rule)
def test_a_defect_is_explained_by_its_rule(defect: Defect) -> None:
    found = first(defect.case(RULES))
    assert (found.rule, found.verdict) == (defect.rule, Verdict.VIOLATED)
    assert found.witness
    assert found.hint


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.rule)
def test_with_the_rule_off(defect: Defect) -> None:
    rest = defect.case(tuple(rule for rule in RULES if rule.id != defect.rule))
    findings = by_specificity(rest)
    assert (findings[0].rule if findings else None) == defect.otherwise


#: Where the other rules have their defects.
ELSEWHERE = {
    "FACT-01": "test_readings",
    **dict.fromkeys(("ISO-04", "ISO-06", "ISO-07", "ISO-09", "ISO-10"), "test_rules_iso_vpods"),
    **dict.fromkeys(("ISO-14", "ISO-15", "ISO-16", "ISO-27"), "test_rules_iso_links"),
    **dict.fromkeys(("ISO-19", "ISO-20", "ISO-21", "ISO-22", "ISO-23"), "test_rules_iso_fabrics"),
    **dict.fromkeys(("ISO-24", "ISO-25", "ISO-26"), "test_rules_iso_rights"),
    **dict.fromkeys(("AUTH-01", "EXPO-01", "L3-08"), "test_authority"),
    **dict.fromkeys(("L3-01", "L3-02", "L3-05", "L3-06"), "test_rules_l3_routers"),
    **dict.fromkeys(("L3-03", "L3-07", "L3-10", "L3-11", "L3-12", "L3-15"), "test_rules_l3_ports"),
    **dict.fromkeys(("SEC-01", "SEC-02", "SEC-03", "SEC-04", "SEC-08", "SEC-12", "SEC-15", "SEC-21"), "test_rules_sec"),
    **dict.fromkeys(("ISO-29", "ISO-30", "TOP-26"), "test_rules_clusters"),
    "TOP-27": "test_rules_storage_fabrics",
    "SW-19": "test_rules_mixed_software",
    "SEC-05": "test_rules_login_keys",
    "CAP-02": "test_rules_host_room",
    **dict.fromkeys(("TOP-17", "TOP-18", "TOP-19", "TOP-25"), "test_fat_trees"),
    "TOP-22": "test_lossless",
    "ISO-28": "test_rules_operated",
    "CST-01": "test_rules_budget",
    "L3-09": "test_rules_controller_entry",
    "SEC-09": "test_rules_flavors",
    "SEC-10": "test_rules_volume_encryption",
    **dict.fromkeys(("ISO-17", "ISO-18", "L3-13", "L3-14", "SEC-16"), "test_rules_ironic"),
    "SEC-11": "test_data_rules",
    "SEC-14": "test_data_rules",
    "TOP-05": "test_racks",
    "TOP-13": "test_examples_switches",
    "TOP-24": "test_exact_service_states",
    "TOP-28": "test_exact_failed_machines",
    "LIF-03": "test_rules_whole_nodes",
    "LIF-08": "test_rules_controllers",
    "LIF-12": "test_rules_controllers",
    "LIF-13": "test_exact_self_tests",
    **dict.fromkeys((f"SW-{number:02}" for number in (*range(1, 16), 18)), "test_rules_node_software"),
    **dict.fromkeys(("SW-16", "SW-17"), "test_rules_guest_software"),
}


def test_every_rule_has_a_defect() -> None:
    listed = {defect.rule for defect in DEFECTS} | {flaw.rule for flaw in FLAWS} | set(ELSEWHERE)
    assert {rule.id for rule in RULES} == listed


def test_the_other_defects_are_where_they_are_said_to_be() -> None:
    for rule, module in ELSEWHERE.items():
        assert rule.replace("-", "_") in (text_of := (HERE / f"{module}.py").read_text()) or f'"{rule}"' in text_of


#: Severities other than B: what would fail half-way, or is only a warning.
LIGHTER = {
    Severity.ERROR: {
        "ISO-06", "ISO-07", "ISO-09", "ISO-13", "ISO-14", "ISO-15", "ISO-16", "ISO-21", "ISO-23", "ISO-25",
        "L3-03", "L3-05", "L3-06", "L3-09", "L3-11", "L3-14", "L3-15", "SEC-08", "SEC-09", "SEC-10", "SEC-12", "SEC-15",
        "TOP-08", "TOP-09", "TOP-14", "TOP-15", "TOP-17", "TOP-18", "TOP-19", "TOP-21", "TOP-22", "TOP-23", "CAP-02",
        "CAP-03", "CAP-05",
        "PWR-01", "PWR-02", "PWR-03", "PWR-04", "PWR-05", "PWR-07", "CST-01",
        "LIF-03", "LIF-08", "LIF-12", "LIF-13", "SW-01", "SW-03", "SW-05", "SW-06", "SW-07", "SW-08", "SW-09", "SW-11",
        "SW-12", "SW-13", "SW-14", "SW-16", "SW-17", "TOP-26", "TOP-27", "TOP-28",
    },
    Severity.WARN: {
        "ISO-10", "ISO-26", "L3-07", "L3-12", "TOP-04", "TOP-24", "TOP-25", "PWR-06", "SW-04", "SW-10", "SW-15",
        "SW-18", "SW-19",
    },
    Severity.INFO: {"SW-02"},
}  # fmt: skip


def test_rules_state_what_they_are() -> None:
    for rule in RULES:
        assert rule.why
        assert rule.source
        assert rule.needs
        lighter = next((severity for severity, ids in LIGHTER.items() if rule.id in ids), Severity.BLOCK)
        assert rule.severity is lighter


# Golden vectors of vPODs: what is a possible set of machines.


def machines(*positions: int) -> tuple[str, ...]:
    return tuple(f"ipum-{position:02}" for position in positions)


@pytest.mark.parametrize(
    "taken", [machines(1), machines(1, 2), machines(5, 6, 7, 8), machines(*range(1, 17)), machines(4, 5)]
)
def test_vpods_that_exist(taken: tuple[str, ...]) -> None:
    plan = made(SITE, tenant("acme", machines=len(taken), servers=1), machines=taken).plan
    found = verdicts(judged(SITE, plan))
    assert (found["TOP-02"], found["TOP-03"], found["TOP-06"]) == (P, P, P)


@pytest.mark.parametrize(
    ("taken", "rule"),
    [(machines(1, 3), "TOP-03"), (machines(1, 2, 3), "TOP-02"), (machines(16, 1), "TOP-03")],
)
def test_vpods_that_do_not(taken: tuple[str, ...], rule: str) -> None:
    plan = made(SITE, tenant("acme", machines=len(taken), servers=1), machines=taken).plan
    assert first(judged(SITE, plan)).rule == rule


def test_the_witness_of_a_hole_is_the_cut() -> None:
    found = first(a_hole(RULES))
    assert found.witness == ("ipum-01 – ipum-02 – ipum-03", "no IPU-Link cable to", "ipum-05")


@pytest.mark.parametrize(
    ("undeclared", "verdict"), [((3,), V), ((1, 3), V), ((3, 5), N), ((1, 5), N), ((1, 2, 3, 5), N)]
)
def test_a_run_with_a_hole_where_not_all_cables_are_listed(undeclared: tuple[int, ...], verdict: str) -> None:
    """A cable that nobody listed has two ends: it joins the parts only if either may have one."""
    plan = made(SITE, tenant("acme", machines=4, servers=1), machines=machines(1, 2, 3, 5)).plan
    site = without(SITE, "attachments", *machines(*undeclared))
    found = next(item for item in judged(site, plan).findings if item.rule == "TOP-03")
    assert found.verdict == verdict
    facts = tuple(f"complete.attachments.{name}" for name in machines(*undeclared))
    assert found.missing == (facts if verdict == N else ())


def test_a_machine_that_the_site_does_not_list() -> None:
    acme = made(SITE, tenant("acme"))
    plan = edited(acme.plan, "acme-train-rnic-ipum-01", device="ipum-99")
    plan = edited(plan, "acme-train-mgmt-ipum-01", device="ipum-99")
    found = [item for item in judged(SITE, plan).findings if item.rule == "TOP-03"]
    assert found[0].missing == ("machines.ipum-99",)


# Segment ids.


@pytest.mark.parametrize(("pool", "verdict"), [(((1, 2), (1, 16_000_000)), P), (((1, 2), (5, 6)), V)])
def test_a_vni_in_one_of_several_ranges(pool: tuple[tuple[int, int], ...], verdict: str) -> None:
    plan = made(SITE, tenant("acme")).plan
    assert verdicts(judged(full_site(pools=pools(control=pool)), plan))["ISO-12"] == verdict


@pytest.mark.parametrize("vlan", [0, 1, 4095, 4096, 1000])
def test_storage_ids_outside_the_pool(vlan: int) -> None:
    acme = made(SITE, tenant("acme"))
    plan = edited(acme.plan, "acme-train-storage", segmentation_id=vlan)
    assert verdicts(judged(SITE, plan))["ISO-12"] == V


@pytest.mark.parametrize(
    "change", [{"segmentation_id": None}, {"physical_network": "elsewhere"}, {"network_type": "flat"}]
)
def test_networks_without_a_segment_of_their_own(change: dict[str, object]) -> None:
    acme = made(SITE, tenant("acme"))
    assert verdicts(judged(SITE, edited(acme.plan, "acme-train-storage", **change)))["ISO-12"] == V


@pytest.mark.parametrize(
    "change",
    [{"segmentation_id": 0}, {"segmentation_id": 4095}, {"network_type": "flat"}, {"port_security": False}],
)
def test_functions_that_see_every_vlan(change: dict[str, object]) -> None:
    acme, globex = pair(SITE)
    judgement = judged(SITE, edited(acme.plan, "acme-train-storage", **change), globex)
    assert first(judgement).rule == "ISO-08"
    assert verdicts(judgement)["ISO-02"] == V


def test_a_poplar_host_whose_trunk_lacks_the_vlan() -> None:
    ports = tuple(
        port.model_copy(update={"tagged": ((2000, 2999),)}) if port.port >= 17 else port for port in tor().ports
    )
    site = full_site(switches=(tor().model_copy(update={"ports": ports}), management_switch()))
    found = first(judged(site, made(site, tenant("acme")).plan))
    assert found.rule == "ISO-03"
    assert "does not carry" in found.message


def test_a_tenants_vlan_sent_untagged_to_a_host_meets_its_kernel() -> None:
    """The operator's kernel is on whatever the switch sends its host without a tag."""
    ports = tuple(
        SwitchPortConfig(port=port.port, mode="access", untagged=1000) if port.port == 17 else port
        for port in tor().ports
    )
    site = full_site(switches=(tor().model_copy(update={"ports": ports}), management_switch()))
    acme, globex = pair(site, globex={"hosts": ("poplar-1",)})
    plan = edited(globex.plan, "globex-train-ipu-data", segmentation_id=1000)
    assert first(judged(site, plan, acme)).verdict is Verdict.VIOLATED
    assert "poplar-1 ens161f0 [op]" in text(first(judged(site, acme.plan)))


def test_the_operators_own_stack_looks_at_all_tenants() -> None:

    acme, globex = pair(SITE)
    plan = plan_site(SITE, site_locked(SITE))
    judgement = judged(SITE, plan, acme, globex)
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-05"] == P
    assert verdicts(judgement)["TOP-02"] == NA
    moved = made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], ipu_data_vlan=1000)
    assert first(judged(SITE, plan, acme, moved)).rule == "ISO-01"
    assert "tor-1 VLAN 1000" in text(first(judged(SITE, plan, acme, moved)))


@pytest.mark.parametrize(
    ("name", "change", "rule"),
    [
        ("external", {"shared": True}, "ISO-02"),
        ("external-pool", {"shared": True}, "L3-05"),
        ("external-scope", {"shared": True}, "L3-05"),
    ],
)
def test_the_operator_opens_what_must_stay_closed(name: str, change: dict[str, object], rule: str) -> None:
    acme, globex = pair(SITE)
    plan = edited(plan_site(SITE, site_locked(SITE)), name, **change)
    judgement = judged(SITE, plan, acme, globex)
    assert (first(judgement).rule, verdicts(judgement)["ISO-02"]) == (rule, V)
    assert "external network external" in text(first(judgement))


def test_a_role_on_the_controllers_project_is_control() -> None:
    acme, globex = pair(SITE)
    role = RoleAssignment(project="site:Project/controllers", user="cloud:User/alice", role="cloud:Role/member")
    judgement = judged(SITE, added(acme.plan, "acme-sneaky", "acme", role), globex)
    assert verdicts(judgement)["ISO-05"] == V


def test_a_port_that_no_file_describes() -> None:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-poplar-0", ports=("globex-train-poplar-0-storage",))
    judgement = judged(SITE, plan, globex)
    assert verdicts(judgement)["ISO-02"] == V
    assert "foreign" in text(first(judgement)) + first(judgement).message
