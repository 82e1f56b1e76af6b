"""The command `vipu-server`: makes a controller's folder, and serves it until it is ended."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from sandbox.told_to_end import told_to_end

from .allocation_calls import new_key
from .certificates import make_certificates
from .clock import Durations, FileClock, SystemClock
from .controller import ControllerSettings, initialised, opened
from .faults import FaultUnknown, vipu_fault_of
from .flags import SERVER_FLAGS, SIMULATOR_FLAGS
from .forms import FormWrong, write_whole
from .refusals import REFUSED, WRONG_WORDS, VipuRefused
from .serving import NOTICE, Serving, ServingSettings
from .storage import StorageBusy
from .words import Words, WordsWrong, environment, parsed, spellings

ENDPOINTS = "endpoints.json"


def main(arguments: Sequence[str]) -> int:
    """Exit code 0; 1: the folder cannot be used; 2: words that it does not know."""
    try:
        words = parsed(arguments, (*SERVER_FLAGS, *SIMULATOR_FLAGS), spellings(environment()))
        if "help" in words.options or not words.options:
            print(help_of_server())
            return 0
        if words.words:
            raise WordsWrong(f"unknown word {words.words[0]}")
        folder = Path(_text(words, "storage-dir"))
        if "init" in words.options:
            return _initialise(words, folder)
        if "tls-init" in words.options:
            make_certificates(folder, _names(words))
            print(f"certificates written: {folder}/vipu-certs")
            return 0
        return _serve(words, folder)
    except (WordsWrong, FaultUnknown) as error:
        print(f"vipu-server: {error}; see vipu-server --help", file=sys.stderr)
        return WRONG_WORDS
    except (StorageBusy, FormWrong, OSError, VipuRefused) as error:
        print(f"vipu-server: {error}", file=sys.stderr)
        return REFUSED


def help_of_server() -> str:
    """What `--help` prints."""
    lines = [
        "vipu-server: a SIMULATOR of V-IPU's controller, for tests. It is not V-IPU and claims no wire compatibility:",
        "commands of the simulator alone can speak to it. (unverified): in no public source.",
        "",
    ]
    for flags, title in ((SERVER_FLAGS, "Flags:"), (SIMULATOR_FLAGS, "Of the simulator alone:")):
        lines.append(title)
        for flag in flags:
            mark = " (unverified)" if flag.source.unverified and flags is SERVER_FLAGS else ""
            lines.append(f"  {flag.name}{', ' + flag.short if flag.short else '':<6} {flag.help}{mark}")
    return "\n".join(lines)


def _text(words: Words, name: str, default: str | None = None) -> str:
    value = words.options.get(name, default)
    if not isinstance(value, str):
        raise WordsWrong(f"--{name} is required")
    return value


def _names(words: Words) -> tuple[str, ...]:
    """Addresses that certificates are for besides 127.0.0.1."""
    named = [words.options.get(name) for name in ("api-host", "admin-host")]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str) and name != "127.0.0.1"))


def _initialise(words: Words, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    admin, key = _text(words, "default-user-id", getpass.getuser()), new_key()
    initialised(folder, admin, key)
    if "secure" in words.options or "tls-init" in words.options:
        make_certificates(folder, _names(words))
    print(f"storage written: {folder}/vipu-server.json\ndefault admin '{admin}'. Access key is '{key}'.")
    return 0


def durations_of(text: str) -> Durations:
    """`contact=0,partition=0.5`. Raises WordsWrong."""
    known = {item.name for item in fields(Durations)}
    values = {}
    for part in filter(None, text.split(",")):
        name, _, seconds = part.partition("=")
        try:
            values[name] = float(seconds)
        except ValueError:
            raise WordsWrong(f"--durations: {part!r} is no NAME=SECONDS") from None
        if name not in known or not 0 <= values[name] < float("inf"):
            raise WordsWrong(f"--durations: {part!r}: seconds of {', '.join(sorted(known))}")
    return Durations(**values)


def _serve(words: Words, folder: Path) -> int:
    listen = words.options.get("autodiscovery-listen-interfaces")
    settings = ControllerSettings(
        secure="secure" in words.options,
        durations=durations_of(_text(words, "durations", "")),
        interfaces=listen if isinstance(listen, tuple) else (),
        release=_text(words, "release", "1.18.0"),
    )
    faults = words.options.get("fault")
    rules = [vipu_fault_of(text) for text in faults] if isinstance(faults, tuple) else []
    clock = FileClock(Path(_text(words, "clock"))) if "clock" in words.options else SystemClock()
    with told_to_end() as wait:
        controller = opened(folder, Path(_text(words, "racks")), clock, settings)
        try:
            serving = Serving(controller, _addresses(words))
            for rule in rules:
                serving.faults.add(rule)
            with serving.running():
                _tell(serving, folder)
                wait()
        finally:
            controller.close()
    return 0


def _addresses(words: Words) -> ServingSettings:
    port, admin_port = words.options.get("api-port", 8090), words.options.get("admin-port")
    host = _text(words, "api-host", "127.0.0.1")
    return ServingSettings(
        host,
        port if isinstance(port, int) else 8090,
        _text(words, "admin-host", host),
        admin_port if isinstance(admin_port, int) else None,
    )


def _tell(serving: Serving, folder: Path) -> None:
    """Where it is: in `endpoints.json` of the folder, written whole once both APIs answer, and on stdout."""
    (user, user_port), (admin, admin_port) = serving.user, serving.admin
    places = {"user": {"host": user, "port": user_port}, "admin": {"host": admin, "port": admin_port}}
    write_whole(folder / ENDPOINTS, json.dumps(places) + "\n")
    print(f"{NOTICE}: user API at {user}:{user_port}, admin API at {admin}:{admin_port}", flush=True)
