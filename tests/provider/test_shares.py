"""Shares at a real Manila: whose they are, how they grow, fail, are kept and go, and who may mount them.

Behind it is Manila's own dummy driver, which serves nothing and enforces no access rule: what is shown is that Manila
holds the rules that the plan says, and no others.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

from interlock.provider.audit.listing import listed
from interlock.provider.audit.mirror import Mirror
from interlock.provider.audit.standing import Expected, StackReader
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import preflight
from interlock.resources import Network, Project, Resource, Share, ShareAccess, ShareQuota, ShareType, Subnet
from tests.support.cloud.stage import Stage
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import SHARE_SPECS
from tests.support.world.declared import operator as operators_role

SITE_OWNER, OWNER = "5172e8", "da4a00"
PREFIX = "10.48.7.0/24"
NAME = "dana-datasets"
ACCESS = f"{NAME}-access-train"
MANILA = "shared-file-system"
MARK = f"interlock:{OWNER}:{NAME}"


def declared() -> dict[str, Resource]:
    project = "dana-project"
    return {
        project: Project(name="dana"),
        "dana-operator": operators_role(project),
        "dana-share-quota": ShareQuota(project=project, shares=3, share_gib=12),
        "dana-net": Network(name="dana-net", project=project, network_type="vxlan", segmentation_id=77408),
        "dana-subnet": Subnet(name="dana", project=project, network="dana-net", cidr=PREFIX, dhcp=False),
        NAME: Share(name=NAME, project=project, size_gib=2, share_type="site:ShareType/nfs", on_delete="erase"),
        ACCESS: ShareAccess(project=project, share=NAME, network="dana-net", prefix=PREFIX, vip="10.48.7.2"),
    }


@pytest.fixture(scope="module")
def site(stage: Stage, operator: Cloud, folder: Path) -> Iterator[Stack]:
    """Whose share type it is. No tenant of another site stands on the cloud: it would keep the type."""
    stage.clear()
    process = Process()
    types: dict[str, Resource] = {"nfs": ShareType(name="dana-nfs", extra_specs=SHARE_SPECS)}
    found = Stack(process, "shares-site", SITE_OWNER, types, SITE_OWNER, folder)
    assert found.admit(preview=False) == []
    found.create_all()
    yield found
    found.delete_all()
    process.close()


@pytest.fixture
def tenant(site: Stack, process: Process, operator: Cloud, folder: Path) -> Iterator[Stack]:
    """A tenant whose share stands, open to its storage subnet."""
    found = Stack(process, "shares-dana", OWNER, declared(), SITE_OWNER, folder)
    assert found.admit(preview=False) == []
    found.create_all()
    yield found
    found.resources[NAME] = declared()[NAME]
    assert found.admit() == []
    if NAME in found.state:
        found.update(NAME)
    for name in reversed(found.held()):
        found.delete(name)


def shown(operator: Cloud, ident: str) -> dict[str, Any]:
    return dict(operator.api(MANILA).get(f"/shares/{ident}")["share"])


def rules(operator: Cloud, share: str) -> list[tuple[str, str, str, str]]:
    answer = operator.api(MANILA).get("/share-access-rules", share_id=share)
    members = ("access_type", "access_to", "access_level", "state")
    return [tuple(str(item[member]) for member in members) for item in answer["access_list"]]  # type: ignore[misc]


def reset(operator: Cloud, ident: str, status: str) -> None:
    operator.api(MANILA).post(f"/shares/{ident}/action", {"reset_status": {"status": status}})


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_share_is_open_to_exactly_the_storage_subnet(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME].id
    assert rules(operator, share) == [("ip", PREFIX, "rw", "active")]
    raw = shown(operator, share)
    assert (raw["project_id"], raw["user_id"]) == (tenant.state["dana-project"].id, operator.login.user)
    assert (raw["is_public"], raw["share_network_id"], raw["status"]) == (False, None, "available")
    assert raw["metadata"] == {"interlock": MARK}


def test_share_has_a_path_to_mount_without_the_address_of_any_export(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME]
    exports = operator.api(MANILA).get(f"/shares/{share.id}/export_locations")["export_locations"]
    path = share.outputs["export_path"]
    assert path.startswith("/")
    assert {item["path"].partition(":")[2] for item in exports} == {path}


def test_share_grows_in_place_and_never_shrinks(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME].id
    tenant.resources[NAME] = declared()[NAME].model_copy(update={"size_gib": 4})
    assert tenant.admit() == []
    assert tenant.diff(NAME) == {"size_gib": False}
    assert tenant.update(NAME).id == share
    assert shown(operator, share)["size"] == 4
    tenant.resources[NAME] = declared()[NAME]
    assert tenant.admit() == []
    with pytest.raises(Refused, match=r"has 4 GiB and cannot shrink to 2 GiB"):
        tenant.update(NAME)
    assert shown(operator, share)["size"] == 4
    tenant.delete(ACCESS)
    tenant.delete(NAME)


@pytest.mark.parametrize("size", [13])
def test_share_over_the_quota_is_refused_and_the_old_size_stays(tenant: Stack, operator: Cloud, size: int) -> None:
    share = tenant.state[NAME].id
    tenant.resources[NAME] = declared()[NAME].model_copy(update={"size_gib": size})
    assert tenant.admit() == []
    with pytest.raises(Refused, match=r"exceeds allowed .* gigabytes quota"):
        tenant.update(NAME)
    raw = shown(operator, share)
    assert (raw["size"], raw["status"]) == (2, "available")


def test_share_that_is_to_be_kept_is_found_again_when_the_tenant_returns(
    tenant: Stack, operator: Cloud, folder: Path
) -> None:
    share = tenant.state[NAME].id
    with pytest.raises(Refused, match=f"{NAME} .* holds data and says `on_delete: keep`"):
        tenant.delete(NAME, on_delete="keep")
    assert shown(operator, share)["status"] == "available"
    # Taken out of the state, as `pulumi state delete` does with what is kept; a new stack of the tenant finds it.
    kept = tenant.state.pop(NAME)
    again = Stack(Process(), "shares-dana", OWNER, declared(), SITE_OWNER, folder, state=dict(tenant.state))
    assert again.admit() == []
    assert again.create(NAME).id == share
    again.process.close()
    tenant.state[NAME] = kept


def test_share_in_error_that_has_an_export_is_told_and_kept(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME].id
    reset(operator, share, "error")
    try:
        with pytest.raises(Refused, match=r"is not ready after .* s: Manila says: error"):
            tenant.create(NAME)
        assert shown(operator, share)["status"] == "error"
        with pytest.raises(Refused, match="holds data and says `on_delete: keep`"):
            tenant.delete(NAME, on_delete="keep")
    finally:
        reset(operator, share, "available")


def test_share_that_did_not_go_is_deleted_by_force(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME].id
    tenant.delete(ACCESS)
    reset(operator, share, "error_deleting")
    tenant.delete(NAME)
    assert operator.api(MANILA).find(f"/shares/{share}") is None


def test_share_that_was_deleted_by_hand_is_created_again_with_its_access(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME].id
    operator.api(MANILA).delete(f"/shares/{share}")
    until(lambda: operator.api(MANILA).find(f"/shares/{share}") is None)
    for name in (NAME, ACCESS):
        assert tenant.read(name) is None
        tenant.create(name)
    assert rules(operator, tenant.state[NAME].id) == [("ip", PREFIX, "rw", "active")]


def test_share_access_of_another_level_at_our_prefix_is_named_and_not_adopted(tenant: Stack, operator: Cloud) -> None:
    share = tenant.state[NAME].id
    tenant.delete(ACCESS)
    body = {"allow_access": {"access_type": "ip", "access_to": PREFIX, "access_level": "ro"}}
    theirs = operator.api(MANILA).post(f"/shares/{share}/action", body)["access"]["id"]
    with pytest.raises(Refused, match="differs in level, which cannot be changed"):
        tenant.create(ACCESS)
    operator.api(MANILA).post(f"/shares/{share}/action", {"deny_access": {"access_id": theirs}})
    until(lambda: rules(operator, share) == [])
    tenant.create(ACCESS)
    assert rules(operator, share) == [("ip", PREFIX, "rw", "active")]


# --- traps ------------------------------------------------------------------------------------------------


def test_trap_share_with_our_marker_in_another_project(tenant: Stack, operator: Cloud, site: Stack) -> None:
    tenant.delete(ACCESS)
    tenant.delete(NAME)
    body = {"share_proto": "NFS", "size": 1, "name": NAME, "share_type": site.state["nfs"].id}
    foreign = operator.api(MANILA).post("/shares", {"share": body | {"metadata": {"interlock": MARK}}})["share"]["id"]
    assert tenant.create(NAME).id != foreign
    tenant.create(ACCESS)
    until(lambda: shown(operator, foreign)["status"] == "available")
    operator.api(MANILA).delete(f"/shares/{foreign}")


@pytest.mark.parametrize("mark", ["", f"{MARK}-2", f"interlock:{OWNER}2:{NAME}", f"x {MARK}"])
def test_trap_share_of_our_name_without_exactly_our_marker(
    tenant: Stack, operator: Cloud, site: Stack, mark: str
) -> None:
    tenant.delete(ACCESS)
    tenant.delete(NAME)
    api = operator.api(MANILA, tenant.state["dana-project"].id)
    body = {"share_proto": "NFS", "size": 1, "name": NAME, "share_type": site.state["nfs"].id}
    foreign = api.post("/shares", {"share": body | {"metadata": {"interlock": mark} if mark else {}}})["share"]["id"]
    assert tenant.create(NAME).id != foreign
    tenant.create(ACCESS)
    until(lambda: shown(operator, foreign)["status"] == "available")
    operator.api(MANILA).delete(f"/shares/{foreign}")
    until(lambda: operator.api(MANILA).find(f"/shares/{foreign}") is None)


@pytest.fixture
def member(tenant: Stack, operator: Cloud) -> Iterator[Session]:
    """Somebody with the role member in the tenant's project, who may write metadata of shares there."""
    identity, password = operator.api("identity"), secrets.token_hex(8)
    user = identity.post("/users", {"user": {"name": "dana-member", "domain_id": "default", "password": password}})
    ident = user["user"]["id"]
    role = next(item["id"] for item in identity.items("/roles", "roles", name="member"))
    project = tenant.state["dana-project"].id
    identity.put(f"/projects/{project}/users/{ident}/roles/{role}")
    url = operator._region.config["auth"]["auth_url"]
    yield Session(auth=Password(auth_url=url, user_id=ident, password=password, project_id=project))
    identity.delete(f"/users/{ident}")


def test_trap_share_that_a_member_made_with_our_marker_is_not_adopted(
    tenant: Stack, operator: Cloud, site: Stack, member: Session
) -> None:
    """Metadata is what members write; who made a share is what Manila wrote."""
    tenant.delete(ACCESS)
    tenant.delete(NAME)
    body = {"share_proto": "NFS", "size": 1, "name": NAME, "share_type": site.state["nfs"].id}
    made = member.post(
        f"{operator.endpoint(MANILA)}/shares",
        json={"share": body | {"metadata": {"interlock": MARK}}},
        headers={"X-OpenStack-Manila-API-Version": "2.74"},
    )
    theirs = made.json()["share"]["id"]
    assert shown(operator, theirs)["user_id"] != operator.login.user
    with pytest.raises(Refused, match=rf"share {NAME} \({theirs}\) carries {MARK}, and user .* made it, not "):
        tenant.create(NAME)
    # As the message says: without the marker it is in nobody's way.
    until(lambda: shown(operator, theirs)["status"] == "available")
    operator.api(MANILA).delete(f"/shares/{theirs}/metadata/interlock")
    assert tenant.create(NAME).id != theirs
    tenant.create(ACCESS)
    operator.api(MANILA).delete(f"/shares/{theirs}")
    until(lambda: operator.api(MANILA).find(f"/shares/{theirs}") is None)


# --- before an apply, and afterwards ----------------------------------------------------------------------


def test_share_types_that_would_not_do_are_told_before_anything_is_made(
    site: Stack, process: Process, operator: Cloud, folder: Path
) -> None:
    """One without a back end, and one whose shares servers of Manila's would export."""
    servers = {"driver_handles_share_servers": "True", "share_backend_name": "nfs"}
    types: dict[str, Resource] = {
        "nowhere": ShareType(name="dana-nowhere", extra_specs=SHARE_SPECS | {"share_backend_name": "none"}),
        "served": ShareType(name="dana-served", extra_specs=servers),
    }
    program = Stack(process, "shares-site", "5172e7", types, "5172e7", folder)
    assert program.admit() == []
    for name in types:
        program.create(name)
    try:
        told = [fault.message for fault in preflight(program.admission())]
        assert len(told) == 2
        assert any("no back end of Manila answers to share type nowhere" in text for text in told)
        assert any("share type served" in text and "does not say `driver_handles_share_servers: False`" in text
                   for text in told)  # fmt: skip
    finally:
        for name in types:
            program.delete(name)


def test_share_without_the_service_is_told_before_anything_is_made(
    tenant: Stack, operator: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = operator.login.catalogue
    without = {service: where for service, where in here.regions.items() if service != MANILA}
    cloud = Cloud("sandbox")
    cloud.__dict__["login"] = replace(cloud.login, catalogue=replace(here, regions=without))
    told = [fault.message for fault in preflight(tenant.admission(), cloud)]
    assert any(f"has no service {MANILA} in its catalogue, and the plan has {NAME}" in text for text in told)


def test_share_and_its_access_are_read_out_of_lists_as_alone(tenant: Stack, operator: Cloud) -> None:
    found = listed(operator)
    admission = tenant.admission()
    expected = Expected(
        admission.stack, admission.owner, admission.site_owner, {}, str(tenant.folder), admission.resources
    )
    standings = {item.name: item for item in StackReader(Mirror(operator, found), found, expected).standings()}
    for name in (NAME, ACCESS):
        assert not standings[name].has_drifted, standings[name]
        assert standings[name].ids == (tenant.state[name].id,)
