"""The documents of Poplar servers, virtual or whole hosts, of V-IPU controllers, and of nodes of GPU clusters."""

from __future__ import annotations

from collections.abc import Sequence

from .disks import GuestVolume, volume_mounts
from .document import CloudConfig, Part
from .fabric import FabricInterface, fabric_addresses
from .files import GuestFile
from .kernel import kernel_parameters
from .poplar import VipuApi, poplar_files
from .secret_files import fetched_secrets
from .shares import GuestShare, mounted_shares

#: A controller is attached to two networks and forwards nothing between them.
_NO_FORWARDING = {"net.ipv4.ip_forward": "0", "net.ipv6.conf.all.forwarding": "0"}

#: What a concern asks for that a server does not have.
NOTHING = Part()

_NO_SSH_FORWARDING = """\
AllowTcpForwarding no
AllowAgentForwarding no
PermitTunnel no
GatewayPorts no
"""


def poplar_user_data(
    hostname: str,
    api: VipuApi,
    *,
    volumes: Sequence[GuestVolume] = (),
    fabric: Sequence[FabricInterface] = (),
    login: Sequence[GuestFile] = (),
    secrets: Sequence[str] = (),
    shares: Sequence[GuestShare] = (),
) -> str:
    """For a Poplar server. `fabric`: interfaces of a whole host; a virtual server learns its addresses from Nova.
    `login`: what its sshd is told of certificates. `secrets`: names of what it fetches after its first boot. `shares`:
    what it mounts of its tenant's; a whole host, which Nova does not know, reads their paths from its config drive.
    """
    parts = (
        fabric_addresses(fabric),
        poplar_files(api),
        volume_mounts(volumes),
        Part(files=tuple(login)),
        fetched_secrets(secrets),
        mounted_shares(shares, drive=bool(fabric)),
    )
    return CloudConfig(hostname, parts).text()


def controller_user_data(hostname: str) -> str:
    """For a controller."""
    ssh = Part(files=(GuestFile("/etc/ssh/sshd_config.d/10-no-forwarding.conf", _NO_SSH_FORWARDING),))
    return CloudConfig(hostname, (kernel_parameters("no-forwarding", _NO_FORWARDING), ssh)).text()


def node_user_data(
    hostname: str,
    files: Sequence[GuestFile],
    *,
    login: Sequence[GuestFile] = (),
    shares: Sequence[GuestShare] = (),
    keys: Sequence[Part] = (),
    drive: bool = False,
    rails: Part = NOTHING,
) -> str:
    """For a node or a head of a GPU cluster. `files`: what its scheduler and its jobs are told of the cluster; `login`:
    what its sshd is told of certificates. `shares`: what it mounts of its tenant's; `drive`: by paths on its config
    drive, since Nova does not know it. `keys`: the programs by which it gets keys.

    Its in-band port has DHCP, so the document says no address of that; `rails`: how those of RoCE are set.
    """
    parts = (rails, Part(files=tuple(files)), Part(files=tuple(login)), *keys, mounted_shares(shares, drive=drive))
    return CloudConfig(hostname, parts).text()
