"""Files by which the Poplar SDK, the V-IPU command line and IPUoF find their controller. None of them is secret.

Names of files and variables: Graphcore's examples-utils and the V-IPU user guide. What a partition's members are is
written by `vipu get partition --ipuof-configs` after boot, once there is a partition; the document makes its folder.
"""

from __future__ import annotations

from dataclasses import dataclass

from .document import Part
from .files import GuestFile

#: Where the V-IPU command line looks for its controller; scripts take the file as the sign of an IPU server.
COMMAND_LINE = "/etc/vipu/vipu-cli.hcl"
ENVIRONMENT = "/etc/profile.d/vipu.sh"
#: Where IPUoF looks for descriptions of partitions that all users of the server may attach to.
PARTITIONS = "/etc/ipuof.conf.d"
#: RDMA pins the memory that it moves; what PAM allows a login by default is far too little.
LIMITS = "/etc/security/limits.d/90-ipu.conf"

_UNLIMITED = """\
* soft memlock unlimited
* hard memlock unlimited
root soft memlock unlimited
root hard memlock unlimited
"""


@dataclass(frozen=True)
class VipuApi:
    """The user API of a vPOD's controller, and what of the vPOD its programs ask for."""

    host: str
    port: int
    #: The subnet of the vPOD's RNICs, in which processes of several servers speak to each other.
    data_subnet: str
    #: The vPOD's partition, where it asks for exactly one; None: whoever runs a program says which.
    partition: str | None = None
    #: The server's user at the controller, where it is known who makes it; None: a person tells the server.
    user: str | None = None


def poplar_files(api: VipuApi) -> Part:
    """All of a Poplar server."""
    files = (
        GuestFile(COMMAND_LINE, _command_line(api)),
        GuestFile(ENVIRONMENT, _environment(api)),
        GuestFile(LIMITS, _UNLIMITED),
    )
    return Part(files=files, commands=(("mkdir", "-p", PARTITIONS),))


def _command_line(api: VipuApi) -> str:
    """No key: the file is everybody's. The key comes with all of this in a file of root's, for `vipu --config`."""
    user = "" if api.user is None else f'api-user-id="{api.user}"\n'
    return f'api-host="{api.host}"\napi-port={api.port}\n{user}'


def _environment(api: VipuApi) -> str:
    values = {
        "VIPU_CLI_API_HOST": api.host,
        "IPUOF_VIPU_API_HOST": api.host,
        "IPUOF_VIPU_API_PORT": str(api.port),
        "RNIC_SUBNET_MASK": api.data_subnet,
    }
    if api.partition is not None:
        values["IPUOF_VIPU_API_PARTITION_ID"] = api.partition
    return "".join(f"export {name}={value}\n" for name, value in values.items())
