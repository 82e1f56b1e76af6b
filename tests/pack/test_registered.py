"""What the policy pack says of stacks that are, and are not, what was proved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import StackValidationArgs
from pulumi_policy.proxy import UNKNOWN_NUMBER_VALUE, UNKNOWN_STRING_VALUE, unknown_checking_proxy

from infra.program import places
from interlock.planning import Plan
from policies import registered
from policies.registered import MIX, NO_PROOF, STACK, differences, validate
from tests.components.declaring import admission_of, proof_of, site_plan, tenant_plan

PORT = "acme-train-poplar-0-storage"
NETWORK = "acme-train-ipu-data"


@dataclass(frozen=True)
class Shown:
    """A resource as the SDK shows it: properties behind a proxy that raises for unknowns."""

    resource_type: str
    name: str
    properties: dict[str, Any]

    @property
    def urn(self) -> str:
        return f"urn:pulumi:lyon-acme::clusters::{self.resource_type}::{self.name}"

    @property
    def props(self) -> Any:
        return unknown_checking_proxy(self.properties)


def on_the_wire(value: Any) -> Any:
    """Every number a float, no key that holds nothing: what arrives from the engine."""
    if isinstance(value, dict):
        return {key: on_the_wire(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [on_the_wire(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def shown(plan: Plan) -> list[Any]:
    """The whole stack of a plan."""
    found = [
        Shown(STACK, f"clusters-{plan.stack}", {"plan_hash": plan.hash, "not_wired": []}),
        Shown("pulumi:providers:interlock", "cloud", {"cloud": "sandbox"}),
    ]
    found += [Shown(f"interlock:components:{part.type}", part.name, {}) for part in plan.components]
    for item in plan.resources:
        if item.resource.is_declared:
            beside = {
                "owner": plan.owner,
                "id_of_project": UNKNOWN_STRING_VALUE,
                "marker": UNKNOWN_STRING_VALUE,
            }
            values = on_the_wire(item.resource.canonical()) | beside
            found.append(Shown(f"interlock:index:{item.resource.KIND}", item.name, values))
    return found


@pytest.fixture(scope="module")
def plan() -> Plan:
    return tenant_plan()


@pytest.fixture
def proofs(plan: Plan, tmp_path: Path) -> Path:
    """A folder with the copy that the program would have left."""
    keep(plan, tmp_path)
    return tmp_path


def keep(plan: Plan, folder: Path) -> Path:
    file = folder / plan.stack / f"{plan.hash.removeprefix('sha256:')}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"admission": admission_of(proof_of(plan)).model_dump(mode="json")}))
    return file


def altered(stack: list[Any], target: str, changes: dict[str, Any]) -> list[Any]:
    """The stack with one cloud object's properties changed; a value of None takes the key away."""

    def change(item: Any) -> Any:
        if item.name != target or not item.resource_type.startswith("interlock:index:"):
            return item
        merged = item.properties | changes
        return replace(item, properties={key: value for key, value in merged.items() if value is not None})

    return [change(item) for item in stack]


def test_a_stack_as_proved_has_no_difference(plan: Plan, proofs: Path) -> None:
    assert list(differences(shown(plan), proofs)) == []


def test_the_sites_stack_as_proved_has_no_difference(tmp_path: Path) -> None:
    plan = site_plan()
    keep(plan, tmp_path)
    stack = shown(plan)
    stack[0] = SiteStack(STACK, "clusters-lyon-site", stack[0].properties)
    assert list(differences(stack, tmp_path)) == []


class SiteStack(Shown):
    """The stack resource of the site."""

    @property
    def urn(self) -> str:
        return f"urn:pulumi:lyon-site::clusters::{STACK}::clusters-lyon-site"


def test_whole_numbers_may_come_as_floats(plan: Plan) -> None:
    vlan = next(item for item in shown(plan) if item.name == NETWORK).properties["segmentation_id"]
    assert isinstance(vlan, float)


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        (NETWORK, {"segmentation_id": 1999.0}, "segmentation_id not as proved"),
        (NETWORK, {"segmentation_id": 1000.5}, "not those of a Network"),
        (NETWORK, {"segmentation_id": "1000"}, None),
        (NETWORK, {"shared": True, "port_security": False}, "shared, port_security not as proved"),
        (NETWORK, {"name": None}, "not those of a Network: Field required"),
        (NETWORK, {"owner": "0" * 32}, "its owner is not this stack"),
        (NETWORK, {"owner": None}, "its owner is not this stack"),
        (NETWORK, {"segmentation_id": UNKNOWN_NUMBER_VALUE}, "segmentation_id is not known yet"),
        (NETWORK, {"owner": UNKNOWN_STRING_VALUE}, "owner is not known yet"),
        (PORT, {"security_groups": ["acme-train-poplar-ssh"]}, "security_groups not as proved"),
        (PORT, {"security_groups": [UNKNOWN_STRING_VALUE]}, "security_groups.0 is not known yet"),
        ("acme-train-poplar-ssh", {"rules": []}, "rules not as proved"),
        ("acme-train-poplar-ssh", {"rules": [{"direction": UNKNOWN_STRING_VALUE}]}, "direction is not known"),
    ],
)  # fmt: skip
def test_an_altered_input_is_named(
    plan: Plan, proofs: Path, name: str, changes: dict[str, Any], said: str | None
) -> None:
    found = list(differences(altered(shown(plan), name, changes), proofs))
    if said is None:
        # The same number as text is the same VLAN.
        assert found == []
    else:
        (one,) = found
        assert name in one
        assert said in one
        assert MIX in one


@pytest.mark.parametrize("kind", ["Port", "SwitchPort", "NoSuchKind"])
def test_a_resource_beside_the_plan_is_named(plan: Plan, proofs: Path, kind: str) -> None:
    added: Any = Shown(f"interlock:index:{kind}", "sneaked", {"owner": plan.owner})
    (one,) = differences([*shown(plan), added], proofs)
    assert one.startswith(f"{kind} sneaked is in the stack and not in its proof")


def test_a_planned_switch_port_must_not_be_registered(plan: Plan, proofs: Path) -> None:
    port = plan.without_actuator()[0]
    added: Any = Shown("interlock:index:SwitchPort", port.name, port.resource.canonical() | {"owner": plan.owner})
    (one,) = differences([*shown(plan), added], proofs)
    assert port.name in one


def test_a_resource_of_another_provider_is_named(plan: Plan, proofs: Path) -> None:
    added: Any = Shown("openstack:networking/port:Port", "sneaked", {"network": UNKNOWN_STRING_VALUE})
    (one,) = differences([*shown(plan), added], proofs)
    assert "openstack:networking/port:Port sneaked" in one


def test_the_same_resource_twice_is_named(plan: Plan, proofs: Path) -> None:
    stack = shown(plan)
    (one,) = differences([*stack, stack[-1]], proofs)
    assert one.endswith("is in the stack 2 times")


def test_a_part_without_the_rest_is_a_mix(plan: Plan, proofs: Path) -> None:
    stack = [item for item in shown(plan) if item.name not in (NETWORK, f"{NETWORK}-subnet")]
    (one,) = differences(stack, proofs)
    assert one == f"2 resource(s) of the proof are not in the stack: {NETWORK}, {NETWORK}-subnet ({MIX})"


@pytest.mark.parametrize("cloud", ["production", UNKNOWN_STRING_VALUE])
def test_a_provider_for_another_cloud_is_named(plan: Plan, proofs: Path, cloud: str) -> None:
    stack = [*shown(plan), Shown("pulumi:providers:interlock", "second", {"cloud": cloud})]
    (one,) = differences(stack, proofs)
    assert one == "provider second is not set to cloud sandbox, which was proved"


def test_a_provider_for_another_region_is_named(plan: Plan, proofs: Path) -> None:
    settings = {"cloud": "sandbox", "region": "RegionTwo"}
    stack = [*shown(plan), Shown("pulumi:providers:interlock", "second", settings)]
    (one,) = differences(stack, proofs)
    assert one == "provider second is not set to the default region of the cloud, which was proved"


@pytest.mark.parametrize("plan_hash", [None, UNKNOWN_STRING_VALUE, "sha256:" + "0" * 64, "../../x", 7.0])
def test_without_a_proof_of_its_own_nothing_passes(plan: Plan, proofs: Path, plan_hash: Any) -> None:
    stack = [replace(item, properties={"plan_hash": plan_hash}) if item.resource_type == STACK else item
             for item in shown(plan)]  # fmt: skip
    assert list(differences(stack, proofs)) == [NO_PROOF]


def test_without_the_stacks_own_resource_nothing_passes(plan: Plan, proofs: Path) -> None:
    assert list(differences(shown(plan)[1:], proofs)) == [NO_PROOF]


def not_json(text: str) -> str:
    return text[:100]


def of_another_stack(text: str) -> str:
    return text.replace("lyon-acme", "lyon-globex")


def without_admission(text: str) -> str:
    return "{}"


def a_list(text: str) -> str:
    return "[]"


@pytest.mark.parametrize("damage", [not_json, of_another_stack, without_admission, a_list])
def test_a_copy_that_is_no_proof_of_this_stack_does_not_count(
    plan: Plan, proofs: Path, damage: Callable[[str], str]
) -> None:
    file = keep(plan, proofs)
    file.write_text(damage(file.read_text()))
    assert list(differences(shown(plan), proofs)) == [NO_PROOF]


def test_a_stack_that_holds_nothing_has_nothing_to_say(proofs: Path) -> None:
    assert list(differences([], proofs)) == []
    nothing: Any = Shown(STACK, "clusters-lyon-acme", {})
    assert list(differences([nothing], proofs)) == []


def test_differences_are_reported_as_violations(plan: Plan) -> None:
    reported: list[str] = []
    validate(StackValidationArgs(shown(plan)), reported.append)
    # Nobody left a copy of this hand-made plan's proof where the pack looks.
    assert reported == [NO_PROOF]


def test_the_pack_looks_where_the_program_writes() -> None:
    assert registered.PROOFS == places.PROOFS
