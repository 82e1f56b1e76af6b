"""What a server is told of its shares, at a real Nova and Manila: at its creation, afterwards, and put back."""

from __future__ import annotations

import hashlib
import hmac
import json
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interlock.provider.actuators import Target
from interlock.provider.actuators.told_shares import metadata_of_shares
from interlock.provider.audit.listing import listed
from interlock.provider.audit.mirror import Mirror
from interlock.provider.audit.standing import Expected, StackReader, Standing
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.resources import Server
from interlock.vocabulary.owners import OwnerId
from tests.conftest import Sandbox
from tests.sandbox.cloud import PASSWORD
from tests.support.engine.process import Refused
from tests.support.engine.runs import up
from tests.support.engine.stack import Stack
from tests.support.world import whole
from tests.support.world.small import World

SERVER, SHARE, METAL = "alice-server", "alice-share", "alice-metal"
KEY = f"interlock-share-{SHARE}"


@pytest.fixture
def stack(world: World) -> Iterator[Stack]:
    """The tenant; afterwards as it was."""
    found, planned = world.tenant, dict(world.tenant.resources)
    yield found
    found.declare(planned)
    up(found, found.resources, preflight=True)
    assert found.diff(SERVER) == {}


def metadata(operator: Cloud, stack: Stack) -> dict[str, str]:
    found: dict[str, str] = operator.api("compute").get(f"/servers/{stack.state[SERVER].id}/metadata")["metadata"]
    return found


def tell(operator: Cloud, stack: Stack, **said: str) -> None:
    """As anybody who may write the server's metadata."""
    path = f"/servers/{stack.state[SERVER].id}/metadata"
    operator.api("compute").post(path, {"metadata": {key.replace("_", "-"): text for key, text in said.items()}})


def with_shares(stack: Stack, *shares: str) -> None:
    server: Any = stack.resources[SERVER]
    stack.declare(dict(stack.resources) | {SERVER: server.model_copy(update={"shares": shares})})


def test_a_server_is_told_where_its_share_is_exported(stack: Stack, operator: Cloud) -> None:
    path = stack.state[SHARE].outputs["export_path"]
    told = metadata(operator, stack)
    assert path.startswith("/")
    assert {key: text for key, text in told.items() if key != "interlock"} == {KEY: path}
    assert stack.read(SERVER, record=False) == stack.state[SERVER]
    assert stack.diff(SERVER) == {}


def test_the_server_itself_reads_it_from_novas_metadata(stack: Stack, sandbox: Sandbox) -> None:
    ports = json.loads((sandbox.dir / "ports.json").read_text(encoding="utf-8"))
    server = stack.state[SERVER].id
    headers = {
        "X-Instance-ID": server,
        "X-Tenant-ID": stack.state["alice-project"].id,
        "X-Instance-ID-Signature": hmac.new(PASSWORD.encode(), server.encode(), hashlib.sha256).hexdigest(),
        "X-Forwarded-For": "10.0.0.9",
    }
    place = f"http://127.0.0.1:{ports['nova_metadata']}/openstack/latest/meta_data.json"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(place, headers=headers), timeout=40) as answer:
        said = json.load(answer)
    assert said["meta"][KEY] == stack.state[SHARE].outputs["export_path"]


def test_a_whole_host_has_the_path_on_its_drive(stack: Stack, operator: Cloud, sandbox: Sandbox) -> None:
    node = operator.api("baremetal").get("/nodes/node-alice")
    drive = whole.disk(sandbox.dir, node["uuid"])["configdrive"]
    assert drive["meta_data"]["meta"] == {KEY: stack.state[SHARE].outputs["export_path"]}
    assert node["instance_info"]["interlock"]["shares"] == [SHARE]


@pytest.mark.parametrize("path", ["/elsewhere", "/a,suid"])
def test_another_path_is_drift_and_set_back(stack: Stack, operator: Cloud, path: str) -> None:
    before, ident = metadata(operator, stack), stack.state[SERVER].id
    tell(operator, stack, **{KEY: path})
    assert stack.read(SERVER) is not None
    assert stack.diff(SERVER) == {"shares": False}
    assert stack.check(SERVER) == [], "what a refresh wrote into the state can be read"
    assert stack.read(SERVER) is not None, "and refreshed again"
    stack.admit(preview=False)
    stack.update(SERVER)
    assert (metadata(operator, stack), stack.state[SERVER].id) == (before, ident)
    assert stack.diff(SERVER) == {}


def test_a_share_that_no_plan_names_is_taken_out_and_other_metadata_stay(stack: Stack, operator: Cloud) -> None:
    before = metadata(operator, stack)
    tell(operator, stack, interlock_share_foreign="/x", theirs="kept")
    assert stack.read(SERVER) is not None
    assert stack.diff(SERVER) == {"shares": False}
    stack.admit(preview=False)
    stack.update(SERVER)
    assert metadata(operator, stack) == before | {"theirs": "kept"}
    operator.api("compute").delete(f"/servers/{stack.state[SERVER].id}/metadata/theirs")


def test_a_share_comes_and_goes_in_place(stack: Stack, operator: Cloud) -> None:
    before, ident = metadata(operator, stack), stack.state[SERVER].id
    with_shares(stack)
    assert stack.diff(SERVER) == {"shares": False, "id_of_shares": False}
    up(stack, stack.resources, preflight=True)
    assert metadata(operator, stack) == {"interlock": before["interlock"]}
    with_shares(stack, SHARE)
    up(stack, stack.resources, preflight=True)
    assert (metadata(operator, stack), stack.state[SERVER].id) == (before, ident)


def test_another_share_of_the_name_is_another_path(stack: Stack, operator: Cloud) -> None:
    """A share that is recreated has another export; the server is told it in place."""
    before, ident = metadata(operator, stack), stack.state[SERVER].id
    access = "alice-share-access"
    for name in (access, SHARE):
        stack.delete(name)
        stack.state.pop(name, None)
    assert stack.admit(preview=False) == []
    for name in (SHARE, access):
        stack.create(name)
    assert (stack.diff(SERVER), stack.diff(METAL)) == ({"id_of_shares": False}, {}), "a whole host keeps its drive"
    stack.update(SERVER)
    told = metadata(operator, stack)
    assert told[KEY] == stack.state[SHARE].outputs["export_path"] != before[KEY]
    assert stack.state[SERVER].id == ident


def test_a_share_that_is_not_there_is_told_and_nothing_changes(stack: Stack, operator: Cloud) -> None:
    before = metadata(operator, stack)
    with_shares(stack, SHARE)
    inputs = stack.inputs(SERVER) | {"id_of_shares": ["00000000-0000-4000-8000-000000000000"]}
    assert stack.admit(preview=False) == []
    with pytest.raises(Refused, match=f"shares refers to {SHARE}, but object .* carries 'no marker'"):
        stack.update(SERVER, inputs=inputs)
    assert metadata(operator, stack) == before


def standing(stack: Stack, operator: Cloud) -> Standing:
    found, admission = listed(operator), stack.admission()
    expected = Expected(
        admission.stack, admission.owner, admission.site_owner, {}, str(stack.folder), admission.resources
    )
    every = StackReader(Mirror(operator, found), found, expected).standings()
    return next(item for item in every if item.name == SERVER)


def test_an_audit_sees_which_shares_a_server_is_told_of(stack: Stack, operator: Cloud) -> None:
    assert not standing(stack, operator).has_drifted
    tell(operator, stack, interlock_share_foreign="/x")
    assert standing(stack, operator).differs == {"shares": ([SHARE], [SHARE, "foreign"])}
    stack.read(SERVER)
    assert stack.admit(preview=False) == []
    stack.update(SERVER)
    assert not standing(stack, operator).has_drifted


@pytest.mark.parametrize(
    ("exported", "why"),
    [
        (None, "Manila names no path for it yet"),
        ([], "Manila names no path for it yet"),
        ([{"path": "192.0.2.1:/", "preferred": True}], "Manila names no path for it yet"),
        ([{"path": f"192.0.2.1:/{'a' * 255}", "preferred": True}], "its path has 256 characters, and Nova takes 255"),
        ([{"path": "192.0.2.1:/a b", "preferred": True}], "its path '/a b' has what no line of fstab can hold safely"),
    ],
)
def test_a_path_that_no_server_can_be_told_is_an_error(exported: Any, why: str) -> None:
    answer = None if exported is None else {"export_locations": exported}
    cloud = cast(Cloud, SimpleNamespace(api=lambda service: SimpleNamespace(find=lambda path: answer)))
    spec = Server(
        name="s", project="p", flavor="site:Flavor/f", image="site:Image/i", host="h", ports=(), shares=("data",)
    )
    with pytest.raises(Failure) as raised:
        metadata_of_shares(cloud, Target("s", OwnerId("0"), spec, {"shares": ("7",)}))
    assert raised.value.message.startswith(f"share data (7): {why}")
    assert raised.value.hint
