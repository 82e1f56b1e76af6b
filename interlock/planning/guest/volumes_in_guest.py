#!/usr/bin/python3
"""Mounts the volumes of this server, and formats one only if nothing at all is on it.

Runs in the server, as root, with nothing but Python 3.8, util-linux and e2fsprogs. Exit codes: 0 all are mounted; 75
one is not attached yet, or metadata does not answer: run it again; 65 one holds what it must not touch: look at it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

METADATA = "http://169.254.169.254/openstack/latest/meta_data.json"
#: A serial of virtio-blk is cut to so many characters of the volume's id.
SERIAL = 20
#: What is read to see whether a disk is all zeros: this much at both ends, and at places in between.
END = 1 << 20
SPOT, SPOTS = 1 << 16, 256
MOUNTABLE = ("ext4", "xfs")
#: Labels of file systems that this program made begin so.
OURS = "il-"

AGAIN, NOT_OURS = 75, 65


class NotYet(Exception):
    """Not yet: it is tried again."""


class NotOurs(Exception):
    """Somebody has to look."""


def main() -> int:
    """Every volume of the table; the worst of what was found is the exit code."""
    options = arguments()
    worst = 0
    for item in json.loads(Path(options.table).read_text(encoding="utf-8")):
        try:
            print(f"{item['mount']}: {see_to(item['tag'], item['mount'], options)}")
        except NotYet as error:
            worst = worst or AGAIN
            print(f"{item['mount']}: {error}; tried again", file=sys.stderr)
        except NotOurs as error:
            worst = NOT_OURS
            print(f"{item['mount']}: not formatted and not mounted: {error}", file=sys.stderr)
    return worst


def arguments() -> argparse.Namespace:
    """Where everything is; other places are for trying it out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="/etc/interlock/volumes.json")
    parser.add_argument("--disks", default="/dev/disk/by-id")
    parser.add_argument("--mounted", default="/proc/self/mountinfo")
    parser.add_argument("--metadata", default=METADATA)
    return parser.parse_args()


def see_to(tag: str, point: str, options: argparse.Namespace) -> str:
    """Mounts one volume, formatted before if it is empty; what was done, in words."""
    if is_mounted(point, options.mounted):
        return "is mounted"
    disk = labelled(tag, options.disks)
    done = "mounted"
    if disk is None:
        disk = tagged(tag, options)
        found = signatures(disk)
        if not found:
            check_zero(disk)
            run("mkfs.ext4", "-q", "-L", tag, disk)
            done = "formatted and mounted"
        elif found.get("TYPE") not in MOUNTABLE:
            raise NotOurs(f"{disk} holds {found.get('TYPE') or found.get('PTTYPE') or 'what nobody can name'}")
        elif found.get("LABEL", "").startswith(OURS):
            raise NotOurs(f"{disk} is another volume by its label, {found['LABEL']}")
    Path(point).mkdir(parents=True, exist_ok=True)
    run("mount", disk, point)
    return done


def is_mounted(point: str, table: str) -> bool:
    """True if something is mounted there, by the kernel's own table."""
    return any(line.split(b" ")[4] == point.encode() for line in filter(None, Path(table).read_bytes().split(b"\n")))


def labelled(tag: str, folder: str) -> str | None:
    """The disk whose file system has this label. None if there is none; two are nobody's to choose from."""
    found = [disk for disk in disks(folder) if label_of(disk) == tag]
    if len(found) > 1:
        raise NotOurs(f"{' and '.join(found)} both have the label {tag}")
    return found[0] if found else None


def label_of(disk: str) -> str:
    """The label of the one file system on a disk; empty where there is none, or where nobody can tell."""
    try:
        return signatures(disk).get("LABEL", "")
    except NotOurs:
        return ""


def disks(folder: str) -> dict[str, list[str]]:
    """Disk -> its names by id. Partitions are no volumes of ours."""
    names: dict[str, list[str]] = {}
    for link in sorted(Path(folder).glob("*")):
        if "-part" not in link.name:
            names.setdefault(str(link.resolve()), []).append(link.name)
    return names


def tagged(tag: str, options: argparse.Namespace) -> str:
    """The disk that Nova attached with this tag: metadata has its serial, and its name by id ends with that."""
    serials = [
        str(device.get("serial") or "")
        for device in metadata(options.metadata).get("devices", [])
        if tag in (device.get("tags") or ())
    ]
    if len(serials) != 1 or len(serials[0]) < SERIAL:
        raise NotYet(f"metadata names {len(serials)} disks with the tag {tag}")
    ends = (serials[0], serials[0][:SERIAL])
    found = [disk for disk, names in disks(options.disks).items() if any(name.endswith(ends) for name in names)]
    if len(found) != 1:
        raise NotYet(f"{len(found)} disks have the serial {serials[0]}")
    return found[0]


def metadata(place: str) -> dict[str, Any]:
    """What Nova says of this server now."""
    try:
        with urllib.request.urlopen(place, timeout=10) as answer:
            said: dict[str, Any] = json.load(answer)
            return said
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise NotYet(f"metadata does not answer: {error}") from error


def signatures(disk: str) -> dict[str, str]:
    """All that blkid and wipefs find on a disk; empty only if both read it and found nothing.

    blkid says 2 for a disk without a signature and for one that it cannot read, and 8 for one with several.
    """
    probed = subprocess.run(["blkid", "-p", "-o", "export", disk], capture_output=True, text=True, check=False)
    wiped = subprocess.run(["wipefs", "--no-act", "--parsable", disk], capture_output=True, text=True, check=False)
    if probed.returncode not in (0, 2) or wiped.returncode != 0:
        raise NotOurs(f"{disk} cannot be judged: {(probed.stderr + wiped.stderr).strip() or 'several signatures'}")
    found = dict(line.partition("=")[::2] for line in probed.stdout.splitlines())
    listed = [line for line in wiped.stdout.splitlines() if line and not line.startswith("#")]
    return found if found or not listed else {"": listed[0]}


def check_zero(disk: str) -> None:
    """Raises `NotOurs` if a byte is not zero where it is read: data without a signature is data."""
    with Path(disk).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            raise NotOurs(f"{disk} has no size")
        spots = [(size * spot // SPOTS, SPOT) for spot in range(SPOTS)]
        for start, length in [(0, END), (max(0, size - END), END), *spots]:
            file.seek(start)
            if file.read(length).strip(b"\0"):
                raise NotOurs(f"{disk} has no signature, but is not empty (near byte {start})")


def run(*command: str) -> None:
    """Raises `NotYet` if it fails: mkfs that was broken off leaves a disk that is not empty, which is refused then."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotYet(f"{command[0]}: {done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
