"""Identities as values: what is written is read back, and what looks like one and is none is told apart."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.cli.exits import EnvironmentFailed
from infra.program.gate import NotPlanned
from interlock.model.lock.record import ClusterAllocation, VPodAllocation
from interlock.model.text.names import site_name, tenant_name
from interlock.planning import AllocationError, NeedsMove, PlanningError
from interlock.provider.actuators import Target
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.guards import check_tenants
from interlock.provider.markers import marker
from interlock.resources import Project, is_cloud_reference, is_site_reference
from interlock.store.objects import StoreFailed
from interlock.vocabulary import (
    CLAIMS_OF,
    Claimant,
    InterlockError,
    NetworkRole,
    Overlay,
    Reference,
    Scheme,
    StackName,
    Vlan,
)
from interlock.vocabulary.owners import OwnerId

sites = st.from_regex(r"[a-z][a-z0-9]{0,5}(_[a-z0-9]{1,4})?", fullmatch=True)
tenants = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4}){0,2}", fullmatch=True).filter(lambda name: name != "site")
words = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._@-]{0,8}[A-Za-z0-9])?", fullmatch=True)


# Stacks.


@given(sites, st.none() | tenants)
def test_a_stack_is_read_back(site: str, tenant: str | None) -> None:
    assert site_name(site) == site
    assert tenant is None or tenant_name(tenant) == tenant
    name = StackName(site, tenant)
    assert StackName.parse(str(name)) == name
    assert name.is_site is (tenant is None)
    assert str(name.of_site) == f"{site}-site"


@pytest.mark.parametrize("tenant", ["off-site", "site-b", "a-site"])
def test_a_tenant_that_is_called_nearly_so_is_no_operator(tenant: str) -> None:
    assert StackName.parse(f"lyon-{tenant}") == StackName("lyon", tenant)
    assert not StackName.parse(f"lyon-{tenant}").is_site


@pytest.mark.parametrize("text", ["", "dev", "lyon-", "-acme", "-"])
def test_other_names_are_no_stacks_of_ours(text: str) -> None:
    assert StackName.named(text) is None
    with pytest.raises(ValueError, match="is no name of a stack"):
        StackName.parse(text)


class _Projects:
    """A Keystone with one project, of another tenant."""

    def items(self, path: str, key: str) -> list[Mapping[str, Any]]:
        assert (path, key) == ("/projects", "projects")
        return [{"name": "globex", "id": "1", "description": marker(OwnerId("globexowner"), "globex-project")}]


@pytest.mark.parametrize(
    ("stack", "without", "refused"),
    [
        ("lyon-site", (), True), ("lyon-site", ("acmeowner",), True), ("lyon-site", ("globexowner",), False),
        ("lyon-off-site", (), False), ("site", (), False),
    ],
)  # fmt: skip
def test_only_the_operators_objects_wait_for_tenants_to_go(stack: str, without: tuple[str, ...], refused: bool) -> None:
    """A tenant `off-site` may destroy its own stack while others are on the cloud.

    `without`: whose stacks are known not to use the object, which then need not go.
    """
    cloud = cast("Cloud", SimpleNamespace(api=lambda service: _Projects(), without_use=lambda *_: frozenset(without)))
    target = cast("Target[Any]", SimpleNamespace(spec=Project(name="x"), name="x", owner="anotherowner"))
    if refused:
        with pytest.raises(Failure, match="tenants still use the site"):
            check_tenants(cloud, target, stack)
    else:
        check_tenants(cloud, target, stack)


# References.


@given(st.sampled_from(Scheme), words, words)
def test_a_reference_is_read_back(scheme: Scheme, kind: str, name: str) -> None:
    text = str(Reference(name, kind, scheme))
    assert Reference.parse(text) == Reference(name, kind, scheme)
    assert (is_site_reference(text), is_cloud_reference(text)) == (scheme is Scheme.SITE, scheme is Scheme.CLOUD)
    assert Reference.name_in(text, scheme, kind) == name
    assert Reference.kind_of(text) == kind


@given(words)
def test_a_plan_name_is_its_own_reference(name: str) -> None:
    assert Reference.parse(name) == Reference(name)
    assert str(Reference(name)) == name
    assert Reference(name).is_own
    assert Reference.kind_of(name) == ""


def test_references_as_plans_have_them() -> None:
    assert Reference.site("Flavor", "poplar") == "site:Flavor/poplar"
    assert Reference.cloud("User", "@operator") == "cloud:User/@operator"
    assert Reference.name_in("site:Flavors/poplar", Scheme.SITE, "Flavor") is None
    assert Reference.name_in("cloud:Flavor/poplar", Scheme.SITE, "Flavor") is None


@pytest.mark.parametrize("text", ["site:", "site:Flavor", "site:Flavor/", "cloud:/x"])
def test_a_scheme_without_an_object_names_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="names nothing"):
        Reference.parse(text)


# Segments and claims.


@given(st.from_regex(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*", fullmatch=True) | st.just(""), st.integers(1, 4094))
def test_a_vlan_is_read_back(network: str, number: int) -> None:
    """Also one of which nobody recorded the physical network, as locks of format 1 released them."""
    assert Vlan.parse(str(Vlan(network, number))) == Vlan(network, number)


@pytest.mark.parametrize("text", ["", "fabric:", "fabric", ":5", "fabric:x", "-1"])
def test_other_texts_are_no_vlans(text: str) -> None:
    with pytest.raises(ValueError, match="is no VLAN"):
        Vlan.parse(text)


def test_segments_in_words() -> None:
    assert Vlan("fabric100g", 1000).words == "VLAN 1000 on fabric100g"
    assert Overlay(5001).words == "VXLAN 5001"


def test_claimants_in_words() -> None:
    assert str(Claimant("acme", "train")) == "acme/train"
    assert str(Claimant("acme", "train", released=True)) == "acme/train (released, not settled yet)"
    assert Claimant("acme", "train") != Claimant("acme", "train", released=True)


def test_the_claims_of_roles_are_fields_of_a_lock() -> None:
    assert set(CLAIMS_OF) == set(NetworkRole)
    named = {name for item in CLAIMS_OF.values() for name in (item.vlan, item.network, item.subnet, item.vni) if name}
    fields = {*VPodAllocation.model_fields, *ClusterAllocation.model_fields}
    assert named <= fields
    spelled = {name for name in fields if name.endswith(("_vlan", "_vni", "_network", "_subnet"))}
    assert named == spelled
    assert CLAIMS_OF[NetworkRole.CONTROL].segment("vxlan") == "control_vni"
    assert CLAIMS_OF[NetworkRole.CONTROL].segment("vlan") == "control_vlan"


# Errors.


def test_an_error_is_rendered_one_way() -> None:
    assert str(InterlockError("no")) == "no"
    assert str(InterlockError("no", "try yes")) == "no\n  hint: try yes"
    told = InterlockError("no such host `x`", "did you mean `y`?", place="site.yaml:3:1", code="IN-008")
    assert str(told) == "site.yaml:3:1: IN-008 no such host `x`\n  hint: did you mean `y`?"
    assert (told.what, told.hint, told.place, told.code) == (
        "no such host `x`",
        "did you mean `y`?",
        "site.yaml:3:1",
        "IN-008",
    )


def test_what_was_tried_says_what_is_next() -> None:
    assert str(Failure(Trouble.CONFLICT, "two of them", "remove one")) == "two of them\n  next: remove one"
    assert str(StoreFailed("no bucket", "make it")) == "no bucket\n  next: make it"
    assert str(EnvironmentFailed("no pulumi")) == "no pulumi"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PlanningError("two\nlines", "a\nhint"), "PL-001"),
        (AllocationError("no room", "closest is x", "ask for less"), "PL-002"),
        (NeedsMove("train", "no room", "closest is x", "its servers"), "PL-003"),
    ],
)
def test_a_planning_error_keeps_its_parts_at_its_place(error: PlanningError, code: str) -> None:
    """Nothing is cut off at the first line, and nothing is read back from the text."""
    told = NotPlanned("acme.yaml:1:1", error)
    assert (told.what, told.hint, told.place, told.code) == (error.what, error.hint, "acme.yaml:1:1", code)
    assert str(told) == f"acme.yaml:1:1: {code} {error.what}\n  hint: {error.hint}"
