"""The V-IPU controllers of an instance of the sandbox: one for each server in which one runs, as long as that is there.

A server's first boot is the first look at it: storage and certificates are made as `vipu-server --init --secure` makes
them. A server that is stopped has no controller, one that is gone leaves nothing of it, and a new one has a new id.
"""

from __future__ import annotations

import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.rack.table import Rack

from .allocation_calls import new_key
from .certificates import certificates_of, make_certificates
from .clock import Durations
from .controller import ControllerSettings, initialised, opened
from .faults import VipuFault
from .forms import write_whole
from .hearing import HEARD_ON, Hearing, machines_of
from .racks import Racks, read_racks, write_racks
from .sandbox_cloud import FoundServer, SandboxCloud
from .serving import Serving
from .storage import ControllerStorage

#: The default admin: who `vipu-server --init` runs as.
ADMIN = "root"
MACHINES = "racks.json"
SETTINGS = "admin.hcl"
#: Below a controller's folder, where commands run; below the folder of guests, one of each Poplar server.
HOME, GUESTS = "root", "guests"
_KEY = "admin.key"
#: Shorter than real ones, so that tests do not wait for them; not none, so that states in between are seen.
DURATIONS = Durations(contact=0.0, cluster=0.0, partition=0.5, partition_machine=0.05, removal=0.2, deadline=30.0)
#: Seconds between two looks at servers, switches and ports.
_LOOK_SECONDS = 0.5


class ServerNotReached(Exception):
    """No ssh to that server, and why; said as ssh says it."""


@dataclass(frozen=True)
class VipuStation:
    """A controller that runs: its folder, and where its APIs are."""

    folder: Path
    user: tuple[str, int]
    admin: tuple[str, int]


@dataclass
class VipuStations:
    """Starts and ends controllers, and keeps what each hears as switches and Neutron have it."""

    instance: Path
    rack: Rack
    _serving: dict[str, Serving] = field(default_factory=dict)
    _heard: dict[str, Racks] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def folder(self) -> Path:
        """Folders of controllers, by the id of their server, and the file of all IPU-Machines."""
        return self.instance / "state" / "vipu"

    @property
    def cloud(self) -> SandboxCloud:
        """The instance's databases."""
        return SandboxCloud(self.instance)

    def start(self) -> None:
        """Go on with the controllers that there were. Raises sqlite3.Error, OSError, FormWrong."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / MACHINES).exists():
            write_racks(self.folder / MACHINES, machines_of(self.rack))
        self.look()

    def watch(self, failed: tuple[type[Exception], ...]) -> None:
        """Look again and again, until stopped. What cannot be read now is read the next time."""
        while not self._ended.wait(_LOOK_SECONDS):
            try:
                self.look()
            except failed:
                continue

    def stop(self) -> None:
        """All of them end; their folders stay."""
        self._ended.set()
        with self._lock:
            for server in tuple(self._serving):
                self._end(server)

    def look(self) -> None:
        """Do what became of servers, and let every controller hear what there is to hear."""
        with self._lock:
            for server in sorted(path.name for path in self.folder.iterdir() if path.is_dir() and path.name != GUESTS):
                found = self.cloud.server(server)
                if found is None:
                    self._end(server)
                    shutil.rmtree(self.folder / server)
                elif found.active:
                    self._run(found)
                else:
                    self._end(server)
            for guest in (self.folder / GUESTS).glob("*"):
                if self.cloud.server(guest.name) is None:
                    shutil.rmtree(guest)

    def reach(self, server: str, guest: str | None = None) -> VipuStation:
        """The controller in a server, by ssh, or from the network of another server. Raises ServerNotReached."""
        with self._lock:
            found = self._reached(server)
            if not found.is_controller:
                raise ServerNotReached(f"{found.name}: Connection refused (no V-IPU controller runs in it)")
            if guest is not None:
                self._check_way(self._reached(guest), found)
            serving = self._run(found)
            return VipuStation(self.folder / server, serving.user, serving.admin)

    def arm(self, server: str, fault: VipuFault) -> None:
        """The next such call of a controller fails. Raises ServerNotReached."""
        with self._lock:
            self.reach(server)
            self._serving[server].faults.add(fault)

    def _reached(self, server: str) -> FoundServer:
        found = self.cloud.server(server)
        if found is None:
            raise ServerNotReached(f"{server}: No route to host (Nova has no such server)")
        if not found.active:
            raise ServerNotReached(f"{found.name}: Connection timed out (the server is not ACTIVE)")
        return found

    def _check_way(self, guest: FoundServer, controller: FoundServer) -> None:
        """Networks of both; security groups are not looked at."""
        own = {item.network for item in self.cloud.networks(guest.uuid)}
        if not own & {item.network for item in self.cloud.networks(controller.uuid)}:
            raise ServerNotReached(f"{controller.name}: No route to host ({guest.name} has no port on its networks)")

    def _run(self, server: FoundServer) -> Serving:
        """The controller of a server that is there, started if it does not run, hearing what there is now."""
        folder = self.folder / server.uuid
        serving = self._serving.get(server.uuid)
        if serving is None:
            first_boot(folder)
        self._hear(server.uuid)
        if serving is None:
            settings = ControllerSettings(secure=True, durations=DURATIONS, interfaces=(HEARD_ON,))
            controller = opened(folder, folder / MACHINES, settings=settings)
            serving = Serving(controller)
            serving.start()
            self._serving[server.uuid] = serving
            _write_settings(folder, serving.admin)
        return serving

    def _hear(self, server: str) -> None:
        hearing = Hearing(self.instance, self.rack, self.cloud)
        heard = hearing.heard(server, read_racks(self.folder / MACHINES))
        if heard != self._heard.get(server):
            write_racks(self.folder / server / MACHINES, heard)
            self._heard[server] = heard

    def _end(self, server: str) -> None:
        serving = self._serving.pop(server, None)
        self._heard.pop(server, None)
        if serving is not None:
            serving.stop()
            serving.controller.close()


def first_boot(folder: Path) -> None:
    """As `vipu-server --init --secure`, once. The storage comes last: without it all is recreated."""
    (folder / HOME).mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if ControllerStorage(folder).exists():
        return
    make_certificates(folder)
    key = new_key()
    write_whole(folder / _KEY, key)
    initialised(folder, ADMIN, key)


def _write_settings(folder: Path, admin: tuple[str, int]) -> None:
    """What `vipu-admin` reads in the server: the admin API, the default admin and the client's certificate."""
    certificates = certificates_of(folder)
    lines = {
        "api-host": admin[0],
        "api-port": str(admin[1]),
        "api-user-id": ADMIN,
        "api-access-key": (folder / _KEY).read_text(encoding="utf-8"),
        "tls-ca": str(certificates.authority),
        "tls-cert": str(certificates.client_chain),
        "tls-key": str(certificates.client_key),
    }
    write_whole(folder / SETTINGS, "".join(f'{name}="{value}"\n' for name, value in lines.items()))
