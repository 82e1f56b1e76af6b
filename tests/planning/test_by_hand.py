"""What a plan says that people do in servers: keys of V-IPU users, and volumes of servers that are there."""

from __future__ import annotations

import pytest

from infra.reports.plan_by_hand import UnmountedVolume, keys_by_hand, unmounted_volumes
from interlock.model.site.offers import Controller
from interlock.model.tenant.request import VolumeRequest, Volumes
from interlock.planning import plan_tenant
from interlock.planning.differences import ResourceChange, changes_between
from interlock.planning.plan import Plan
from interlock.resources import StoredCredential, VipuUser
from interlock.resources.storage import device_tag
from interlock.resources.vipu import ManagedBy
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, locked, pod64, site_locked, tenant, vpod


def planned(managed_by: ManagedBy = "interlock", *, channel: bool = True, whole: bool = False) -> Plan:
    """acme with two Poplar servers."""
    controller = Controller(flavor="controller", image="vipu-controller", user_api_port=8090, managed_by=managed_by)
    site = (bare_metal_pod64 if whole else pod64)(controller=controller, channel=channel)
    request = tenant("acme", vpods=(bare_metal_vpod() if whole else vpod(),))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


SERVERS = ["acme-train-poplar-0", "acme-train-poplar-1"]


def test_servers_that_never_ask_for_their_key_are_told() -> None:
    """Of a plan before; one that is made with this plan asks, and so does one that is recreated."""
    by_hand, told = planned("hand"), planned()
    changes = changes_between(by_hand.canonical(), told)
    found = [*keys_by_hand(told, by_hand.canonical(), changes)]
    assert [item.server for item in found] == SERVERS
    assert all("recreate it" in str(item) and "by hand" in str(item) for item in found)
    assert [*keys_by_hand(told, told.canonical(), ())] == []
    assert [*keys_by_hand(told)] == []
    recreated = ResourceChange(name=SERVERS[0], kind="Server", action="replace")
    assert [item.server for item in keys_by_hand(told, by_hand.canonical(), (recreated,))] == SERVERS[1:]


@pytest.mark.parametrize(
    ("plan", "why"),
    [(planned(whole=True), "is a whole host, which fetches no secret"), (planned(channel=False), "has no channel")],
    ids=["whole hosts", "no channel"],
)
def test_servers_that_no_key_reaches_are_told(plan: Plan, why: str) -> None:
    """Each has its user, and nothing leaves the key of one: the plan says who brings it, and how."""
    kinds = [type(item.resource) for item in plan.resources]
    assert (kinds.count(VipuUser), kinds.count(StoredCredential)) == (2, 0)
    found = [*keys_by_hand(plan)]
    assert [item.server for item in found] == SERVERS
    for item in found:
        assert why in item.why
        assert f"`vipu-admin update user {item.server} --new-access-key` at acme-train-controller" in item.next


def test_where_a_person_tells_controllers_nothing_is_said_of_keys() -> None:
    assert [*keys_by_hand(planned("hand"))] == []
    assert [*keys_by_hand(planned("hand", whole=True))] == []


def _with_volumes(own: bool, *others: str) -> Plan:
    """acme with one Poplar server that has a volume of its own or not, and these of the tenant's."""
    site, part = pod64(), vpod(servers=1)
    volume = Volumes(size_gib=10, volume_type="ssd", on_delete="erase") if own else None
    part = part.model_copy(update={"poplar": part.poplar.model_copy(update={"volume": volume})})
    volumes = tuple(
        VolumeRequest(name=name, size_gib=10, volume_type="ssd", vpod="train", server=0, on_delete="erase")
        for name in others
    )
    request = tenant("acme", vpods=(part,), volumes=volumes)
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def _told(before: Plan, after: Plan) -> list[UnmountedVolume]:
    return [*unmounted_volumes(after, before.canonical(), changes_between(before.canonical(), after))]


def test_a_volume_that_comes_to_a_running_server_is_told() -> None:
    """With what has to be written where, in a server that has the program for it; else how it is done without."""
    (item,) = _told(_with_volumes(True), _with_volumes(True, "scratch"))
    tag = device_tag("acme-scratch")
    assert (item.server, item.volume, item.tag, item.mount) == (SERVERS[0], "acme-scratch", tag, "/volumes/scratch")
    entry = f'{{"tag": "{tag}", "mount": "/volumes/scratch"}}'
    assert item.next == (
        f"in the server add {entry} to /etc/interlock/volumes.json, then `systemctl restart interlock-volumes.service`"
    )
    (bare,) = _told(_with_volumes(False), _with_volumes(False, "scratch"))
    assert f"`mkfs.ext4 -L {tag}` if nothing is on it" in bare.next


def test_what_a_server_mounts_by_itself_is_not_told() -> None:
    one, both = _with_volumes(True), _with_volumes(True, "scratch")
    assert _told(both, both) == []
    assert _told(both, one) == []
    # A server that is made with the plan knows all of them.
    changes = [
        item.model_copy(update={"action": "replace"}) if item.kind == "Server" else item
        for item in changes_between(one.canonical(), both)
    ]
    assert [item.action for item in changes if item.kind == "Server"] == ["replace"]
    assert [*unmounted_volumes(both, one.canonical(), changes)] == []


def test_a_disk_that_is_another_one_is_looked_for_again() -> None:
    """The server mounts it by name, and looks only when it starts."""
    plan = _with_volumes(True)
    (disk,) = [item for item in plan.resources if item.resource.KIND == "VolumeAttachment"]
    changes = [ResourceChange(name=disk.name, kind="VolumeAttachment", action="replace")]
    (item,) = unmounted_volumes(plan, plan.canonical(), changes)
    assert item.next == "in the server `systemctl restart interlock-volumes.service`"
