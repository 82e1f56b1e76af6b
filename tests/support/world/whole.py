"""Whole hosts as plans have them: one interface on the fabric and one on the management network."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interlock.resources import (
    BareMetalLeg,
    BareMetalServer,
    Keypair,
    Network,
    Port,
    Project,
    Resource,
    Subnet,
)
from sandbox.launcher import processes
from sandbox.launcher.catalogue import PROCESSES
from sandbox.launcher.layout import Instance
from sandbox.switches import keys
from tests.conftest import Sandbox
from tests.sandbox.switch_sessions import Client
from tests.support.world.declared import KEY, RESOURCE_CLASS, operator

#: System MAC addresses of the sandbox's switches.
_MACS = {"tor-1": "02:1c:73:00:00:01", "mgmt-1": "02:1c:73:00:00:02"}


#: VLAN of the control network of these hosts, which are never two at a time.
CONTROL = 1140


def leg(switch: str, number: int, vlan: int) -> BareMetalLeg:
    """An interface at a port of the sandbox's `tor-1` or `mgmt-1`."""
    name = f"Ethernet{number}/1" if switch == "tor-1" else f"Ethernet{number}"
    return BareMetalLeg(
        switch=switch, port=number, port_name=name, switch_mac=_MACS[switch], vlan=vlan, quarantine_vlan=4000
    )


def legs(number: int, data: int, control: int = CONTROL) -> tuple[BareMetalLeg, BareMetalLeg]:
    """Both interfaces of a host at the ports of this number."""
    return leg("tor-1", number, data), leg("mgmt-1", number, control)


def networks(t: str, data: int, control: int = CONTROL) -> dict[str, Resource]:
    """A project with a network for each interface."""
    project = f"{t}-project"
    found: dict[str, Resource] = {project: Project(name=t), f"{t}-operator": operator(project)}
    found[f"{t}-key"] = Keypair(name=f"{t}-key", public_key=KEY)
    for name, physical, vlan in (("data", "fabric100g", data), ("control", "mgmt1g", control)):
        found[f"{t}-{name}"] = Network(
            name=f"{t}-{name}", project=project, network_type="vlan", physical_network=physical, segmentation_id=vlan
        )
        found[f"{t}-{name}-subnet"] = Subnet(
            name=f"{t}-{name}", project=project, network=f"{t}-{name}", cidr=f"10.5.{vlan % 256}.0/24", dhcp=False
        )
    return found


def host(t: str, node: str, number: int, data: int, control: int = CONTROL) -> dict[str, Resource]:
    """A whole host on both networks of `t`, with its ports."""
    name, project = f"{t}-{node}", f"{t}-project"
    ports = {
        f"{name}-{network}": Port(
            name=f"{name}-{network}", project=project, network=f"{t}-{network}", subnet=f"{t}-{network}-subnet",
            address=f"10.5.{vlan % 256}.{number}", vnic_type="baremetal",
        )
        for network, vlan in (("data", data), ("control", control))
    }  # fmt: skip
    server = BareMetalServer(
        name=name, project=project, node=node, resource_class=RESOURCE_CLASS, image="site:Image/machine",
        keypair=f"{t}-key", ports=tuple(ports), legs=legs(number, data, control), user_data="#cloud-config\n{}\n",
    )  # fmt: skip
    return {**ports, name: server}


def disk(folder: Path, node: str) -> dict[str, Any]:
    """What the sandbox wrote onto a node's disk, which is a file."""
    found: dict[str, Any] = json.loads((folder / "state" / "ironic" / "disks" / f"{node}.json").read_text())
    return found


def by_hand(folder: Path, switch: Client, port: str, *lines: str) -> None:
    """Sets a port past Neutron."""
    key = keys.user_key_file(Instance(folder).state / "switches", keys.WRITER)
    text = "\n".join(("configure", f"interface {port}", *lines))
    assert switch.answers(text, username=keys.WRITER, key_file=str(key)) == [(0, "")]


@contextmanager
def switches_down(sandbox: Sandbox) -> Iterator[None]:
    """All switches are out of reach meanwhile."""
    server = next(process for process in PROCESSES if process.name == "switches")
    os.kill(processes.pid_of(Instance(sandbox.dir), server), signal.SIGKILL)
    try:
        yield
    finally:
        sandbox.supervise("up")
