"""Which vPOD a resource belongs to and what a network is for: as the plan states it, and by no name."""

from __future__ import annotations

import json

import pytest

from interlock.planning.plan import Plan, Planned
from interlock.planning.plan_hash import hashed_form
from interlock.resources import KINDS, Network, digest_of
from interlock.vocabulary import NetworkRole
from policies import Judgement, judge, prove
from policies.facts.plan import plan_facts
from policies.proof import NotProved, Verdict
from tests.builders.pod64 import storing_pod64, tenant
from tests.planning.golden import data, plans
from tests.policies.workspace import N, P, V, added, edited, full_site, made, replaced, verdicts
from tests.policies.workspace import changed as changed_site

SITE = full_site()
STORAGE = "acme-train-storage"
OUTSIDE = 3999


def acme() -> Plan:

    return made(SITE, tenant("acme")).plan


def judged(plan: Plan) -> Judgement:
    return judge(SITE, plan, [])


def renamed(plan: Plan, old: str, new: str) -> Plan:
    """The plan with a name replaced wherever it stands: where it is defined, and in references."""

    def told(item: Planned) -> Planned:
        spec = json.loads(json.dumps(item.resource.canonical()).replace(old, new))
        fields = {
            "name": item.name.replace(old, new),
            "after": tuple(name.replace(old, new) for name in item.after),
            "resource": KINDS[item.resource.KIND].model_validate(spec),
        }
        return item.model_copy(update=fields)

    return with_resources(plan, tuple(told(item) for item in plan.resources))


def with_resources(plan: Plan, resources: tuple[Planned, ...]) -> Plan:
    return Plan(**({name: getattr(plan, name) for name in Plan.model_fields} | {"resources": resources}))


def stating(plan: Plan, name: str, **fields: object) -> Plan:
    """The plan in which one resource states another vPOD or role."""
    return replaced(plan, plan.by_name[name].model_copy(update=fields))


def missing(judgement: Judgement, rule: str) -> set[str]:
    found = [item for item in judgement.findings if item.rule == rule]
    assert {item.verdict for item in found} == {Verdict.NOT_PROVABLE}
    return {fact for item in found for fact in item.missing}


# A name says nothing.


def test_the_plan_is_proved_as_it_is() -> None:
    assert set(verdicts(judged(acme())).values()) <= {P, Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize("role", NetworkRole)
def test_a_renamed_network_is_judged_as_before(role: NetworkRole) -> None:
    plan = acme()
    assert verdicts(judged(renamed(plan, f"acme-train-{role}", "acme-train-nfs"))) == verdicts(judged(plan))


def test_a_renamed_network_outside_its_pool_is_still_violated() -> None:
    outside = edited(acme(), STORAGE, segmentation_id=OUTSIDE)
    before, after = judged(outside), judged(renamed(outside, STORAGE, "acme-train-nfs"))
    assert verdicts(before)["ISO-12"] is V
    assert verdicts(after) == verdicts(before)
    said = next(item for item in after.findings if item.rule == "ISO-12")
    assert f"VLAN {OUTSIDE} is not in the storage pool" in said.message


def test_a_name_that_looks_like_another_role_changes_nothing() -> None:
    swapped = renamed(renamed(acme(), STORAGE, "acme-train-x"), "acme-train-ipu-data", STORAGE)
    assert verdicts(judged(renamed(swapped, "acme-train-x", "acme-train-ipu-data"))) == verdicts(judged(acme()))


# Nothing stated is nothing proved.


@pytest.mark.parametrize(
    ("role", "rules"),
    [
        (NetworkRole.IPU_DATA, {"ISO-03", "ISO-04", "ISO-12", "CAP-05"}),
        (NetworkRole.STORAGE, {"ISO-03", "ISO-04", "ISO-12", "CAP-05"}),
        (NetworkRole.CONTROL, {"ISO-03", "ISO-04", "ISO-12", "CAP-05", "SEC-02"}),
        (NetworkRole.MANAGEMENT, {"ISO-03", "ISO-04", "ISO-12", "CAP-05", "SEC-02"}),
    ],
)
@pytest.mark.parametrize("segment", ["as planned", "outside"])
def test_a_network_without_a_role_is_not_provable(role: NetworkRole, rules: set[str], segment: str) -> None:
    name, plan = f"acme-train-{role}", acme()
    if segment == "outside":
        plan = edited(plan, name, segmentation_id=OUTSIDE)
    judgement = judged(stating(plan, name, role=None))
    unsure = {rule for rule, verdict in verdicts(judgement).items() if verdict is N}
    assert unsure >= rules
    for rule in rules:
        assert missing(judgement, rule) == {f"role of network {name}"}


def test_a_grant_on_a_network_without_a_role_is_not_provable() -> None:
    plan, site = data(), storing_pod64()
    access = next(item.resource for item in plan.resources if item.resource.KIND == "ShareAccess")
    name = str(getattr(access, "network", ""))
    before = verdicts(judge(site, plan, []))["SEC-14"]
    after = judge(site, stating(plan, name, role=None), [])
    assert before is not V
    assert verdicts(after)["SEC-14"] is N
    assert f"role of network {name}" in {
        fact for item in after.findings if item.rule == "SEC-14" for fact in item.missing
    }


def test_what_is_wrong_whatever_it_is_for_stays_violated() -> None:
    plan = stating(edited(acme(), STORAGE, segmentation_id=1), STORAGE, role=None)
    assert verdicts(judged(plan))["ISO-12"] is V


@pytest.mark.parametrize("role", [None, NetworkRole.STORAGE])
@pytest.mark.parametrize("component", ["acme", "acme-train"])
def test_a_network_that_states_no_vpod_is_not_provable(component: str, role: NetworkRole | None) -> None:
    """Moved out of the vPOD it would have no pool, and out of sight of rules about vPODs."""
    fields = {"component": component, "vpod": None, "role": role}
    judgement = judged(stating(acme(), STORAGE, **fields))
    assert verdicts(judgement)["ISO-12"] is N
    assert verdicts(judgement)["FACT-01"] is (P if component == "acme" else N)
    outside = judged(stating(edited(acme(), STORAGE, segmentation_id=OUTSIDE), STORAGE, **fields))
    assert verdicts(outside)["ISO-12"] is (N if role is None else V)


def test_a_tenants_network_beside_its_vpods_is_not_provable() -> None:
    network = Network(
        name="acme-own", project="acme-project", network_type="vlan", physical_network="fabric100g",
        segmentation_id=OUTSIDE,
    )  # fmt: skip
    assert verdicts(judged(added(acme(), "acme-own", "acme", network)))["ISO-12"] is N
    assert verdicts(judged(added(acme(), "acme-own", "acme-train", network)))["ISO-12"] is N


def test_a_plan_file_of_before_is_not_provable() -> None:
    """It states neither: read as it is, with nothing guessed from its names."""
    plan = acme()
    document = json.loads(json.dumps(plan.canonical()))
    resources = []
    for item in document["resources"]:
        del item["vpod"], item["role"]
        resource = KINDS[item.pop("kind")].model_validate(item.pop("spec"))
        resources.append(Planned.model_validate(item | {"resource": resource}))
    old = with_resources(plan, tuple(resources))
    assert {(item.vpod, item.role) for item in old.resources} == {(None, None)}
    judgement = judged(old)
    assert verdicts(judgement)["FACT-01"] is N
    assert verdicts(judgement)["ISO-12"] is N
    assert V not in {item.verdict for item in judgement.findings if item.rule == "ISO-12"}
    with pytest.raises(NotProved):
        prove(SITE, old, [])


# A plan that contradicts itself.


def test_a_vpod_other_than_that_of_its_component_is_violated() -> None:
    plan = stating(acme(), STORAGE, vpod="acme-serve")
    judgement = judged(plan)
    assert verdicts(judgement)["FACT-01"] is V
    assert "of vPOD acme-serve, and it is a part of acme-train" in " ".join(item.message for item in judgement.findings)


@pytest.mark.parametrize("name", [item.name for item in acme().resources if item.vpod is not None])
def test_every_resource_of_a_vpod_has_to_state_it(name: str) -> None:
    judgement = judged(stating(acme(), name, vpod=None))
    assert missing(judgement, "FACT-01") == {f"vPOD of {name}"}


def test_two_networks_of_one_role_are_violated() -> None:
    plan = stating(acme(), "acme-train-management", role=NetworkRole.STORAGE)
    assert verdicts(judged(plan))["ISO-12"] is V


def test_two_networks_of_one_role_are_violated_where_their_ids_fit() -> None:
    plan = acme()
    spec = plan.by_name[STORAGE].resource
    second = added(plan, "acme-train-second", "acme-train", spec.model_copy(update={"name": "acme-train-second"}))
    said = judged(stating(second, "acme-train-second", role=NetworkRole.STORAGE))
    assert "is said to be the storage network of acme-train, and so is" in " ".join(x.message for x in said.findings)


def test_an_overlay_is_no_data_network() -> None:
    """The pool of overlays would let it pass."""
    plan = stating(stating(acme(), STORAGE, role=NetworkRole.CONTROL), "acme-train-control", role=NetworkRole.STORAGE)
    said = [item.message for item in judged(plan).findings if item.rule == "ISO-12"]
    assert any("a storage network is a VLAN, and this is an overlay" in message for message in said)


def test_roles_of_two_vlans_exchanged_are_found_by_their_pools() -> None:
    plan = stating(stating(acme(), STORAGE, role=NetworkRole.IPU_DATA), "acme-train-ipu-data", role=NetworkRole.STORAGE)
    assert verdicts(judged(plan))["ISO-12"] is V


def test_roles_exchanged_within_one_pool_are_found_by_the_machines() -> None:
    """Where the pools hold the same ids the switch ports of the machines say which is which."""
    pools = SITE.pools.model_copy(
        update={
            name: SITE.pools.vlans_by_name["ipu_data"].model_copy(update={"vlans": ((2, 3999),)})
            for name in ("ipu_data", "storage")
        }
    )
    wide = changed_site(SITE, pools=pools)
    plan = stating(stating(acme(), STORAGE, role=NetworkRole.IPU_DATA), "acme-train-ipu-data", role=NetworkRole.STORAGE)
    found = verdicts(judge(wide, plan, []))
    assert found["ISO-12"] is P
    assert found["ISO-03"] is V


# What the hash of a plan covers.


@pytest.mark.parametrize("name", sorted(plans()))
def test_the_hash_of_a_usual_plan_is_that_of_a_plan_without_the_two_fields(name: str) -> None:
    plan = plans()[name]
    document = plan.canonical()
    before = [
        {key: value for key, value in item.items() if key not in ("vpod", "role")} for item in document["resources"]
    ]
    assert plan.hash == digest_of(document | {"resources": before})


def test_every_other_statement_has_a_hash_of_its_own() -> None:
    """Also `null`: a plan whose roles were taken away is another plan, and no proof of the first is one of it."""
    plan = acme()
    roles, vpods = (None, *NetworkRole), (None, "acme-train", "acme-serve")
    told = [stating(plan, STORAGE, role=role, vpod=vpod).hash for role in roles for vpod in vpods]
    assert told.count(plan.hash) == 1
    assert len(set(told)) == len(told)


def test_a_plan_file_of_before_keeps_its_hash() -> None:
    document = acme().canonical()
    before = [
        {key: value for key, value in item.items() if key not in ("vpod", "role")} for item in document["resources"]
    ]
    old = document | {"resources": before}
    assert hashed_form(old) == old


def test_facts_and_components_count_the_same_machines() -> None:
    for plan in plans().values():
        for vpod in plan_facts(plan).vpods:
            allocated = [
                item.resource
                for item in plan.resources
                if item.resource.KIND == "VipuAllocation" and item.vpod == vpod.name
            ]
            assert sorted(plan.machines(vpod.name)) == list(vpod.machines)
            assert [sorted(getattr(item, "machines", ())) for item in allocated] == [list(vpod.machines)]
