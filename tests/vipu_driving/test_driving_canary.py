"""No access key of V-IPU is anywhere but with its controller and where it waits for its server, whatever goes wrong."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from interlock.channel.tickets import WAITING
from interlock.planning.guest.document import CloudConfig
from interlock.planning.guest.secret_files import fetched_secrets
from tests.faults.proxy import Injection, Request, Response
from tests.kills.vipu_ground import VipuGround, vipu_ground
from tests.support.engine.process import Refused
from tests.support.engine.runs import destroy, up
from tests.support.engine.stack import Stack
from tests.support.paper.vpod import DOOR, PAPER, POPLAR, THERE, settings_in, stack_on

_KEY = re.compile(r"Access key is '([^']+)'|\"access_key\": \"([^\"]+)\"")


@dataclass
class Listener:
    """Hears each key that a controller tells, and has some commands fail that quote it."""

    #: The next so many commands that tell a key end with 1, with all that they said as their error.
    failing: int = 0
    keys: list[str] = field(default_factory=list)

    def __call__(self, request: Request, ask: Callable[[], Response]) -> Response:
        answer = ask()
        said = json.loads(answer.body)
        found = ["".join(pair) for pair in _KEY.findall(said["out"])]
        self.keys += found
        if found and self.failing:
            self.failing -= 1
            said |= {"code": 1, "err": f"internal error near: {said['out']}", "out": ""}
        return Response(200, (), json.dumps(said).encode())


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[VipuGround]:
    with vipu_ground(tmp_path) as found:
        yield found


def test_a_key_is_nowhere_but_where_it_waits(
    ground: VipuGround, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Made, failed, failed for good, handed out, replaced and gone: real provider processes, their files and words, and
    all that the cloud is told, user data among it.
    """
    hears = Listener(failing=1)
    recorder = Injection(hears, DOOR, "*", "", last=None)
    asked = Injection(lambda _, ask: ask(), PAPER, "*", "", last=None)
    document = CloudConfig(POPLAR, (fetched_secrets(("vipu",)),)).text()
    (poplar,) = [item for item in ground.vpod.cloud.servers.values() if item["name"] == POPLAR]
    poplar["OS-EXT-SRV-ATTR:user_data"] = base64.b64encode(document.encode()).decode()
    process: Any = None
    stack = stack_on(ground.vpod, process)
    names, shown = [name for name in stack.resources if name not in THERE], list[str]()
    with ground.proxy.injected(recorder, asked):
        _run(ground, stack, shown, lambda: up(stack, names[:-2], preflight=True))
        hears.failing = 2
        refused = _run(ground, stack, shown, lambda: up(stack, names, preflight=True))
        shown.append(refused)
        assert "`update user poplar-0` ended with 1: what it said is not shown" in refused
        assert _run(ground, stack, shown, lambda: up(stack, names, preflight=True)) == ""
        (waiting,) = [item for item in ground.vpod.cloud.secrets.values() if "payload" in item]
        assert settings_in(waiting)["api-access-key"] == hears.keys[-1]
        assert _run(ground, stack, shown, lambda: up(stack, names, "user", preflight=False)) == ""
        assert _run(ground, stack, shown, lambda: [stack.read(name) for name in names]) == ""
        ground.vpod.check_key()
        shown.append(repr(stack.state))
        assert _run(ground, stack, shown, lambda: destroy(stack, names)) == ""
    # Twice the user's first one, two that nobody got, and two that were handed out.
    assert len({*hears.keys}) == len(hears.keys) == 6
    shown += [line for hit in recorder.hits for line in (hit.target, hit.body.decode())]
    shown += capfd.readouterr()
    stored = [json.loads(hit.body) for hit in asked.hits if hit.body]
    # The two that were handed out: what waits is a secret of Barbican's, and nothing else that the cloud is told is.
    left = [body for body in stored if str(body.get("name", "")).startswith(WAITING)]
    assert len(left) == 2
    assert [[key for key in hears.keys if holds(body, key)] for body in left] == [[key] for key in _handed(left)]
    rest = [body for body in stored if body not in left] + [*ground.vpod.cloud.servers.values()]
    assert not [body for body in rest for key in hears.keys if holds(body, key)]
    assert holds(
        {"server": {"user_data": base64.b64encode(f"{document}#{hears.keys[0]}".encode()).decode()}}, hears.keys[0]
    )
    for key in hears.keys:
        assert not [text for text in shown if key in text]
        assert not _files_with(key, tmp_path, ground.vpod.server)
    (tmp_path / "planted").write_text(f"key={hears.keys[0]}\n")
    assert _files_with(hears.keys[0], tmp_path, ground.vpod.server) == [tmp_path / "planted"]


def holds(value: Any, key: str) -> bool:
    """True if a text in it has the key, as it is or in base64, as Nova stores user data."""
    if isinstance(value, dict | list):
        return any(holds(item, key) for item in (value.values() if isinstance(value, dict) else value))
    text = str(value)
    with contextlib.suppress(binascii.Error, UnicodeDecodeError, ValueError):
        text += base64.b64decode(text, validate=True).decode()
    return key in text


def _handed(waiting: list[Any]) -> list[str]:
    return [settings_in(body)["api-access-key"] for body in waiting]


def _run(ground: VipuGround, stack: Stack, shown: list[str], call: Callable[[], object]) -> str:
    """Why a run stopped; empty if it did not. What it showed and recorded is kept."""
    stack.process = victim = ground.victim()
    try:
        call()
    except Refused as refused:
        return "\n".join((str(refused), *refused.reasons))
    else:
        return ""
    finally:
        shown += [victim.said, repr(stack.state)]
        victim.close()


def _files_with(key: str, folder: Path, server: str) -> list[Path]:
    """Files that have it, but for those of the controller's own server."""
    own = folder / "instance" / "state" / "vipu" / server
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(own))
    return [path for path in files if key.encode() in path.read_bytes()]
