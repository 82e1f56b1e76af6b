"""Keys of the switches: one for each host, one for each user. Made at the first start, kept with the state."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

ALGORITHM = "ssh-ed25519"

#: Neutron's driver, which configures ports, and a reader, who may change nothing.
WRITER, READER = "neutron", "interlock"


def host_key_file(state: Path, switch: str) -> Path:
    """The private host key of a switch."""
    return state / f"{switch}.host_key"


def user_key_file(state: Path, user: str) -> Path:
    """The private key of a user."""
    return state / f"{user}.key"


def key(path: Path, comment: str) -> Any:
    """The key in a file, which is made when it is not there, whole and for its owner only."""
    import asyncssh

    from sandbox.launcher.configuration import write_private

    if not path.exists():
        made = asyncssh.generate_private_key(ALGORITHM, comment=comment)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, made.export_private_key().decode())
    return asyncssh.read_private_key(path)


def public(private: Any) -> str:
    """`ssh-ed25519 AAAA…`, without the comment."""
    return " ".join(private.export_public_key().decode().split()[:2])


def known_hosts(hosts: Mapping[str, str], port: int) -> str:
    """A `known_hosts` file for public host keys by address, all on one port that is not 22."""
    return "".join(f"[{address}]:{port} {public_key}\n" for address, public_key in hosts.items())
