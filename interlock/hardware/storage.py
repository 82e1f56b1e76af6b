"""Classes of storage: what one client gets out of them, and how long data stays there."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Fact, practice, primary

_STORAGE = "Graphcore, OpenStack reference design, 6 storage"
_NOTES = "operators' notes on AI infrastructure, rev. 2026-06-18"


@dataclass(frozen=True)
class StorageClass:
    """A class of storage. `bandwidth` is what one `per` gets; `lasting` False: data goes with the server."""

    name: str
    protocol: str
    per: str
    bandwidth: Fact[int]
    #: What the client must set for that bandwidth; empty: nothing.
    client_option: Fact[str]
    lasting: Fact[bool]


#: Every class of storage that a site may offer.
STORAGE_CLASSES = {
    item.name: item
    for item in (
        StorageClass(
            "nfs-appliance",
            "NFS",
            "client",
            primary(10, "GB/s", f"{_STORAGE}, appliance"),
            primary("nconnect=16", "", f"{_STORAGE}, appliance"),
            primary(True, "", f"{_STORAGE}, appliance: with snapshots"),
        ),
        StorageClass(
            "s3-appliance",
            "S3",
            "client",
            primary(6, "GB/s", f"{_STORAGE}, appliance"),
            primary("", "", f"{_STORAGE}, appliance"),
            primary(True, "", f"{_STORAGE}, appliance"),
        ),
        StorageClass(
            "ceph-rbd",
            "RBD",
            "volume",
            primary(4, "GB/s", f"{_STORAGE}, Ceph: about"),
            primary("", "", f"{_STORAGE}, Ceph"),
            primary(True, "", f"{_STORAGE}, Ceph"),
        ),
        StorageClass(
            "local-nvme",
            "NVMe",
            "server",
            practice(10, "GB/s", f"{_NOTES}: more than that"),
            practice("", "", _NOTES),
            primary(False, "", "Gcore, AI infrastructure documentation: lost with the cluster"),
        ),
    )
}

#: What the appliance can send in all: eight ports in one LAG.
APPLIANCE_LINK = primary(800, "Gb/s", f"{_STORAGE}, appliance: 8-way active LAG")
