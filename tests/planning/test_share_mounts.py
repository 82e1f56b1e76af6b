"""What servers mount of their tenant's shares; limits at Manila; a key that came later leaves hashes of requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import ShareRequest, Tenant
from interlock.model.text.names import RESERVED_PARTS
from interlock.planning import Plan, plan_tenant, request_hash
from interlock.planning.removal import removal_of
from interlock.planning.share_mounts import ShareMount, share_mounts
from interlock.resources import ShareQuota
from tests.builders.pod64 import locked, site_locked, storing_pod64, tenant
from tests.planning.golden import data_request

OPTIONS = ("vers=4.1", "nconnect=16")


@pytest.fixture(scope="module")
def site() -> Site:
    found = storing_pod64()
    types = tuple(item.model_copy(update={"mount_options": OPTIONS}) for item in found.share_types)
    return found.model_copy(update={"share_types": types})


def mounted(site: Site, request: Tenant, vpod: str) -> tuple[ShareMount, ...]:
    return share_mounts(site, request, vpod, locked(site, request).allocation.vpods[vpod])


def test_share_is_mounted_at_the_address_of_the_servers_own_storage_network(site: Site) -> None:
    request = data_request()
    train, serve = mounted(site, request, "train"), mounted(site, request, "serve")
    assert [(item.share, item.address, item.mount_point) for item in (*train, *serve)] == [
        ("acme-datasets", "10.21.0.200", "/mnt/datasets"),
        ("acme-datasets", "10.21.1.200", "/mnt/datasets"),
    ]


def test_share_mount_has_the_level_of_the_request_and_the_options_of_the_type(site: Site) -> None:
    (mount,) = mounted(site, data_request(), "train")
    assert mount.options == ("ro", *OPTIONS, "nofail", "_netdev")
    assert mount.fstab("/exports/one") == (
        "10.21.0.200:/exports/one /mnt/datasets nfs ro,vers=4.1,nconnect=16,nofail,_netdev 0 0"
    )
    assert mount.model_copy(update={"address": "2001:db8::2"}).source("/a") == "[2001:db8::2]:/a"


def test_share_of_one_vpod_is_mounted_by_no_server_of_another(site: Site) -> None:
    request = data_request()
    (share,) = request.shares
    only = request.model_copy(update={"shares": (share.model_copy(update={"vpods": ("train",), "mount": "/data"}),)})
    assert [item.mount_point for item in mounted(site, only, "train")] == ["/data"]
    assert mounted(site, only, "serve") == ()
    assert mounted(site, request.model_copy(update={"shares": ()}), "train") == ()


def test_share_mounts_are_at_the_addresses_that_the_plan_opens(site: Site) -> None:
    """What is mounted and what is granted are read from one lock: else a server would wait for an address for ever."""
    request = data_request()
    plan = plan_tenant(site, site_locked(site), request, locked(site, request))
    granted = {
        (item.resource.canonical()["share"], item.resource.canonical()["vip"])
        for item in plan.resources
        if item.resource.KIND == "ShareAccess"
    }
    mounts = {(item.share, item.address) for vpod in ("train", "serve") for item in mounted(site, request, vpod)}
    assert mounts == granted


def planned(site: Site, request: Tenant) -> Plan:
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def test_shares_have_a_limit_of_their_own_and_tenants_without_have_none(site: Site) -> None:
    plan = planned(site, data_request())
    (quota,) = [item for item in plan.resources if isinstance(item.resource, ShareQuota)]
    # What it asks for, and once more the largest, as for every other limit.
    assert quota.resource == ShareQuota(project="acme-project", shares=2, share_gib=2000)
    waiting = {item.name for item in plan.resources if quota.name in item.after}
    assert waiting == {"acme-datasets", "acme-datasets-access-train", "acme-datasets-access-serve"}
    without = planned(site, data_request().model_copy(update={"shares": ()}))
    assert not [item for item in without.resources if item.resource.KIND == "ShareQuota"]


def test_share_that_is_kept_refuses_a_destroy_and_one_that_is_not_goes_after_its_access(site: Site) -> None:
    kept = removal_of(planned(site, data_request()))
    assert ("acme-datasets", "shares.datasets.on_delete") in {(item.name, item.where) for item in kept.refused}
    request = data_request()
    (share,) = request.shares
    erased = request.model_copy(update={"shares": (share.model_copy(update={"on_delete": "erase"}),)})
    steps = removal_of(planned(site, erased)).steps
    place = {item.name: number for number, step in enumerate(steps) for item in step}
    assert place["acme-datasets-access-train"] < place["acme-datasets"] < place["acme-share-quota"]


def test_share_with_a_stated_mount_point_is_another_request() -> None:
    share = ShareRequest(name="a", size_gib=1, share_type="nfs", vpods=("train",), on_delete="keep")
    request = tenant("acme", shares=(share,))
    stated = request.model_copy(update={"shares": (share.model_copy(update={"mount": "/data"}),)})
    assert request_hash(stated) != request_hash(request)


def test_share_types_options_make_no_lock_old(site: Site) -> None:
    """Neither which back end answers to a type nor how it is mounted decides a claim."""
    plain, request = storing_pod64(), data_request()
    assert json.loads(locked(site, request).model_dump_json()) == json.loads(locked(plain, request).model_dump_json())


def test_share_mounts_reads_no_file() -> None:
    """It is pure: user data are written from it while a plan is made."""
    text = (Path(__file__).parents[2] / "interlock" / "planning" / "share_mounts.py").read_text(encoding="utf-8")
    assert not {word for word in ("open(", "read_text", "import os", "requests") if word in text}


def test_what_a_tenant_has_of_its_own_is_called_like_nothing_that_it_asks_for(site: Site) -> None:
    """A bucket `share-quota` would have the plan name of the quota, and one of the two would be lost."""
    own = {
        item.name.removeprefix("acme-") for item in planned(site, data_request()).resources if item.component == "acme"
    }
    assert "share-quota" in own
    assert {name for name in own if not name.startswith(("member-", "flavor-"))} <= {*RESERVED_PARTS}
