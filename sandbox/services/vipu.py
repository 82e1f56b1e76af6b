"""All V-IPU controllers of this instance in one process: one for each controller's server that Nova has.

The listener tells `sandbox.vipu.station` where a controller is, which stands for ssh to its server. How `interlock`
asks it is written into `DIR/vipu.yaml`, where that is looked for.
"""

import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

from sandbox.launcher.configuration import write_private
from sandbox.launcher.install import python
from sandbox.launcher.layout import ROOT
from sandbox.rack.reading import rack_of
from sandbox.services import process
from sandbox.vipu.faults import FaultUnknown, vipu_fault_of
from sandbox.vipu.forms import FormWrong
from sandbox.vipu.serving import NOTICE
from sandbox.vipu.stations import ServerNotReached, VipuStations
from sandbox.vipu.storage import StorageBusy

PROCESS = "vipu"
NOTE = "# How the sandbox's V-IPU controllers are reached: by a program that stands for ssh to their servers.\n"
#: What passes by itself: a file or a table that is being written.
PASSING = (sqlite3.Error, OSError, FormWrong, StorageBusy, ValueError)


def entry(folder: Path) -> dict[str, Any]:
    """The entry of `vipu.yaml` for every controller of the instance in a folder."""
    station = ["env", f"PYTHONPATH={ROOT}", str(python()), "-P", "-m", "sandbox.vipu.station", str(folder), "{server}"]
    return {"run": "local", "command": [*station, "vipu-admin"], "user_command": [*station, "vipu"]}


def tell(folder: Path) -> None:
    """Write `vipu.yaml`."""
    text = yaml.safe_dump({"controllers": {"default": entry(folder)}}, sort_keys=False, width=1000)
    write_private(folder / "vipu.yaml", NOTE + text)


class StationDoor(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, stations: VipuStations) -> None:
        self.stations = stations
        super().__init__(("127.0.0.1", port), _StationRequest)


class _StationRequest(BaseHTTPRequestHandler):
    server: StationDoor

    def do_GET(self) -> None:
        """`/controller/UUID`, with `from=UUID` of who asks over the network, or `fault=RULE` to arm one."""
        place = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        root, _, server = place.path.removeprefix("/").partition("/")
        if root != "controller" or not server:
            self._send(200, {"what": NOTICE})
            return
        try:
            self._send(200, _reached(self.server.stations, unquote(server), query))
        except (ServerNotReached, FaultUnknown) as error:
            self._send(404, {"why": str(error)})
        except PASSING as error:
            self._send(503, {"why": f"Connection reset by peer ({error})"})

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: each controller has a log of its own."""


def _reached(stations: VipuStations, server: str, query: dict[str, str]) -> dict[str, Any]:
    if "fault" in query:
        stations.arm(server, vipu_fault_of(query["fault"]))
        return {}
    found = stations.reach(server, query.get("from"))
    return {"folder": str(found.folder), "user": list(found.user), "admin": list(found.admin)}


def main() -> None:
    """Serve until the process is asked to end."""
    process.die_when_uncaught()
    instance = process.here()
    stations = VipuStations(instance.folder, rack_of(instance.folder))
    stations.start()
    threading.Thread(target=stations.watch, args=(PASSING,), daemon=True, name="vipu-servers").start()
    door = StationDoor(instance.ports[PROCESS], stations)
    threading.Thread(target=door.serve_forever, daemon=True, name="vipu-door").start()
    tell(instance.folder)
    process.ready(instance, PROCESS)
    process.wait_for_the_end(stations.stop)


if __name__ == "__main__":
    main()
