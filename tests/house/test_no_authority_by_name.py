"""SEC-20: tags, labels and names are no authority. Whose an object is, is read from its carrier alone.

OSSA-2024-005: tags of a network could be written by people of other projects. So nothing here reads tags, and what
carries a marker (`interlock.provider.markers.CARRIERS`) is written by the operator's side only: people of a tenant
get the role of a reader in its project, as this test finds in every plan.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.planning.plan import Plan
from interlock.planning.site_plan import S3_ROLE
from interlock.provider.actuators import ACTUATORS, Actuator
from interlock.provider.markers import CARRIERS, owner_of, split
from interlock.resources import KINDS, RoleAssignment
from interlock.vocabulary.references import OPERATOR_USER, READER_ROLE
from tests.planning.golden import plans

ROOT = Path(__file__).parents[2]
ROOMS = ("interlock", "policies", "components", "infra")

#: Words of OpenStack's interfaces for what anybody who sees an object may have written there.
TAGS = {"tags", "tags-any", "not-tags", "not-tags-any", "any_tags", "not_tags", "set_tags", "add_tag", "labels"}

#: Where `labels` is our own word, for owners of nodes in proofs; nothing there calls a service.
OUR_LABELS = ("policies/", "infra/")
#: Runs in a tenant's server and finds out there which of its own disks is which; it has no rights to anything.
IN_A_SERVER = "interlock/planning/guest/volumes_in_guest.py"

#: Who may write a carrier. None of them is a person of a tenant, who is a reader of the project.
WRITERS = {
    "administrators",
    "the operator's user",
    "members of the operator's project",
    "members of the project",
}

#: What a marker stands in, for kinds of a member's own making.
BY_MEMBERS = {
    kind for kind, carrier in CARRIERS.items() if carrier.field and carrier.writers == "members of the project"
}


def sources() -> Iterator[tuple[str, ast.AST]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def words_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Words of tags that are a key of a request or answer, or an argument of one, with their lines."""
    for node in ast.walk(tree):
        word = node.value if isinstance(node, ast.Constant) else node.arg if isinstance(node, ast.keyword) else None
        if isinstance(word, str) and word in TAGS:
            yield word, getattr(node, "lineno", 0)


def test_nothing_reads_or_writes_tags() -> None:
    found = {
        f"{where}:{line}: {word}"
        for where, tree in sources()
        for word, line in words_in(tree)
        if not (word == "labels" and where.startswith(OUR_LABELS)) and where != IN_A_SERVER
    }
    assert found == set()


@pytest.mark.parametrize("text", ['raw["tags"]', 'api.items("/networks", "networks", tags="a")', 'raw.get("labels")'])
def test_tags_would_be_found(text: str) -> None:
    assert list(words_in(ast.parse(text)))


def test_no_kind_has_a_field_for_them() -> None:
    words = TAGS | {"properties", "device_owner"}
    assert {kind for kind, type_ in KINDS.items() if words & set(type_.model_fields)} == set()


def test_who_writes_a_carrier_is_no_tenant() -> None:
    assert {carrier.writers for carrier in CARRIERS.values() if carrier.field} <= WRITERS


@pytest.mark.parametrize("plan", plans().values(), ids=list(plans()))
def test_people_of_a_tenant_are_readers(plan: Plan) -> None:
    """So that members, who may write carriers, are the operator's user alone."""
    services = {item.name for item in plan.resources if item.resource.KIND == "ServiceUser"}
    given = [item.resource for item in plan.resources if isinstance(item.resource, RoleAssignment)]
    people = [role for role in given if role.user != OPERATOR_USER and role.user not in services]
    assert {role.role for role in people} <= {READER_ROLE}
    # A service user has a role that no policy but that of object storage knows.
    assert {role.role for role in given if role.user in services} <= {f"site:Role/{S3_ROLE}"}


def test_the_members_kinds_are_known() -> None:
    """What a member of a project makes: exactly what the test above keeps tenants from writing."""
    assert {"Network", "Port", "SecurityGroup", "Server", "Volume"} <= BY_MEMBERS


@pytest.mark.parametrize("kind", sorted(ACTUATORS))
def test_what_carries_a_marker_is_searched_by_it_and_nothing_else_is(kind: str) -> None:
    searches = type(ACTUATORS[kind]).search is not Actuator.search
    # A key pair's name holds the owner's id, since it is all that there is of it: it is looked up by that name.
    assert searches is (bool(CARRIERS[kind].field) and kind != "Keypair")


@pytest.mark.parametrize(
    "text",
    ["acme-train", "interlock", "acme interlock:0a11ce", "interlock:0a11ce:x and more", "owner=0a11ce", ""],
)
def test_a_name_is_no_marker(text: str) -> None:
    assert split(text)[1] == ""
    assert owner_of(text) == ""


def test_a_marker_beside_a_text_is_found_where_the_text_is_split_off() -> None:
    """What asks for an owner gives a marker; a description with one in it is split before."""
    assert split("A tenant interlock:0a11ce:x") == ("A tenant", "interlock:0a11ce:x")
    assert owner_of("A tenant interlock:0a11ce:x") == ""
    assert owner_of("interlock:0a11ce:x") == "0a11ce"
