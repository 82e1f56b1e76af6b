"""A site that has something in every section: two pods in one file, and devices beside them in full form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from interlock.model.site.loading import LoadedSite, load_site
from tests.model.racks import SIZES, written
from tests.model.small_site import BASE

#: What is beside the racks; one of every kind of thing.
BESIDE = """
rooms: {hall-1: {power: 500kW, floor_kg_m2: 1200}}
halls:
  gpu:
    {design: h100-superpod, units: 1, compute: quantum, storage: quantum-storage, power: 320kW,
     racks: {room: hall-1, cooling: rear-door, feeds: {a: {capacity: 44kW}, b: {capacity: 44kW, derate: 0.9}}},
     in_band: {physical_network: boot, ports: {eno1: []}}, out_of_band: {},
     switches: {compute-su01-leaf1: {serial: LEAF-1, guid: "0x0002C900000000AA"}},
     nodes: {su01-n01: {name: gpu-1, serial: GPU-1, macs: {eno1: "02:00:00:00:0a:01"},
                        guids: {compute1: "0002:c900:0000:0001", storage2: "0002c900000000b2"}},
             su01-n31: {serial: GPU-31, rack: cabinet-9, unit: 20, state: failed, reason: "GPU 3 fell off"}}}
physical_racks:
  cabinet-9:
    {room: hall-1, units: 48, max_weight: 1200.5kg, cooling: rear-door, cooling_limit: 40kW,
     feeds: {a: {capacity: 22kW}, b: {capacity: 22kW, derate: 0.75}}, pdus: {pdu-9: b}}
logical_racks:
  spare: {number: 77, topology: torus, address_plan: pod, rack: cabinet-9}
machines:
  spare-01:
    {serial: S-01, logical_rack: spare, position: 1, generation: bow-2000,
     macs: {bmc: "02:00:00:00:09:01", rnic: "02-00-00-00-09-03"}, state: failed, reason: "RNIC dead, ticket 123"}
hosts:
  infra-1: {serial: I-1, role: infra, shared_cpus: 128, ram: 512GiB, interfaces: {mgmt: eno1}}
  bare-1:
    {serial: B-1, role: poplar, logical_rack: spare, model: dell-r6525, provisioning: bare-metal, ram: 512GiB,
     interfaces: {fabric: "ens[1-2]", boot: eno1}, macs: {eno1: "02:00:00:00:09:11"},
     bmc: idrac, state: maintenance, reason: new firmware}
switches:
  spine-1:
    serial: SP-1
    model: arista-7060x
    role: spine
    port_groups: [[100, 32], [10, 2]]
    ip_routing: true
    routed_vlans: [7, 9-11]
    vrfs: {acme: 1001, GLOBEX_prod: [1002, 1005-1006]}
    vteps:
      - {vlan: 1001, vni: 7001, underlay: core, encapsulation: vxlan}
      - {vlan: 1002, vni: 7002, underlay: core}
    ports:
      1-8: {mode: trunk all native 7, tag_native: true}
      9: {mode: "trunk 110-149,160", translations: {210: 110, 260: 160}}
      10: {mode: "trunk 110-149,160", translations: {210: 110, 260: 160}}
      17: routed
      11: {mode: access 12}
      12: {mode: access 12, private_vlan: isolated}
      13-14: {mode: access 12, private_vlan: batch}
      15: dot1q-tunnel 13
      16: trunk 1-9
      17: {mode: trunk all, empty: true}
  dumb-1:
    {serial: D-1, model: unknown, role: management, port_groups: [[1, 8]], wired_by: neutron, port_names: ["swp{}"]}
  dark-1: {serial: K-1, model: unknown, role: tor, port_groups: [[1, 8]], ports: {}}
  grey-1: {serial: Y-1, model: unknown, role: tor, port_groups: [[1, 8]]}
devices:
  pdu-9: {role: pdu, serial: P-9, model: ap8886}
  filer: {role: appliance}
placements:
  spare-01: {rack: cabinet-9, unit: 1, nameplate: 1.5kW, weight: 16.395kg}
  spine-1: {rack: cabinet-9, unit: 40, height: 2U}
  pdu-9: {rack: cabinet-9, height: 0U}
cables:
  - {ends: ["spine-1:9-10", "bare-1:ens[1-2]"]}
  - {ends: [spine-1:11, filer:e0]}
  - {ends: [spare-01:psu-1, pdu-9:outlet-1], kind: power}
  - {ends: [dumb-1:1, bare-1:eno1]}
lags:
  - {name: bond0, device: bare-1, interfaces: "ens[1-2]", mode: static}
  - {name: po9, device: spine-1, interfaces: 9-10}
complete:
  max_age: 90d
  switch_ports: {of: [grey-1], seen: 2026-11-20, by: anne}
  cables:
    - {of: [spine-1, dumb-1], seen: 2026-11-20, by: anne}
    - {of: grey-1, seen: 2026-11-21, by: bob}
  routing: {of: [spine-1], seen: 2026-11-20, by: anne}
  external_attachments: {of: [spine-1], seen: 2026-11-20, by: anne}
  attachments: {of: ["infra-1", spare-01, filer], seen: 2026-11-20, by: anne}
physical_networks:
  fabric: {switches: ["tor-[1-2]", spine-1], mtu: 9216, profile: roce}
  mgmt: [mgmt-1]
  boot: [dumb-1]
  external: []
fabric_profiles:
  roce: {pfc_priority: 3, dscp: 26, cnp_dscp: 48, ecn: true, mtu: 9000}
underlays: {core: {mtu: 9216, neutron: true}, edge: {}}
infiniband:
  quantum: {prefix: FE80000000000007}
  quantum-storage:
    {prefix: FE80000000000008, storage: {access: shared, key: 0x0064, appliance: ["0x0002CA00000000C1"]}}
pools:
  ipu_data: {physical_networks: [fabric, mgmt], vlans: 1000-1999, subnets: {prefix: 10.32.0.0/12, each: 24}}
  storage: {physical_network: fabric, vlans: "2000-2400,2500", subnets: {prefix: 10.48.0.0/12, each: 24}}
  management: {physical_network: mgmt, vlans: 110-199, subnets: {prefix: 10.80.0.0/14, each: 26}}
  control: {vnis: [10000-14999, 20000], subnets: {prefix: 10.64.0.0/12, each: 24}}
  bare_metal_control: {physical_network: fabric, vlans: 3000-3099}
  reserved_vlans: [1, 4000-4094]
  reserved_vnis: [10000-10002, 10007]
  storage_vips: 2-9
  cluster: {physical_network: mgmt, vlans: 700-799, subnets: {prefix: 10.96.0.0/16, each: 24}}
  roce: {physical_network: fabric, vlans: 3200-3299, subnets: {prefix: 10.97.0.0/16, each: 24}}
  partition_keys:
    quantum: {keys: [0x0001-0x00ff, 0x7ffe], reserved: 0x0010}
    quantum-storage: {keys: 0x0001-0x00ff, reserved: 0x0064}
bastion: {host: bastion.yard.example, user: jump, prefixes: [192.0.2.10/32, 192.0.2.64/28]}
segment_ranges:
  - {physical_network: fabric, vlans: [3500-3999, 3100]}
  - {vnis: 30000-39999}
ironic:
  conductor_group: lent
  resource_classes: {machine: ipu}
  networks:
    - {physical_network: boot, vlans: "3000,3005-3006", subnets: {prefix: 172.20.0.0/24, each: 28}}
volume_encryption:
  {fast: {provider: luks2, cipher: serpent-cbc-essiv:sha256, key_size: 128, control_location: back-end}}
share_types: {nfs: {storage_class: nfs-appliance}}
lustre_server: "2.15.4"
object_storage: {kind: versity, endpoint: "https://s3.yard.example:7070"}
tenant_defaults: {flavor: poplar.half, image: poplar, share_type: nfs}
limits:
  {controller_instances: 8, controller_cores: 32, controller_ram: 64GiB, machines_per_tenant: 48,
   remote_poplar_oversubscription: 2.5}
prices: {currency: EUR, ipu-machine: "1.90", bucket: 5, volume-gib: 0.08}
sharing:
  external: {kind: external-network, audience: any, guards: {no_tenant_ports: true, address_scope_closed: false}}
  nas: {kind: storage-appliance, node: filer, audience: [acme, globex], guards: {vips_per_owner: unknown}}
assumptions:
  A1: {vlan_lists_enforced: true}
  A11: {bucket_rules_enforced: false}
existing:
  Image/poplar: 0b5c9a4e-7f4b-4c0e-9f0e-6d1f6a2b3c4d
  Project/controllers: 0B5C9A4E7F4B4C0E9F0E6D1F6A2B3C4E
waivers:
  PWR-02: {owner: ops@yard.example, reason: a feed is being doubled, expires: 2027-01-31}
"""

#: What an image may state of GPU nodes: everything.
SOFTWARE: dict[str, Any] = {
    "os": "sles-15sp5", "kernel": "5.14.21-150500.55.7-default", "driver": "550.90.07", "open_kernel_module": True,
    "persistenced": False, "cuda": "12.4", "nccl": "2.21.5", "ofed": "inbox", "ofed_kernels": [], "peermem": False,
    "dma_buf": True, "sharp": True, "sharp_firmware": "31.2012.1024", "pfc_priority": 0, "ecn": False,
    "secure_boot": True, "signed_modules": False, "mig": True, "mitigations": False, "lustre": "none", "sysctls": [],
    "container_host": False,
}  # fmt: skip


def wide(design: str) -> dict[str, Any]:
    """The site `yard` with a pod of this design in the place of its rack, and something in every section."""
    document: dict[str, Any] = yaml.safe_load((BASE / "yard/site.yaml").read_text(encoding="utf-8"))
    document |= yaml.safe_load(BESIDE) | {"racks": [_standing(design)]}
    tors = SIZES[design][1]
    document["images"]["poplar"]["software"] = SOFTWARE
    document["controller"]["readings"] = {"max_age": "36h"}
    document["physical_networks"]["fabric"]["switches"] = [f"tor-[1-{tors}]" if tors > 1 else "tor-1", "spine-1"]
    return document


def _standing(design: str) -> dict[str, Any]:
    """Two logical racks in each physical one, with power: the longest short form there is."""
    entry = written(design, power="both-pdus", address_plan="pod")
    names = "c-[1-2]" if design == "bow-pod256" else "c-1"
    where = {"names" if "[" in names else "name": names}
    entry["rack"] = where | {"units": 48, "room": "hall-1", "feeds": {"a": "44kW", "b": "44kW"}}
    return entry


def loaded(document: dict[str, Any], folder: Path) -> LoadedSite:
    """The document as the file of a site in `folder`, loaded with all checks."""
    home = folder / str(document["name"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "site.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return load_site(home, folder)
