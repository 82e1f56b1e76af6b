"""What programs of several nodes need with any scheduler and with none: names, a list of nodes, and NCCL's settings."""

from __future__ import annotations

from interlock.hardware.gpu import PortRole

from .layout import ClusterLayout

HOSTS = "/etc/hosts"
NCCL_CONF = "/etc/nccl.conf"
#: For `mpirun --hostfile` and the like.
HOSTFILE = "/etc/gpu-hostfile"

_LOCAL = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"


def bare_files(layout: ClusterLayout) -> dict[str, str]:
    """Path -> text, for every server of the cluster."""
    files = {HOSTS: hosts(layout), HOSTFILE: hostfile(layout)}
    return files | ({NCCL_CONF: nccl_conf(layout)} if layout.type.has_rdma_fabric else {})


def hosts(layout: ClusterLayout) -> str:
    """The whole file, the same on every server. A server's own name is at its address in the cluster, not at 127.0.1.1,
    where daemons of others would not find what it registers.
    """
    return _LOCAL + "".join(f"{server.address} {server.name}\n" for server in layout.servers)


def hostfile(layout: ClusterLayout) -> str:
    """Nodes in the order of their units: ranks that follow each other are one switch apart where they can be."""
    lines = []
    for name, nodes in layout.units:
        lines.append(f"# {name}")
        lines += [f"{node.name} slots={layout.gpus}" for node in nodes]
    return "".join(f"{line}\n" for line in lines)


def nccl_conf(layout: ClusterLayout) -> str:
    """Which adapters NCCL uses. A name after `==` is the whole name: `mlx5_1` alone would be `mlx5_10` as well."""
    lines = []
    ports = layout.type.ports_for(PortRole.COMPUTE)
    if ports is not None and ports.medium is not None and "infiniband" in ports.medium.value:
        lines += [
            "# NCCL takes the P_Key at this index of the port's table. The cluster's key, full, has to be there: with",
            "# a limited one nodes do not hear each other, and jobs hang.",
            "NCCL_IB_PKEY=0",
        ]
    if layout.compute_hcas:
        lines.append(f"NCCL_IB_HCA=={','.join(layout.compute_hcas)}")
    else:
        lines += [
            "# Which adapters are for compute is not stated: NCCL takes all that are up, those of storage as well.",
            "# ibv_devices lists them; NCCL_IB_HCA==NAME,NAME says which.",
        ]
    return "".join(f"{line}\n" for line in lines)
