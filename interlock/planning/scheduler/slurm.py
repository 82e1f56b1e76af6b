"""Files of Slurm: `slurm.conf`, `gres.conf`, `cgroup.conf`, `topology.conf`, and `slurmdbd.conf` without its password.

Paths are those of Debian's packages, which make the folders. Options are of 22.05 unless a release stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from .hostlists import folded
from .layout import TESTED, ClusterLayout, ClusterNode, unit_name

SLURM_CONF = "/etc/slurm/slurm.conf"
GRES_CONF = "/etc/slurm/gres.conf"
CGROUP_CONF = "/etc/slurm/cgroup.conf"
TOPOLOGY_CONF = "/etc/slurm/topology.conf"
SLURMDBD_CONF = "/etc/slurm/slurmdbd.conf"
#: One line, `StoragePass=…`, by the channel for secrets or by hand; readable by the user `slurm` alone.
SLURMDBD_PASSWORD = "/etc/slurm/slurmdbd.password.conf"

STATE = "/var/lib/slurm/slurmctld"
#: From this release gres.conf can ask the driver by itself, without NVML.
_ASKS_DRIVER = (24, 11)


def slurm_files(layout: ClusterLayout) -> dict[str, str]:
    """Path -> text. All but `SLURMDBD_CONF` are the same on every server."""
    files = {
        SLURM_CONF: slurm_conf(layout),
        GRES_CONF: gres_conf(layout),
        CGROUP_CONF: cgroup_conf(layout),
    }
    if layout.type.has_rdma_fabric:
        files[TOPOLOGY_CONF] = topology_conf(layout)
    if layout.accounting is not None:
        files[SLURMDBD_CONF] = slurmdbd_conf(layout, layout.accounting.name)
    return files


def slurm_conf(layout: ClusterLayout) -> str:
    """The same on every server: Slurm compares."""
    return _text((*_release(layout), *_daemons(layout), *_resources(layout), *_accounting(layout), *_nodes(layout)))


def gres_conf(layout: ClusterLayout) -> str:
    """Devices of each node's GPUs. With another number of them than slurm.conf says, a node is not used."""
    names = folded([node.name for node in layout.placed])
    asked = "nvidia" if layout.version >= _ASKS_DRIVER else "off"
    devices = f"/dev/nvidia[0-{layout.gpus - 1}]" if layout.gpus > 1 else "/dev/nvidia0"
    return _text((f"AutoDetect={asked}", f"NodeName={names} Name=gpu Type={layout.type.gpu.name} File={devices}"))


def cgroup_conf(layout: ClusterLayout) -> str:
    """A job sees the GPUs that it was given, and with a known size of nodes its cores and memory."""
    known = _yes(layout.node_size is not None)
    return _text(("ConstrainDevices=yes", *(f"Constrain{what}={known}" for what in ("Cores", "RAMSpace", "SwapSpace"))))


def topology_conf(layout: ClusterLayout) -> str:
    """One leaf for each scalable unit: a node hangs on eight, one for each rail, and Slurm takes one."""
    leaves = [f"SwitchName={name} Nodes={folded([node.name for node in nodes])}" for name, nodes in layout.units]
    names = [name for name, _ in layout.units]
    spine = [f"SwitchName=spine Switches={folded(names)}"] if len(names) > 1 else []
    return _text((*leaves, *spine))


def slurmdbd_conf(layout: ClusterLayout, host: str) -> str:
    """For the accounting host alone. Its password stands in a file of its own, which this one includes."""
    return _text(
        (
            "AuthType=auth/munge",
            f"DbdHost={host}",
            "SlurmUser=slurm",
            "LogFile=/var/log/slurm/slurmdbd.log",
            "PidFile=/run/slurmdbd.pid",
            "StorageType=accounting_storage/mysql",
            "StorageHost=localhost",
            "StorageUser=slurm",
            f"StorageLoc=slurm_{layout.name.replace('-', '_')}",
            f"Include {SLURMDBD_PASSWORD}",
        )
    )


def _release(layout: ClusterLayout) -> Iterator[str]:
    if layout.version != TESTED:
        yield f"# Slurm {layout.release}: not tested. Tests of these files run 22.05."


def _daemons(layout: ClusterLayout) -> Iterator[str]:
    yield f"ClusterName={layout.name}"
    yield from (f"SlurmctldHost={server.name}({server.address})" for server in layout.controllers)
    yield "SlurmUser=slurm"
    yield "AuthType=auth/munge"
    yield "CredType=cred/munge"
    yield f"StateSaveLocation={STATE if layout.second is None else layout.second.shared_state}"
    yield "SlurmdSpoolDir=/var/lib/slurm/slurmd"
    yield "SlurmctldPidFile=/run/slurmctld.pid"
    yield "SlurmdPidFile=/run/slurmd.pid"
    yield "SlurmctldLogFile=/var/log/slurm/slurmctld.log"
    yield "SlurmdLogFile=/var/log/slurm/slurmd.log"
    # A node that was rebooted or replaced comes back by itself once it says what slurm.conf says of it.
    yield "ReturnToService=2"
    # RDMA pins memory; the limit that counts is the node's, not that of whoever submits.
    yield "PropagateResourceLimitsExcept=MEMLOCK"


def _resources(layout: ClusterLayout) -> Iterator[str]:
    size = layout.node_size
    yield "ProctrackType=proctrack/cgroup"
    yield f"TaskPlugin=task/cgroup{'' if size is None else ',task/affinity'}"
    yield "SelectType=select/cons_tres"
    yield f"SelectTypeParameters={'CR_Core' if size is None else 'CR_Core_Memory'}"
    if size is not None:
        # Without it a job that says nothing of memory takes all of a node.
        yield f"DefMemPerGPU={size.real_memory // layout.gpus}"
    if layout.type.has_rdma_fabric:
        yield "TopologyPlugin=topology/tree"
    yield "GresTypes=gpu"


def _accounting(layout: ClusterLayout) -> Iterator[str]:
    if layout.accounting is not None:
        yield "AccountingStorageType=accounting_storage/slurmdbd"
        yield f"AccountingStorageHost={layout.accounting.name}"
        yield "AccountingStorageTRES=gres/gpu"
        yield "JobAcctGatherType=jobacct_gather/cgroup"


def _nodes(layout: ClusterLayout) -> Iterator[str]:
    size = layout.node_size
    if size is None:
        yield "# Sockets, cores and memory of a node are not stated, so Slurm counts one CPU and binds no job to cores:"
        yield "# run slurmd -C on a node."
        sized = ""
    else:
        sized = (
            f" Sockets={size.sockets} CoresPerSocket={size.cores_per_socket} ThreadsPerCore={size.threads_per_core}"
            f" RealMemory={size.real_memory}"
        )
    gres = f"Gres=gpu:{layout.type.gpu.name}:{layout.gpus}"
    for (unit, rack), nodes in _racks(layout):
        names, addresses = folded([node.name for node in nodes]), folded([node.address for node in nodes])
        yield f"NodeName={names} NodeAddr={addresses}{sized} {gres} Feature={unit_name(unit)},rack-{rack} State=UNKNOWN"
    yield "PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP"


def _racks(layout: ClusterLayout) -> Iterator[tuple[tuple[int, str], list[ClusterNode]]]:
    """Nodes by unit and rack, in the order of `placed` otherwise."""

    def place(node: ClusterNode) -> tuple[int, str]:
        return node.unit, node.rack

    return ((key, list(nodes)) for key, nodes in groupby(sorted(layout.placed, key=place), place))


def _yes(said: bool) -> str:
    return "yes" if said else "no"


def _text(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
