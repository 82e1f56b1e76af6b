"""A tenant's server, as far as logins go: Debian's sshd in a mount namespace, with the files of a plan's user data.

`/etc/ssh`, `/etc/passwd` and `/home` are folders of the test there, so that the files lie where the plan says and
nothing of the machine is touched.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PACKAGES = ("openssh-server", "openssh-client")
GET_IT = f"as root: apt-get install -y --no-install-recommends {' '.join(PACKAGES)}"
#: Seconds until sshd listens.
PATIENCE = 20
ACCOUNT, ITS_ID = "ubuntu", 64_321

_BASE = """\
Port {port}
ListenAddress 127.0.0.1
HostKey /etc/ssh/host_key
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
LogLevel VERBOSE
Include /etc/ssh/sshd_config.d/*.conf
"""
#: Mounts are the child's own, and go with it.
_START = """\
set -eu
mount --make-rprivate /
mount --bind "$1/etc-ssh" /etc/ssh
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/home" /home
mount -t tmpfs tmpfs /run
mkdir -m 755 /run/sshd
exec "$2" -D -e
"""


class LoginLacks(Exception):
    """The machine has no sshd, or this process may not make namespaces; says which line gets it."""


@dataclass(frozen=True)
class Login:
    """What the client printed, and its exit code: 255 where sshd let nobody in."""

    code: int
    out: str
    err: str

    @property
    def is_in(self) -> bool:
        """True if the command ran."""
        return self.code == 0


@dataclass(frozen=True)
class RealServer:
    """A running sshd, its folder, and where it listens."""

    folder: Path
    port: int

    @property
    def options(self) -> tuple[str, ...]:
        """What the client must be told to reach it, and to use nothing of whoever runs the tests."""
        return (
            "-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
            "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={self.folder}/known_hosts",
            "-o", f"Port={self.port}", "-o", "LogLevel=ERROR",
        )  # fmt: skip

    @property
    def log(self) -> str:
        """What sshd wrote."""
        return (self.folder / "log").read_text(encoding="utf-8")

    def login(self, key: Path, certificate: Path | None = None, account: str = ACCOUNT) -> Login:
        """What becomes of a login with a private key, with a certificate or without one."""
        presented = () if certificate is None else ("-o", f"CertificateFile={certificate}")
        command = ("ssh", *self.options, "-i", str(key), *presented, f"{account}@127.0.0.1", "id -un")
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return Login(done.returncode, done.stdout.strip(), done.stderr.strip())

    def authorize(self, line: str) -> None:
        """Puts a plain key where cloud-init puts that of a key pair."""
        file = self.folder / "home" / ACCOUNT / ".ssh" / "authorized_keys"
        file.parent.mkdir(mode=0o755, exist_ok=True)
        file.write_text(f"{line}\n", encoding="utf-8")

    def has(self, path: str) -> bytes:
        """A file below /etc/ssh, as sshd sees it."""
        return (self.folder / "etc-ssh" / Path(path).relative_to("/etc/ssh")).read_bytes()


def ssh_files(user_data: str) -> list[dict[str, Any]]:
    """The files of a cloud-init document that concern sshd."""
    return [item for item in yaml.safe_load(user_data)["write_files"] if item["path"].startswith("/etc/ssh/")]


@contextmanager
def real_server(folder: Path, files: Iterable[dict[str, Any]]) -> Iterator[RealServer]:
    """A server with these files, until the end of the block. Raises LoginLacks."""
    sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/sbin")
    if sshd is None or shutil.which("unshare") is None:
        raise LoginLacks(f"there is no sshd; {GET_IT}")
    if os.geteuid() != 0:
        raise LoginLacks("a server in a mount namespace needs root")
    server = RealServer(folder, _free_port())
    _furnish(server, files)
    with (folder / "log").open("wb") as log:
        # In a session of its own, so that all of it ends, sessions of clients included.
        child = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", _START, "sh", str(folder), sshd],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            _await(server, child)
            yield server
        finally:
            child.terminate()
            child.wait()


def _furnish(server: RealServer, files: Iterable[dict[str, Any]]) -> None:
    folder = server.folder
    ssh = folder / "etc-ssh"
    (ssh / "sshd_config.d").mkdir(parents=True)
    (folder / "home" / ACCOUNT).mkdir(parents=True)
    for path in (folder, ssh, folder / "home", folder / "home" / ACCOUNT):
        path.chmod(0o755)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", ssh / "host_key"], check=True)
    host_key = (ssh / "host_key.pub").read_text(encoding="utf-8")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {host_key}", encoding="utf-8")
    (ssh / "sshd_config").write_text(_BASE.format(port=server.port), encoding="utf-8")
    for item in files:
        assert item.get("owner", "root:root") == "root:root"
        path = ssh / Path(item["path"]).relative_to("/etc/ssh")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(item["content"], encoding="utf-8")
        path.chmod(int(item["permissions"], 8))
    accounts = [f"{x.pw_name}:x:{x.pw_uid}:{x.pw_gid}::{x.pw_dir}:{x.pw_shell}" for x in pwd.getpwall()]
    others = [line for line in accounts if not line.startswith(f"{ACCOUNT}:")]
    own = f"{ACCOUNT}:x:{ITS_ID}:{ITS_ID}::/home/{ACCOUNT}:/bin/sh"
    (folder / "passwd").write_text("".join(f"{line}\n" for line in (*others, own)), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(server: RealServer, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and child.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise LoginLacks(f"sshd does not listen: {server.log}")
