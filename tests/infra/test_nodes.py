"""`interlock nodes`: the file that Ironic's own client reads, and what nobody states told by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.cli.formats import Format
from infra.commands.site import written
from interlock.model.site.file import TenantDefaultsFile
from interlock.model.site.full import full_form
from interlock.model.site.inventory import Site
from interlock.planning.enrolment import enrolment_of
from tests.builders.pod64 import bare_metal_pod64, ironic_pod64
from tests.infra.conftest import Interlock, Lyon

#: What python-ironicclient 6.1 takes for a new node and port (`_creation_attributes`), and what it reads besides.
NODE_FIELDS = {
    "automated_clean", "bios_interface", "boot_interface", "chassis_uuid", "conductor_group", "console_interface",
    "deploy_interface", "description", "disable_power_off", "driver", "driver_info", "extra", "firmware_interface",
    "inspect_interface", "instance_name", "lessee", "management_interface", "name", "network_data", "network_interface",
    "owner", "parent_node", "ports", "power_interface", "properties", "raid_interface", "rescue_interface",
    "resource_class", "shard", "storage_interface", "traits", "uuid", "vendor_interface",
}  # fmt: skip
PORT_FIELDS = {
    "address", "category", "description", "extra", "is_smartnic", "local_link_connection", "name", "node_uuid",
    "physical_network", "portgroup_uuid", "pxe_enabled", "uuid", "vendor",
}  # fmt: skip


def nodes_of(site: Site) -> list[dict[str, Any]]:
    """The nodes as the file has them."""
    assert site.ironic is not None
    return [node.model_dump(mode="json") for node in enrolment_of(site, site.ironic).nodes]


def lacking(site: Site) -> tuple[str, ...]:
    """What is told beside them."""
    assert site.ironic is not None
    return enrolment_of(site, site.ironic).lacking


def written_as_file(lyon: Lyon, site: Site) -> None:
    """Put a site into the folder of `lyon`."""
    document = full_form(site, TenantDefaultsFile(flavor="poplar.half", image="poplar"))
    lyon.file("site.yaml").write_text(written(document, Format.YAML), encoding="utf-8")


def test_a_node_for_each_whole_host_and_machine_in_fields_that_the_client_takes() -> None:
    found = nodes_of(ironic_pod64())
    assert [node["name"] for node in found] == [
        *(f"poplar-{number}" for number in range(1, 5)), *(f"ipum-{number:02}" for number in range(1, 17)),
    ]  # fmt: skip
    assert all(set(node) <= NODE_FIELDS for node in found)
    assert all(set(port) <= PORT_FIELDS for node in found for port in node["ports"])
    assert {node["network_interface"] for node in found} == {"neutron"}
    assert {node["conductor_group"] for node in found} == {"lent"}


def test_a_whole_host_boots_from_one_interface_on_a_network_of_its_own() -> None:
    first, second = nodes_of(ironic_pod64())[:2]
    assert (first["driver"], first["resource_class"], first["automated_clean"]) == ("redfish", "poplar", True)
    assert second["driver_info"] == dict.fromkeys(("cleaning_network", "provisioning_network"), "service-poplar-2")
    assert [(port["name"], port["pxe_enabled"], port["physical_network"]) for port in first["ports"]] == [
        ("poplar-1-ens161f0", False, "fabric100g"),
        ("poplar-1-ens161f1", False, "fabric100g"),
        ("poplar-1-eno1", True, "mgmt1g"),
    ]
    assert first["ports"][2] | {"name": ""} == {
        "name": "", "address": "02:00:00:00:06:01", "pxe_enabled": True, "physical_network": "mgmt1g",
        "local_link_connection": {"switch_id": "02:00:00:00:09:02", "switch_info": "mgmt-1", "port_id": "swp37"},
    }  # fmt: skip


def test_a_machine_is_enrolled_for_power_and_inventory_and_says_so() -> None:
    machine = nodes_of(ironic_pod64())[4]
    assert (machine["resource_class"], machine["automated_clean"], machine["driver_info"]) == ("ipu-m2000", False, {})
    assert machine["traits"] == ["CUSTOM_INTERLOCK_INVENTORY_ONLY"]
    assert "never provide it" in machine["description"]
    links = [(port["name"], port["pxe_enabled"], port["local_link_connection"]["port_id"]) for port in machine["ports"]]
    assert links == [("ipum-01-rnic", False, "swp1"), ("ipum-01-gw", False, "swp1"), ("ipum-01-bmc", False, "swp1")]


def test_what_nobody_states_is_left_out_and_named() -> None:
    base = ironic_pod64()
    first, *others = base.hosts
    without = {name: address for name, address in first.macs.items() if name != "ens161f1"}
    site = ironic_pod64(hosts=(first.model_copy(update={"macs": without}), *others))
    assert lacking(base) == ()
    assert lacking(site) == ("poplar-1:ens161f1: not stated: its MAC address (`macs`)",)
    assert [port["name"] for port in nodes_of(site)[0]["ports"]] == ["poplar-1-ens161f0", "poplar-1-eno1"]
    bare = lacking(bare_metal_pod64(ironic=base.ironic))
    assert bare[2] == (
        "poplar-1:eno1: not stated: its MAC address (`macs`), the MAC address of mgmt-1, what mgmt-1 calls its port 37 "
        "(`port_names`)"
    )
    assert len(bare) == 4 * 3 + 16 * 3


def test_a_host_without_a_service_network_or_a_cable_is_named() -> None:
    base = ironic_pod64()
    assert base.ironic is not None
    cables = tuple(cable for cable in base.cables if (cable.a.device, cable.a.interface) != ("poplar-4", "ens161f0"))
    networks = (base.ironic.networks[0].model_copy(update={"vlans": ((3200, 3202),)}),)
    site = ironic_pod64(cables=cables, ironic=base.ironic.model_copy(update={"networks": networks}))
    assert lacking(site) == (
        "poplar-4: no service network is left for it (`ironic.networks`)",
        "poplar-4:ens161f0: not stated: a cable from poplar-4:ens161f0 to a port of a switch",
    )
    assert nodes_of(site)[3]["driver_info"] == {}


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_the_command_prints_the_file_alone(unlocked: Lyon, interlock: Interlock, option: list[str]) -> None:
    written_as_file(unlocked, ironic_pod64())
    ended = interlock("nodes", *option)
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == {"nodes": nodes_of(ironic_pod64())}


def test_the_list_for_people_says_what_each_is_for(unlocked: Lyon, interlock: Interlock) -> None:
    written_as_file(unlocked, ironic_pod64())
    lines = interlock("nodes").out.splitlines()
    assert lines[0] == "poplar-1  poplar     3 ports  deployed and cleaned on service-poplar-1"
    assert lines[-1] == "ipum-16   ipu-m2000  3 ports  power and inventory only"


def test_the_exit_code_says_that_something_is_missing(unlocked: Lyon, interlock: Interlock) -> None:
    base = ironic_pod64()
    written_as_file(unlocked, ironic_pod64(hosts=tuple(item.model_copy(update={"macs": {}}) for item in base.hosts)))
    ended = interlock("nodes", "--json")
    assert ended.code == 3
    assert ended.err.splitlines()[0] == "poplar-1:ens161f0: not stated: its MAC address (`macs`)"
    assert json.loads(ended.out)["nodes"][0]["ports"] == []


def test_a_site_without_ironic_is_told_so(unlocked: Lyon, interlock: Interlock) -> None:
    ended = interlock("nodes")
    assert (ended.code, ended.out) == (2, "")
    assert "IN-002 `ironic` is missing: this site has no Ironic at which nodes could be enrolled" in ended.err
    assert unlocked.folder.exists()
