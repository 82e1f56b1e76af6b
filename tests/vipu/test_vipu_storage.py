"""The folder of a controller: killed and restarted, one process for each, backed up and restored, broken."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from sandbox.vipu.__main__ import main
from sandbox.vipu.certificates import make_certificates
from sandbox.vipu.client import VipuEndpoint
from sandbox.vipu.clock import FileClock
from sandbox.vipu.controller import opened
from sandbox.vipu.forms import FormWrong, write_whole
from sandbox.vipu.racks import rack_of, write_racks
from sandbox.vipu.refusals import VipuRefused
from sandbox.vipu.scene import Call
from sandbox.vipu.server_command import ENDPOINTS
from sandbox.vipu.storage import STORAGE, BackupWrong, ControllerStorage, StorageBusy, back_up, restore

from .desk import Desk

_DANGLING = '{"allocations": {"al": {"id": "al", "agents": [], "cluster": "c"}}}'
_CLIENT_FILES = {"ca": "ca.pem", "cert": "client.pem", "key": "client.key"}
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def process(folder: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], VipuEndpoint]]:
    """A controller of its own, killed in the end, and its admin API."""
    (folder / "state" / ENDPOINTS).unlink(missing_ok=True)
    words = ["--storage-dir", str(folder / "state"), "--racks", str(folder / "racks.json"), "--api-port", "0"]
    command = [sys.executable, "-m", "sandbox.vipu", "server", *words, "--admin-port", "0", *flags]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert "simulator of V-IPU, no wire compatibility" in line, line + server.stdout.read()
            places = json.loads((folder / "state" / ENDPOINTS).read_text())
            yield server, VipuEndpoint(places["admin"]["host"], places["admin"]["port"])
        finally:
            server.kill()


def _cluster(admin: VipuEndpoint) -> None:
    for number in (1, 2):
        admin.ask(Call("create", "agent", f"ag{number}", {"host": f"10.2.1.{number}"}))
    admin.ask(Call("create", "cluster", "c", {"agents": ("ag1", "ag2")}))


def _state(admin: VipuEndpoint, partition: str) -> Any:
    return admin.ask(Call("get", "partition", partition)).value["partition"]["status"]["state"]


def test_a_controller_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """With kill -9 in the middle of making a partition, and time that passes while nobody runs."""
    write_racks(tmp_path / "racks.json", rack_of())
    clock = FileClock(tmp_path / "clock")
    clock.becomes(100)
    flags = ("--clock", str(clock.file), "--durations", "partition=50,partition_machine=0")
    with process(tmp_path, *flags) as (server, admin):
        _cluster(admin)
        admin.ask(Call("create", "partition", "p", {"size": 8}))
        assert _state(admin, "p") == "PS_PENDING"
        server.send_signal(signal.SIGKILL)
        assert server.wait(timeout=30) == -signal.SIGKILL
    clock.becomes(149)
    with process(tmp_path, *flags) as (server, admin):
        assert _state(admin, "p") == "PS_PENDING"
        clock.becomes(150)
        assert _state(admin, "p") == "PS_ACTIVE"
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0


def test_an_answer_that_is_lost_was_done_or_not(tmp_path: Path) -> None:
    """The client hears the same of both; which of them it was the next question shows."""
    write_racks(tmp_path / "racks.json", rack_of())
    faults = ("--fault", "create agent=cut-before,create cluster=cut-after,list user=refused")
    with process(tmp_path, *faults) as (_, admin):
        with pytest.raises(VipuRefused, match="UNAVAILABLE"):
            admin.ask(Call("create", "agent", "ag1", {"host": "10.2.1.1"}))
        assert admin.ask(Call("list", "agent")).value == []
        admin.ask(Call("create", "agent", "ag1", {"host": "10.2.1.1"}))
        with pytest.raises(VipuRefused, match="UNAVAILABLE"):
            admin.ask(Call("create", "cluster", "c", {"agents": ("ag1",)}))
        assert [item["id"] for item in admin.ask(Call("list", "cluster")).value] == ["c"]
        with pytest.raises(Exception, match="UNAVAILABLE: on demand"):
            admin.ask(Call("list", "user"))
        assert admin.ask(Call("list", "user")).value == []


def test_a_controller_sees_a_failure_that_nobody_asks_about(tmp_path: Path) -> None:
    """It looks at its agents by itself: one that was away for a moment is in the log."""
    write_racks(tmp_path / "racks.json", rack_of())
    with process(tmp_path) as (_, admin):
        admin.ask(Call("create", "agent", "ag1", {"host": "10.2.1.1"}))
        assert main(["machine", str(tmp_path / "racks.json"), "10.2.1.1", "--answers", "no"]) == 0
        storage, until = ControllerStorage(tmp_path / "state"), time.monotonic() + 30
        while ("agent ag1", "ONLINE -> OFFLINE") not in [(item.about, item.what) for item in storage.events()]:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_secure_from_the_first_command_to_a_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By commands alone, over TLS: storage, an admin, a user with a file of settings, who makes a partition."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    write_racks(tmp_path / "racks.json", rack_of())
    assert main(["server", "--init", "--secure", "--default-user-id", "root", "--storage-dir", "state"]) == 0
    key = capsys.readouterr().out.split("'")[-2]
    with process(tmp_path, "--secure", "--durations", "partition=0.1,partition_machine=0,removal=0.1") as (_, admin):
        certificates = tmp_path / "state" / "vipu-certs" / "client"
        lines = {"api-host": admin.host, "api-port": admin.port, "api-user-id": "root", "api-access-key": key}
        lines |= {f"tls-{name}": certificates / file for name, file in _CLIENT_FILES.items()}
        Path("root.hcl").write_text("".join(f'{name}="{value}"\n' for name, value in lines.items()))
        for line in (
            "create agent ag1 --host 10.2.1.1",
            "create cluster c --agents ag1",
            "create allocation al --cluster c",
            "create user alice --allocations al",
        ):
            assert main(["admin", "--config", "root.hcl", *line.split()]) == 0
        assert key not in (tmp_path / "state" / STORAGE).read_text()
        for line in ("create partition p --size 4", "list partitions", "remove partition p"):
            assert main(["user", "--config", "alice.vipu-cli.hcl", *line.split()]) == 0
        assert main(["admin", "--config", "alice.vipu-cli.hcl", "list", "users"]) == 1
    said = capsys.readouterr()
    assert "| ACTIVE" in said.out
    assert said.err.count("UNIMPLEMENTED") == 1


def test_a_file_that_is_half_written_is_not_there(tmp_path: Path) -> None:
    """What stops in the middle of writing leaves the old one."""
    file = tmp_path / "file"
    write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "new\ud800")
    assert file.read_text() == "old"


def test_one_process_has_a_folder(desk: Desk) -> None:
    with pytest.raises(StorageBusy, match="another controller has it open"):
        opened(desk.folder / "state", desk.racks_file)
    desk.restarted()


def test_only_its_owner_reads_the_folders_files(desk: Desk) -> None:
    desk.do("create user alice")
    file = desk.folder / "state" / STORAGE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    back_up(desk.controller.storage, desk.folder / "backup.tar")
    assert stat.S_IMODE((desk.folder / "backup.tar").stat().st_mode) == 0o600
    certificates = make_certificates(desk.folder / "state")
    for key in (certificates.server_key, certificates.client_key):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_backup_brings_back_what_was_there_then(desk: Desk) -> None:
    """State and certificates; what was made later is gone, and what was removed later is told as there."""
    desk.cluster(2)
    desk.do("create partition before --size 4")
    certificates = make_certificates(desk.folder / "state")
    authority = certificates.authority.read_bytes()
    backup = desk.folder / "backup.tar"
    back_up(desk.controller.storage, backup)
    desk.do("remove partition before")
    desk.do("create partition after --size 4")
    make_certificates(desk.folder / "state")
    with pytest.raises(StorageBusy):
        restore(desk.controller.storage, backup)
    desk.controller.close()
    restore(desk.controller.storage, backup)
    desk.restarted()
    assert [item["partition"]["id"] for item in desk.do("list partitions")] == ["before"]
    assert certificates.authority.read_bytes() == authority


@pytest.mark.parametrize("name", ["other", "vipu-certs/../../outside", STORAGE])
def test_what_is_no_backup_is_refused_with_nothing_changed(desk: Desk, name: str) -> None:
    desk.controller.close()
    before = desk.controller.storage.file.read_bytes()
    backup = desk.folder / "backup.tar"
    with tarfile.open(backup, "w") as archive:
        for item, content in ((STORAGE, before), (name, b"{")):
            info = tarfile.TarInfo(item)
            info.size = len(content)
            archive.addfile(info, BytesIO(content))
    with pytest.raises(BackupWrong, match="no backup of a controller"):
        restore(desk.controller.storage, backup)
    assert desk.controller.storage.file.read_bytes() == before
    assert not (desk.folder.parent / "outside").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ('{"agents": []}', r"\$\.agents"),
        ('{"agent": {}}', "unknown key 'agent'"),
        ('{"partitions": {"p": {"id": "p"}}}', r"\$\.partitions\.p: allocation is missing"),
        (_DANGLING, "allocation al: there is no cluster c"),
        ('{"users": {"u": {"id": "u", "admin": 1}}}', r"\$\.users\.u"),
    ],
)
def test_a_broken_file_is_told_with_its_place(desk: Desk, text: str, told: str) -> None:
    desk.controller.close()
    file = desk.controller.storage.file
    file.write_text(text)
    with pytest.raises(FormWrong, match=told) as error:
        opened(desk.folder / "state", desk.racks_file)
    assert str(error.value).startswith(f"{file}: ")
    assert file.read_text() == text


def test_the_simulators_own_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "racks.json", tmp_path / "state"
    assert main(["racks", str(file), "--machines", "4"]) == 0
    assert main(["server", "--init", "--storage-dir", str(folder)]) == 0
    assert main(["server", "--init", "--storage-dir", str(folder)]) == 1
    assert main(["machine", str(file), "10.2.1.1", "--replace", "--version", "1.17.2"]) == 0
    assert json.loads(file.read_text())["machines"][0]["serial"] == "SIM-0101-1"
    assert main(["machine", str(file), "10.2.9.9", "--answers", "no"]) == 1
    assert main(["backup", str(folder), str(tmp_path / "b.tar")]) == 0
    assert main(["restore", str(folder), str(tmp_path / "b.tar")]) == 0
    assert main(["restore", str(folder), str(file)]) == 1
    assert main(["events", str(folder)]) == 0
    assert main(["nothing"]) == 2
    said = capsys.readouterr()
    assert "no IPU-Machine at 10.2.9.9" in said.err
    assert "default admin" in said.out
    assert (folder / STORAGE).exists()
