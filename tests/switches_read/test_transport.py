"""Switches that answer, and all that can go wrong on the way, over real ssh in this process."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from interlock.switches.commands import COMMANDS, EOS_SWITCHPORTS, EOS_VERSION
from interlock.switches.errors import SwitchUnread
from interlock.switches.loading import SwitchAccess
from interlock.switches.observed import ObservedSwitch
from interlock.switches.reading import Read, SwitchTarget, read_switches
from interlock.switches.transport import TimeLimits, trusted_keys
from tests.switches_read.answers import texts
from tests.switches_read.ssh_server import PASSWORD, USER, FakeSwitch, running, write_secret

QUICK = TimeLimits(login=5, answer=5, switch=20)
NOON = datetime.datetime(2026, 11, 24, 12, tzinfo=datetime.UTC)

Start = Callable[..., FakeSwitch]


def fake(platform: str = "eos", **how: Any) -> FakeSwitch:
    return FakeSwitch({command.text: text for command, text in texts(platform).items()}, **how)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a server that ends with the test."""
    with ExitStack() as stack:

        def begin(platform: str = "eos", **how: Any) -> FakeSwitch:
            switch = fake(platform, **how)
            stack.enter_context(running(switch))
            return switch

        yield begin


@pytest.fixture
def access(tmp_path: Path) -> Callable[..., SwitchAccess]:
    """How a server is asked, as `switches.yaml` would say."""

    def entry(switch: FakeSwitch, **changed: Any) -> SwitchAccess:
        found = SwitchAccess(
            name="tor-1", platform="eos", host="127.0.0.1", port=switch.port, username=USER, key_file=None,
            password_file=write_secret(tmp_path / "password", f"{PASSWORD}\n"), host_key=switch.known_as,
            known_hosts=None, position="switches.yaml:2:10",
        )  # fmt: skip
        return replace(found, **changed)

    return entry


def ask(access: SwitchAccess, limits: TimeLimits = QUICK, **who: Any) -> Read:
    serial = who.pop("serial", "T-1")
    return read_switches([SwitchTarget(access, serial, **who)], lambda: NOON, limits)[access.name]


def why(access: SwitchAccess, limits: TimeLimits = QUICK, **who: Any) -> str:
    """The whole error."""
    found = ask(access, limits, **who)
    assert isinstance(found, SwitchUnread), found
    return str(found)


def test_a_switch_is_read_with_a_password(start: Start, access: Callable[..., SwitchAccess]) -> None:
    switch = start()
    found = ask(access(switch))
    assert isinstance(found, ObservedSwitch)
    assert found.ports["Ethernet1/1"].access_vlan == 1001
    assert found.at == NOON


def test_nothing_is_asked_but_what_the_table_lists(start: Start, access: Callable[..., SwitchAccess]) -> None:
    for platform, serial in (("eos", "T-1"), ("cumulus", "MT1")):
        switch = start(platform)
        assert isinstance(ask(access(switch, platform=platform), serial=serial), ObservedSwitch)
        assert switch.asked == [command.text for command in COMMANDS[platform]]  # type: ignore[index]
        words = {text.split()[0 if platform == "eos" else 1] for text in switch.asked}
        assert words == {"show"}


def test_a_switch_is_read_with_a_key(start: Start, access: Callable[..., SwitchAccess], tmp_path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    switch = start(user_key=key)
    file = write_secret(tmp_path / "id", key.export_private_key())
    assert isinstance(ask(access(switch, key_file=file, password_file=None)), ObservedSwitch)


def test_a_key_of_somebody_else_is_refused(start: Start, access: Callable[..., SwitchAccess], tmp_path: Path) -> None:
    switch = start(user_key=asyncssh.generate_private_key("ssh-ed25519"))
    other = asyncssh.generate_private_key("ssh-ed25519").export_private_key()
    said = why(access(switch, key_file=write_secret(tmp_path / "id", other), password_file=None))
    assert f"refuses the login of `{USER}`" in said
    assert "switches.yaml:2:10" in said
    assert switch.asked == []


def test_a_wrong_password_is_refused_and_not_shown(
    start: Start, access: Callable[..., SwitchAccess], tmp_path: Path
) -> None:
    switch = start()
    wrong = write_secret(tmp_path / "wrong", "another-canary")
    said = why(access(switch, password_file=wrong))
    assert "refuses the login" in said
    assert "canary" not in said


def test_a_host_key_that_changed_is_refused(start: Start, access: Callable[..., SwitchAccess]) -> None:
    switch = start()
    before = asyncssh.generate_private_key("ssh-ed25519")
    known = before.export_public_key().decode().strip()
    said = why(access(switch, host_key=known))
    assert f"known is ssh-ed25519 {before.get_fingerprint()}" in said
    assert f"answers with ssh-ed25519 {switch.host_key.get_fingerprint()}" in said
    assert "somebody else answers at this address" in said
    assert switch.asked == []


def test_a_host_key_of_another_kind_is_refused(start: Start, access: Callable[..., SwitchAccess]) -> None:
    switch = start()
    known = asyncssh.generate_private_key("ecdsa-sha2-nistp256").export_public_key().decode().strip()
    said = why(access(switch, host_key=known))
    assert "known is ecdsa-sha2-nistp256" in said
    assert f"answers with ssh-ed25519 {switch.host_key.get_fingerprint()}" in said
    assert switch.asked == []


@pytest.mark.parametrize("kind", ["ssh-rsa", "ecdsa-sha2-nistp384"])
def test_host_keys_of_other_kinds(kind: str, start: Start, access: Callable[..., SwitchAccess]) -> None:
    assert isinstance(ask(access(start(host_key=asyncssh.generate_private_key(kind)))), ObservedSwitch)


def test_at_the_usual_port_known_hosts_names_none(access: Callable[..., SwitchAccess], tmp_path: Path) -> None:
    switch = fake(port=22)
    (tmp_path / "known_hosts").write_text(f"127.0.0.1 {switch.known_as}\n")
    entry = access(switch, host_key=None, known_hosts=tmp_path / "known_hosts")
    assert [key.public_data for key in trusted_keys(entry)] == [switch.host_key.public_data]
    with pytest.raises(SwitchUnread, match="its host key is unknown"):
        trusted_keys(replace(entry, host="127.0.0.2"))


def test_an_unknown_host_key_is_refused(start: Start, access: Callable[..., SwitchAccess], tmp_path: Path) -> None:
    switch = start()
    file = tmp_path / "known_hosts"
    file.write_text(f"[127.0.0.1]:{switch.port + 1} {switch.known_as}\n")
    said = why(access(switch, host_key=None, known_hosts=file))
    assert f"has none of 127.0.0.1:{switch.port}" in said
    assert "read the key on the switch's console" in said
    assert switch.asked == []


def test_a_key_of_known_hosts_is_taken(start: Start, access: Callable[..., SwitchAccess], tmp_path: Path) -> None:
    switch = start()
    file = tmp_path / "known_hosts"
    file.write_text(f"[127.0.0.1]:{switch.port} {switch.known_as}\n")
    assert isinstance(ask(access(switch, host_key=None, known_hosts=file)), ObservedSwitch)
    file.write_text(f"@revoked [127.0.0.1]:{switch.port} {switch.known_as}\n{file.read_text()}")
    assert "the host key is not the known one" in why(access(switch, host_key=None, known_hosts=file))


@pytest.fixture
def own_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[asyncssh.SSHKey, list[object]]]:
    """A user with a key, a configuration that leads nowhere, and an agent; and who has asked the agent."""
    key, asked = asyncssh.generate_private_key("ssh-ed25519"), list[object]()
    (tmp_path / ".ssh").mkdir(mode=0o700)
    write_secret(tmp_path / ".ssh" / "id_ed25519", key.export_private_key())
    (tmp_path / ".ssh" / "config").write_text("Host *\n  ProxyCommand /bin/false\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.socket(socket.AF_UNIX) as agent, tempfile.TemporaryDirectory() as folder:
        agent.bind(f"{folder}/agent")
        agent.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", f"{folder}/agent")

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    asked.append(agent.accept())

        threading.Thread(target=answer, daemon=True).start()
        yield key, asked
        agent.shutdown(socket.SHUT_RDWR)


def test_the_users_own_ssh_is_not_used(
    start: Start, access: Callable[..., SwitchAccess], tmp_path: Path, own_ssh: tuple[asyncssh.SSHKey, list[object]]
) -> None:
    """Neither keys nor agent nor configuration: what may log in stands in `switches.yaml` alone."""
    key, asked = own_ssh
    switch = start(user_key=key)
    wrong = write_secret(tmp_path / "wrong", "another")
    assert "refuses the login" in why(access(switch, password_file=wrong))
    assert isinstance(ask(access(switch)), ObservedSwitch)
    other = write_secret(tmp_path / "id", asyncssh.generate_private_key("ssh-ed25519").export_private_key())
    assert "refuses the login" in why(access(switch, key_file=other, password_file=None))
    assert asked == []


def test_another_device_is_no_answer(start: Start, access: Callable[..., SwitchAccess]) -> None:
    entry = access(start())
    said = why(entry, serial="T-2")
    assert "its serial is T-1, and the site states T-2" in said
    assert "its system MAC is 02:1c:73:00:00:01" in why(entry, system_mac="02:1c:73:00:00:02")
    assert isinstance(ask(entry, system_mac="021c.7300.0001"), ObservedSwitch)


def test_a_switch_without_serial_is_known_by_its_mac_alone(start: Start, access: Callable[..., SwitchAccess]) -> None:
    switch = start()
    switch.answers[EOS_VERSION.text] = switch.answers[EOS_VERSION.text].replace('"T-1"', '""')
    entry = access(switch)
    assert "it says no serial" in why(entry)
    assert isinstance(ask(entry, system_mac="02:1c:73:00:00:01"), ObservedSwitch)


def test_half_an_answer_is_an_error(start: Start, access: Callable[..., SwitchAccess]) -> None:
    said = why(access(start(cuts=(EOS_SWITCHPORTS.text,))))
    assert said.startswith("tor-1: ")
    assert "cut off" in said or "broke" in said


def test_a_refused_command_is_named(start: Start, access: Callable[..., SwitchAccess]) -> None:
    switch = start()
    del switch.answers[EOS_SWITCHPORTS.text]
    said = why(access(switch))
    assert f"`{EOS_SWITCHPORTS.text}` is refused: % Invalid input" in said
    assert f"allow the user `{USER}`" in said


def test_a_slow_switch_is_given_up(start: Start, access: Callable[..., SwitchAccess]) -> None:
    begun = time.monotonic()
    said = why(access(start(delay=30.0)), TimeLimits(login=5, answer=0.3, switch=20))
    assert f"no answer to `{EOS_VERSION.text}` within 0.3 s" in said
    assert "within 0.2 s" in why(access(start(delay=30.0)), TimeLimits(login=5, answer=9, switch=0.2))
    assert time.monotonic() - begun < 10


def test_a_port_that_nobody_listens_at(start: Start, access: Callable[..., SwitchAccess]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        said = why(access(start(), port=unused.getsockname()[1]))
    assert "is out of reach" in said
    assert "check `host` and `port`" in said


def test_a_server_that_never_speaks(start: Start, access: Callable[..., SwitchAccess]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        entry = access(start(), port=silent.getsockname()[1])
        assert "no login within 0.3 s" in why(entry, TimeLimits(login=0.3, answer=5, switch=9))


def test_something_else_than_ssh(start: Start, access: Callable[..., SwitchAccess]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        entry = access(start(), port=other.getsockname()[1])

        def talk() -> None:
            connection, _ = other.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 200)

        speaker = threading.Thread(target=talk, daemon=True)
        speaker.start()
        said = why(entry)
        speaker.join(10)
    assert said.startswith("tor-1: ")
    assert "127.0.0.1" in said


def test_several_are_read_side_by_side(access: Callable[..., SwitchAccess]) -> None:
    """None of them answers before all are asked; one that is another device leaves the others as they are."""
    meeting = asyncio.Barrier(8)
    switches = [fake(meeting=meeting) for _ in range(8)]
    told = list[str]()
    with running(*switches):
        targets = [SwitchTarget(access(switch, name=f"tor-{index}"), "T-1") for index, switch in enumerate(switches)]
        targets[3] = replace(targets[3], serial="T-9")
        found = read_switches(targets, lambda: NOON, QUICK, told.append)
    assert list(found) == [f"tor-{number}" for number in range(8)]
    assert [name for name, one in found.items() if isinstance(one, SwitchUnread)] == ["tor-3"]
    assert sorted(told) == sorted(found)


def test_a_key_file_with_something_else(start: Start, access: Callable[..., SwitchAccess], tmp_path: Path) -> None:
    entry = access(start(), key_file=write_secret(tmp_path / "id", "no key"))
    assert f"{tmp_path / 'id'}: Invalid private key" in why(entry)
    key = asyncssh.generate_private_key("ssh-ed25519")
    locked = write_secret(tmp_path / "locked", key.export_private_key("pkcs8-pem", passphrase="unused"))
    assert f"{locked}: Passphrase must be specified" in why(access(start(), key_file=locked))
    latin = write_secret(tmp_path / "latin", b"p\xe4ssword")
    assert f"{latin}: not UTF-8" in why(access(start(), password_file=latin))
