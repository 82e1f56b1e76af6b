"""What stands for a shell in a Poplar server, on the databases of a cloud with three servers and no services."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.rack.reading import rack_of
from sandbox.services.vipu import StationDoor
from sandbox.vipu.shell import main
from sandbox.vipu.stations import VipuStations
from tests.conftest import ROOT

#: Server -> its networks.
SERVERS = {"a-lab-poplar-0": ("a",), "a-lab-controller": ("a", "m"), "b-lab-controller": ("b", "m")}

#: What the operator's side tells the first controller.
TOLD = (
    "agent ag1 --host 192.168.201.1",
    "cluster c1 --agents ag1",
    "allocation al1 --cluster c1",
    "user a-lab-poplar-0 --allocations al1",
)

TABLES = {
    "nova": ("instances (uuid, display_name, vm_state, task_state, deleted)",),
    "neutron": (
        "ports (id, network_id, device_id, admin_state_up)",
        "networksegments (network_id, network_type, physical_network, segmentation_id)",
        "ipallocations (port_id, ip_address)",
        "ml2_port_bindings (port_id, profile)",
    ),
}


def databases(folder: Path) -> None:
    """Tables as Nova and Neutron have them, as far as they are read."""
    folder.mkdir(parents=True)
    for name, tables in TABLES.items():
        with closing(sqlite3.connect(folder / f"{name}.db")) as base, base:
            for table in tables:
                base.execute(f"CREATE TABLE {table}")
            for server, networks in SERVERS.items():
                if name == "nova":
                    base.execute("INSERT INTO instances VALUES (?, ?, 'active', NULL, 0)", (f"id-{server}", server))
                else:
                    rows = [(f"{server}-{one}", one, f"id-{server}", 1) for one in networks]
                    base.executemany("INSERT INTO ports VALUES (?, ?, ?, ?)", rows)
            if name == "neutron":
                # The gateways of the rack stand in this VLAN as long as no plan has them.
                base.execute("INSERT INTO networksegments VALUES ('m', 'vlan', 'mgmt1g', 4000)")
                base.executemany("INSERT INTO networksegments VALUES (?, 'vxlan', NULL, 1)", [("a",), ("b",)])


@contextmanager
def standing(folder: Path) -> Iterator[None]:
    """The instance's one process of V-IPU, in this one."""
    stations = VipuStations(folder, rack_of(folder))
    stations.start()
    door = StationDoor(0, stations)
    (folder / "ports.json").write_text(json.dumps({"vipu": door.server_address[1]}))
    thread = threading.Thread(target=door.serve_forever, daemon=True)
    thread.start()
    yield
    door.shutdown()
    door.server_close()
    stations.stop()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Path]:
    databases(tmp_path / "state" / "db")
    with standing(tmp_path):
        yield tmp_path


@dataclass(frozen=True)
class Said:
    """How a command line ended, and what it said."""

    code: int
    out: str
    err: str


Ask = Callable[..., Said]


@pytest.fixture
def ask(instance: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """One command line, in this process."""
    # It becomes the server's, whose files are there.
    monkeypatch.setenv("HOME", str(instance))

    def asked(*words: str) -> Said:
        code = main(["--dir", str(instance), *words])
        return Said(code, *capfd.readouterr())

    return asked


def test_a_server_asks_its_own_controller_with_the_key_that_was_handed_to_it(instance: Path, ask: Ask) -> None:
    without = ask("a-lab-poplar-0", "vipu", "list", "partitions")
    assert (without.code, "has no key yet" in without.err) == (2, True)
    station = [sys.executable, "-m", "sandbox.vipu.station", str(instance), "id-a-lab-controller", "vipu-admin"]
    for line in TOLD:
        subprocess.run([*station, "create", *line.split()], cwd=ROOT, capture_output=True, check=True)
    handed = ask("--new-key", "a-lab-poplar-0")
    assert handed.code == 0, handed.err
    listed = ask("a-lab-poplar-0", "vipu", "list", "partitions", "--showjson")
    assert (listed.code, listed.out) == (0, "[]\n"), listed.err
    (file,) = (instance / "state" / "vipu" / "guests" / "id-a-lab-poplar-0").iterdir()
    key = re.findall(r'api-access-key="(.+)"', file.read_text())[0]
    assert key not in str((handed, listed))
    assert file.stat().st_mode & 0o077 == 0
    for line in ("create partition mine --size 4", "occupy partition mine --gcd 0"):
        done = ask("a-lab-poplar-0", "vipu", *line.split())
        what = " ".join(line.split()[:2])
        assert (done.code, done.out) == (0, f"{what} (mine): success.\n"), done.err
    (row,) = (row for row in ask("a-lab-poplar-0", "vipu", "list", "partitions").out.splitlines() if "mine" in row)
    assert re.fullmatch(r"mine .*\| 4 +\| 1 +\| ACTIVE", row.strip())
    elsewhere = ask("--at", "b-lab-controller", "a-lab-poplar-0", "vipu", "list", "partitions")
    assert (elsewhere.code, "No route to host" in elsewhere.err) == (255, True)
    for words, code, said in (
        (("a-lab-poplar-9", "vipu", "list"), 255, "no server of that name"),
        (("--at", "c-lab-controller", "a-lab-poplar-0", "vipu", "list"), 255, "no server of that name"),
        (("--new-key", "--at", "b-lab-controller", "a-lab-poplar-0"), 255, "a-lab-poplar-0"),
        (("a-lab-poplar-0", "ls"), 127, "command not found"),
    ):
        done = ask(*words)
        assert (done.code, done.out, said in done.err) == (code, "", True), done


def test_a_cloud_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dir", str(tmp_path), "a-lab-poplar-0", "vipu", "list"]) == 255
    assert f"no cloud in {tmp_path}" in capsys.readouterr().err


def test_it_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "SIMULATOR" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["a-lab-poplar-0"])
