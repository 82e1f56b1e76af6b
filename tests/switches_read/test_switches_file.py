"""Where `switches.yaml` lies, and what it says; what is wrong with one is in tests/errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from interlock.model.text.errors import InputErrors
from interlock.switches.file import switches_schema
from interlock.switches.loading import load_switches, switches_file
from tests.switches_read.ssh_server import write_secret

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEbXp6JO0AaPxeC3CzCLNBFGVVFgtiJSbCEzAGG4P6kw"


def test_it_lies_beside_clouds_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERLOCK_SWITCHES", raising=False)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    assert switches_file() == tmp_path / "switches.yaml"
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(tmp_path / "other.yaml"))
    assert switches_file() == tmp_path / "other.yaml"


def test_without_one_the_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(tmp_path / "none.yaml"))
    with pytest.raises(InputErrors, match="INTERLOCK_SWITCHES"):
        load_switches()


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "known").touch()
    write_secret(tmp_path / "home" / "id", "")
    write_secret(tmp_path / "password", "")
    file = tmp_path / "switches.yaml"
    file.write_text(
        "switches:\n"
        "  tor-1: {platform: eos, host: 192.0.2.11, username: interlock, key_file: ~/id, known_hosts: known}\n"
        f"  leaf-1: {{platform: cumulus, host: 'fe80::1', port: 22201, username: ops, password_file: password,"
        f" host_key: '{KEY}'}}\n"
    )
    found = load_switches(file).switches
    tor, leaf = found["tor-1"], found["leaf-1"]
    assert (tor.key_file, tor.known_hosts, tor.password_file) == (tmp_path / "home/id", tmp_path / "known", None)
    assert (tor.address, tor.platform, tor.host_key) == ("192.0.2.11:22", "eos", None)
    assert (leaf.password_file, leaf.host_key, leaf.port) == (tmp_path / "password", KEY, 22201)
    assert tor.position == f"{file}:2:10"


def test_the_schema_knows_what_the_loader_takes() -> None:
    schema = switches_schema()
    Draft202012Validator.check_schema(schema)
    entry = {"platform": "eos", "host": "192.0.2.11", "username": "interlock", "key_file": "id", "host_key": KEY}
    good = {"switches": {"tor-1": entry}}
    assert list(Draft202012Validator(schema).iter_errors(good)) == []
    for key, value in (("password", "x"), ("port", 0), ("platform", "ios")):
        bad = {"switches": {"tor-1": entry | {key: value}}}
        assert list(Draft202012Validator(schema).iter_errors(bad)) != []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("key_file: ~nobody-has-this-name/key", "Could not determine home directory"),
        ("key_file: " + "k" * 300, "File name too long"),
    ],
)
def test_a_file_that_cannot_be_looked_at_is_told_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "switches.yaml"
    entry = f"{{platform: eos, host: 192.0.2.1, username: reader, host_key: {KEY}, {line}}}"
    file.write_text(f"switches:\n  tor-1: {entry}\n")
    with pytest.raises(InputErrors) as caught:
        load_switches(file)
    (found,) = caught.value.errors
    assert found.position.startswith(f"{file}:2:")
    assert why in found.message
    assert found.hint
