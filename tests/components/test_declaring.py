"""What Pulumi is told of a plan: every resource that can be made, once, as it was proved."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, cast

import pytest

from interlock.model.tenant.request import BucketRequest
from interlock.planning import Plan, Planned
from interlock.resources import ID_OF, Admission, digest_of
from tests.components.declaring import Declared, declared, site_plan, tenant_plan
from tests.planning.golden import bare_metal, data, leaving, partitions

PLANS = {"tenant": tenant_plan, "site": site_plan, "bare metal": bare_metal, "data": data, "partitions": partitions}


def ids_in(inputs: dict[str, Any]) -> dict[str, Any]:
    """Reference field -> id or ids."""
    return {name.removeprefix(ID_OF): value for name, value in inputs.items() if name.startswith(ID_OF)}


@pytest.fixture(scope="module", params=PLANS)
def done(request: pytest.FixtureRequest) -> Declared:
    """Each kind of stack, declared."""
    return declared(PLANS[request.param]())


@pytest.fixture(scope="module")
def acme() -> Declared:
    """The tenant's stack, declared."""
    return declared(tenant_plan())


def makeable(plan: Plan) -> list[Planned]:
    return [item for item in plan.resources if item.resource.is_declared]


def token(item: Planned) -> str:
    return f"interlock:index:{item.resource.KIND}"


def test_every_resource_that_can_be_made_is_registered_once(done: Declared) -> None:
    registered = Counter((request.type, request.name) for request in done.of_type("interlock:index:"))
    assert registered == Counter((token(item), item.name) for item in makeable(done.plan))


def test_what_nothing_can_make_is_not_registered(acme: Declared) -> None:
    assert acme.plan.without_actuator()
    assert not acme.of_type("interlock:index:SwitchPort")


def test_of_a_plan_with_nothing_in_it_only_the_provider_hears() -> None:
    done = declared(leaving())
    assert [request.type for request in done.requests] == ["pulumi:providers:interlock"]
    assert [call.token for call in done.provider.calls] == ["interlock:index:admit"]
    assert done.root is None


def test_nothing_else_is_registered(done: Declared) -> None:
    others = [item for item in done.requests if not item.type.startswith("interlock:index:")]
    assert Counter((item.type, item.name) for item in others) == Counter(
        [("pulumi:providers:interlock", "cloud")]
        + [(f"interlock:components:{part.type}", part.name) for part in done.plan.components]
    )


def test_the_tree_is_the_plans_tree(done: Declared) -> None:
    wanted = {(item.name, token(item)): item.component for item in makeable(done.plan)}
    for part in done.plan.components:
        wanted[part.name, f"interlock:components:{part.type}"] = part.parent or "the stack"
    for request in done.of_type("interlock:"):
        parent_type, parent_name = request.parent.split("::")[2:]
        below_stack = parent_type == "pulumi:pulumi:Stack"
        assert wanted[request.name, request.type] == ("the stack" if below_stack else parent_name)
        assert below_stack or parent_type.split("$")[-1].startswith("interlock:components:")


def test_inputs_are_what_was_proved_with_owner_and_ids(done: Declared) -> None:
    for item in makeable(done.plan):
        inputs = done.inputs(item.name)
        assert inputs.pop("owner") == done.plan.owner
        for name in [name for name in inputs if name.startswith(ID_OF)]:
            assert name.removeprefix(ID_OF) in item.resource.reference_fields()
            del inputs[name]
        # The SDK sends no key whose value is None; the kinds' defaults are None there.
        spec = type(item.resource).model_validate(inputs).canonical()
        assert digest_of({"kind": item.resource.KIND, "spec": spec}) == item.resource.digest(), item.name


def test_exactly_the_data_that_are_kept_are_protected(done: Declared) -> None:
    """Otherwise a destroy goes on until the provider is asked for the data themselves."""
    for item in makeable(done.plan):
        assert done.object(item.name).protect == item.resource.is_kept, item.name


@pytest.mark.parametrize(("on_delete", "kept"), [("keep", True), ("erase", False)])
def test_on_delete_decides(on_delete: str, kept: bool) -> None:
    bucket = BucketRequest(name="data", versioning=True, on_delete=cast(Any, on_delete))
    plan = tenant_plan(buckets=(bucket,))
    (name,) = [item.name for item in plan.resources if item.resource.KIND == "Bucket"]
    assert declared(plan).object(name).protect is kept


def test_references_within_the_stack_come_with_their_ids(done: Declared) -> None:
    own = done.plan.by_name
    for item in makeable(done.plan):
        ids = ids_in(done.inputs(item.name))
        expected = {(name, f"id of {reference}") for name, reference in item.resource.references() if reference in own}
        given = {
            (name, identity)
            for name, value in ids.items()
            for identity in (value if isinstance(value, list) else [value])
        }
        assert given == expected, item.name


def test_ids_of_references_are_outputs_of_the_objects_referred_to(acme: Declared) -> None:
    server = acme.object("acme-train-poplar-0")
    behind = {
        name.removeprefix(ID_OF): {urn.rsplit("::", 1)[1] for urn in found.urns}
        for name, found in server.propertyDependencies.items()
        if name.startswith(ID_OF)
    }
    assert behind == {
        "project": {"acme-project"},
        "keypair": {"acme-key"},
        "ports": {f"acme-train-poplar-0-{suffix}" for suffix in ("ipu-data", "storage", "control")},
        "shares": set(),
    }
    assert not server.propertyDependencies["ports"].urns


def test_references_to_the_site_and_the_cloud_carry_no_id(acme: Declared) -> None:
    assert set(ids_in(acme.inputs("acme-operator"))) == {"project"}
    assert "flavor" not in ids_in(acme.inputs("acme-train-poplar-0"))


def test_what_must_exist_first_is_a_dependency(done: Declared) -> None:
    for item in makeable(done.plan):
        names = {urn.rsplit("::", 1)[1] for urn in done.object(item.name).dependencies}
        referred = {name for _, name in item.resource.references() if name in done.plan.by_name}
        assert names == {*item.after, *referred}, item.name


def test_a_replacement_deletes_first(done: Declared) -> None:
    for request in done.of_type("interlock:index:"):
        assert request.deleteBeforeReplace, request.name
        assert request.deleteBeforeReplaceDefined


def test_all_go_to_the_one_provider_that_was_told_the_proof(done: Declared) -> None:
    providers = {request.provider for request in done.of_type("interlock:index:")}
    (call,) = done.provider.calls
    assert providers == {call.provider}
    assert call.token == "interlock:index:admit"
    told = Admission.model_validate_json(call.args["admission"])
    assert {item.name for item in told.resources} == {item.name for item in makeable(done.plan)}
    assert told.plan_hash == done.plan.hash


@pytest.mark.parametrize("preview", [True, False])
def test_the_provider_is_told_which_phase_it_is(preview: bool) -> None:
    (call,) = declared(site_plan(), preview=preview).provider.calls
    assert call.args["preview"] is preview


def test_faults_found_beforehand_are_all_told_and_nothing_is_declared() -> None:
    done = declared(tenant_plan(), ["no image vipu-controller", "quota of acme: 2 cores too few"])
    assert [request.type for request in done.requests] == ["pulumi:providers:interlock"]
    assert done.refusal == (
        "2 fault(s) found before the first call; nothing was touched:\n"
        "  - no image vipu-controller\n"
        "  - quota of acme: 2 cores too few"
    )


def test_what_nobody_could_look_at_is_said_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", said.append)
    done = declared(tenant_plan(), notes=["not looked at: no answer"])
    assert said == ["not looked at: no answer"]
    assert done.refusal == ""
    assert len(done.requests) > 1


def test_admission_survives_the_wire() -> None:
    done = declared(site_plan())
    sent = json.loads(done.provider.calls[0].args["admission"])
    assert sent["stack"] == "lyon-site"
    assert sent["owner"] == done.plan.owner
