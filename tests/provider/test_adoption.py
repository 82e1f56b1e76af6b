"""What is adopted, and what never is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.resources import Network, Project, Role, Router, Volume
from tests.conftest import Sandbox
from tests.support.cloud.journal import Trap
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import operator as operators_role


@pytest.fixture
def program(process: Process, folder: Path) -> Iterator[Stack]:
    """A stack with a project of its own; what the test made is deleted afterwards."""
    resources = {
        "bob-project": Project(name="bob"),
        "bob-operator": operators_role("bob-project"),
        "bob-net": Network(name="bob-net", project="bob-project", network_type="vxlan", segmentation_id=77001),
        "bob-router": Router(name="bob-router", project="bob-project"),
        "bob-volume": Volume(
            name="bob-volume", project="bob-project", size_gib=1, volume_type="site:VolumeType/fake", on_delete="erase"
        ),
    }
    fake = _default_type(Cloud("sandbox"))
    found = Stack(process, "lyon-bob", "b0bb0b", resources, "5172e1", folder, existing={"VolumeType/fake": fake})
    assert found.admit() == []
    found.create("bob-project")
    found.create("bob-operator")
    yield found
    found.delete_all()


def _default_type(cloud: Cloud) -> str:
    types = cloud.api("block-storage").items("/types", "volume_types")
    return next(str(item["id"]) for item in types if item["name"] == "fake")


def test_trap_a_network_of_our_name_in_another_project(program: Stack, operator: Cloud) -> None:
    body = {"name": "bob-net", "description": "interlock:b0bb0b:bob-net"}
    foreign = operator.api("network").post("/networks", {"network": body})["network"]["id"]
    assert program.create("bob-net").id != foreign
    assert operator.api("network").find(f"/networks/{foreign}") is not None
    operator.api("network").delete(f"/networks/{foreign}")


@pytest.mark.parametrize(
    "description",
    ["", "interlock:b0bb0b:bob-router-2", "interlock:b0bb0b2:bob-router", "x interlock:b0bb0b:bob-router x"],
)
def test_trap_a_router_of_our_name_without_exactly_our_marker(
    program: Stack, operator: Cloud, description: str
) -> None:
    project = program.state["bob-project"].id
    body = {"name": "bob-router", "description": description, "project_id": project}
    foreign = operator.api("network").post("/routers", {"router": body})["router"]["id"]
    assert program.create("bob-router").id != foreign
    operator.api("network").delete(f"/routers/{foreign}")


def test_trap_a_volume_with_our_marker_in_another_project(program: Stack, operator: Cloud) -> None:
    body = {"name": "bob-volume", "size": 1, "metadata": {"interlock": "interlock:b0bb0b:bob-volume"}}
    foreign = operator.api("block-storage").post("/volumes", {"volume": body})["volume"]["id"]
    assert program.create("bob-volume").id != foreign
    operator.api("block-storage").delete(f"/volumes/{foreign}")


def test_trap_a_project_of_our_name_without_our_marker(program: Stack) -> None:
    program.resources["bob-twin"] = Project(name="bob")
    assert program.admit() == []
    with pytest.raises(Refused, match=r"Conflict occurred attempting to store project") as caught:
        program.create("bob-twin")
    assert caught.value.partial is None
    assert "next: remove or rename the other object" in str(caught.value)


def test_what_differs_in_what_cannot_change_is_named_and_not_adopted(program: Stack) -> None:
    program.create("bob-net")
    first = program.resources["bob-net"]
    program.resources["bob-net"] = first.model_copy(update={"segmentation_id": 77002})
    assert program.admit() == []
    with pytest.raises(Refused, match="carries its marker but differs in segmentation_id"):
        program.create("bob-net")
    program.resources["bob-net"] = first


def test_two_with_our_marker_are_an_error(program: Stack, operator: Cloud) -> None:
    project = program.state["bob-project"].id
    program.create("bob-router")
    body = {"name": "x", "description": "interlock:b0bb0b:bob-router", "project_id": project}
    twin = operator.api("network").post("/routers", {"router": body})["router"]["id"]
    with pytest.raises(Refused, match="several objects carry its marker"):
        program.create("bob-router")
    operator.api("network").delete(f"/routers/{twin}")


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_lost_on_the_way_makes_one_object(
    program: Stack, operator: Cloud, sandbox: Sandbox, when: str
) -> None:
    trap = Trap(sandbox.dir)
    trap.arm(1, when)
    releasing = threading.Thread(target=_release, args=(trap,))
    releasing.start()
    made = program.create("bob-net")
    releasing.join()
    found = operator.api("network").get("/networks", description="interlock:b0bb0b:bob-net")["networks"]
    assert [item["id"] for item in found] == [made.id]


def _release(trap: Trap) -> None:
    """Lets the held request fail with 503 as soon as it is held."""
    trap.wait(20)
    trap.release()


def test_a_role_that_cannot_be_made_leaves_nothing(process: Process, folder: Path) -> None:
    program = Stack(process, "lyon-site", "5172e2", {"r": Role(name="admin")}, "5172e2", folder)
    assert program.admit() == []
    with pytest.raises(Refused) as caught:
        program.create("r")
    assert caught.value.partial is None


def test_cancel_lets_nothing_new_start(program: Stack, journal: Any) -> None:
    from google.protobuf import empty_pb2

    before = journal.ours()
    program.process.call("Cancel", empty_pb2.Empty())
    with pytest.raises(Refused, match="cancelled"):
        program.create("bob-net")
    assert journal.ours() == before
    # So that the fixture can clean up: a new process knows nothing of the cancellation.
    program.process.servicer.gate._cancelled = False
