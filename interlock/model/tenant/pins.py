"""Pins of a request: names that must exist, as many as are asked for, of the kind that is asked for."""

from __future__ import annotations

from collections.abc import Collection

from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .cluster_file import ClusterFile
from .clusters import nodes_of
from .file import VPodFile
from .reading import Path, RequestReading
from .request import Pins, provisioning_of
from .vpods import machines_of


def read_pins(reading: RequestReading) -> dict[str, Pins]:
    """Pins by vPOD and cluster, as they are written, and every fault in them."""
    for name, pins in reading.file.pins.items():
        _check(reading, name, pins)
    return dict(reading.file.pins)


def _check(reading: RequestReading, name: str, pins: Pins) -> None:
    path = ("pins", name)
    if name in reading.file.clusters:
        _check_cluster(reading, path, pins, reading.file.clusters[name])
        return
    message = f"pins for `{name}`, which is no vPOD or cluster of this tenant"
    if not reading.faults.short_of("clusters"):
        known = (*reading.file.vpods, *reading.file.clusters)
        reading.faults.need_name((*path, KEY), name, known, message, of=("vpods",))
    vpod = reading.file.vpods.get(name)
    if vpod is not None:
        _check_machines(reading, path, pins, vpod, machines_of(reading, name))
        _check_hosts(reading, path, pins, vpod)
        _check_control(reading, path, pins, vpod)


def _check_cluster(reading: RequestReading, path: Path, pins: Pins, cluster: ClusterFile) -> None:
    """Only its nodes and heads: VLAN, subnet and P_Keys are the same to it, whichever they are."""
    others = (name for name in Pins.model_fields if name not in ("hosts", "heads"))
    for key in (name for name in others if getattr(pins, name) is not None):
        hint = "take it out: of a cluster only `hosts`, its nodes, and `heads`, their hosts, can be pinned"
        reading.faults.add(Code.CONTRADICTION, (*path, key, KEY), f"`{key}` of a cluster", hint)
    hypervisors = {name for name, host in reading.offered.poplar_hosts.items() if host.provisioning == "hypervisor"}
    _check_names(reading, (*path, "heads"), "a hypervisor of role poplar", pins.heads, hypervisors)
    if not reading.faults.lost("clusters", path[-1], "heads"):
        _check_count(reading, (*path, "heads"), pins.heads, cluster.heads.count if cluster.heads else 0)
    known, below = reading.offered.type_of_node, (*path, "hosts")
    _check_names(reading, below, "a GPU node", pins.hosts, known)
    _check_count(reading, below, pins.hosts, nodes_of(cluster))
    reading.each_once(below, pins.hosts or ())
    for index, name in enumerate(pins.hosts or ()):
        if name in known and known[name] != cluster.type:
            message = f"`{name}` is a {known[name]}, asked for is {cluster.type}"
            reading.faults.add(Code.CONTRADICTION, (*below, index), message, "pin others, or change `type:`")
        _check_kind(reading, (*below, index), name, cluster)


def _check_kind(reading: RequestReading, path: Path, name: str, cluster: ClusterFile) -> None:
    found, wanted = reading.offered.provisioning_of_node.get(name), provisioning_of(cluster.kind)
    if found is not None and found != wanted:
        message = f"`{name}` is given out as {found}, `kind: {cluster.kind}` needs {wanted}"
        reading.faults.add(Code.CONTRADICTION, path, message, "pin others, or change `kind:`")


def _check_machines(reading: RequestReading, path: Path, pins: Pins, vpod: VPodFile, wanted: int | None) -> None:
    known, below = reading.offered.machines, (*path, "machines")
    _check_names(reading, below, "an IPU-Machine", pins.machines, known)
    _check_count(reading, below, pins.machines, wanted)
    reading.each_once(below, pins.machines or ())
    for index, name in enumerate(pins.machines or ()):
        if vpod.generation and name in known and known[name].generation != vpod.generation:
            message = f"`{name}` is of the generation {known[name].generation}, asked for is {vpod.generation}"
            reading.faults.add(Code.CONTRADICTION, (*below, index), message, "pin others, or change `generation:`")


def _check_hosts(reading: RequestReading, path: Path, pins: Pins, vpod: VPodFile) -> None:
    known, below, poplar = reading.offered.poplar_hosts, (*path, "hosts"), vpod.poplar
    _check_names(reading, below, "a Poplar host", pins.hosts, known)
    if pins.heads is not None:
        hint = "take it out: clusters have heads"
        reading.faults.add(Code.CONTRADICTION, (*path, "heads", KEY), "`heads` of a vPOD", hint)
    if pins.controller_host is not None:
        what, below_controller = "a host for controllers", (*path, "controller_host")
        reading.faults.need(below_controller, what, pins.controller_host, reading.offered.infra_hosts)
    if reading.faults.lost("vpods", path[-1], "poplar"):
        return
    servers_lost = reading.faults.lost("vpods", path[-1], "poplar", "servers")
    _check_count(reading, below, pins.hosts, None if servers_lost else poplar.servers)
    if reading.faults.lost("vpods", path[-1], "poplar", "kind"):
        return
    wanted = provisioning_of(poplar.kind)
    for index, name in enumerate(pins.hosts or ()):
        if name in known and known[name].provisioning != wanted:
            message = f"`{name}` is given out as {known[name].provisioning}, `kind: {poplar.kind}` needs {wanted}"
            reading.faults.add(Code.CONTRADICTION, (*below, index), message, "pin others, or change `kind:`")
    if poplar.kind == "bare-metal":
        reading.each_once(below, pins.hosts or ())


def _check_control(reading: RequestReading, path: Path, pins: Pins, vpod: VPodFile) -> None:
    """Virtual servers reach their controller by VXLAN, whole hosts by a VLAN."""
    if reading.faults.lost("vpods", path[-1], "poplar", "kind"):
        return
    kind = vpod.poplar.kind
    wrong, right = ("control_vlan", "control_vni") if kind == "vm" else ("control_vni", "control_vlan")
    if getattr(pins, wrong) is not None:
        message = f"`{wrong}` of a vPOD whose servers are of the kind {kind}"
        reading.faults.add(Code.CONTRADICTION, (*path, wrong, KEY), message, f"pin `{right}:` instead")


def _check_names(
    reading: RequestReading, path: Path, what: str, names: Collection[str] | None, known: Collection[str]
) -> None:
    for index, name in enumerate(names or ()):
        reading.faults.need((*path, index), what, name, known)


def _check_count(reading: RequestReading, path: Path, names: Collection[str] | None, wanted: int | None) -> None:
    if names is not None and wanted is not None and len(names) != wanted:
        message = f"{len(names)} pinned, {wanted} asked for"
        reading.faults.add(Code.CONTRADICTION, path, message, "pin all or none")
