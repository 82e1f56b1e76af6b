"""What is checked between the parts of a site file, on one that has something in every section.

The words of each fault are in tests/errors/site; here it is that one slip is one fault, and where it is told.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, get_args

import pytest

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING, SHARING_GUARDS
from interlock.model.site.offers import SharingKind
from interlock.model.site.pool_checks import FIRST_VIP, LAST_VIP, NEUTRONS_OWN
from interlock.model.text.errors import InputErrors
from interlock.planning import addresses
from tests.model.racks import written
from tests.model.wide_site import loaded, wide


def faults(document: dict[str, Any], folder: Path) -> list[str]:
    """`<code> <message>` of everything that is wrong."""
    with pytest.raises(InputErrors) as raised:
        loaded(document, folder)
    return [f"{error.code} {error.message}" for error in raised.value.errors]


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the value at a dotted path replaced; numbers are places in lists."""
    found = copy.deepcopy(document)
    *above, last = (int(step) if step.isdigit() else step for step in path.split("."))
    part: Any = found
    for step in above:
        part = part[step]
    part[last] = value
    return found


#: One slip each, and the one fault that it is.
SLIPS = [
    ("machines.spare-01.serial", "SP-1", "IN-009 `spine-1` has the serial `SP-1` of `spare-01`"),
    ("machines.spare-01.logical_rack", "spar", "IN-008 `spar` is not a logical rack of this site"),
    ("machines.spare-01.macs.rnic", "02:00:00:00:09:01",
     "IN-009 rnic of `spare-01` has the MAC address 02:00:00:00:09:01 of bmc of `spare-01`"),
    ("hosts.bare-1.logical_rack", "pod", "IN-008 `pod` is not a logical rack of this site"),
    ("hosts.bare-1.interfaces", {"fabrik": ["ens1"]}, "IN-008 `fabrik` is not a physical network of this site"),
    ("devices.filer", {"role": "appliance", "serial": "P-9"}, "IN-009 `filer` has the serial `P-9` of `pdu-9`"),
    ("switches.spine-1.ports.11", "trunk 1000-2400",
     "IN-010 port 11 of spine-1 carries VLAN 1000-2400 to the appliance, and `pools.ipu_data` gives out some of these"),
    ("share_types.nfs.storage_class", "ceph-rbd",
     "IN-010 `ceph-rbd` is used by RBD, and shares are mounted by NFS"),
    ("share_types.nfs.extra_specs", {"driver_handles_share_servers": "True"},
     "IN-007 `driver_handles_share_servers` is not the site's to state"),
    ("share_types.nfs.mount_options", ["rw"], "IN-007 `rw` is not the site's to say"),
    ("share_types.nfs.mount_options", ["hard", "hard"], "IN-009 `hard` is there twice"),
    ("share_types.nfs.mount_options", ["vers = 4"], "IN-007 `vers = 4` is no option of mount"),
    ("physical_racks.cabinet-9.room", "hall-2", "IN-008 `hall-2` is not a room of this site"),
    ("physical_racks.cabinet-9.pdus", {"pdu-9": "c"}, "IN-008 `c` is no feed of the rack `cabinet-9`"),
    ("physical_racks.cabinet-9.pdus", {"filer": "a"}, "IN-008 `filer` is not a PDU of this site"),
    ("physical_racks.cabinet-9.pdus", {"pdu-1": "a"}, "IN-009 `pdu-1` is in the rack `c-1` already"),
    ("logical_racks.spare.rack", "cabinet-8", "IN-008 `cabinet-8` is not a physical rack of this site"),
    ("logical_racks.spare.number", 2, "IN-009 `spare` has the number 2 of `pod-2`"),
    ("placements.spine-1.unit", 48, "IN-007 `spine-1` would reach unit 49: `cabinet-9` has 48"),
    ("placements.spine-1.unit", 1, "IN-009 `spine-1` is in a unit of `cabinet-9` where `spare-01` stands"),
    ("placements.spine-1.rack", "c-9", "IN-008 `c-9` is not a physical rack of this site"),
    ("placements.tor-1", {"rack": "cabinet-9"}, "IN-009 `tor-1` stands somewhere already"),
    ("cables.1.ends.0", "spine-1:011", "IN-008 `spine-1:011`: the switch has ports 1 to 34"),
    ("cables.1.ends.0", "spine-1:35", "IN-008 `spine-1:35`: the switch has ports 1 to 34"),
    ("cables.1.ends.0", "spine-1:psu-1", "IN-008 `spine-1:psu-1`: the switch has ports 1 to 34"),
    ("cables.1", {"ends": ["spine-1:psu-1", "pdu-9:outlet-2"], "kind": "power"}, None),
    ("cables.1", {"ends": ["spine-1:11", "pdu-9:outlet-2"], "kind": "power"},
     "IN-010 `spine-1:11` is a port, and no power input"),
    ("cables.1", {"ends": ["spare-01:gw-link-1", "spine-1:11"], "kind": "gw-link"},
     "IN-010 a cable of the kind `gw-link` to `spine-1`, a switch of the role `spine`"),
    ("cables.1.ends", ["spine-1:11", "spare-01:rnic-2"], None),
    ("cables.1.ends", ["spine-1:11", "spare-01:eth0"],
     "IN-008 `spare-01:eth0`: the network plugs of the model bow-2000 are rnic, rnic-2, mgmt, mgmt-2"),
    ("cables.1.ends.1", "filter:e0", "IN-008 `filter` is not a device of this site"),
    ("cables.1.kind", "power", "IN-010 a cable of the kind `power` from a switch to a device"),
    ("cables.1.kind", "gw-link", "IN-010 a cable of the kind `gw-link` from a switch to a device"),
    ("lags.1.interfaces", ["9", "10", "12"], "IN-008 `spine-1:12` has no cable"),
    ("lags.0.name", "bare-1-fabric", None),
    ("physical_networks.fabric.profile", "rose", "IN-008 `rose` is not a fabric profile of this site"),
    ("physical_networks.fabric.mtu", 8000,
     "IN-010 the profile `roce` has frames of 9000 bytes, the network takes 8000"),
    ("switches.spine-1.ports", {1: "trunk 7-9 native 8", 9: "routed"},
     "IN-010 VLAN 8 is native here and in the list of tagged ones"),
    ("switches.spine-1.ports", {1: "trunk all native 8"}, None),
    ("switches.spine-1.ports", {1: {"mode": "trunk 7-9 native 8"}},
     "IN-010 VLAN 8 is native here and in the list of tagged ones"),
    ("switches.spine-1.ports", {1: {"mode": "trunk all native 8", "tag_native": False}}, None),
    ("switches.spine-1.ports", {1: {"mode": "access 8", "tag_native": False}},
     "IN-010 `tag_native` says how a trunk treats its native VLAN, and this port has none"),
    ("switches.spine-1.ports", {1: {"mode": "trunk all", "translations": {1: 2, 2: 1}}}, None),
    ("switches.spine-1.ports", {1: {"mode": "trunk 5-9", "translations": {1: 4}}},
     "IN-010 VLAN 4 is not among the tagged ones of this trunk"),
    ("switches.spine-1.ports", {1: {"mode": "dot1q-tunnel", "translations": {1: 4}}},
     "IN-010 only a trunk translates VLAN ids: other ports have frames without tags, or pass tags on unread"),
    ("switches.spine-1.ports", {1: {"mode": "trunk 5-9", "filled_by": "neutron"}},
     "IN-010 Neutron fills no trunk of a switch that is wired by `hand`"),
    ("switches.dumb-1.ports", {1: {"mode": "trunk none", "filled_by": "neutron"}}, None),
    ("switches.dumb-1.ports", {1: {"mode": "trunk all", "filled_by": "neutron"}},
     "IN-010 a trunk of all VLANs has none left to be filled with"),
    ("switches.dumb-1.ports", {1: {"mode": "access", "filled_by": "neutron"}},
     "IN-010 only a trunk is filled with VLANs, and this port is `access`"),
    ("switches.dumb-1.ports", {1: {"mode": "trunk 5", "translations": {4: 5}, "filled_by": "neutron"}},
     "IN-010 what a driver puts onto a trunk has the id of its network there, and this one translates ids"),
    ("switches.dumb-1.ports", {1: {"mode": "trunk 5", "filled_by": "nova"}},
     "IN-007 `nova` is not one of 'neutron'"),
    ("switches.spine-1.ports", {1: {"mode": "access", "private_vlan": "batch"}}, None),
    ("switches.spine-1.ports", {1: {"mode": "routed", "private_vlan": "batch"}},
     "IN-010 only an access port has a role in a private VLAN, and this one is `routed`"),
    ("switches.spine-1.vrfs.acme", [9, 1001], "IN-009 VLAN 9 is in the default VRF (`routed_vlans`) already"),
    ("switches.spine-1.vrfs.acme", 1006, "IN-009 VLAN 1006 is in `acme` already"),
    ("switches.dumb-1.vrfs", {"acme": [9, 1001]}, None),
    ("switches.spine-1.vteps.0.vlan", 1002, "IN-009 VLAN 1002 has an overlay already"),
    ("switches.spine-1.vteps.0.vni", 7002, None),
    ("switches.spine-1.vteps.0.underlay", "kore", "IN-008 `kore` is not an underlay of this site"),
    ("underlays.edge", {"neutron": True}, "IN-009 Neutron's overlays run over `edge` and over `core`"),
    ("pools.partition_keys", {"quantom": {"keys": 1}}, "IN-008 `quantom` is not an InfiniBand subnet of this site"),
    ("pools.roce.physical_network", "mgmt",
     "IN-010 `mgmt` is of the pool `cluster`, too: no interface there says whether it is for compute"),
    ("pools.roce.physical_network", "wire", "IN-008 `wire` is not a physical network of this site"),
    ("pools.storage_vips", "2-10",
     "IN-010 the addresses .2-10 meet those of the network itself, its router or Poplar servers"),
    ("segment_ranges.1.vnis", 20000,
     "IN-010 the range meets the pool control: Neutron could give a self-made network an id of a lock"),
    ("segment_ranges.0", {"physical_network": "mgmt", "vlans": 1500},
     "IN-010 the range meets the pool ipu_data: Neutron could give a self-made network an id of a lock"),
    ("segment_ranges.0", {"physical_network": "mgmt", "vlans": "2000-2100"}, None),
    ("pools.reserved_vlans", [1500, 2000], None),
    ("share_types.nfs.storage_class", "nfs", "IN-008 `nfs` is no class of storage in the catalogue"),
    ("tenant_defaults.share_type", "smb", "IN-008 `smb` is not a share type of this site"),
    ("prices.ipu-machine", "1.9.0", "IN-007 `1.9.0` is no price"),
    ("sharing.nas.node", "filter", "IN-008 `filter` is not a device or a network of this site"),
    ("sharing.nas.node", "core", None),
    ("sharing.nas.node", "0002c90300a1b2c3", None),
    ("sharing.nas.node", "spine-1/acme", None),
    ("sharing.nas.node", "spine-1/acne", "IN-008 `spine-1/acne` is not a device or a network of this site"),
    ("sharing.nas", {"kind": "private-vlan-back-end", "node": "filer", "audience": "any",
                     "guards": {"roles_enforced": True}}, None),
    ("sharing.nas", {"kind": "private-vlan-back-end", "node": "core", "audience": "any",
                     "guards": {"roles_enforced": True}},
     "IN-010 `core` is no device on a switch port, and a private VLAN has its roles there"),
    ("sharing.nas", {"kind": "private-vlan-back-end", "node": "spare-01", "audience": "any",
                     "guards": {"roles_enforced": True}},
     "IN-010 `spare-01` is no device on a switch port, and a private VLAN has its roles there"),
    ("sharing.nas.guards", {}, "IN-010 `nas` states no guard, so it is no sharing"),
    ("sharing.nas.guards", {"roles_enforced": True}, "IN-001 no rule knows the guard `roles_enforced`"),
    ("existing.Project/other", "0b5c9a4e-7f4b-4c0e-9f0e-6d1f6a2b3c4e",
     "IN-009 `Project/other` has the id of `Project/controllers`"),
    ("existing.Aggregate/poplar-hosts", 1, None),
    ("existing.Flavor/poplar", 42, None),
    ("existing.Flavor/poplar", "m1.large", None),
    ("existing.Image/poplar", 42, "IN-007 `42` is no id of Image poplar: it is a uuid"),
    ("existing.Aggregate/poplar-hosts", "0b5c9a4e-7f4b-4c0e-9f0e-6d1f6a2b3c4d",
     "IN-007 `0b5c9a4e-7f4b-4c0e-9f0e-6d1f6a2b3c4d` is no id of Aggregate poplar-hosts: it is a whole number"),
    ("existing.RoleAssignment/controllers-operator", "0b5c9a4e7f4b4c0e9f0e6d1f6a2b3c4e",
     "IN-008 `RoleAssignment/controllers-operator` is no object of a site"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "fault"), SLIPS)
def test_one_slip_is_one_fault(path: str, value: Any, fault: str | None, tmp_path: Path) -> None:
    document = changed(wide("ipu-pod128"), path, value)
    if fault is None:
        loaded(document, tmp_path)
    else:
        assert faults(document, tmp_path) == [fault]


def test_all_slips_are_told_at_once(tmp_path: Path) -> None:
    document = wide("ipu-pod128")
    slips = [
        ("fabric_profiles.roce.mtu", 10),
        ("limits.controller_ram", "64"),
        ("logical_racks.spare.rack", "cabinet-8"),
        ("prices.currency", "Euro"),
        ("sharing.nas.guards", {}),
    ]
    for path, value in slips:
        document = changed(document, path, value)
    found = faults(document, tmp_path)
    assert sorted(fault.split()[0] for fault in found) == ["IN-005", "IN-007", "IN-007", "IN-008", "IN-010"]


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("racks.0.machines.sync_cables", "four", "IN-003 `sync_cables` is `four`, not a whole number"),
        ("hosts.bare-1.ram", "512", "IN-005 `512` has no unit"),
        ("fabric_profiles.roce.mtu", 10, "IN-007 `10`: at least 1280 is possible here"),
        ("infiniband.quantum.prefix", "fe80", "IN-007 `fe80` is no subnet prefix"),
        ("physical_networks.mgmt", 7, "IN-003 `mgmt` is `7`, not a mapping, key: value"),
    ],
)
def test_what_follows_from_a_fault_of_form_is_not_told(path: str, value: Any, fault: str, tmp_path: Path) -> None:
    """Cables, pools and placements name what the fault took away."""
    assert faults(changed(wide("ipu-pod64"), path, value), tmp_path) == [fault]


def test_two_pods_may_not_have_a_pdu_of_one_name(tmp_path: Path) -> None:
    document = wide("ipu-pod64")
    second = written(
        "bow-pod64",
        name="second",
        machines={"names": "b-[01-16]", "serials": "BM-[01-16]"},
        poplar={"names": "q-[1-4]", "serials": "Q-[1-4]"},
        tor={"names": "tor-2", "serials": "T-2"},
        management={"names": "mgmt-2", "serials": "G-2"},
    )
    document["racks"].append(second)
    found = faults(document, tmp_path)
    assert found[:2] == ["IN-009 two devices are called `pdu-1`", "IN-009 two devices are called `pdu-2`"]


def test_appliance_addresses_lie_between_the_others() -> None:
    """The offsets here and those that plans give out are one table."""
    assert addresses.ROUTER < FIRST_VIP <= LAST_VIP < addresses.POPLAR
    assert addresses.AUTOMATIC == NEUTRONS_OWN


def test_every_kind_of_sharing_has_guards_and_a_rule() -> None:
    assert set(get_args(SharingKind)) == set(SHARING) == set(SHARING_GUARDS)
    for shared in SHARING.values():
        assert shared.guards
        assert len(set(shared.guards)) == len(shared.guards)
        assert shared.rule.partition("-")[0] in ("ISO", "L3", "SEC")


def test_guards_of_assumptions_have_names_of_their_own() -> None:
    """A guard is spoken of by its name alone in places, so no two assumptions share one."""
    names = [guard for guards in ASSUMPTION_GUARDS.values() for guard in guards]
    assert len(set(names)) == len(names)
    assert list(ASSUMPTION_GUARDS) == [f"A{number}" for number in (*range(1, 12), *range(13, 25))]


def test_nothing_fills_a_trunk_where_no_physical_network_is(tmp_path: Path) -> None:
    document = changed(wide("ipu-pod128"), "switches.dumb-1.ports", {1: {"mode": "trunk none", "filled_by": "neutron"}})
    document = changed(document, "physical_networks.boot", ["spine-1"])
    message = "Neutron fills a trunk of `dumb-1`, and no physical network reaches this switch"
    assert f"IN-010 {message}" in faults(document, tmp_path)


def test_nothing_fills_a_trunk_to_an_appliance(tmp_path: Path) -> None:
    """Its list is short, and the driver puts the VLANs of all networks onto it besides."""
    document = changed(wide("ipu-pod128"), "cables.1.ends", ["dumb-1:2", "filer:e0"])
    document = changed(document, "physical_networks.mgmt", ["dumb-1"])
    listed = changed(document, "switches.dumb-1.ports", {2: "trunk 2000-2009"})
    loaded(listed, tmp_path / "listed")
    filled = changed(document, "switches.dumb-1.ports", {2: {"mode": "trunk 2000-2009", "filled_by": "neutron"}})
    what = "carries VLAN 1000-1999 to the appliance, and `pools.ipu_data` gives out some of these"
    assert f"IN-010 port 2 of dumb-1 {what}" in faults(filled, tmp_path / "filled")
