"""Where Cinder's volumes and backups lie: a sparse file for each, which no guest ever mounts.

Stand-in: the storage and the wires to it. A backup is a copy of the volume's file; Cinder's own drivers would
read all of it to find out that it is empty.
"""

# What is patched and implemented here is Cinder's, and its signatures are given.
# ruff: noqa: SLF001, ARG001, ARG002

import io
import os
import shutil
from pathlib import Path
from typing import Any

from cinder.backup import driver, manager
from cinder.tests import fake_driver
from cinder.volume import volume_utils
from oslo_config import cfg

GIB = 1024**3


def folder(name: str) -> Path:
    """The folder `name` below Cinder's state, made if it is missing."""
    path = Path(cfg.CONF.state_path) / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def volume_file(ident: str) -> Path:
    """The bytes of a volume."""
    return folder("volumes") / ident


def resize(ident: str, gib: int) -> None:
    """Make the file of a volume as long as the volume; what is added reads as zeros and takes no space."""
    with volume_file(ident).open("ab") as file:
        file.truncate(gib * GIB)


def copy(source: Any, target: Any) -> None:
    """Copy what is written in a file and leave out its holes; what the target held is lost."""
    size = os.fstat(source.fileno()).st_size
    target.truncate(0)
    target.truncate(size)
    for start, end in extents(source.fileno(), size):
        source.seek(start)
        target.seek(start)
        shutil.copyfileobj(Slice(source, end - start), target)


def extents(descriptor: int, size: int) -> Any:
    """(start, end) of each stretch of a file that is no hole."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:
            return  # Nothing but a hole follows.
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end


class Slice:
    """The next `size` bytes of a file."""

    def __init__(self, file: Any, size: int) -> None:
        self.file = file
        self.left = size

    def read(self, wanted: int = -1, /) -> bytes:
        """At most `wanted` bytes of them; all that are left if it is negative."""
        found: bytes = self.file.read(self.left if wanted < 0 else min(wanted, self.left))
        self.left -= len(found)
        return found


class VolumeFiles(fake_driver.FakeLoggingVolumeDriver):
    """Cinder's own driver that does nothing, with a file for each volume."""

    def create_volume(self, volume: Any) -> Any:
        """Make the file."""
        resize(volume.id, volume.size)
        return super().create_volume(volume)

    def extend_volume(self, volume: Any, new_size: int) -> None:
        """Lengthen the file."""
        resize(volume.id, new_size)

    def delete_volume(self, volume: Any) -> None:
        """Remove the file."""
        volume_file(volume.id).unlink(missing_ok=True)

    def copy_volume_to_image(self, context: Any, volume: Any, image_service: Any, image_meta: Any) -> None:
        """Give the image no bytes: nobody boots from it."""
        image_service.update(context, image_meta["id"], {}, io.BytesIO(b""))


class BackupFiles(driver.BackupDriver):
    """Backups as files beside the volumes."""

    def backup(self, backup: Any, volume_file: Any, backup_metadata: bool = True) -> None:
        """Copy the volume."""
        with (folder("backups") / backup.id).open("wb") as target:
            copy(volume_file, target)

    def restore(self, backup: Any, volume_id: str, volume_file: Any, volume_is_new: bool) -> None:
        """Copy back."""
        with (folder("backups") / backup.id).open("rb") as source:
            copy(source, volume_file)

    def delete_backup(self, backup: Any) -> None:
        """Remove the copy."""
        (folder("backups") / backup.id).unlink(missing_ok=True)

    def check_for_setup_error(self) -> None:
        """Nothing has to be set up."""


def wire() -> None:
    """Let the backup service open a volume's file instead of attaching the volume to this machine."""

    def attach(_: Any, __: Any, device: Any, ___: Any, is_snapshot: bool = False) -> dict[str, Any]:
        return {"device": {"path": str(volume_file(device.id))}}

    manager.BackupManager._attach_device = attach
    manager.BackupManager._detach_device = lambda *_, **__: None
    volume_utils.brick_get_connector_properties = lambda *_, **__: {}
