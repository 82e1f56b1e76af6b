"""A virtual server that takes a GPU node whole, on real Nova and Placement: made, deleted, kept back, given back."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.passed_devices import SERVICE, devices_of, give_back
from interlock.resources import (
    Aggregate,
    Flavor,
    FlavorAccess,
    Image,
    Network,
    Port,
    Project,
    Quota,
    Resource,
    Server,
    Subnet,
)
from tests.builders.placement import CutCloud, CutShort
from tests.builders.virtual_nodes import whole_flavor
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.sampling import Sampling
from tests.support.world.declared import FILE, SHA512, operator, site_folder

NODE, DEVICES = "dgx-1", 20
SITE_OWNER, ALICE, BOB = "5172e0", "0a11ce", "0b0b0b"


def site() -> dict[str, Resource]:
    """The flavour as the planner has it, the image, and the fence."""
    spec = whole_flavor()
    fence = {"aggregate_instance_extra_specs:interlock_role": "gpu"}
    return {
        "machine": Image(name="passing-machine", file=FILE, sha512=SHA512),
        "gpu.h100": Flavor(
            name="gpu.h100", vcpus=spec.vcpus, ram_mib=spec.ram_gib * 1024, disk_gib=spec.disk_gib, public=False,
            extra_specs=spec.all_extra_specs | fence,
        ),
        "gpu-hosts": Aggregate(name="gpu-hosts", hosts=("dgx-1", "dgx-2"), metadata={"interlock_role": "gpu"}),
    }  # fmt: skip


def tenant(t: str, vlan: int) -> dict[str, Resource]:
    """A tenant with one such server on the node, and a port of it in band."""
    project = f"{t}-project"
    limits = dict.fromkeys(Quota.model_fields.keys() - {"project"}, 10) | {"cores": 500, "ram_mib": 4_000_000}
    return {
        project: Project(name=t, description="A tenant"),
        f"{t}-operator": operator(project),
        f"{t}-quota": Quota(project=project, **limits),
        f"{t}-flavor": FlavorAccess(project=project, flavor="site:Flavor/gpu.h100"),
        f"{t}-net": Network(
            name=f"{t}-net", project=project, network_type="vlan", physical_network="inband", segmentation_id=vlan
        ),
        f"{t}-subnet": Subnet(name=f"{t}-subnet", project=project, network=f"{t}-net", cidr="10.60.0.0/24", dhcp=False),
        f"{t}-port": Port(
            name=f"{t}-port", project=project, network=f"{t}-net", subnet=f"{t}-subnet", address="10.60.0.10"
        ),
        f"{t}-node-0": Server(
            name=f"{t}-node-0", project=project, flavor="site:Flavor/gpu.h100", image="site:Image/machine", host=NODE,
            ports=(f"{t}-port",),
        ),
    }  # fmt: skip


def states(cloud: Cloud) -> set[tuple[int, int, bool]]:
    """(reserved, used, for one use) of the node's devices."""
    devices = devices_of(cloud, NODE)
    assert len(devices) == DEVICES
    return {(device.inventory["reserved"], device.used, device.one_time_use) for device in devices}


def said(faults: list[str]) -> str:
    return "\n".join(faults)


def cut_off_and_taken_in_between(cloud: Cloud, sampling: Sampling) -> None:
    """Given back by runs that end at some change, before it is carried out or before its answer, and by a last one."""
    numbers = sampling.some("devices that are given back", range(1, DEVICES), 2)
    for place, number in enumerate(numbers):
        done, answered = number - (numbers[place - 1] if place else 0), place % 2 == 1
        with pytest.raises(CutShort):
            give_back(CutCloud(cloud, done + (not answered), answered, changes_only=True), NODE)  # type: ignore[arg-type]
        devices = devices_of(cloud, NODE)
        assert [device.inventory["reserved"] for device in devices] == [0] * number + [1] * (DEVICES - number)
        # Somebody has a device that is free already: nothing else is given back until that is gone.
        consumer, api = str(uuid.uuid4()), cloud.api(SERVICE)
        taken = {devices[0].provider: {"resources": {devices[0].resource_class: 1}}}
        login = {"project_id": cloud.login.project, "user_id": cloud.login.user}
        api.put(f"/allocations/{consumer}", {"allocations": taken, **login})
        with pytest.raises(Failure, match="is in use"):
            give_back(cloud, NODE)
        assert sum(device.inventory["reserved"] for device in devices_of(cloud, NODE)) == DEVICES - number
        api.delete(f"/allocations/{consumer}")
    assert len(give_back(cloud, NODE)) == DEVICES - numbers[-1]


def test_a_node_goes_from_one_tenant_to_the_next(cloud: Cloud, sampling: Sampling, tmp_path: Path) -> None:
    processes = [Process(), Process(), Process()]
    folder = site_folder(tmp_path)
    operators = Stack(processes[0], "lyon-site", SITE_OWNER, site(), site_owner=SITE_OWNER, folder=folder)
    alice = Stack(processes[1], "lyon-alice", ALICE, tenant("alice", 1001), site_owner=SITE_OWNER, folder=folder)
    bob = Stack(processes[2], "lyon-bob", BOB, tenant("bob", 1002), site_owner=SITE_OWNER, folder=folder)
    try:
        assert operators.admit(preview=False) == []
        operators.create_all()
        assert states(cloud) == {(0, 0, True)}
        free = devices_of(cloud, NODE)

        assert alice.admit(preview=False) == []
        alice.create_all()
        assert states(cloud) == {(1, 1, True)}
        assert devices_of(cloud, "dgx-2")[0].used == 0

        with pytest.raises(Failure, match="are in use") as refused:
            give_back(cloud, NODE)
        assert refused.value.trouble is Trouble.CONFLICT
        # What was read before the server came: Placement refuses it, so nobody is overtaken.
        path = f"/resource_providers/{free[0].provider}/inventories/{free[0].resource_class}"
        stale = free[0].inventory | {"resource_provider_generation": free[0].generation}
        with pytest.raises(Failure):
            cloud.api(SERVICE).put(path, stale)
        assert states(cloud) == {(1, 1, True)}
        assert "in use by a server that is not this stack's" in said(bob.admit(preview=False))

        alice.delete_all()
        assert states(cloud) == {(1, 0, True)}
        assert "kept back after an earlier server" in said(bob.admit(preview=False))

        cut_off_and_taken_in_between(cloud, sampling)
        assert states(cloud) == {(0, 0, True)}
        assert give_back(cloud, NODE) == ()
        assert bob.admit(preview=False) == []
        bob.create_all()
        assert states(cloud) == {(1, 1, True)}
    finally:
        for stack in (alice, bob, operators):
            stack.delete_all()
        # Whoever uses the cloud next finds the node free.
        give_back(cloud, NODE)
        for process in processes:
            process.close()


def test_a_host_whose_devices_are_not_in_placement_is_told(cloud: Cloud) -> None:
    """infra-1 has none, as a cloud without `report_in_placement` has of any host."""
    assert devices_of(cloud, "infra-1") == ()
    assert devices_of(cloud, "nowhere") == ()
