"""The client that the commands share: where the controller is, who asks, one call, and waiting until it is done."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .commands import VipuCommand
from .refusals import AnsweredRefusal, VipuRefused
from .scene import Call, OptionValue

USER_PORT = 8090
_WAIT_SECONDS = 120.0
_LOOK_SECONDS = 0.1
_ANSWER_SECONDS = 30.0
_LINE = re.compile(r'\s*([a-z-]+)\s*=\s*(?:"([^"]*)"|(\d+))\s*')
#: Keys of a file of settings. `api-host` was seen; that the others have the flags' names is assumed.
KEYS = ("api-host", "api-port", "api-user-id", "api-access-key", "tls-ca", "tls-cert", "tls-key")


class SettingsWrong(Exception):
    """A file of settings that is none, with the line."""


@dataclass(frozen=True)
class VipuAnswer:
    """What a call was answered with, the release of the controller, and where its user API is."""

    value: Any
    release: str
    user_host: str
    user_port: int


@dataclass(frozen=True)
class VipuEndpoint:
    """Where to ask, and as whom."""

    host: str
    port: int
    user: str = ""
    key: str = ""
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    seconds: float = _WAIT_SECONDS

    def ask(self, call: Call) -> VipuAnswer:
        """One call. Raises AnsweredRefusal, VipuRefused if nobody answers, SettingsWrong."""
        body = json.dumps({"verb": call.verb, "noun": call.noun, "id": call.id, "options": dict(call.options)})
        headers = {"Content-Type": "application/json", "X-Vipu-User": self.user, "X-Vipu-Key": self.key}
        connection = self._connection()
        try:
            connection.request("POST", "/call", body, headers)
            answer = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = str(error) or type(error).__name__
            raise VipuRefused("unreached", host=self.host, port=self.port, why=why) from None
        finally:
            connection.close()
        if "error" in answer:
            raise AnsweredRefusal(answer["error"]["code"], answer["error"]["text"])
        place = answer["user_api"]
        return VipuAnswer(answer["value"], answer["release"], place["host"], place["port"])

    def _connection(self) -> http.client.HTTPConnection:
        if not self.tls_ca:
            return http.client.HTTPConnection(self.host, self.port, timeout=_ANSWER_SECONDS)
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
            if self.tls_cert:
                context.load_cert_chain(self.tls_cert, self.tls_key or None)
        except OSError as error:
            raise SettingsWrong(f"certificates of the client: {error}") from None
        return http.client.HTTPSConnection(self.host, self.port, timeout=_ANSWER_SECONDS, context=context)

    def waited(self, command: VipuCommand, name: str) -> Any:
        """What an object is once it is settled; None once it is gone. Raises AnsweredRefusal when it takes too long."""
        until = time.monotonic() + self.seconds
        while True:
            try:
                value = self.ask(Call("get", command.noun, name)).value
            except AnsweredRefusal as error:
                if command.until == "gone" and error.code == "NOT_FOUND":
                    return None
                raise
            state = str(value.get("partition", value)["status"]["state"])
            if command.until == "settled" and state not in ("PS_PENDING", "CREATING"):
                return value
            if time.monotonic() > until:
                raise VipuRefused("late", noun=command.noun, id=name, state=state, seconds=self.seconds)
            time.sleep(_LOOK_SECONDS)


def read_settings(file: Path) -> dict[str, str]:
    """A file of `key="value"` lines. Raises SettingsWrong."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SettingsWrong(f"{file}: {error.strerror}") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None or match[1] not in KEYS:
            raise SettingsWrong(f'{file}:{number}: write KEY="value", with a key of {", ".join(KEYS)}')
        found[match[1]] = match[2] if match[2] is not None else match[3]
    return found


def endpoint(options: Mapping[str, OptionValue], environment: Mapping[str, str], system_file: Path) -> VipuEndpoint:
    """From flags, else variables, else a file of settings, else the system's. Raises SettingsWrong."""
    named = options.get("config")
    given = {}
    if isinstance(named, str):
        given = read_settings(Path(named))
    elif system_file.exists():
        given = read_settings(system_file)
    if environment.get("VIPU_CLI_API_HOST"):
        given["api-host"] = environment["VIPU_CLI_API_HOST"]
    given |= {name: str(value) for name, value in options.items() if name in KEYS}
    if not given.get("api-host"):
        raise SettingsWrong("no controller: give --api-host, --config FILE or VIPU_CLI_API_HOST")
    port = given.get("api-port", str(USER_PORT))
    if not (port.isascii() and port.isdecimal() and int(port) < 65536):
        raise SettingsWrong(f"api-port {port!r} is no port")
    seconds = options.get("timeout", _WAIT_SECONDS)
    return VipuEndpoint(
        given["api-host"],
        int(port),
        given.get("api-user-id", ""),
        given.get("api-access-key", ""),
        given.get("tls-ca", ""),
        given.get("tls-cert", ""),
        given.get("tls-key", ""),
        float(seconds) if isinstance(seconds, int | float) else _WAIT_SECONDS,
    )
