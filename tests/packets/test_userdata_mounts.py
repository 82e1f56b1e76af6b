"""A server's programs for volumes and shares with the real mount(8), in a mount namespace of its own. Needs root.

Volumes are loop devices. For NFS stands tmpfs, which takes the same source and shows it: no kernel here speaks NFS.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.planning.guest import shares
from interlock.planning.guest.disks import program
from interlock.vocabulary.share_paths import share_key

TAG, VOLUME = "il-0123456789abc", "5b1f3a52-9a3e-4c1d-8b5e-3f1a2b3c4d5e"
SIZE = 16 << 20


@dataclass(frozen=True)
class Disk:
    """A block device, and the file behind it."""

    folder: Path
    device: str

    @property
    def image(self) -> Path:
        return self.folder / "image"

    def boot(self, then: str) -> subprocess.CompletedProcess[str]:
        """The program, and a command after it, as a server that boots sees them: nothing is mounted before."""
        run = (
            f"{sys.executable} {self.folder}/program --table {self.folder}/table --disks {self.folder}/by-id "
            f"--metadata file://{self.folder}/said"
        )
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"{run}; code=$?; {then}; exit $code"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """An empty one, by the name that udev gives a volume's."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(SIZE)
    device = subprocess.run(
        ["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=True
    ).stdout.strip()
    (tmp_path / "by-id").mkdir()
    (tmp_path / "by-id" / f"virtio-{VOLUME[:20]}").symlink_to(device)
    (tmp_path / "program").write_text(program())
    (tmp_path / "table").write_text(json.dumps([{"tag": TAG, "mount": str(tmp_path / "data")}]))
    (tmp_path / "said").write_text(json.dumps({"devices": [{"serial": VOLUME, "tags": [TAG]}]}))
    yield Disk(tmp_path, device)
    subprocess.run(["losetup", "--detach", device], check=True)


def test_an_empty_volume_is_formatted_mounted_and_keeps_what_is_written(disk: Disk) -> None:
    first = disk.boot(f"findmnt -n -o SOURCE,FSTYPE,LABEL {disk.folder}/data; echo kept > {disk.folder}/data/file")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.split()[-3:] == [disk.device, "ext4", TAG]
    (disk.folder / "said").unlink()
    again = disk.boot(f"cat {disk.folder}/data/file")
    assert (again.returncode, again.stdout) == (0, f"{disk.folder}/data: mounted\nkept\n")


def test_a_volume_with_data_is_not_touched(disk: Disk) -> None:
    with Path(disk.device).open("r+b") as file:
        file.seek(SIZE // 2)
        file.write(b"of the tenant's")
    subprocess.run(["sync", disk.device], check=True)
    before = disk.image.read_bytes()
    said = disk.boot(f"findmnt -n {disk.folder}/data")
    assert (said.returncode, said.stdout) == (65, "")
    assert "is not empty" in said.stderr
    assert disk.image.read_bytes() == before


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[str]:
    """A whole host's config drive, which says where a share is exported: a loop device."""
    folder, image = tmp_path / "said" / "openstack" / "latest", tmp_path / "drive"
    folder.mkdir(parents=True)
    (folder / "meta_data.json").write_text(json.dumps({"meta": {share_key("data"): "/shares/one"}}))
    make = ["mkfs.ext4", "-q", "-L", "config-2", "-d", str(tmp_path / "said"), str(image), "1M"]
    subprocess.run(make, check=True, env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
    device = subprocess.run(
        ["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=True
    ).stdout.strip()
    yield device
    subprocess.run(["losetup", "--detach", device], check=True)


def test_a_share_is_mounted_from_what_a_drive_says_and_again_by_fstab(tmp_path: Path, drive: str) -> None:
    point, fstab, client = tmp_path / "data", tmp_path / "fstab", tmp_path / "bin" / "mount.tmpfs"
    item = shares.GuestShare("data", "10.48.0.2:", str(point), "tmpfs", ("ro", "size=1m", "nofail", "_netdev"))
    (tmp_path / "table").write_text(json.dumps([item.canonical()]))
    (tmp_path / "program").write_text(shares.program())
    fstab.write_text("# theirs\n")
    client.parent.mkdir()
    client.write_text("")
    client.chmod(0o755)
    run = f"{sys.executable} {tmp_path}/program --table {tmp_path}/table --fstab {fstab} --drive {drive}"
    shown = f"findmnt -n -o SOURCE,FSTYPE,OPTIONS {point}"
    # Mounted, mounted already, and after a boot by its line of fstab alone.
    again = f"umount {point} && mount --fstab {fstab} {point} && {shown}; findmnt -n {drive}"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"{run} && {shown} && {run} && {again}"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120,
        env={"PATH": f"{client.parent}:/usr/sbin:/sbin:/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stderr == ""
    first, mounted, second, by_line = done.stdout.splitlines()
    assert (first, second) == (f"{point}: mounted from 10.48.0.2:/shares/one", f"{point}: is mounted")
    for line in (mounted, by_line):
        assert line.split()[:2] == ["10.48.0.2:/shares/one", "tmpfs"]
        assert {"ro", "size=1024k"} <= set(line.split()[2].split(","))
    assert fstab.read_text().splitlines()[0] == "# theirs"
