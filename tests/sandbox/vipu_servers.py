"""What the tests of V-IPU controllers make of a vPOD: its servers, and switch ports of its machines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.vipu.census import VipuCensus, vipu_census
from tests.sandbox.cloud import Cloud, until
from tests.sandbox.switch_sessions import MANAGEMENT

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class VPodServers:
    """What one test module has made, gone with `clear`."""

    cloud: Cloud
    flavor: Any
    image: Any
    networks: list[Any] = field(default_factory=list)
    servers: list[Any] = field(default_factory=list)
    ports: list[Any] = field(default_factory=list)

    def management(self, vlan: int, cidr: str) -> Any:
        """A VLAN of gateways, with a subnet."""
        made = self.cloud.admin.network.create_network(
            name=f"mgmt-{vlan}-{self.cloud.tag}",
            provider_network_type="vlan",
            provider_physical_network=MANAGEMENT.physical_network,
            provider_segmentation_id=vlan,
        )
        return self._subnet(made, cidr)

    def control(self, vni: int, cidr: str) -> Any:
        """A network between servers."""
        made = self.cloud.admin.network.create_network(
            name=f"control-{vni}-{self.cloud.tag}", provider_network_type="vxlan", provider_segmentation_id=vni
        )
        return self._subnet(made, cidr)

    def _subnet(self, network: Any, cidr: str) -> Any:
        self.networks.append(network)
        self.cloud.admin.network.create_subnet(
            network_id=network.id, ip_version=4, cidr=cidr, gateway_ip=None, enable_dhcp=False
        )
        return network

    def server(self, name: str, *networks: Any) -> Any:
        """A server that is ACTIVE."""
        compute = self.cloud.admin.compute
        made = compute.create_server(
            name=name, flavor_id=self.flavor.id, image_id=self.image.id, networks=[{"uuid": one.id} for one in networks]
        )
        self.servers.append(made)
        found = self.becomes(made, "ACTIVE", "ERROR")
        assert found.status == "ACTIVE", found.fault
        return found

    def becomes(self, server: Any, *states: str) -> Any:
        """Wait until a server is in one of these states."""
        compute = self.cloud.admin.compute
        return until(lambda: one if (one := compute.get_server(server.id)).status in states else None, 60)

    def delete(self, server: Any) -> None:
        """Delete a server, and wait until it is gone."""
        compute = self.cloud.admin.compute
        compute.delete_server(server, ignore_missing=True)
        until(lambda: compute.find_server(server.id, ignore_missing=True) is None, 60)

    def machine(self, number: int, network: Any, *addresses: str) -> Any:
        """The switch port of a machine's BMC and gateway, bound as the provider binds it."""
        link = {"switch_id": MANAGEMENT.mac, "switch_info": MANAGEMENT.name, "port_id": f"Ethernet{number}"}
        made = self.cloud.admin.network.create_port(
            network_id=network.id,
            fixed_ips=[{"ip_address": address} for address in addresses],
            binding_vnic_type="baremetal",
            binding_host_id=f"ipum-{number:02}",
            binding_profile={"local_link_information": [link]},
            port_security_enabled=False,
        )
        self.ports.append(made)
        return until(lambda: one if (one := self.cloud.admin.network.get_port(made.id)).status == "ACTIVE" else None)

    def clear(self) -> None:
        """All of it goes."""
        network = self.cloud.admin.network
        for server in self.servers:
            self.delete(server)
        for port in self.ports:
            network.delete_port(port, ignore_missing=True)
        for one in self.networks:
            network.delete_network(one)
        self.cloud.admin.compute.delete_flavor(self.flavor)
        self.cloud.admin.image.delete_image(self.image)

    def station(self, server: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A command in a server, as by ssh."""
        return subprocess.run(
            [sys.executable, "-m", "sandbox.vipu.station", str(self.folder), server, *words],
            cwd=ROOT, check=False, text=True, capture_output=True,
        )  # fmt: skip

    def told(self, server: Any, *words: str) -> str:
        """What `vipu-admin` there answers, which has to succeed."""
        done = self.station(server.id, "vipu-admin", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def folder(self) -> Path:
        """The instance's folder."""
        return self.cloud.running.dir

    def census(self) -> VipuCensus:
        """All objects of V-IPU."""
        return vipu_census(self.folder)


@contextmanager
def vpod_servers(cloud: Cloud) -> Iterator[VPodServers]:
    """A small flavour and an image, and whatever is made of them; nothing of it afterwards."""
    flavor = cloud.admin.compute.create_flavor(name=f"vipu-{cloud.tag}", ram=512, vcpus=1, disk=1)
    image = cloud.admin.image.create_image(
        name=f"vipu-{cloud.tag}", container_format="bare", disk_format="raw", data=b"x" * 4096, validate_checksum=False
    )
    made = VPodServers(cloud, flavor, image)
    try:
        yield made
    finally:
        made.clear()
