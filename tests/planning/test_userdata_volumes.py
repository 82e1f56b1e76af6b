"""The program that formats and mounts volumes in a server, on image files with the real blkid, wipefs and mkfs.

`mount` is a stand-in here, which writes down what it was asked; `tests/packets/test_userdata_mounts.py` mounts.
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from interlock.planning.guest import volumes_in_guest
from interlock.planning.guest.disks import PROGRAM, TABLE, UNIT, GuestVolume, program, volume_mounts

SIZE = 16 << 20
TAG, OTHER = "il-0123456789abc", "il-fedcba9876543"
VOLUME, ANOTHER = "5b1f3a52-9a3e-4c1d-8b5e-3f1a2b3c4d5e", "0c2f9a7e-1111-4000-8000-000000000000"
SBIN = "/usr/sbin:/sbin"

AGAIN, REFUSED = volumes_in_guest.AGAIN, volumes_in_guest.NOT_OURS

MOUNT = """#!/bin/sh
echo "$1 $2" >> {asked}
echo "36 35 98:0 / $2 rw shared:1 - ext4 $1 rw" >> {mounted}
"""


@dataclass
class Guest:
    """A server's view of its disks, below a folder."""

    folder: Path
    #: Tag -> serial, as Nova's metadata has it.
    devices: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("by-id", "bin", "disks"):
            (self.folder / name).mkdir()
        (self.folder / "mounted").write_text("22 1 254:1 / / rw - ext4 /dev/vda1 rw\n")
        (self.folder / "asked").touch()
        mount = self.folder / "bin" / "mount"
        mount.write_text(MOUNT.format(asked=self.folder / "asked", mounted=self.folder / "mounted"))
        mount.chmod(0o755)

    def disk(self, serial: str, tag: str | None = None, name: str | None = None) -> Path:
        """An empty disk, found by id as virtio's is; with its tag in metadata if one is given."""
        image = self.folder / "disks" / serial
        with image.open("wb") as file:
            file.truncate(SIZE)
        (self.folder / "by-id" / (name or f"virtio-{serial[:20]}")).symlink_to(image)
        if tag is not None:
            self.devices[tag] = serial
        return image

    def boot(self, *volumes: tuple[str, str], metadata: bool = True) -> tuple[int, str]:
        """Runs the program as its unit does; exit code and all that it said."""
        table, said = self.folder / "volumes.json", self.folder / "meta_data.json"
        table.write_text(json.dumps([{"tag": tag, "mount": str(self.folder / point)} for tag, point in volumes]))
        devices = [
            {"type": "disk", "bus": "virtio", "serial": serial, "tags": [tag]} for tag, serial in self.devices.items()
        ]
        said.write_text(json.dumps({"devices": devices}))
        where = said.as_uri() if metadata else "http://127.0.0.1:9/"
        command = [
            sys.executable, "-c", program(), "--table", str(table), "--disks", str(self.folder / "by-id"),
            "--mounted", str(self.folder / "mounted"), "--metadata", where,
        ]  # fmt: skip
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}:{SBIN}"
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}, timeout=60
        )
        return done.returncode, done.stdout + done.stderr

    def reboot(self) -> None:
        """Nothing is mounted any more."""
        (self.folder / "mounted").write_text("22 1 254:1 / / rw - ext4 /dev/vda1 rw\n")
        (self.folder / "asked").write_text("")

    @property
    def asked(self) -> list[str]:
        """What was mounted where, in order."""
        return (self.folder / "asked").read_text().splitlines()


@pytest.fixture
def guest(tmp_path: Path) -> Guest:
    return Guest(tmp_path)


def on(disk: Path) -> str:
    """Type and label of what is on a disk."""
    return run("blkid", "-p", "-s", "TYPE", "-s", "LABEL", "-o", "value", str(disk))


def run(*command: str, given: bytes = b"") -> str:
    path = f"{os.environ['PATH']}:{SBIN}"
    done = subprocess.run(command, input=given, capture_output=True, check=False, env={**os.environ, "PATH": path})
    return done.stdout.decode()


def test_an_empty_disk_gets_a_file_system_and_is_mounted(guest: Guest) -> None:
    disk = guest.disk(VOLUME, TAG)
    assert guest.boot((TAG, "data")) == (0, f"{guest.folder}/data: formatted and mounted\n")
    assert sorted(on(disk).split()) == sorted(["ext4", TAG])
    assert guest.asked == [f"{disk} {guest.folder}/data"]
    assert (guest.folder / "data").is_dir()


def test_the_second_run_does_nothing_and_the_second_boot_mounts_alone(guest: Guest) -> None:
    disk = guest.disk(VOLUME, TAG)
    guest.boot((TAG, "data"))
    formatted = disk.read_bytes()
    assert guest.boot((TAG, "data")) == (0, f"{guest.folder}/data: is mounted\n")
    guest.reboot()
    # Nobody is asked: the label says which it is.
    assert guest.boot((TAG, "data"), metadata=False) == (0, f"{guest.folder}/data: mounted\n")
    assert guest.asked == [f"{disk} {guest.folder}/data"]
    assert disk.read_bytes() == formatted


def test_a_volume_that_comes_later_is_waited_for(guest: Guest) -> None:
    code, said = guest.boot((TAG, "data"))
    assert (code, "0 disks with the tag" in said) == (AGAIN, True)
    guest.devices[TAG] = VOLUME
    code, said = guest.boot((TAG, "data"))
    assert (code, f"0 disks have the serial {VOLUME}" in said) == (AGAIN, True)
    guest.disk(VOLUME, TAG)
    assert guest.boot((TAG, "data"))[0] == 0


def test_without_metadata_nothing_is_formatted(guest: Guest) -> None:
    disk = guest.disk(VOLUME, TAG)
    code, said = guest.boot((TAG, "data"), metadata=False)
    assert (code, "metadata does not answer" in said) == (AGAIN, True)
    assert disk.read_bytes() == bytes(SIZE)


def _lvm(disk: Path) -> None:
    with disk.open("r+b") as file:
        file.seek(512)
        file.write(b"LABELONE" + (1).to_bytes(8, "little") + bytes(4) + (32).to_bytes(4, "little") + b"LVM2 001")
        file.write(b"x" * 32)


def _partitioned(disk: Path) -> None:
    with disk.open("r+b") as file:
        file.seek(446)
        file.write(bytes((0x80, 0, 2, 0, 0x83, 1, 1, 0)) + (2048).to_bytes(4, "little") + (8192).to_bytes(4, "little"))
        file.seek(510)
        file.write(b"\x55\xaa")


def _somewhere(at: int, data: bytes) -> Callable[[Path], object]:
    def write(disk: Path) -> None:
        with disk.open("r+b") as file:
            file.seek(at)
            file.write(data)

    return write


def _two_signatures(disk: Path) -> None:
    run("mkfs.ext4", "-q", str(disk))
    _somewhere(0x8000, b"\x01CD001\x01" + bytes(2000))(disk)


DATA: dict[str, Callable[[Path], object]] = {
    "LVM": _lvm,
    "a partition table": _partitioned,
    "swap": lambda disk: run("mkswap", str(disk)),
    "LUKS": _somewhere(0, b"LUKS\xba\xbe\x00\x01" + bytes(100)),
    "a database's bytes at the start": _somewhere(4096, b"a"),
    "bytes at the end": _somewhere(SIZE - 1, b"a"),
    "an archive": _somewhere(0, gzip.compress(b"of the tenant's")),
    "several signatures": _two_signatures,
    "a middle full of data": _somewhere(SIZE // 3, b"data" * (1 << 18)),
    "mkfs that was broken off": _somewhere(1 << 17, b"\x01"),
    "another planned volume": lambda disk: run("mkfs.ext4", "-q", "-L", OTHER, str(disk)),
}


@pytest.mark.parametrize("what", DATA)
def test_a_disk_with_data_is_never_formatted(guest: Guest, what: str) -> None:
    disk = guest.disk(VOLUME, TAG)
    DATA[what](disk)
    before = disk.read_bytes()
    assert before != bytes(SIZE)
    for _ in range(2):
        code, said = guest.boot((TAG, "data"))
        assert (code, guest.asked) == (REFUSED, [])
        assert "not formatted and not mounted" in said
    assert disk.read_bytes() == before


def test_a_file_system_that_somebody_made_is_mounted_as_it_is(guest: Guest) -> None:
    disk = guest.disk(VOLUME, TAG)
    run("mkfs.ext4", "-q", "-L", "mine", str(disk))
    before = disk.read_bytes()
    assert guest.boot((TAG, "data"))[0] == 0
    assert (guest.asked, disk.read_bytes()) == ([f"{disk} {guest.folder}/data"], before)


def test_two_volumes_of_one_size_go_where_the_plan_says(guest: Guest) -> None:
    second, first = guest.disk(ANOTHER, OTHER), guest.disk(VOLUME, TAG)
    assert guest.boot((TAG, "data"), (OTHER, "volumes/scratch"))[0] == 0
    assert guest.asked == [f"{first} {guest.folder}/data", f"{second} {guest.folder}/volumes/scratch"]
    assert (TAG in on(first), OTHER in on(second)) == (True, True)


def test_a_copy_of_a_volume_beside_it_is_nobodys_to_choose_from(guest: Guest) -> None:
    disk = guest.disk(VOLUME, TAG)
    guest.boot((TAG, "data"))
    guest.reboot()
    guest.disk(ANOTHER).write_bytes(disk.read_bytes())
    code, said = guest.boot((TAG, "data"))
    assert (code, guest.asked, f"both have the label {TAG}" in said) == (REFUSED, [], True)


def test_one_that_is_refused_keeps_no_other_from_being_mounted(guest: Guest) -> None:
    _lvm(guest.disk(VOLUME, TAG))
    guest.disk(ANOTHER, OTHER)
    code, _ = guest.boot((TAG, "data"), (OTHER, "more"))
    assert (code, len(guest.asked)) == (REFUSED, 1)


@pytest.mark.parametrize("name", [f"scsi-0QEMU_QEMU_HARDDISK_{VOLUME}", f"virtio-{VOLUME[:20]}"])
def test_a_disk_is_found_by_the_name_that_its_bus_gives_it(guest: Guest, name: str) -> None:
    guest.disk(VOLUME, TAG, name)
    assert guest.boot((TAG, "data"))[0] == 0


def test_partitions_and_disks_that_are_not_planned_are_left_alone(guest: Guest) -> None:
    stranger, part = guest.disk(ANOTHER), guest.disk("part", name=f"virtio-{VOLUME[:20]}-part1")
    guest.devices[TAG] = VOLUME
    assert guest.boot((TAG, "data"))[0] == AGAIN
    assert stranger.read_bytes() == part.read_bytes() == bytes(SIZE)


@pytest.mark.parametrize("serials", [[], ["short"], [VOLUME, ANOTHER]])
def test_a_tag_that_is_not_of_one_disk_formats_none(guest: Guest, serials: Sequence[str]) -> None:
    disks = [guest.disk(serial) for serial in serials]
    (guest.folder / "meta_data.json").write_text("{}")
    devices = [{"serial": serial, "tags": [TAG]} for serial in serials]
    (guest.folder / "said.json").write_text(json.dumps({"devices": devices}))
    (guest.folder / "volumes.json").write_text(json.dumps([{"tag": TAG, "mount": f"{guest.folder}/data"}]))
    command = [
        sys.executable, "-c", program(), "--table", str(guest.folder / "volumes.json"),
        "--disks", str(guest.folder / "by-id"), "--mounted", str(guest.folder / "mounted"),
        "--metadata", (guest.folder / "said.json").as_uri(),
    ]  # fmt: skip
    assert subprocess.run(command, capture_output=True, check=False).returncode == AGAIN
    assert all(disk.read_bytes() == bytes(SIZE) for disk in disks)


def test_the_program_runs_with_the_oldest_python_of_an_image() -> None:
    """Ubuntu 20.04 has 3.8: no `match`, no types joined by `|` outside annotations."""
    tree = ast.parse(program(), feature_version=(3, 8))
    assert isinstance(tree.body[1], ast.ImportFrom)
    assert tree.body[1].module == "__future__"
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported <= {"argparse", "json", "os", "subprocess", "sys", "urllib.error", "urllib.request"}


def test_the_unit_goes_on_until_all_are_mounted_and_stops_where_people_must_look() -> None:
    part = volume_mounts((GuestVolume(TAG, "/data"),))
    files = {file.path: file for file in part.files}
    unit = files[f"/etc/systemd/system/{UNIT}"].content
    assert f"ExecStart={PROGRAM}\n" in unit
    assert f"RestartPreventExitStatus={REFUSED}\n" in unit
    assert files[PROGRAM].mode == 0o755
    assert json.loads(files[TABLE].content) == [{"tag": TAG, "mount": "/data"}]
    assert part.commands[-1] == ("systemctl", "enable", "--now", "--no-block", UNIT)
    assert volume_mounts(()).files == ()
