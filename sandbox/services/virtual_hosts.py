"""Stand-in for libvirt: Nova's own FakeDriver, plus what a real driver reports about hardware.

NUMA cells, thread siblings, 1 GiB pages, dedicated CPUs and PCI devices come from
the rack and services/hosts.py in the very form that nova.virt.libvirt builds; Nova's scheduler,
claims, pinning and PCI code then work on them unchanged. There is no guest.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: ARG001, ARG002, SLF001

import hashlib
import sys
import types
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

import nova.pci.utils
import nova.virt
from nova import context, objects
from nova.compute import power_state
from nova.virt import fake
from oslo_serialization import jsonutils

from sandbox.services import hosts

GPU = ("10de", "2330")  # H100 SXM
NVSWITCH = ("10de", "22a3")  # of the third generation
ADAPTER = ("15b3", "1021")  # ConnectX-7
FIRST_GPU_BUS, FIRST_NVSWITCH_BUS, FIRST_ADAPTER_BUS = 0x10, 0x40, 0x50
KIB_PER_GIB = 1024 * 1024


def register(table: Mapping[str, hosts.Host]) -> None:
    """Make the driver known as `sandbox.SandboxDriver`, of these hosts, and answer what Nova reads from sysfs."""
    SandboxDriver.table = table
    module = types.ModuleType("nova.virt.sandbox")
    module.__dict__["SandboxDriver"] = SandboxDriver
    sys.modules["nova.virt.sandbox"] = module
    nova.virt.sandbox = module
    nova.pci.utils.get_vf_num_by_pci_address = hosts.function_number
    nova.pci.utils.get_mac_by_pci_address = hardware_address


def hardware_address(pci_address: str, pf_interface: bool = False) -> str:
    """A MAC address that follows from the PCI address."""
    digest = hashlib.md5(pci_address.encode(), usedforsecurity=False).hexdigest()
    return "52:54:" + ":".join(digest[place : place + 2] for place in (0, 2, 4, 6))


def numa_cell(kind: hosts.Shape, number: int) -> Any:
    """One NUMA cell."""
    cpus = hosts.cell_cpus(kind, number)
    small = (kind.cell_mib - kind.cell_pages * hosts.GIB) * 256
    pages = [
        objects.NUMAPagesTopology(size_kb=size, total=total, used=0, reserved=0)
        for size, total in ((4, small), (2048, 0), (KIB_PER_GIB, kind.cell_pages))
    ]
    return objects.NUMACell(
        id=number,
        socket=number * kind.sockets // kind.cells,
        cpuset=set(cpus.shared),
        pcpuset=set(cpus.dedicated),
        memory=kind.cell_mib,
        cpu_usage=0,
        pinned_cpus=set(),
        memory_usage=0,
        siblings=[set(pair) for pair in cpus.siblings],
        mempages=pages,
        network_metadata=objects.NetworkMetadata(physnets=set(), tunneled=False),
    )


def numa_topology(kind: hosts.Shape) -> Any:
    """All cells of a host, serialised as Nova wants them."""
    return objects.NUMATopology(cells=[numa_cell(kind, number) for number in range(kind.cells)])._to_json()


def device(ids: tuple[str, str], address: str, cell: int, kind: str, **more: str) -> dict[str, Any]:
    """One PCI device."""
    return {
        "address": address,
        "vendor_id": ids[0],
        "product_id": ids[1],
        "status": "available",
        "dev_type": kind,
        "numa_node": cell,
        "label": f"label_{ids[0]}_{ids[1]}",
        **more,
    }


def pci_devices(host: hosts.Host) -> list[dict[str, Any]]:
    """The virtual functions and GPUs of a host; of one whose GPUs are handed out together all that goes with them."""
    kind = host.shape
    ids = hosts.VIRTUAL_FUNCTION
    functions = [
        device(ids, address, port.cell, "type-VF", parent_addr=port.address, parent_ifname=port.interface)
        for port in host.network_ports
        for address in port.functions
    ]
    return [
        *functions,
        *spread(kind, GPU, FIRST_GPU_BUS, kind.gpus, "type-PCI"),
        *spread(kind, NVSWITCH, FIRST_NVSWITCH_BUS, kind.nvswitches, "type-PCI"),
        *spread(kind, ADAPTER, FIRST_ADAPTER_BUS, kind.adapters, "type-PF"),
    ]


def spread(kind: hosts.Shape, ids: tuple[str, str], bus: int, count: int, what: str) -> list[dict[str, Any]]:
    """So many devices of one kind, as many at each NUMA cell, each on a bus of its own."""
    return [device(ids, f"0000:{bus + number:02x}:00.0", number * kind.cells // count, what) for number in range(count)]


def node_id(name: str) -> str:
    """The same id at every start; FakeDriver's are random and would make new nodes."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


class SandboxDriver(fake.FakeDriver):
    """One host of the rack."""

    table: ClassVar[Mapping[str, hosts.Host]] = {}
    capabilities: ClassVar[dict[str, Any]] = dict(
        fake.FakeDriver.capabilities, supports_pcpus=True, supports_socket_pci_numa_affinity=True
    )

    def init_host(self, host: str) -> None:
        """Learn the shape, and take back the servers that the database says are here."""
        super().init_host(host)
        self.shape = self.table[host].shape
        cells = [hosts.cell_cpus(self.shape, number) for number in range(self.shape.cells)]
        self.dedicated = sum(len(cell.dedicated) for cell in cells)
        self.shared = sum(len(cell.shared) for cell in cells)
        self.resources = fake.Resources(
            vcpus=self.dedicated + self.shared, memory_mb=self.shape.memory_mib, local_gb=self.shape.disk_gb
        )
        for server in objects.InstanceList.get_by_host(context.get_admin_context(), host):
            state = power_state.RUNNING if server.vm_state == "active" else power_state.SHUTDOWN
            self.instances[server.uuid] = fake.FakeInstance(server.name, state, server.uuid)

    def attach_volume(
        self, context: Any, connection_info: Any, instance: Any, mountpoint: str, *rest: Any, **more: Any
    ) -> None:
        """As libvirt's driver: what is attached with a tag stands in the server's metadata, with its serial.

        Nova looks there when it detaches it.
        """
        super().attach_volume(context, connection_info, instance, mountpoint, *rest, **more)
        mappings = objects.BlockDeviceMappingList.get_by_instance_uuid(context, instance.uuid)
        devices = [
            objects.DiskMetadata(tags=[item.tag], serial=item.volume_id)
            for item in mappings
            if item.tag and item.volume_id
        ]
        instance.device_metadata = objects.InstanceDeviceMetadata(devices=devices)
        instance.save()

    def get_nodenames_by_uuid(self, refresh: bool = False) -> dict[str, str]:
        """Nodes by their stable ids."""
        return {node_id(name): name for name in self.get_available_nodes()}

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        """FakeDriver's figures, with the hardware of the table."""
        kind = self.shape
        topology = {
            "cells": kind.cells,
            "sockets": kind.sockets,
            "threads": 2,
            "cores": kind.cells * kind.cores // kind.sockets,
        }
        cpu = {
            "arch": "x86_64",
            "vendor": "AMD",
            "model": "EPYC-Rome",
            "features": ["svm", "topoext"],
            "topology": topology,
        }
        found: dict[str, Any] = super().get_available_resource(nodename)
        return found | {
            "cpu_info": jsonutils.dumps(cpu),
            "numa_topology": numa_topology(kind),
            "uuid": node_id(nodename),
            "pci_passthrough_devices": jsonutils.dumps(pci_devices(self.table[nodename])),
        }

    def update_provider_tree(self, provider_tree: Any, nodename: str, allocations: Any = None) -> None:
        """Correct FakeDriver's inventory: real memory, dedicated CPUs, no overcommit."""
        super().update_provider_tree(provider_tree, nodename, allocations)
        kind = self.shape
        inventory = provider_tree.data(nodename).inventory
        inventory["MEMORY_MB"].update(
            total=kind.memory_mib, max_unit=kind.memory_mib, reserved=kind.reserved_mib, allocation_ratio=1.0
        )
        if not self.shared:
            del inventory["VCPU"]
        if self.dedicated:
            inventory["PCPU"] = {
                "total": self.dedicated,
                "min_unit": 1,
                "max_unit": self.dedicated,
                "step_size": 1,
                "allocation_ratio": 1,
                "reserved": 0,
            }
        provider_tree.update_inventory(nodename, inventory)
        provider_tree.add_traits(nodename, "HW_CPU_HYPERTHREADING")
