"""GPU clusters of a request: their type, whole nodes, and what joins them; refused with the nearest that would work."""

from __future__ import annotations

from interlock.hardware.gpu import NODE_TYPES, OFFERED, PortRole, cluster_verdict, gpu_count_verdict
from interlock.model.site.leaf_groups import BEYOND_A_LEAF_GROUP, ethernet_rails
from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .cluster_file import ClusterFile
from .cluster_life import read_roll, read_without
from .heads import read_heads, read_scheduler, read_slurm
from .reading import Path, RequestReading
from .request import Cluster, ClusterFabric


def read_clusters(reading: RequestReading) -> tuple[Cluster, ...]:
    """All clusters, in the order of the file."""
    files = reading.file.clusters
    if not reading.offered.gpu_nodes and any(cluster_verdict(file.type).passes for file in files.values()):
        hint = "ask at another site for them, or for vPODs"
        reading.faults.add(Code.NO_SUCH, ("clusters", KEY), "this site has no GPU nodes", hint)
    return tuple(_cluster(reading, ("clusters", name), name, file) for name, file in files.items())


def nodes_of(file: ClusterFile) -> int | None:
    """Nodes that the file asks for; None where it does not say so in a right way."""
    if (file.nodes is None) == (file.gpus is None):
        return None
    if file.gpus is None:
        return file.nodes if file.nodes is not None and file.nodes > 0 else None
    each = _gpus_of(file.type)
    return file.gpus // each if each and gpu_count_verdict(file.type, file.gpus).passes else None


def _cluster(reading: RequestReading, path: Path, name: str, file: ClusterFile) -> Cluster:
    fabric = _fabric(reading, path, file)
    _check_size(reading, path, file)
    _check_room(reading, path, file)
    reading.note_left_out(path, file, "kind", "state")
    heads = read_heads(reading, path, file)
    return Cluster(
        name=name,
        nodes=nodes_of(file) or 1,
        node_type=file.type,
        image=reading.choice((*path, "image"), "an image", file.image, None, reading.offered.images),
        fabric=fabric,
        scheduler=read_scheduler(reading, path, file),
        kind=file.kind,
        heads=heads,
        slurm=read_slurm(reading, path, file),
        s3_keys=reading.s3_keys(path, file.s3_keys),
        state=file.state,
        without=read_without(reading, path, file),
        roll=read_roll(reading, path, file),
    )


def _fabric(reading: RequestReading, path: Path, file: ClusterFile) -> ClusterFabric:
    """What is asked for; InfiniBand by default where the type has it. A type that cannot be had is told here."""
    able = _has_infiniband(file.type)
    of_type = cluster_verdict(file.type)
    if not of_type.passes:
        reading.faults.add(Code.NO_SUCH, (*path, "type"), *_told(of_type.reason))
    elif file.fabric == "infiniband" and not able:
        hint = f"{cluster_verdict(file.type, fabric=True).reason.rpartition(': ')[2]}; or say `fabric: none`"
        message = f"{file.type} has no InfiniBand ports: GPUs of two nodes do not reach each other by RDMA"
        reading.faults.add(Code.CONTRADICTION, (*path, "fabric"), message, hint)
    elif file.fabric == "roce":
        _check_roce(reading, path, file, "say `fabric: infiniband`" if able else "say `fabric: none`")
    usual: ClusterFabric = "infiniband" if able else "none"
    lost = reading.faults.lost(*path, "fabric")
    return usual if lost else reading.filled((*path, "fabric"), file.fabric, usual)


def _check_roce(reading: RequestReading, path: Path, file: ClusterFile, instead: str) -> None:
    """RoCE takes Ethernet compute ports of whole nodes, behind one leaf group: how many are free there, `lock` says."""
    offered, wanted = reading.offered, nodes_of(file)
    if not ethernet_rails(file.type):
        able = ", ".join(name for name in OFFERED if ethernet_rails(name))
        message, hint = f"no port for compute of a {file.type} is Ethernet", f"{instead}, or take one of {able}"
        reading.faults.add(Code.CONTRADICTION, (*path, "fabric"), message, hint)
    elif file.kind == "vm":
        message = "RoCE is for whole nodes: a virtual server cannot be given the Ethernet ports of its node"
        hint = f"say `kind: bare-metal`; or {instead}"
        reading.faults.add(Code.CONTRADICTION, (*path, "fabric"), message, hint)
    elif not offered.has_roce:
        message = "this site has no RoCE networks to give"
        hint = f"{instead}, or ask the operator for the pool `roce`"
        reading.faults.add(Code.NO_SUCH, (*path, "fabric"), message, hint)
    elif file.type in offered.gpu_nodes and file.type not in offered.roce_nodes:
        message = f"no whole {file.type} of this site has all its compute ports on a network of the pool `roce`"
        hint = f"{instead}, or ask the operator for nodes with their ports, MAC addresses and cables there"
        reading.faults.add(Code.NO_SUCH, (*path, "fabric"), message, hint)
    elif wanted is not None and wanted > offered.roce_nodes.get(file.type, wanted):
        most = offered.roce_nodes[file.type]
        message = f"{wanted} {file.type} nodes behind one leaf group: the largest has {most}; {BEYOND_A_LEAF_GROUP}"
        hint = f"ask for {most} at most, or for several clusters"
        reading.faults.add(Code.NO_SUCH, (*path, "fabric"), message, hint)


def _has_infiniband(name: str) -> bool:
    """True if the compute ports of the type are InfiniBand's, or can be."""
    node = NODE_TYPES.get(name)
    ports = node.ports_for(PortRole.COMPUTE) if node else None
    return bool(ports and ports.medium and "infiniband" in ports.medium.value)


def _check_size(reading: RequestReading, path: Path, file: ClusterFile) -> None:
    lost = any(reading.faults.lost(*path, key) for key in ("nodes", "gpus"))
    each = _gpus_of(file.type)
    if file.nodes is not None and file.gpus is not None:
        hint = f"they count the same thing: {file.nodes} nodes are {file.nodes * each} GPUs" if each else ""
        reading.faults.add(Code.CONTRADICTION, (*path, "gpus", KEY), "say either `nodes:` or `gpus:`", hint)
    elif file.nodes is None and file.gpus is None and not lost:
        hint = f"`nodes: 4` and `gpus: {4 * each}` are the same" if each else "add `nodes:`"
        reading.faults.add(Code.CONTRADICTION, path, "say either `nodes:` or `gpus:`", hint)
    elif file.nodes is not None and file.nodes < 1:
        message = f"{file.nodes} nodes: at least 1 is possible here"
        reading.faults.add(Code.VALUE, (*path, "nodes"), message, "take the cluster out for none")
    elif file.gpus is not None and cluster_verdict(file.type).passes:
        verdict = gpu_count_verdict(file.type, file.gpus)
        if not verdict.passes:
            reading.faults.add(Code.VALUE, (*path, "gpus"), *_told(verdict.reason, last="; "))


def _check_room(reading: RequestReading, path: Path, file: ClusterFile) -> None:
    """As many nodes as one hall has at most, given out or not: how many are free, `interlock lock` says."""
    wanted, of_type = nodes_of(file), reading.offered.gpu_nodes
    if not of_type or not cluster_verdict(file.type).passes:
        return
    if file.type not in of_type:
        hint = f"it has {', '.join(sorted(of_type))}"
        reading.faults.add(Code.NO_SUCH, (*path, "type"), f"this site has no {file.type}", hint)
    elif wanted is not None and wanted > max(of_type[file.type].values()):
        halls = ", ".join(f"{hall} has {count}" for hall, count in of_type[file.type].items())
        most = max(of_type[file.type].values())
        message = f"{wanted} {file.type} nodes in one hall: {halls}"
        key = "nodes" if file.nodes is not None else "gpus"
        hint = f"ask for {most} at most, or for several clusters" if len(of_type[file.type]) > 1 else ""
        reading.faults.add(Code.NO_SUCH, (*path, key), message, hint or f"ask for {most} at most")


def _gpus_of(name: str) -> int | None:
    node = NODE_TYPES.get(name)
    return node.gpus.value if node and node.gpus else None


def _told(reason: str, last: str = "") -> tuple[str, str]:
    """Message and hint of a verdict: what would work stands behind its last colon or semicolon."""
    cut = max(reason.rfind("; "), reason.rfind(": ")) if not last else reason.rfind(last)
    return (reason, "") if cut < 0 else (reason[:cut], reason[cut + 2 :])
