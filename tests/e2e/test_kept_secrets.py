"""Secrets that go in, or are made, stand nowhere in clear: not in files, in what is printed, or in process lists."""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from openstack.connection import Connection

from tests.conftest import ROOT, Sandbox
from tests.e2e.project import Project, Result
from tests.e2e.victim import STACK

#: Keystone's tokens (Fernet) begin so.
TOKEN = re.compile(rb"gAAAAA[\w-]{40,}")

#: What the engine, its plugins and this program leave outside the project's folder.
OUTSIDE = (ROOT / ".interlock" / "proofs", ROOT / ".interlock" / "preview_tokens", ROOT / ".interlock" / "index")


@dataclass
class Watch:
    """Reads the command lines of all processes of this machine until it is told to stop."""

    seen: set[bytes] = field(default_factory=set)
    _done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.05):
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    self.seen.add(_read(entry / "cmdline"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # It ended meanwhile.
        return b""


@dataclass
class Ground:
    """A project whose operator logs in with a password of its own, and everything that was said so far."""

    project: Project
    #: What it is -> the secret.
    canaries: dict[str, str]
    said: dict[str, Result] = field(default_factory=dict)
    lines: set[bytes] = field(default_factory=set)

    def run(self, what: str, result: Result, *, code: int = 0) -> Result:
        """Keeps what a command said."""
        assert result.code == code, result.text[-3000:]
        self.said[what] = result
        return result


@pytest.fixture(scope="module")
def ground(victim: Project, sandbox: Sandbox, cloud: Connection) -> Iterator[Ground]:
    canaries = {"password": f"canary-{secrets.token_hex(12)}", "passphrase": f"canary-{secrets.token_hex(12)}"}
    # A line out of the middle of the key by which switches are read.
    canaries["switch key"] = (sandbox.dir / "state" / "switches" / "interlock.key").read_text().splitlines()[2]
    identity: Any = cloud.identity
    admin = identity.find_project("admin")
    user = identity.create_user(
        name="canary", domain_id="default", password=canaries["password"], default_project_id=admin.id
    )
    # The site's own project, too: there the site's stack made its operator an administrator, who is another user.
    for project_id in (admin.id, identity.find_project("lyon-controllers").id):
        identity.assign_project_role_to_user(project_id, user, identity.find_role("admin"))
    # Whoever wires switch ports needs this one, too.
    identity.assign_project_role_to_user(admin.id, user, identity.find_role("service"))
    clouds = yaml.safe_load(sandbox.clouds_yaml.read_text())
    clouds["clouds"]["sandbox"]["auth"] |= {"username": "canary", "password": canaries["password"]}
    # Beside the other one, so that the claims of the site are the same.
    path = sandbox.dir / "canary.yaml"
    path.write_text(yaml.safe_dump(clouds))
    project = Project.make(victim.folder.parent / "canary", path)
    project = project.with_environment(PULUMI_CONFIG_PASSPHRASE=canaries["passphrase"])
    project.copy_stacks(victim)
    # Encrypted with the other passphrase; `stack init` writes it again.
    for file in (project.folder / "stacks").glob("Pulumi.*.yaml"):
        kept = yaml.safe_load(file.read_text())
        file.write_text(yaml.safe_dump({"config": kept["config"]}))
    project.init(STACK)
    found = Ground(project, canaries)
    try:
        with Watch() as watch:
            _life(found)
        found.lines = watch.seen
        yield found
    finally:
        project.destroy(STACK)
        identity.delete_user(user)


def _life(ground: Ground) -> None:
    """What an operator does with a stack, as loud as may be: at 9 the engine prints every value that it passes on."""
    project = ground.project
    loud = ("--logtostderr", "-v=8", "--debug", "--diff")
    ground.run("up", project.up(STACK, *loud))
    shown = project.output(STACK, "--show-secrets")
    ground.canaries |= dict(_keys(shown))
    ground.run("up again", project.up(STACK, "--refresh", "--show-replacement-steps", "--show-sames", *loud))
    for what, command in {
        "outputs": ("stack", "output", "--json", "--stack", STACK),
        "export": ("stack", "export", "--stack", STACK),
        "history": ("stack", "history", "--json", "--stack", STACK),
        "preview": ("preview", "--json", "--stack", STACK),
        "stack": ("stack", "--show-urns", "--show-ids", "--stack", STACK),
    }.items():
        ground.run(what, project.run("pulumi", *command, "--non-interactive"))
    ground.run("plan", project.interlock("plan", "initech", "--format", "json"))
    ground.run("check", project.interlock("check", "--site", "lyon"))


def _keys(outputs: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Every S3 secret key among the outputs."""
    for name, value in outputs.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{path}{name}.")
        elif name.endswith("secret_key"):
            yield f"{path}{name}", str(value)


def _files(ground: Ground) -> Iterator[tuple[str, bytes]]:
    folders = (ground.project.folder, *OUTSIDE, Path(os.environ.get("PULUMI_HOME", Path.home() / ".pulumi")) / "logs")
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                yield str(path), _read(path)


def _everything(ground: Ground) -> Iterator[tuple[str, bytes]]:
    yield from _files(ground)
    for what, result in ground.said.items():
        yield f"`{what}` on stdout", result.out.encode()
        yield f"`{what}` on stderr", result.err.encode()
    yield from ((f"command line {line!r}", line) for line in ground.lines)


def test_there_are_secrets_to_look_for_and_places_to_look_at(ground: Ground) -> None:
    assert [name for name in ground.canaries if name.endswith("secret_key")]
    names = [name for name, _ in _files(ground)]
    for part in ("state/.pulumi/stacks", "state/.pulumi/history", ".json.bak", "initech.lock.json", "proofs/"):
        assert any(part in name for name in names), part
    assert any(b"pulumi" in line and b"up" in line for line in ground.lines)


def test_no_secret_stands_anywhere_in_clear(ground: Ground) -> None:
    found = [
        f"the {name} stands in {where}: {_line(text, secret.encode())}"
        for where, text in _everything(ground)
        for name, secret in ground.canaries.items()
        if secret.encode() in text
    ]
    assert found == []


def _line(text: bytes, secret: bytes) -> str:
    """Where it stands, without it: both ends of the line."""
    start = text.index(secret)
    line = text[text.rfind(b"\n", 0, start) + 1 : start] + b"[...]" + text[start + len(secret) :].partition(b"\n")[0]
    return f"{line[:200].decode(errors='replace')} ... {line[-200:].decode(errors='replace')}"


def test_no_token_stands_anywhere(ground: Ground) -> None:
    assert [where for where, text in _everything(ground) if TOKEN.search(text)] == []


def test_the_secret_key_is_in_the_state_as_a_ciphertext(ground: Ground) -> None:
    (key,) = [item for item in ground.project.objects(STACK).values() if item["type"].endswith(":S3Credential")]
    assert set(key["outputs"]["secret_key"]) > {"ciphertext"}
    assert "plaintext" not in json.dumps(key)


def test_a_password_that_is_refused_is_not_shown(ground: Ground, tmp_path: Path) -> None:
    wrong = f"canary-{secrets.token_hex(12)}"
    project = ground.project
    clouds = yaml.safe_load(project.clouds_yaml.read_text())
    clouds["clouds"]["sandbox"]["auth"]["password"] = wrong
    path = project.clouds_yaml.with_name("wrong.yaml")
    path.write_text(yaml.safe_dump(clouds))
    refused = Project(project.folder, path, project.more).up(STACK, "--refresh", "--logtostderr", "-v=8")
    path.unlink()
    assert refused.code != 0
    assert "refused the credential" in refused.text
    assert wrong not in refused.text
    assert TOKEN.search(refused.text.encode()) is None
