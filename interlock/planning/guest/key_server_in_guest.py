#!/usr/bin/python3
"""Gives the keys of a cluster to its nodes, to each once, over the cluster's own network.

Runs on a head, as root, with nothing but Python 3.8. Whoever asks has to have the address of a node, by /etc/hosts,
and a port below 1024: root there, and none of the people who log in. `--again NODE` lets a node ask once more that was
deployed anew. Nothing secret is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import socket
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

#: Ports that only root may send from.
PRIVILEGED = 1024
#: Seconds that an asker may take for a line, and bytes of one.
PATIENCE, LINE = 10, 4096
#: Seconds after which it is of use to ask again.
AGAIN = 20
KEPT = b"kept\n"

WRITING = threading.Lock()


def main() -> int:
    """Answers until it is ended; or lets a node ask again."""
    options = arguments()
    if options.again:
        return forget(Path(options.given), options.again)
    table = json.loads(Path(options.table).read_text(encoding="utf-8"))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((table["address"], table["port"]))
    listener.listen(64)
    print(f"listening at {table['address']} port {table['port']}", file=sys.stderr, flush=True)
    while True:
        connection, peer = listener.accept()
        connection.settimeout(PATIENCE)
        node = nodes_of(Path(options.hosts), table["nodes"]).get(peer[0])
        if node is None or peer[1] >= PRIVILEGED:
            why = "no node of this cluster" if node is None else "not root there"
            print(f"{peer[0]} port {peer[1]} refused: {why}", file=sys.stderr, flush=True)
            connection.close()
            continue
        work = threading.Thread(target=answer, args=(connection, node, table["items"], options), daemon=True)
        work.start()


def arguments() -> argparse.Namespace:
    """Where everything is; other places are for trying it out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="/etc/interlock/key-server.json")
    parser.add_argument("--folder", default="/etc/interlock/secrets")
    parser.add_argument("--hosts", default="/etc/hosts")
    parser.add_argument("--given", default="/var/lib/interlock/keys-given.json")
    parser.add_argument("--again", metavar="NODE", help="let this node ask once more, and end")
    return parser.parse_args()


def nodes_of(hosts: Path, prefix: str) -> dict[str, str]:
    """Address -> node, by the file as it is now: nodes that come later are written there by hand."""
    name = re.compile(re.escape(prefix) + "[0-9]+")
    lines = (line.partition("#")[0].split() for line in hosts.read_text(encoding="utf-8").splitlines())
    return {words[0]: one for words in lines for one in words[1:] if name.fullmatch(one)}


def answer(connection: socket.socket, node: str, items: list[str], options: argparse.Namespace) -> None:
    """One question of a node. What it got is noted when it says that it has written it down."""
    try:
        with connection, connection.makefile("rb") as asked:
            wanted = json.loads(asked.readline(LINE))
            if not isinstance(wanted, list):
                raise TypeError("no list of names")
            reply = reply_to(node, [name for name in items if name in wanted], options)
            connection.sendall(json.dumps(reply).encode() + b"\n")
            given = reply["items"]
            if given and asked.readline(LINE) == KEPT:
                note(Path(options.given), node, given)
                print(f"{node} has {', '.join(given)}", file=sys.stderr, flush=True)
            elif given:
                print(f"{node} did not say that it kept {', '.join(given)}", file=sys.stderr, flush=True)
    except (OSError, ValueError, TypeError, RecursionError) as error:  # the last one: lists in lists in lists
        print(f"{node}: {type(error).__name__}", file=sys.stderr, flush=True)


def reply_to(node: str, names: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """What it is given and told."""
    items: dict[str, str] = {}
    said = []
    had = given_before(Path(options.given)).get(node, {})
    for name in names:
        try:
            text = (Path(options.folder) / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            said.append(f"{name} is not at this head yet")
            continue
        if had.get(name) == digest(text):
            said.append(f"{name} was given to {node} before; `interlock-key-server --again {node}` here allows it")
        else:
            items[name] = text
    return {"items": items, "said": said, "again": AGAIN}


def digest(text: str) -> str:
    """Says which key it was, and tells nobody what it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def given_before(path: Path) -> dict[str, dict[str, str]]:
    """Node -> name -> digest of what it was given last."""
    if not path.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def note(path: Path, node: str, given: dict[str, str]) -> None:
    """Write down that it has these."""
    with WRITING:
        known = given_before(path)
        known.setdefault(node, {}).update({name: digest(text) for name, text in given.items()})
        write(path, known)


def forget(path: Path, node: str) -> int:
    """Let a node ask again. The service reads the file at each question."""
    known = given_before(path)
    if known.pop(node, None) is None:
        print(f"{node}: nothing was given to a node of this name", file=sys.stderr)
        return 1
    write(path, known)
    print(f"{node} may ask again")
    return 0


def write(path: Path, known: dict[str, dict[str, str]]) -> None:
    """Whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.new")
    with open_private(partial) as file:
        file.write(json.dumps(known, indent=1).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def open_private(path: Path) -> BinaryIO:
    """A new file that only root reads."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")


if __name__ == "__main__":
    sys.exit(main())
