"""Barbican and Keystone as far as the channel asks them, in memory; what goes wrong is chosen by a test."""

from __future__ import annotations

import base64
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass
class Answer:
    """An answer of `requests`, as far as it is read."""

    status_code: int
    body: Any = None
    content: bytes = b""

    def json(self) -> Any:
        if self.body is None:
            raise ValueError("no JSON")
        return self.body


@dataclass
class Secret:
    """One secret; `expiration` None: never."""

    name: str
    payload: str | None
    expiration: datetime | None
    mode: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


class Barbican:
    """An adapter and the service behind it. Deletions are decided under a lock, as a database does."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.secrets: dict[str, Secret] = {}
        self.asked: list[tuple[str, str]] = []
        #: (method, end of the path) -> what happens in place of an answer.
        self.instead: dict[tuple[str, str], Callable[[], Answer]] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def request(self, url: str, method: str, **more: Any) -> Answer:
        assert more["log"] is False, "a body would be logged"
        self.asked.append((method, url))
        for (wanted, ending), act in self.instead.items():
            if wanted == method and url.endswith(ending):
                return act()
        with self._lock:
            return self._answer(method, url.removeprefix("/secrets").strip("/").split("/"), more)

    def _answer(self, method: str, path: list[str], more: dict[str, Any]) -> Answer:
        if path == [""]:
            return self._new(more["json"]) if method == "POST" else self._list(more["params"])
        secret = self.secrets.get(path[0])
        if secret is None or (secret.expiration is not None and secret.expiration <= self.clock()):
            return Answer(404)
        if method == "DELETE":
            del self.secrets[path[0]]
            return Answer(204)
        if path[1:] == ["payload"]:
            return Answer(404) if secret.payload is None else Answer(200, content=base64.b64decode(secret.payload))
        if path[1:] == ["metadata"]:
            return self._metadata(secret, method, more)
        return Answer(200, {"name": secret.name})

    def _new(self, words: dict[str, str]) -> Answer:
        ident = f"s{next(self._numbers)}"
        until = words.get("expiration")
        expiration = datetime.fromisoformat(until).replace(tzinfo=UTC) if until else None
        self.secrets[ident] = Secret(words["name"], words.get("payload"), expiration, words.get("mode"))
        return Answer(201, {"secret_ref": f"http://elsewhere/v1/secrets/{ident}"})

    def _list(self, params: dict[str, Any]) -> Answer:
        found = [
            {"name": secret.name, "mode": secret.mode, "secret_ref": f"http://elsewhere/v1/secrets/{ident}"}
            for ident, secret in self.secrets.items()
            if secret.name == params["name"] and (secret.expiration is None or secret.expiration > self.clock())
        ]
        start = params["offset"]
        return Answer(200, {"secrets": found[start : start + params["limit"]], "total": len(found)})

    @staticmethod
    def _metadata(secret: Secret, method: str, more: dict[str, Any]) -> Answer:
        if method == "GET":
            return Answer(200, {"metadata": dict(secret.metadata)})
        if method == "PUT":
            secret.metadata = dict(more["json"]["metadata"])
            return Answer(201, {})
        key = more["json"]["key"]
        if key in secret.metadata:
            return Answer(409)
        secret.metadata[key] = more["json"]["value"]
        return Answer(201, {})


class Keystone:
    """Tokens and whose they are."""

    def __init__(self, tokens: dict[str, str]) -> None:
        self.tokens = tokens
        self.broken: Answer | None = None

    def request(self, url: str, method: str, **more: Any) -> Answer:
        assert (method, url, more["log"]) == ("GET", "/auth/tokens", False)
        user = self.tokens.get(more["headers"]["X-Subject-Token"])
        found = Answer(404) if user is None else Answer(200, {"token": {"user": {"id": user}}})
        return self.broken or found
