"""With any one rule removed, some seeded defect passes; where others speak of all that a rule finds, it is said.

A rule is needed if there is a defect of which it alone speaks: an operator that is lost without it, a flaw of the
inventory, or a case below. The other rules explain what more general ones refuse anyhow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import pytest

from interlock.model.site.inventory import Endpoint, Site
from interlock.planning.plan import Plan, UntestedDevice
from interlock.resources import RbacPolicy, SecurityGroupRule, Trunk, TrunkSubPort
from policies import RULES, Judgement, Severity
from tests.builders.gpu_software import hypervisor_site, nodes_plan, roce_site
from tests.builders.pod64 import tenant
from tests.builders.states import out
from tests.mutants.operator import LOST
from tests.mutants.operators import OPERATORS
from tests.policies import test_rules_controllers as controllers
from tests.policies import test_rules_mixed_software as mixed_software
from tests.policies import test_rules_whole_nodes as whole_nodes
from tests.policies.test_data_rules import site_of as storing_site
from tests.policies.test_data_rules import with_policy
from tests.policies.test_examples_switches import leaves
from tests.policies.test_fat_trees import ethernet_at_a_leaf
from tests.policies.test_racks import BOTH, asked, two_racks
from tests.policies.test_rules import a_hole, narrow_subnet, overlap_on_router, reserved_id, three_machines
from tests.policies.test_rules_guest_software import flavored, stating
from tests.policies.test_rules_iso_fabrics import OWN, beside, gpus, shared_rack
from tests.policies.test_rules_iso_links import untagged
from tests.policies.test_rules_iso_vpods import two_vpods
from tests.policies.test_rules_l3_ports import GROUP, PORT, filtered
from tests.policies.test_rules_node_software import VIOLATED, on_infiniband
from tests.policies.test_site_rules import ALLOCATION, SITE_FLAWS, divided, of_site
from tests.policies.workspace import Made, V, added, edited, full_site, judged, made, pair, with_footprint
from tests.policies.workspace import changed as with_fields

SITE = full_site()
REPLACED = UntestedDevice(vpod="train", device="ipum-03", serial="M-NEW", before="M-OLD")
DATA, STORAGE = "acme-train-poplar-0-ipu-data", "acme-train-poplar-0-storage"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def of(plan: Plan) -> Judgement:
    """A plan of acme's beside globex."""
    return judged(SITE, plan, clean()[1])


def software(site: Site) -> Judgement:
    """A tenant's plan on a site whose images and flavours say this."""
    return judged(site, made(site, tenant("acme")).plan)


def fabricless(site: Site) -> Judgement:
    """A plan of servers on GPU nodes that use no InfiniBand."""
    return judged(site, nodes_plan(site, infiniband=False))


def read_as(defect: str) -> Judgement:
    """acme's plan, whose controller was read and is not as it should be."""
    changes, *_ = controllers.DEFECTS[defect]
    judgement, _ = controllers.asked(controllers.plain(), controllers.evidence(controllers.plain(), **changes))
    return judgement


def changed(name: str, **changes: object) -> Judgement:
    """acme's plan with fields of one resource changed."""
    return of(edited(clean()[0].plan, name, **changes))


def field(name: str, key: str) -> object:
    return getattr(clean()[0].plan.by_name[name].resource, key)


def one_subnet_for_two() -> Judgement:
    """The storage subnet of one vPOD is that of the other; nothing routes between them."""
    plan = two_vpods()
    for name, key in (("storage-subnet", "cidr"), ("poplar-0-storage", "address")):
        plan = edited(plan, f"acme-b-{name}", **{key: getattr(plan.by_name[f"acme-a-{name}"].resource, key)})
    return judged(SITE, plan)


def trunk_on_a_function() -> Judgement:
    trunk = Trunk(name="trunk", project="acme-project", port=DATA, sub_ports=(TrunkSubPort(port=STORAGE, vlan=7),))
    return of(added(clean()[0].plan, "acme-trunk", "acme-train-poplar-0", trunk))


def right(thing: str, **fields: object) -> Judgement:
    policy = RbacPolicy.model_validate({"project": "acme-project", "object": thing, "target": "*"} | fields)
    return of(added(clean()[0].plan, "right", "acme", policy))


def one_address_in_two_locks() -> Judgement:
    """The RNICs of two tenants' machines send from one MAC address."""
    held = [item.lock.allocation.vpods["train"].machines[0] for item in clean()]
    machines = (
        item.model_copy(update={"macs": {"rnic": "0c:42:a1:00:00:07"}}) if item.name in held else item
        for item in SITE.machines
    )
    site = with_fields(SITE, machines=tuple(machines))
    acme, globex = clean()
    return judged(site, acme.plan, with_footprint(site, globex.plan, globex.lock))


def machines(*positions: int) -> Judgement:
    held = tuple(f"ipum-{position:02}" for position in positions)
    return judged(SITE, made(SITE, tenant("acme", machines=len(held), servers=1), machines=held).plan)


def open_in_one_version() -> Judgement:
    wide = SecurityGroupRule(direction="egress", ethertype="IPv6", protocol="udp")
    return of(filtered(wide, SecurityGroupRule(direction="egress", protocol="udp", remote_group=GROUP)))


#: Rule -> a defect of which it alone speaks, where no operator and no flaw of the inventory is one.
ALONE: dict[str, Callable[[], Judgement]] = {
    "ISO-04": one_subnet_for_two,
    "ISO-08": trunk_on_a_function,
    "ISO-09": lambda: changed(STORAGE, allowed_address_pairs=("10.21.0.0/24", "10.22.0.0/24")),
    "ISO-10": lambda: changed(STORAGE, security_groups=field(PORT, "security_groups")),
    "ISO-12": lambda: reserved_id(RULES),
    "ISO-14": lambda: of_site(leaves(tagged=None)),
    "ISO-15": lambda: of_site(untagged((1000, 1002))[0]),
    "ISO-22": lambda: shared_rack((gpus(1),), ()),
    "ISO-23": lambda: beside(OWN, (), keys_enforced_at_switch=None),
    "ISO-24": lambda: right(GROUP, action="access_as_shared"),
    "ISO-26": lambda: right("site:Network/external", action="access_as_external"),
    "L3-04": lambda: overlap_on_router(RULES),
    "L3-07": lambda: changed(PORT, address=f"{str(field(PORT, 'address')).rpartition('.')[0]}.1"),
    "L3-10": lambda: changed(PORT, allowed_address_pairs=("0.0.0.0/0",)),
    "L3-12": open_in_one_version,
    "SEC-11": lambda: judged(
        storing_site(), edited(with_policy(), "acme-train-s3-key", project="site:Project/controllers")
    ),
    "TOP-02": lambda: three_machines(RULES),
    "TOP-03": lambda: a_hole(RULES),
    "TOP-04": lambda: machines(4, 5),
    "TOP-06": one_address_in_two_locks,
    "TOP-10": lambda: changed(ALLOCATION, machines=("ipum-01", "ipum-01", "ipum-02", "ipum-03")),
    "TOP-11": lambda: judged(SITE, divided(32)),
    "TOP-25": lambda: of_site(ethernet_at_a_leaf()),
    "TOP-24": lambda: judged(out(SITE, "ipum-01"), clean()[0].plan, clean()[1]),
    "TOP-28": lambda: judged(out(SITE, "ipum-02"), clean()[0].plan, clean()[1]),
    "CAP-05": lambda: narrow_subnet(RULES),
    # The last of each rule; of two that have a network or hosts of their own there is one here.
    **{flaw.rule: partial(on_infiniband, flaw.site) for flaw in VIOLATED},
    "SW-08": lambda: fabricless(roce_site(pfc_priority=4)),
    "SW-13": lambda: fabricless(hypervisor_site(mitigations=False)),
    "SW-19": lambda: mixed_software.rolled(nccl="2.22.3"),
    "SW-16": lambda: software(stating({"vipu": "1.18.0"}, {"vipu": "1.17.0"})),
    "SW-17": lambda: software(flavored(disk_gib=19)),
    "LIF-03": lambda: whole_nodes.found(whole_nodes.acme().plan, whole_nodes.one_time_use(False)),
    "LIF-08": lambda: read_as("an agent of another release"),
    "LIF-12": lambda: read_as("no backup"),
    "SEC-01": lambda: read_as("an open API"),
    "LIF-13": lambda: of(clean()[0].plan.model_copy(update={"untested": (REPLACED,)})),
}

_SEPARATION = "what it finds joins two owners, which ISO-02 refuses; it says "
#: Rule -> why no defect is its alone: which rules speak of the same, and what it is there for.
BESIDE_OTHERS: dict[str, str] = {
    "ISO-01": f"{_SEPARATION}which claim on a wire it is",
    "ISO-05": f"{_SEPARATION}that it is the operator's management whom a tenant meets",
    "ISO-06": f"{_SEPARATION}that a vPOD's controller passes on",
    "ISO-11": f"{_SEPARATION}that two names are one segment",
    "ISO-16": f"{_SEPARATION}that a quarantine VLAN or a private VLAN does not keep apart",
    "ISO-27": f"{_SEPARATION}that boundary links do",
    "ISO-28": f"{_SEPARATION}that a service of the operator's does, a switch, or what was left in a device",
    "L3-01": f"{_SEPARATION}that a router does",
    "L3-03": f"{_SEPARATION}which policy of the cloud lets a port pose as the network",
    "L3-05": f"{_SEPARATION}that an address scope is open",
    "L3-06": f"{_SEPARATION}that a back-end's router does",
    "SEC-03": "AUTH-01 refuses what a controller of two owners serves; it says which controller",
    "SEC-21": f"{_SEPARATION}that two owners share processors",
    "TOP-19": "TOP-17 finds each bundle that is too thin; it says which switch blocks whoever is on it",
    "TOP-13": "ISO-03 misses the RNIC on its segment; it says which cable or physical network is wrong",
}


def blocking(judgement: Judgement) -> set[str]:
    """The rules that stand in the way."""
    return {item.rule for item in judgement.findings if item.severity in (Severity.BLOCK, Severity.ERROR)}


def lost() -> set[str]:
    """Rules with an operator that is lost without them; tests of operators hold them to it."""
    return {operator.rule for operator in OPERATORS if not operator.then or LOST in operator.then}


def flawed() -> dict[str, list[Callable[[], Site]]]:
    """Rule -> sites with a flaw that it finds."""
    return {rule.id: [flaw.site for flaw in SITE_FLAWS if flaw.rule == rule.id] for rule in RULES}


@pytest.mark.parametrize("rule", sorted(set(ALONE) | {flaw.rule for flaw in SITE_FLAWS}))
def test_a_defect_passes_without_the_rule(rule: str) -> None:
    """Only this rule stands in its way; or it is a warning, and nothing does."""
    cases = [ALONE[rule]] if rule in ALONE else [lambda site=site: of_site(site()) for site in flawed()[rule]]
    severity = next(item.severity for item in RULES if item.id == rule)
    for case in cases:
        judgement = case()
        found = {item.rule for item in judgement.findings}
        if rule in found and blocking(judgement) <= {rule}:
            return
    pytest.fail(f"{rule} ({severity}): others speak of each of its defects, too")


#: No request is planned over two racks, so this rule is asked about facts alone.
OF_FACTS = "TOP-05"


def test_a_missing_gateway_link_passes_without_its_rule() -> None:
    whole = two_racks()
    lost_end = Endpoint(device="ipum-05", interface="gw-link-5-21")
    site = with_fields(whole, cables=tuple(item for item in whole.cables if item.a != lost_end))
    before, after = asked(whole, BOTH), asked(site, BOTH)
    assert {rule for rule, verdict in after.items() if verdict == V and before[rule] != V} == {OF_FACTS}


def test_every_rule_is_needed_or_explains() -> None:
    alone = lost() | set(ALONE) | {flaw.rule for flaw in SITE_FLAWS} | {OF_FACTS}
    assert {rule.id for rule in RULES} == alone | set(BESIDE_OTHERS)
    assert not alone & set(BESIDE_OTHERS)
    explained = {operator.rule: operator for operator in OPERATORS if operator.rule in BESIDE_OTHERS}
    # Of these the tests of operators, or those of the rule itself, show who speaks instead.
    assert {rule for rule in BESIDE_OTHERS if rule not in explained} == {"ISO-06"}
