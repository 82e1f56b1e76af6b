#!/usr/bin/python3
"""Fetches what waits for this server, once, and writes it to files that only root reads.

Runs in the server, as root, with nothing but Python 3.8. Exit codes: 0 all is there; 65 something will not come by
itself: look at the journal. Nothing secret is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

VENDOR_DATA = "http://169.254.169.254/openstack/latest/vendor_data2.json"
#: Nova's name for the service that is asked (`vendordata_dynamic_targets`).
TARGET = "interlock"
#: A name is a file's: nothing that leads elsewhere.
NAME = re.compile(r"[a-z0-9-]{1,64}")
#: Seconds: between questions where the answer does not say, and at most.
USUAL, MOST = 25, 90
#: Room that is there for a secret before it is asked for: it is given once.
ROOM = 1 << 16

REFUSED = 65


def main() -> int:
    """Asks until all is there, nothing more will come, or it has taken too long."""
    options = arguments()
    folder = Path(options.folder)
    names = [name for name in json.loads(Path(options.table).read_text(encoding="utf-8")) if NAME.fullmatch(name)]
    deadline = time.monotonic() + 60 * options.minutes
    last: list[str] = []
    while True:
        missing = [name for name in names if not (folder / name).exists()]
        if not missing:
            print("all is there")
            return 0
        said, again = ask(missing, folder, options.vendor_data)
        if said != last:
            print("\n".join(said), file=sys.stderr)
            last = said
        if all((folder / name).exists() for name in names):
            continue
        if again is None:
            print(f"{' '.join(missing)}: will not come; the operator has to leave it again", file=sys.stderr)
            return REFUSED
        if time.monotonic() + again > deadline:
            print(f"{' '.join(missing)}: nothing came within {options.minutes} minutes", file=sys.stderr)
            return REFUSED
        time.sleep(min(again, options.most))


def arguments() -> argparse.Namespace:
    """Where everything is; other places are for trying it out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="/etc/interlock/secrets.json")
    parser.add_argument("--folder", default="/etc/interlock/secrets")
    parser.add_argument("--vendor-data", default=VENDOR_DATA)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--most", type=float, default=MOST)
    return parser.parse_args()


def ask(missing: list[str], folder: Path, place: str) -> tuple[list[str], float | None]:
    """One question: what was said, and after how many seconds to ask again; None if that is of no use.

    There is room for what comes before it is asked for.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    partial = {name: reserved(folder / f".{name}.new") for name in missing}
    try:
        answer = fetched(place)
    except (urllib.error.URLError, OSError, ValueError) as error:
        return [f"metadata does not answer: {type(error).__name__}"], USUAL
    said = [str(line) for line in answer.get("said", [])]
    for name, text in answer.get("items", {}).items():
        if name in partial:
            keep(partial[name], folder / name, str(text))
            said.append(f"{name}: written to {folder / name}")
        else:
            said.append(f"{name!r}: came, and is none that this server expects; it is thrown away")
    if not answer:
        return ["the service behind metadata does not answer"], USUAL
    again = answer.get("again")
    return said, float(again) + 1 if isinstance(again, (int, float)) else None


def fetched(place: str) -> dict[str, Any]:
    """What the service says; empty if Nova could not ask it. No proxy stands between a server and its metadata."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(place, timeout=60) as answer:
        said = json.load(answer)
    found = said.get(TARGET) if isinstance(said, dict) else None
    return found if isinstance(found, dict) else {}


def reserved(path: Path) -> Path:
    """An empty file that only root reads, with room for what is to come."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, ROOM)
    finally:
        os.close(descriptor)
    return path


def keep(partial: Path, path: Path, text: str) -> None:
    """Write it whole, then give it its name: a file that is there is never half of a secret."""
    with partial.open("r+b") as file:
        file.write(text.encode())
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())
