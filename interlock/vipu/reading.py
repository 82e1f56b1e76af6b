"""How a controller is set, as far as its commands and its machine say it. Changes nothing there.

V-IPU says its release and those of its agents. Whether it asks for keys is tried (`trying_keys`). What no command says
(certificates, forwarding, backups, where the admin API listens, user data) is read on the controller's own machine,
where `vipu.yaml` says how. None stands for what nobody said.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import join

from interlock.vocabulary.digits import is_number

from .client import ControllerClient
from .errors import VipuError
from .listening import LISTENING, listening_at
from .loading import ControllerMachine
from .transport import Ran, Runner
from .trying_keys import TriedKey, tried

STATE, CERTIFICATES = "vipu-server.json", "vipu-certs"
#: Certificates of the server; beside them are those of clients.
_OF_SERVER = "server"
#: cloud-init documentation, instance-data: what the server was given at its first boot, as it came.
USER_DATA = "/var/lib/cloud/instance/user-data.txt"
#: A private key, or a V-IPU access key behind its name, written out: no variable that a template fills.
SECRET = (
    r"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----"
    r"""|api[-_]access[-_]key["']?[[:blank:]]*[:=][[:blank:]]*["']?[^"'${[:space:]]"""
)
_RELEASE = re.compile(r"(?<![\w.])v?([0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?)(?![\w.])")
#: Kernel documentation, networking/ip-sysctl: 0 is off.
FORWARDING = {"ipv4": "net.ipv4.ip_forward", "ipv6": "net.ipv6.conf.all.forwarding"}
_OFF = "0"
#: What grep ends with that read everything and found nothing (grep(1)).
_NONE_FOUND = 1
#: Of a moment in seconds; more is none that a file has.
_MOST_DIGITS = 11


@dataclass(frozen=True)
class BackupSaid:
    """What lies in the folder of backups."""

    #: When the state there was that of the controller, as far as is known; None: there is none.
    state: datetime.datetime | None
    #: Whether certificates of the server lie beside it.
    certificates: bool


@dataclass(frozen=True)
class AdminApiSaid:
    """Where its machine takes calls at the port of the admin API, as far as sockets say it; nowhere: another port."""

    port: int
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class ControllerSaid:
    """What was read of one controller."""

    at: datetime.datetime
    release: str | None
    #: Agent -> its release.
    agents: Mapping[str, str | None]
    keys: TriedKey
    certificates: bool | None
    #: `ipv4`, `ipv6` -> whether the machine forwards nothing.
    forwarding_off: Mapping[str, bool | None]
    #: None: nobody looked, or it could not be read; so with those below.
    backup: BackupSaid | None
    admin_api: AdminApiSaid | None
    #: Whether its user data is without a key written out in plain text.
    user_data_clean: bool | None


def read_controller(client: ControllerClient, now: datetime.datetime) -> ControllerSaid:
    """Ask one controller. Raises `VipuError` if it does not list its agents: then nothing of it is known."""
    agents = client.agents()
    machine = client.access.machine
    shell = None if machine is None else _Machine(client.runner, machine, now)
    return ControllerSaid(
        at=now,
        release=_release(client),
        agents={name: release_in(agent.version) for name, agent in sorted(agents.items())},
        keys=tried(client),
        certificates=None if shell is None else shell.certificates(),
        forwarding_off={name: None if shell is None else shell.is_off(key) for name, key in FORWARDING.items()},
        backup=None if shell is None else shell.backup(),
        admin_api=None if shell is None else shell.admin_api(),
        user_data_clean=None if shell is None else shell.user_data_clean(),
    )


def release_in(text: str) -> str | None:
    """The release that a line names; None if it names none."""
    found = _RELEASE.search(text)
    return None if found is None else found[1]


def _release(client: ControllerClient) -> str | None:
    line = client.lines.release
    if not line.words:
        return None
    try:
        ran = client.answered(line)
    except VipuError:
        return None
    # Scripts take host and port from the second line.
    first = next(iter(ran.out.splitlines()), "")
    return release_in(first) if ran.code == 0 else None


@dataclass(frozen=True)
class _Machine:
    """The controller's own machine, by commands that each Linux has."""

    runner: Runner
    access: ControllerMachine
    now: datetime.datetime

    def _ran(self, *words: str) -> Ran | None:
        """What came of a command; None if nobody knows."""
        try:
            return self.runner.run((*self.access.command, *words))
        except VipuError:
            return None

    def _said(self, *words: str) -> str | None:
        """What a command says; None if it fails."""
        ran = self._ran(*words)
        return ran.out if ran is not None and ran.code == 0 else None

    def _names(self, folder: str) -> frozenset[str] | None:
        said = self._said("ls", "-1", "--", folder)
        return None if said is None else frozenset(said.splitlines())

    def is_off(self, key: str) -> bool | None:
        """Whether a switch of the kernel is off."""
        said = (self._said("sysctl", "-n", key) or "").strip()
        return said == _OFF if is_number(said) else None

    def admin_api(self) -> AdminApiSaid | None:
        """Where something listens at the port of the admin API."""
        port, said = self.access.admin_port, None if self.access.admin_port is None else self._said(*LISTENING)
        found = None if port is None or said is None else listening_at(said, port)
        return None if port is None or found is None else AdminApiSaid(port, found)

    def user_data_clean(self) -> bool | None:
        """Whether no key stands in what the machine was given at its first boot. Nothing of it is told but that."""
        ran = self._ran("grep", "-c", "-i", "-E", "-e", SECRET, "--", USER_DATA)
        # The number of lines, also of a text that grep could not read to its end: then it is 0 and code 2, and nobody
        # knows. grep ends with 1 where it is 0, as sudo does where it asks for a password.
        found = "" if ran is None else ran.out.strip()
        if ran is None or not is_number(found):
            return None
        return False if int(found) else (True if ran.code == _NONE_FOUND else None)

    def certificates(self) -> bool | None:
        """Whether the controller has certificates of its own."""
        return None if self.access.storage is None else self._certified(self.access.storage)

    def _certified(self, folder: str) -> bool | None:
        names = self._names(folder)
        if names is None or CERTIFICATES not in names:
            return None if names is None else False
        found = self._names(join(folder, CERTIFICATES))
        return None if found is None else _OF_SERVER in found

    def backup(self) -> BackupSaid | None:
        """What lies in the folder of backups; None where nobody can tell."""
        folder = self.access.backup
        names = None if folder is None else self._names(folder)
        if folder is None or names is None:
            return None
        certified = self._certified(folder)
        if certified is None:
            return None
        if STATE not in names:
            return BackupSaid(None, certified)
        if self._is_current(folder):
            return BackupSaid(self.now, certified)
        # When the copy was written there: its time of change is often that of the original.
        said = (self._said("stat", "-c", "%Z", "--", join(folder, STATE)) or "").strip()
        if not is_number(said) or len(said) > _MOST_DIGITS:
            return None
        return BackupSaid(min(datetime.datetime.fromtimestamp(int(said), datetime.UTC), self.now), certified)

    def _is_current(self, folder: str) -> bool:
        """True if the copy is what the controller has now, however long ago it was made."""
        if self.access.storage is None:
            return False
        said = self._said("sha256sum", "--", join(self.access.storage, STATE), join(folder, STATE)) or ""
        digests = [line.split()[0] for line in said.splitlines() if line.strip()]
        return len(digests) == 2 and digests[0] == digests[1]
