"""The read-only look before an apply tells every fault at once, and counts what is ours as ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.provider import preview_token
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import Fault, preflight
from interlock.resources import Image, Network, Port, Project, Role, RoleAssignment, Server
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world.declared import DATA, FILE, SHA512

#: A host on which no other test of the provider has a port.
HOST = "poplar-4"


@pytest.fixture
def taken(operator: Cloud) -> Iterator[str]:
    """A network of someone else on VLAN 2900."""
    body = {
        "name": "elsewhere",
        "provider:network_type": "vlan",
        "provider:physical_network": "fabric100g",
        "provider:segmentation_id": 2900,
    }
    ident = operator.api("network").post("/networks", {"network": body})["network"]["id"]
    yield ident
    operator.api("network").delete(f"/networks/{ident}")


def _vlan(ident: int) -> Network:
    return Network(
        name=f"v{ident}", project="c-project", network_type="vlan", physical_network="fabric100g", segmentation_id=ident
    )


def _bad() -> dict[str, Any]:
    ports = {
        f"c-port-{i}": Port(
            name=f"p{i}", project="c-project", network="c-2900", subnet="x", address=f"10.0.0.{i}", vnic_type="direct"
        )
        for i in range(3)
    }
    return ports | {
        "c-project": Project(name="carol"),
        "c-member": RoleAssignment(project="c-project", user="cloud:User/nobody", role="cloud:Role/reader"),
        "c-2900": _vlan(2900),
        "c-4090": _vlan(4090),
        "c-image": Image(name="i", file="absent.raw", sha512="00"),
        "c-other": Image(name="j", file=FILE, sha512="00"),
        "c-server": Server(
            name="s",
            project="site:Project/controllers",
            flavor="site:Flavor/none",
            image="c-image",
            host=HOST,
            ports=tuple(ports),
        ),
        "c-lost": Server(
            name="l", project="c-project", flavor="site:Flavor/none", image="c-image", host="mars-1", ports=()
        ),
    }


def _faults(process: Process, folder: Path, resources: dict[str, Any], **more: Any) -> list[Fault]:
    program = Stack(process, "lyon-carol", "ca401", resources, "51729", folder, **more)
    return preflight(program.admission())


def test_all_faults_are_told_at_once(process: Process, folder: Path, taken: str) -> None:
    faults = _faults(process, folder, _bad(), virtual_functions={HOST: 2})
    told = [fault.message for fault in faults]
    expected = (
        ("reference", "cloud:User/nobody: Keystone knows no nobody in domain default"),
        ("reference", "site:Flavor/none: it is not on the cloud"),
        ("reference", "site:Project/controllers: it is not on the cloud"),
        ("image", "image c-image: there is no file"),
        ("image", f"machine.raw has sha512 {SHA512[:16]}"),
        ("host", "Nova knows no host mars-1"),
        ("virtual functions", f"host {HOST} has 2 virtual functions: 0 are used by others, the plan needs 3"),
        ("segment", f"VLAN 2900 on fabric100g of c-2900 is used by network elsewhere ({taken})"),
        ("range", "Neutron hands out fabric100g 4090-4090 (segment range default), which holds the ids of c-4090"),
    )  # fmt: skip
    for code, text in expected:
        assert any(fault.code == code and text in fault.message for fault in faults), (text, told)
    assert len(faults) == len(expected), told
    assert all(fault.hint for fault in faults)
    assert any("apply stack lyon-site first" in fault.hint for fault in faults)


def test_the_invoke_returns_them_in_the_preview_and_in_the_update(process: Process, folder: Path) -> None:
    program = Stack(process, "lyon-carol", "ca401", {"c-4090": _vlan(4090)}, "51729", folder)
    (fault,) = program.admit(preview=True)
    assert "4090-4090" in fault
    assert "next: shrink or delete that range" in fault
    assert program.admit(preview=False) == [fault]


def test_what_comes_up_while_somebody_thinks_stops_the_update(
    process: Process, folder: Path, operator: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview_token, "FRESH", -1.0)
    program = Stack(process, "lyon-carol", "ca401", {"c-0": Network(name="c-0", network_type="vxlan")}, "51729", folder)
    api, project = operator.api("network"), operator.login.project
    assert program.admit(preview=True) == []
    used = api.get(f"/quotas/{project}/details")["quota"]["network"]["used"]
    api.put(f"/quotas/{project}", {"quota": {"network": used}})
    try:
        (fault,) = process.admit(program.admission(), preview=False, previewed=False)
    finally:
        api.delete(f"/quotas/{project}")
    assert f"may have {used} networks" in fault


def test_an_update_at_once_asks_again_only_what_the_proof_rests_on(
    process: Process, folder: Path, operator: Cloud
) -> None:
    program = Stack(process, "lyon-carol", "ca401", {"c-2900": _vlan(2900)}, "51729", folder)
    assert program.admit(preview=True) == []
    asked = preflight(program.admission(), operator, frozenset({"c-2900"}), was_clear=True)
    assert asked == []
    api, project = operator.api("network"), operator.login.project
    used = api.get(f"/quotas/{project}/details")["quota"]["network"]["used"]
    api.put(f"/quotas/{project}", {"quota": {"network": used}})
    body = {"name": "mine", "physical_network": "fabric100g", "network_type": "vlan", "minimum": 2890, "maximum": 2910}
    ranges = "/network_segment_ranges"
    ident = api.post(ranges, {"network_segment_range": body | {"shared": True}})["network_segment_range"]["id"]
    try:
        (fault,) = process.admit(program.admission(), preview=False, previewed=False)
    finally:
        api.delete(f"/quotas/{project}")
        api.delete(f"{ranges}/{ident}")
    assert "which holds the ids of c-2900" in fault


def test_a_quota_of_the_operators_project_is_counted_without_what_is_ours(
    process: Process, folder: Path, operator: Cloud
) -> None:
    api, project = operator.api("network"), operator.login.project
    nets = {f"c-{i}": Network(name=f"c-{i}", network_type="vxlan", segmentation_id=880000 + i) for i in range(2)}
    program = Stack(process, "lyon-carol", "ca401", dict(nets), "51729", folder)
    used = api.get(f"/quotas/{project}/details")["quota"]["network"]["used"]
    api.put(f"/quotas/{project}", {"quota": {"network": used + 1}})
    (fault,) = preflight(program.admission())
    assert f"may have {used + 1} networks: others use {used}, the plan needs 2" in fault.message
    api.put(f"/quotas/{project}", {"quota": {"network": used + 2}})
    assert preflight(program.admission()) == []
    assert program.admit() == []
    program.create("c-0")
    assert preflight(program.admission()) == []
    program.create("c-1")
    assert preflight(program.admission()) == []
    program.delete_all()
    api.delete(f"/quotas/{project}")


def test_an_unreachable_cloud_is_one_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clouds.yaml"
    path.write_text(
        "clouds: {sandbox: {auth: {auth_url: 'http://127.0.0.1:9/v3', username: u, password: p, project_name: p}}}"
    )
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
    (fault,) = _faults(None, tmp_path, _bad())  # type: ignore[arg-type]
    assert "cannot be reached" in fault.message


def test_a_wrong_password_is_one_fault(sandbox: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clouds.yaml"
    path.write_text(sandbox.clouds_yaml.read_text().replace("password: secret", "password: wrong"))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
    (fault,) = _faults(None, tmp_path, _bad())  # type: ignore[arg-type]
    assert "refused the credential" in fault.message
    assert "clouds.yaml" in fault.hint


def test_the_image_file_is_only_asked_for_until_the_image_is_there(process: Process, folder: Path) -> None:
    assert (folder / FILE).read_bytes() == DATA
    image = Image(name="c-i", file=FILE, sha512=SHA512)
    program = Stack(process, "lyon-elsewhere", "51729", {"i": image}, "51729", folder)
    assert program.admit(preview=False) == []
    program.create("i")
    moved = Stack(process, "lyon-elsewhere", "51729", {"i": image}, "51729", folder / "empty")
    assert preflight(moved.admission()) == []
    program.delete_all()


def test_a_name_that_must_be_unique_and_is_taken_is_told_for_what_is_to_be_created(
    process: Process, folder: Path, operator: Cloud
) -> None:
    api = operator.api("identity")
    role = api.post("/roles", {"role": {"name": "c-taken"}})["role"]["id"]
    try:
        program = Stack(process, "lyon-carol", "ca401", {"c-role": Role(name="c-taken")}, "51729", folder)
        (fault,) = preflight(program.admission())
        assert f"Role c-taken is on the cloud already ({role}) and no stack of ours made it" in fault.message
        # One that the state holds lost its marker by hand: the update puts it back.
        assert preflight(program.admission(), creates=frozenset()) == []
    finally:
        api.delete(f"/roles/{role}")
