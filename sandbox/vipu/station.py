"""Stands for ssh to a server of the sandbox and a command there: `python -m sandbox.vipu.station --help`."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import server_command, shims, sockets
from .certificates import certificates_of
from .stations import GUESTS, HOME, SETTINGS

#: What ssh ends with that did not get there.
NOT_THERE = 255
#: What a shell ends with that has no such program.
NO_PROGRAM = 127
WRONG_WORDS = 2
_ANSWER_SECONDS = 60.0

_HELP = """usage: python -m sandbox.vipu.station INSTANCE_DIR SERVER [--from SERVER] PROGRAM WORDS…
       python -m sandbox.vipu.station INSTANCE_DIR SERVER --fault 'VERB NOUN=KIND'

Stands for ssh to a server of the sandbox, and then the command PROGRAM there. Nothing is logged in to: no server of the
sandbox runs. Its controller is the SIMULATOR of V-IPU, which is not V-IPU and claims no wire compatibility.

  SERVER          id at Nova. It has to be ACTIVE, and its name to end with -controller, as plans name controllers;
                  else exit code 255, as of ssh that does not get there
  PROGRAM         vipu-admin and vipu as the default admin; vipu-server on the controller's own folder; ss, which
                  says where the simulator listens, and nothing else that a server would have
  --from SERVER   as from that server, a Poplar server: `vipu` at the user API, with an id and a key of its own in
                  WORDS, if both servers have a port on one network. Security groups are not looked at, and the
                  client's certificate is there: how it gets into a server is not simulated
  --fault RULE    the next such call fails: cut-before, cut-after, refused
"""


class NotThere(Exception):
    """The server is not reached; its words are ssh's, and why."""


@dataclass(frozen=True)
class StationWords:
    """A command line."""

    instance: Path
    server: str
    guest: str | None
    fault: str | None
    program: str
    words: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    """The program's own exit code; 255: the server is not reached; 127: no such program; 2: wrong words."""
    asked = _words(arguments)
    if asked is None:
        print(_HELP, end="", file=sys.stdout if {*arguments} & {"-h", "--help"} else sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else WRONG_WORDS
    try:
        place = ask(asked.instance, asked.server, guest=asked.guest, fault=asked.fault)
    except NotThere as error:
        print(error, file=sys.stderr)
        return NOT_THERE
    return 0 if asked.fault is not None else _run(asked, place)


def _words(arguments: Sequence[str]) -> StationWords | None:
    rest = list(arguments)
    if len(rest) < 3 or rest[0].startswith("-"):
        return None
    instance, server = Path(rest.pop(0)).resolve(), rest.pop(0)
    options: dict[str, str] = {}
    while rest and rest[0] in ("--from", "--fault"):
        name = rest.pop(0)
        if not rest:
            return None
        options[name] = rest.pop(0)
    fault = options.get("--fault")
    if (fault is None) == (not rest):
        return None
    return StationWords(instance, server, options.get("--from"), fault, rest[0] if rest else "", tuple(rest[1:]))


def ask(instance: Path, server: str, *, guest: str | None = None, fault: str | None = None) -> dict[str, Any]:
    """Where a server's controller is, as the instance's service says. Raises NotThere."""
    query = {name: value for name, value in (("from", guest), ("fault", fault)) if value is not None}
    try:
        port = json.loads((instance / "ports.json").read_text(encoding="utf-8"))["vipu"]
        url = f"http://127.0.0.1:{port}/controller/{urllib.parse.quote(server)}?{urllib.parse.urlencode(query)}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=_ANSWER_SECONDS) as answer:
            found: dict[str, Any] = json.loads(answer.read())
            return found
    except urllib.error.HTTPError as error:
        raise NotThere(f"ssh: {json.loads(error.read())['why']}") from None
    except (OSError, ValueError, KeyError) as error:
        raise NotThere(f"ssh: {server}: Connection refused (the sandbox in {instance} is not up: {error})") from None


def _run(asked: StationWords, place: dict[str, Any]) -> int:
    folder = Path(place["folder"])
    host, port = place["user"]
    user_api = ("--api-host", str(host), "--api-port", str(port))
    if asked.guest is not None:
        return _run_guest(asked, folder, user_api)
    os.chdir(folder / HOME)
    os.environ["HOME"] = str(folder / HOME)
    config = ("--config", str(folder / SETTINGS))
    if asked.program == "vipu-admin":
        return shims.main((*config, *asked.words), "admin")
    if asked.program in ("vipu", "vipu-cli"):
        return shims.main((*config, *user_api, *asked.words), "user")
    if asked.program == "vipu-server":
        return server_command.main(("--storage-dir", str(folder), *asked.words))
    if asked.program == "ss":
        print(
            sockets.listed(dict.fromkeys((str(host), int(port)) for host, port in (place["user"], place["admin"]))),
            end="",
        )
        return 0
    return _unknown(asked.program)


def _run_guest(asked: StationWords, folder: Path, user_api: tuple[str, ...]) -> int:
    if asked.program not in ("vipu", "vipu-cli"):
        return _unknown(asked.program)
    home = guest_folder(asked.instance, str(asked.guest))
    os.environ["HOME"] = str(home)
    files = certificates_of(folder)
    trust = (
        "--tls-ca",
        str(files.authority),
        "--tls-cert",
        str(files.client_chain),
        "--tls-key",
        str(files.client_key),
    )
    return shims.main((*trust, *user_api, *asked.words), "user")


def guest_folder(instance: Path, server: str) -> Path:
    """The home of a Poplar server, made if it is not there; it goes with the server."""
    home = instance / "state" / "vipu" / GUESTS / server
    home.mkdir(parents=True, exist_ok=True)
    return home


def _unknown(program: str) -> int:
    print(f"bash: {program}: command not found", file=sys.stderr)
    return NO_PROGRAM


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
