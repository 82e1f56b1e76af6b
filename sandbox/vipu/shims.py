"""The commands `vipu` and `vipu-admin`: words, one call, an answer in the forms that public scripts read."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .client import SettingsWrong, VipuAnswer, VipuEndpoint, endpoint
from .commands import VipuCommand
from .flags import FLAGS
from .printed import listed
from .refusals import REFUSED, WRONG_WORDS, AnsweredRefusal, VipuRefused
from .scene import ApiName, Call
from .words import Words, WordsWrong, asked_command, environment, help_of, parsed, spellings

PROGRAMS: Mapping[ApiName, str] = {"user": "vipu", "admin": "vipu-admin"}
VERSION = "1.18.0"
SYSTEM_FILE = Path("/etc/vipu/vipu-cli.hcl")


def main(arguments: Sequence[str], api: ApiName) -> int:
    """Exit code 0; 1: refused; 2: words that no command has, or settings that are none."""
    program = PROGRAMS[api]
    try:
        names = spellings(environment())
        words = parsed(arguments, FLAGS, names)
        if "help" in words.options or not (words.words or words.options):
            print(help_of(program, api, names))
            return 0
        if "version" in words.options:
            print(f"{program} {VERSION} (simulator)")
            return 0
        where = endpoint(words.options, environment(), SYSTEM_FILE)
        if "server-version" in words.options:
            return _server_version(where)
        command, name = asked_command(words, api)
    except (WordsWrong, SettingsWrong) as error:
        print(f"{program}: {error}; see {program} --help", file=sys.stderr)
        return WRONG_WORDS
    try:
        _run(where, command, name, words, user=api == "user")
    except (AnsweredRefusal, VipuRefused) as error:
        about = f"{command.words} ({name})" if name else command.words
        print(f"{about}: failed: {error.code}: {error.text}", file=sys.stderr)
        return REFUSED
    except SettingsWrong as error:
        print(f"{program}: {error}", file=sys.stderr)
        return WRONG_WORDS
    return 0


def _server_version(where: VipuEndpoint) -> int:
    try:
        release = where.ask(Call("list", "partition")).release
    except (AnsweredRefusal, VipuRefused) as error:
        print(f"server version: failed: {error.code}: {error.text}", file=sys.stderr)
        return REFUSED
    print(f"version: {release} (simulator)\nhost: {where.host}:{where.port}")
    return 0


def _run(where: VipuEndpoint, command: VipuCommand, name: str, words: Words, *, user: bool) -> None:
    call = Call(command.verb, command.noun, name, words.only(command.flags))
    answer = where.ask(call)
    value = answer.value
    if command.until and "no-wait" not in words.options:
        value = where.waited(command, name) or {"id": name}
        if command.until == "settled" and value.get("partition", value)["status"]["state"] == "PS_ERROR":
            reason = value["partition"]["status"]["reason"]
            raise AnsweredRefusal("DEADLINE_EXCEEDED", f"partition {name!r} is in ERROR: {reason}")
    if "access_key" in value:
        _write_settings(where, answer, name)
    if user and command.noun == "partition":
        _client_files(where, command, name, value)
    if "showjson" in words.options:
        print(json.dumps(value, indent=2))
    else:
        _print(command, name, value, answer.release)


def _print(command: VipuCommand, name: str, value: Any, release: str) -> None:
    if command.verb in ("list", "get", "discover"):
        if "ipuof_configs" in value:
            # Scripts cut off one line.
            print(f"IPUoF configuration of partition {name} (simulator)")
            configs = value["ipuof_configs"]
            print(json.dumps(configs[0] if len(configs) == 1 else configs, indent=2))
            return
        print(listed(command.verb, command.noun, value, release))
        return
    if "access_key" in value:
        file = f"{name}.vipu-cli.hcl"
        print(f"{command.words} ({name}): success. Access key is '{value['access_key']}'.")
        print(f"vipu configuration file for the user '{name}' written: {file}")
        print(f"Use 'vipu --config {file}' to switch to the user context.")
        return
    print(f"{command.words} ({name}): success.")


def _write_settings(where: VipuEndpoint, answer: VipuAnswer, name: str) -> None:
    """`<user>.vipu-cli.hcl` in the working folder, as the guide says. That others cannot read it is our own choice."""
    host = answer.user_host if answer.user_host not in ("0.0.0.0", "::") else where.host
    lines = {
        "api-host": host,
        "api-user-id": name,
        "api-access-key": str(answer.value["access_key"]),
        "tls-ca": where.tls_ca,
        "tls-cert": where.tls_cert,
        "tls-key": where.tls_key,
    }
    text = f"api-port={answer.user_port}\n" + "".join(f'{item}="{value}"\n' for item, value in lines.items() if value)
    _private(Path(f"{name}.vipu-cli.hcl"), text)


def _client_files(where: VipuEndpoint, command: VipuCommand, name: str, value: Any) -> None:
    """`~/.ipuof.conf.d/<partition>.conf` for the user who made it, and no longer once it is removed."""
    folder = Path(environment().get("HOME") or "~").expanduser() / ".ipuof.conf.d"
    file = folder / f"{name}.conf"
    if command.verb == "remove":
        file.unlink(missing_ok=True)
    elif command.verb == "create" and value["partition"]["status"]["state"] == "PS_ACTIVE":
        found = where.ask(Call("get", "partition", name, {"ipuof-configs": True})).value
        folder.mkdir(mode=0o700, exist_ok=True)
        _private(file, json.dumps(found["ipuof_configs"], indent=2) + "\n")


def _private(file: Path, text: str) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(handle, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
