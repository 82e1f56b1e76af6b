"""Persons: a user is a name in one Keystone domain, and the id that the name had when it got its right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.references import cloud_object, persons
from interlock.resources import Admitted, Project, RoleAssignment
from interlock.vocabulary import Reference
from tests.conftest import Sandbox
from tests.support.cloud.journal import Journal
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack

NAME, DOMAIN = "carol", "ops"


@pytest.fixture(scope="module")
def namesakes(operator: Cloud) -> Iterator[dict[str, str]]:
    """Domain -> id of its `carol`. Two persons have that name."""
    identity = operator.api("identity")
    domain = str(identity.post("/domains", {"domain": {"name": DOMAIN}})["domain"]["id"])
    found = {"default": _made(operator, "default"), DOMAIN: _made(operator, domain)}
    yield found
    for item in list(identity.items("/users", "users", name=NAME)):
        identity.delete(f"/users/{item['id']}")
    identity.patch(f"/domains/{domain}", {"domain": {"enabled": False}})
    identity.delete(f"/domains/{domain}")


def _made(operator: Cloud, domain: str) -> str:
    user = {"name": NAME, "domain_id": domain, "password": "secret"}
    return str(operator.api("identity").post("/users", {"user": user})["user"]["id"])


def _stack(folder: Path, domain: str) -> Stack:
    """A project with one reader, who is of a domain."""
    user = Reference.cloud("User", NAME if domain == "default" else f"{NAME}@{domain}")
    resources: Any = {
        "p-project": Project(name=f"persons-{domain}"),
        "p-member": RoleAssignment(project="p-project", user=user, role=Reference.cloud("Role", "reader")),
    }
    return Stack(Process(), "lyon-p", "0b0e", resources, site_owner="5172e0", folder=folder)


@pytest.fixture(params=["default", DOMAIN])
def applied(request: pytest.FixtureRequest, namesakes: dict[str, str], folder: Path) -> Iterator[tuple[Stack, str]]:
    """The stack, applied, and the id of its reader."""
    stack = _stack(folder, request.param)
    assert stack.admit(preview=False) == []
    stack.create_all()
    yield stack, namesakes[request.param]
    stack.process.close()
    stack.process = Process()
    stack.delete_all()
    stack.process.close()


def test_a_member_is_looked_up_in_the_domain_that_is_named(sandbox: Sandbox, namesakes: dict[str, str]) -> None:
    cloud = Cloud(sandbox.cloud)
    found = {text: cloud_object(cloud, "User", text) for text in (NAME, f"{NAME}@default", f"{NAME}@{DOMAIN}")}
    assert found == {
        NAME: namesakes["default"],
        f"{NAME}@default": namesakes["default"],
        f"{NAME}@ops": namesakes["ops"],
    }
    with pytest.raises(Failure, match=r"cloud:User/carol@nowhere: Keystone knows no carol in domain nowhere"):
        cloud_object(cloud, "User", f"{NAME}@nowhere")


def test_the_id_is_kept_with_the_right(applied: tuple[Stack, str]) -> None:
    stack, carol = applied
    assert stack.state["p-member"].outputs["resolved"]["user"] == carol
    assert stack.state["p-member"].id.split("/")[1] == carol
    spec = stack.resources["p-member"]
    resources = [Admitted(name="p-member", kind=spec.KIND, spec=spec.canonical())]
    assert list(persons(Cloud("sandbox"), resources).values()) == [carol]


def test_a_recreated_user_is_told_and_gets_nothing(
    applied: tuple[Stack, str], operator: Cloud, namesakes: dict[str, str], journal: Journal
) -> None:
    stack, carol = applied
    identity = operator.api("identity")
    user = identity.get(f"/users/{carol}")["user"]
    identity.delete(f"/users/{carol}")
    another = _made(operator, user["domain_id"])
    where = next(domain for domain, ident in namesakes.items() if ident == carol)
    namesakes[where] = another
    before = journal.ours()
    # In a process of its own: names are looked up once for each.
    again = replace(stack, process=Process())
    try:
        assert again.admit() == []
        with pytest.raises(
            Refused, match=rf"user carol\S* is another than .*: its id was {carol}, and is {another} now"
        ):
            again.diff("p-member")
    finally:
        again.process.close()
    assert journal.ours() == before
    assert not list(identity.items("/role_assignments", "role_assignments", **{"user.id": another}))
