"""Security groups that let in the members of others: ids are resolved, sent as Neutron's, and read back as names."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import ValidationError

from components.declaration import Declaration
from interlock.planning import Plan
from interlock.planning.differences import changes_between
from interlock.planning.plan import Planned
from interlock.provider.actuators import ACTUATORS, Observed, Target
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import marker
from interlock.provider.references import exchanged, target_of
from interlock.provider.state import as_seen, declared, differing
from interlock.resources import Admission, Admitted, SecurityGroup, SecurityGroupRule
from interlock.vocabulary.owners import OwnerId
from tests.builders.pod64 import tenant
from tests.policies.workspace import added, full_site, made

OWNER = OwnerId("0a11ce")
JOBS, OWN, STRANGE = "id-jobs", "id-ssh", "id-strange"


def rule(group: str | None, **fields: Any) -> SecurityGroupRule:
    return SecurityGroupRule.model_validate({"direction": "ingress", "protocol": "tcp", "remote_group": group} | fields)


RULES = (rule("t-jobs"), rule("t-ssh"), rule(None, remote_prefix="10.0.0.0/8"), rule("t-jobs", protocol="udp"))
GROUP = SecurityGroup(name="ssh", project="t-project", rules=RULES)


class Neutron:
    """Groups and rules as Neutron keeps them, and what it was asked to make."""

    def __init__(self) -> None:
        self.rules: list[dict[str, Any]] = []
        self.posts = 0
        self.names = {JOBS: "t-jobs", OWN: "t-ssh", STRANGE: "t-strange"}

    def find(self, path: str) -> dict[str, Any] | None:
        kind, ident = path.strip("/").split("/")
        if kind == "projects":
            return {
                "project": {
                    "id": ident,
                    "name": "t",
                    "description": marker(OWNER, "t-project"),
                    "domain_id": "d",
                }
            }
        name = self.names.get(ident)
        return None if name is None else {"security_group": self._group(ident, name)}

    def get(self, path: str) -> dict[str, Any]:
        found = self.find(path)
        assert found is not None
        return found

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.posts += 1
        for new in body["security_group_rules"]:
            assert not (new["remote_group_id"] and new["remote_ip_prefix"]), "Neutron refuses both together"
            self.rules.append(new | {"id": f"rule-{len(self.rules)}"})
        return {}

    def delete(self, path: str) -> None:
        self.rules = [item for item in self.rules if not path.endswith(f"/{item['id']}")]

    def _group(self, ident: str, name: str) -> dict[str, Any]:
        rules = [item for item in self.rules if item["security_group_id"] == ident]
        return {
            "id": ident, "name": name.removeprefix("t-"), "description": marker(OWNER, name), "project_id": "id-t",
            "security_group_rules": rules,
        }  # fmt: skip


class OneCloud:
    """A cloud with one service."""

    def __init__(self) -> None:
        self.neutron = Neutron()
        self.markers = {("Project", "id-t"): marker(OWNER, "t-project")}

    def api(self, _: str) -> Neutron:
        return self.neutron


def admission() -> Admission:
    kinds = {"t-project": "Project", "t-jobs": "SecurityGroup", "t-ssh": "SecurityGroup"}
    items = tuple(Admitted(name=name, kind=kind, spec={}) for name, kind in kinds.items())
    return Admission(
        stack="lyon-t", cloud="c", owner=OWNER, site_owner=OwnerId("5172e0"), existing={}, plan_hash="p",
        proof_hash="p", site_folder="/", virtual_functions={}, resources=items,
    )  # fmt: skip


def item_with(*ids: str) -> Any:
    values = GROUP.canonical() | {"owner": OWNER, "id_of_project": "id-t", "id_of_rules": list(ids)}
    return declared("SecurityGroup", "t-ssh", values)


def resolved() -> tuple[OneCloud, Target[Any]]:
    cloud = OneCloud()
    return cloud, target_of(cast(Cloud, cloud), item_with(JOBS, JOBS), admission())


def seen_after(cloud: OneCloud, target: Target[Any]) -> Observed:
    actuator = ACTUATORS["SecurityGroup"]
    before = actuator.read(cast(Cloud, cloud), OWN, target)
    assert before is not None
    actuator.update(cast(Cloud, cloud), target, before, frozenset({"rules"}))
    seen = actuator.read(cast(Cloud, cloud), OWN, target)
    assert seen is not None
    return seen


def test_a_prefix_or_a_group() -> None:
    with pytest.raises(ValidationError, match="write two rules"):
        rule("t-jobs", remote_prefix="10.0.0.0/8")


def test_each_reference_in_the_rules_has_its_id_but_the_group_itself() -> None:
    assert [ref for field, ref in GROUP.references() if field == "rules"] == ["t-jobs", "t-ssh", "t-jobs"]
    assert resolved()[1].refs["rules"] == (JOBS, JOBS)


def test_what_neutron_is_asked_for_and_shows() -> None:
    cloud, target = resolved()
    seen = seen_after(cloud, target)
    assert [item["remote_group_id"] for item in cloud.neutron.rules] == [JOBS, OWN, None, JOBS]
    assert cloud.neutron.posts == 1
    assert differing(target, seen) == frozenset()


def test_a_group_that_somebody_else_let_in_is_seen_and_removed() -> None:
    cloud, target = resolved()
    seen_after(cloud, target)
    strange = cloud.neutron.rules[0] | {"remote_group_id": STRANGE, "id": "rule-by-hand"}
    cloud.neutron.rules.append(strange)
    found = ACTUATORS["SecurityGroup"].read(cast(Cloud, cloud), OWN, target)
    assert found is not None
    assert as_seen(target, found)["rules"][-1]["remote_group"] == f"cloud-id:{STRANGE}"
    assert differing(target, found) == {"rules"}
    assert differing(target, seen_after(cloud, target)) == frozenset()


def test_an_exchanged_id_is_refused() -> None:
    cloud = cast(Cloud, OneCloud())
    with pytest.raises(Failure, match="refers to t-jobs"):
        target_of(cloud, item_with(JOBS, STRANGE), admission())
    assert [field for field, _ in exchanged(cloud, item_with(STRANGE, JOBS), admission(), {})] == ["id_of_rules"]


def test_an_id_that_was_not_handed_over_is_refused() -> None:
    with pytest.raises(Failure, match="no id of it was handed over"):
        target_of(cast(Cloud, OneCloud()), item_with(JOBS), admission())


# From the plan to the engine.


class Declared:
    """Stands for a resource that the engine knows."""

    def __init__(self, name: str) -> None:
        self.id = f"id of {name}"


def plan_with_groups() -> Plan:
    plan = made(full_site(), tenant("acme")).plan
    jobs = SecurityGroup(name="jobs", project="acme-project", rules=(rule("acme-jobs"),))
    web = SecurityGroup(name="web", project="acme-project", rules=(rule("acme-jobs"), rule("acme-web")))
    return added(added(plan, "acme-jobs", "acme", jobs), "acme-web", "acme", web)


def test_the_program_hands_over_the_ids_of_other_groups() -> None:
    declaration = Declaration.__new__(Declaration)
    declaration._declared = cast(Any, {name: Declared(name) for name in ("acme-project", "acme-jobs")})
    item: Planned = plan_with_groups().by_name["acme-web"]
    assert declaration._ids(item) == {"id_of_project": "id of acme-project", "id_of_rules": ["id of acme-jobs"]}


def test_a_group_follows_one_that_is_recreated() -> None:
    plan = plan_with_groups()
    before = plan.canonical()
    for item in before["resources"]:
        if item["name"] == "acme-jobs":
            item["spec"]["project"] = "site:Project/controllers"
    found = {change.name: change for change in changes_between(before, plan)}
    assert (found["acme-jobs"].action, found["acme-web"].action) == ("replace", "update")
    assert [(field.field, field.follows) for field in found["acme-web"].fields] == [("rules", "acme-jobs")]
