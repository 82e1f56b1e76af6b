"""What fails says why, and never shows the secret that it was tried with."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.redaction import MASK, Redactor
from interlock.resources import Network
from tests.conftest import ROOT, Sandbox
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.small import World

CANARY = "canary-4f1d0c-of-the-operator"

Change = Callable[[dict[str, Any]], None]


def _auth(**values: Any) -> Change:
    return lambda entry: entry["auth"].update(values)


def _application(entry: dict[str, Any]) -> None:
    entry["auth_type"] = "v3applicationcredential"
    entry["auth"] = {
        "auth_url": entry["auth"]["auth_url"],
        "application_credential_id": "0123456789abcdef0123456789abcdef",
        "application_credential_secret": CANARY,
    }


def _token(entry: dict[str, Any]) -> None:
    entry["auth_type"] = "v3token"
    entry["auth"] = {"auth_url": entry["auth"]["auth_url"], "token": CANARY, "project_name": "admin"}


def _in_address(entry: dict[str, Any]) -> None:
    entry["auth"]["auth_url"] = f"http://operator:{CANARY}@127.0.0.1:9/v3"


#: What is wrong -> what is changed in the entry of clouds.yaml.
WRONG: dict[str, Change] = {
    "another password": _auth(password=CANARY),
    "a password that is a list": _auth(password=[CANARY]),
    "a password that is a map": _auth(password={"a": CANARY}),
    "an application credential": _application,
    "a token": _token,
    "nobody at the address": _in_address,
    "no project of that name": _auth(password=CANARY, project_name="nowhere"),
}


def _file(sandbox: Sandbox, folder: Path, change: Change) -> Path:
    """A clouds.yaml whose entry `sandbox` is changed."""
    clouds = copy.deepcopy(yaml.safe_load(sandbox.clouds_yaml.read_text()))
    change(clouds["clouds"]["sandbox"])
    path = folder / "clouds.yaml"
    path.write_text(yaml.safe_dump(clouds))
    return path


@pytest.mark.parametrize("wrong", WRONG)
def test_a_login_that_fails_does_not_show_the_secret(
    sandbox: Sandbox,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    wrong: str,
) -> None:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(_file(sandbox, tmp_path, WRONG[wrong])))
    process = Process()
    program = Stack(process, "lyon-eve", "e4e", {"n": Network(name="n", network_type="vxlan")}, "5", folder)
    faults = program.admit(preview=False)
    with pytest.raises(Refused) as refused:
        program.create("n")
    process.close()
    assert len(faults) == 1
    captured = capfd.readouterr()
    for text in (*faults, str(refused.value), captured.out, captured.err):
        assert CANARY not in text
    assert "next: " in str(refused.value)
    assert "a fault in the provider itself" not in str(refused.value)


#: Ways to write a password that YAML takes for something else; its parser quotes what it does not understand.
NO_YAML = ("*CANARY", "!CANARY x: y", '"CANARY', "CANARY: x: y", "%CANARY\n\t- x", "{CANARY")


@pytest.mark.parametrize("written", NO_YAML)
def test_a_file_that_is_no_yaml_is_not_quoted(tmp_path: Path, written: str) -> None:
    path = tmp_path / "clouds.yaml"
    path.write_text(f"clouds:\n  sandbox:\n    auth:\n      password: {written.replace('CANARY', CANARY)}\n")
    look = "from interlock.provider.clouds import Cloud\nCloud('sandbox').login"
    done = subprocess.run(
        [sys.executable, "-c", look], env={"OS_CLIENT_CONFIG_FILE": str(path), "PYTHONPATH": str(ROOT)},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "there is no usable cloud 'sandbox'" in done.stderr
    assert "see that the file is valid YAML" in done.stderr
    assert CANARY not in done.stdout + done.stderr


def test_a_fault_of_our_own_does_not_show_what_it_was_working_with(
    world: World, operator: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = world.tenant.state["alice-s3-key"].outputs["secret_key"]

    def fail(*_: Any) -> None:
        # Such as a library that puts its arguments into its message.
        raise ValueError(f"cannot use {key!r}")

    monkeypatch.setattr(ACTUATORS["Bucket"], "delete", fail)
    world.tenant.read("alice-s3-key")
    with pytest.raises(Refused) as refused:
        world.tenant.delete("alice-bucket")
    assert MASK in str(refused.value)
    assert key not in str(refused.value)


def test_the_secret_key_of_a_bucket_is_in_no_failure_of_its_calls(
    world: World, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.provider.actuators.s3.s3_endpoint", lambda _: "http://127.0.0.1:9")
    key = world.tenant.state["alice-s3-key"].outputs["secret_key"]
    with pytest.raises(Refused) as refused:
        world.tenant.read("alice-bucket", record=False)
    assert key not in str(refused.value)
    assert "next: " in str(refused.value)


def test_a_failure_is_clean_wherever_its_text_comes_from() -> None:
    hidden = Redactor()
    hidden.add_login({"username": "operator", "password": "pass-word-1", "application_credential_secret": "app-secret"})
    hidden.add("pass-word-1-and-more", None, 123456789, "short")
    text = "operator pass-word-1 pass-word-1-and-more app-secret 123456789 short http://a:b@host/ https://host/a@b"
    assert hidden.redact(text) == (f"operator {MASK} {MASK} {MASK} {MASK} short http://{MASK}@host/ https://host/a@b")
    assert str(Failure(Trouble.SERVICE, "https://u:p@host: no")).startswith(f"https://{MASK}@host: no")
