#!/usr/bin/python3
"""Mounts the shares of this server, once its metadata say under which path each is exported.

Runs in the server, as root, with nothing but Python 3.8, util-linux and an NFS client. Lines of /etc/fstab with the
option x-interlock are its own; it changes no other. Exit codes: 0 all is as it should be; 75 a share is not there yet,
or something does not answer: run it again; 65 something that does not mend itself: look at it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

METADATA = "http://169.254.169.254/openstack/latest/meta_data.json"
#: Where it stands on a drive with metadata.
ON_DRIVE = "openstack/latest/meta_data.json"
#: Names of members of `meta` begin so; the share's own follows.
PREFIX = "interlock-share-"
#: What a path may be: nothing that ends a field of fstab, adds an option, or leads upwards.
PLAIN = re.compile(r"(/(?!\.{1,2}(/|\Z))[A-Za-z0-9_.+=@~-]+)+")
LONGEST = 255
#: Option by which lines are known; mount(8) gives no option that begins with x- to anybody.
OURS = "x-interlock"
SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")

AGAIN, LOOK = 75, 65


class NotMountedYet(Exception):
    """Not yet: it is tried again."""


class NotMountable(Exception):
    """Somebody has to look."""


def main() -> int:
    """Every share of the table; the worst of what was found is the exit code."""
    options = arguments()
    shares = json.loads(Path(options.table).read_text(encoding="utf-8"))
    try:
        told = metadata(options)
    except NotMountedYet as error:
        print(f"{error}; tried again", file=sys.stderr)
        return AGAIN
    fstab = Path(options.fstab).resolve()
    others, before = split(read(fstab))
    wanted, worst = [], 0
    for item in shares:
        try:
            source = source_of(item, told, others)
            check_place(item, source, before, options)
        except NotMountable as error:
            worst = LOOK
            print(f"{item['mount']}: {error}", file=sys.stderr)
            continue
        item["is"] = source
        if source is not None:
            wanted.append(line_of(item, source))
    write(fstab, others, before, wanted)
    for item in shares:
        if "is" in item:
            worst = max((worst, attempt(item, before, options)), key=(0, AGAIN, LOOK).index)
    return worst


def arguments() -> argparse.Namespace:
    """Where everything is; other places are for trying it out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="/etc/interlock/shares.json")
    parser.add_argument("--fstab", default="/etc/fstab")
    parser.add_argument("--mounted", default="/proc/self/mountinfo")
    parser.add_argument("--metadata", default=METADATA)
    parser.add_argument("--drive", help="a device with metadata, or a folder; without it the service is asked")
    return parser.parse_args()


def attempt(item: dict[str, Any], before: list[str], options: argparse.Namespace) -> int:
    """See to one share, and say what was done."""
    try:
        print(f"{item['mount']}: {see_to(item, before, options)}")
    except NotMountedYet as error:
        print(f"{item['mount']}: {error}; tried again", file=sys.stderr)
        return AGAIN
    except NotMountable as error:
        print(f"{item['mount']}: {error}", file=sys.stderr)
        return LOOK
    return 0


def see_to(item: dict[str, Any], before: list[str], options: argparse.Namespace) -> str:
    """Mount one share, or unmount it; what was done, in words."""
    point, source = item["mount"], item["is"]
    there = mounted_at(point, options.mounted)
    if there is not None and there == source:
        return "is mounted"
    if there is not None:
        run("umount", point)
    if source is None:
        if has_line(point, before):
            return f"metadata do not name {item['share']} any more; it is not mounted"
        if options.drive:
            raise NotMountable(f"{item['share']} is not on the drive, written at the deployment; mount it by hand")
        raise NotMountedYet(f"metadata do not name {item['share']} yet")
    check_client(item["kind"])
    Path(point).mkdir(parents=True, exist_ok=True)
    run("mount", "-t", item["kind"], "-o", item["options"], source, point)
    return f"mounted from {source}"


def source_of(item: dict[str, Any], told: dict[str, Any], others: list[str]) -> str | None:
    """What is to be mounted; None if metadata do not name the share. Raises `NotMountable` if nobody may mount that."""
    if any(fields_of(line)[1:2] == [item["mount"]] for line in others):
        raise NotMountable("not mounted: fstab has a line for this place that is not ours; take it out, or leave it so")
    path = told.get(PREFIX + item["share"])
    if path is None:
        return None
    if not isinstance(path, str) or len(path) > LONGEST or not PLAIN.fullmatch(path):
        raise NotMountable(f"not mounted: metadata say {path!r} of {item['share']}, which is no plain absolute path")
    return str(item["source"]) + path


def check_place(item: dict[str, Any], source: str | None, before: list[str], options: argparse.Namespace) -> None:
    """Raises `NotMountable` if something is mounted there that is not ours to unmount.

    What has no line of ours somebody mounted by hand, although it may be of this very share.
    """
    there = mounted_at(item["mount"], options.mounted)
    if there is None or there == source or (has_line(item["mount"], before) and there.startswith(item["source"])):
        return
    raise NotMountable(f"{there} is mounted there, and not by this program; unmount it, or leave it so")


def has_line(point: str, lines: list[str]) -> bool:
    """True if one of these lines of fstab is for this place."""
    return any(fields_of(line)[1] == point for line in lines)


def line_of(item: dict[str, Any], source: str) -> str:
    """The line of fstab."""
    return f"{source} {item['mount']} {item['kind']} {item['options']},{OURS} 0 0"


def check_client(kind: str) -> None:
    """Raises `NotMountable` if the image has no client."""
    program = f"mount.{kind}"
    if shutil.which(program, path=os.pathsep.join((os.environ.get("PATH", ""), *SBIN))) is None:
        raise NotMountable(f"not mounted: {program} is missing; install an NFS client, then run it again")


def mounted_at(point: str, table: str) -> str | None:
    """The source of what is mounted there, by the kernel's own table; the last one covers the others."""
    found = None
    for line in filter(None, Path(table).read_bytes().decode("utf-8", "surrogateescape").split("\n")):
        place, _, device = line.partition(" - ")
        if place.split(" ")[4] == point:
            found = device.split(" ")[1]
    return found


def metadata(options: argparse.Namespace) -> dict[str, Any]:
    """Member `meta` of what Nova or Ironic says of this server."""
    try:
        said = json.loads(on_drive(options.drive) if options.drive else asked(options.metadata))
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise NotMountedYet(f"metadata cannot be read: {error}") from error
    found = said.get("meta") if isinstance(said, dict) else None
    if not isinstance(found, dict):
        # A server of ours always has some: a service that says none knows it not yet.
        raise NotMountedYet("metadata have no `meta`")
    return found


def asked(place: str) -> bytes:
    """From the service. No proxy stands between a server and its metadata."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(place, timeout=10) as answer:
        said: bytes = answer.read()
        return said


def on_drive(drive: str) -> bytes:
    """From a drive, mounted for as long as it is read."""
    if Path(drive).is_dir():
        return (Path(drive) / ON_DRIVE).read_bytes()
    folder = tempfile.mkdtemp()
    try:
        run("mount", "-o", "ro", drive, folder)
        try:
            return (Path(folder) / ON_DRIVE).read_bytes()
        finally:
            run("umount", folder)
    finally:
        Path(folder).rmdir()


def read(fstab: Path) -> str:
    """What is in it; bytes that are no text come back as they are."""
    return fstab.read_bytes().decode("utf-8", "surrogateescape") if fstab.exists() else ""


def fields_of(line: str) -> list[str]:
    """The fields of a line of fstab, which blanks and tabs separate and nothing else; none of a comment."""
    return [] if line.lstrip(" \t").startswith("#") else [word for word in re.split("[ \t\r]+", line) if word]


def split(text: str) -> tuple[list[str], list[str]]:
    """(lines of others, our own). Only a line feed ends a line: what else Python takes for an end stays inside."""
    others: list[str] = []
    ours: list[str] = []
    lines = text.split("\n")
    for line in lines if lines[-1] else lines[:-1]:
        fields = fields_of(line)
        is_ours = len(fields) > 3 and OURS in fields[3].split(",")
        (ours if is_ours else others).append(line)
    return others, ours


def write(fstab: Path, others: list[str], before: list[str], wanted: list[str]) -> None:
    """All others as they are, then ours; whole or not at all, and not if nothing changes."""
    if before == wanted:
        return
    new = fstab.with_name(f".{fstab.name}.interlock")
    new.unlink(missing_ok=True)
    mode = fstab.stat().st_mode & 0o777 if fstab.exists() else 0o644
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        text = "".join(f"{line}\n" for line in (*others, *wanted))
        file.write(text.encode("utf-8", errors="surrogateescape"))
        file.flush()
        os.fsync(descriptor)
    new.replace(fstab)


def run(*command: str) -> None:
    """Raises `NotMountedYet` if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMountedYet(f"{command[0]}: {done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
