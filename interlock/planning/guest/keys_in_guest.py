#!/usr/bin/python3
"""Gets the keys of a cluster and puts munge's where munged reads it.

Runs in each server of a cluster, as root, with nothing but Python 3.8. A whole host asks the cluster's heads, from a
port that only root has, until it has all; a virtual server has them of its metadata, by another program. Exit codes:
0 all is there; 1 try again; 65 a person has to look. Nothing secret is printed.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import pwd
import random
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: A name is a file's: nothing that leads elsewhere.
NAME = re.compile(r"[a-z0-9-]{1,64}")
#: Only root sends from these, and no NFS client takes one by itself (the kernel's begin at 665).
OWN_PORTS = range(512, 665)
#: Seconds: for one connection, between questions, and at most.
PATIENCE, USUAL, MOST = 15, 20, 60
#: Bytes of an answer.
ANSWER = 1 << 18
LOOK = 65


def main() -> int:
    """Asks until all is there, however long that takes, and puts it in place."""
    options = arguments()
    table, folder = json.loads(Path(options.table).read_text(encoding="utf-8")), Path(options.folder)
    names = [name for name in table["items"] if NAME.fullmatch(name)]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    last: list[str] = []
    while True:
        missing = [name for name in names if not (folder / name).exists()]
        if not missing:
            break
        said = [f"{name} is not there yet" for name in missing] if not table["heads"] else []
        for head in table["heads"]:
            said += ask(head, table["port"], [name for name in missing if not (folder / name).exists()], folder)
            if all((folder / name).exists() for name in names):
                break
        if said != last:
            print("\n".join(said), file=sys.stderr, flush=True)
            last = said
        if not all((folder / name).exists() for name in names):
            time.sleep(min(USUAL, options.most))
    return max((put(folder, name, place, options.systemctl) for name, place in table["places"].items()), default=0)


def arguments() -> argparse.Namespace:
    """Where everything is; other places are for trying it out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="/etc/interlock/keys.json")
    parser.add_argument("--folder", default="/etc/interlock/secrets")
    parser.add_argument("--systemctl", default="systemctl")
    parser.add_argument("--most", type=float, default=MOST)
    return parser.parse_args()


def ask(head: str, port: int, missing: list[str], folder: Path) -> list[str]:
    """One question to one head: what was said. It is told when all that came is written down."""
    try:
        with connected(head, port) as connection:
            connection.sendall(json.dumps(missing).encode() + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline(ANSWER)
            answer: dict[str, Any] = json.loads(line) if line else {}
            if not answer:
                return [f"{head} says nothing: it does not know this server as a node (/etc/hosts there)"]
            given = {name: text for name, text in answer["items"].items() if name in missing}
            for name, text in given.items():
                write(folder / name, str(text).encode())
            if given:
                connection.sendall(b"kept\n")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        return [f"{head} does not answer: {type(error).__name__}"]
    return [*map(str, answer.get("said", [])), *(f"{name}: came from {head}" for name in given)]


def connected(head: str, port: int) -> socket.socket:
    """A connection from a port that only root has."""
    for own in random.sample(OWN_PORTS, len(OWN_PORTS)):
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.settimeout(PATIENCE)
        try:
            connection.bind(("", own))
            connection.connect((head, port))
        except OSError as error:
            connection.close()
            if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
                raise
        else:
            return connection
    raise OSError(errno.EADDRINUSE, "no port below 665 is free")


def put(folder: Path, name: str, place: dict[str, Any], systemctl: str) -> int:
    """One key where a daemon reads it, and the daemon restarted; nothing if that was done with this very key.

    What a person puts there later stays: only another key comes in its place.
    """
    text = (folder / name).read_bytes()
    stamp, mark = folder / f".{name}.put", hashlib.sha256(text).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="ascii") == mark:
        return 0
    try:
        owner = pwd.getpwnam(place["owner"])
    except KeyError:
        print(f"{name}: this image has no user {place['owner']}: it lacks the package", file=sys.stderr)
        return LOOK
    path = Path(place["path"])
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700)
        os.chown(path.parent, owner.pw_uid, owner.pw_gid)
    write(path, text, 0o400, (owner.pw_uid, owner.pw_gid))
    first, *others = place["units"]
    if subprocess.run([systemctl, "restart", first], check=False).returncode:
        print(f"{first} does not start: see its journal", file=sys.stderr)
        return 1
    for unit in others:
        if not subprocess.run([systemctl, "is-enabled", "--quiet", unit], check=False).returncode:
            subprocess.run([systemctl, "restart", "--no-block", unit], check=False)
    write(stamp, mark.encode())
    print(f"{name}: at {path}, {first} restarted")
    return 0


def write(path: Path, content: bytes, mode: int = 0o600, owner: tuple[int, int] | None = None) -> None:
    """Write it whole, then give it its name: a file that is there is never half of a key."""
    partial = path.with_name(f".{path.name}.new")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
        os.fchmod(descriptor, mode)
        if owner is not None:
            os.fchown(descriptor, *owner)
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())
