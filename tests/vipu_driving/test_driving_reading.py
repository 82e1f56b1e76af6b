"""How a controller is set, read from the simulator and from the machine that it runs on, which here is this one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from interlock.vipu.client import ControllerClient
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vipu.listening import LISTENING
from interlock.vipu.loading import ControllerMachine, load_vipu
from interlock.vipu.reading import (
    CERTIFICATES,
    SECRET,
    STATE,
    USER_DATA,
    AdminApiSaid,
    BackupSaid,
    ControllerSaid,
    read_controller,
    release_in,
)
from interlock.vipu.transport import LocalRunner, Ran
from interlock.vipu.trying_keys import NO_FLAG, NO_KEY
from sandbox.vipu import sockets
from sandbox.vipu.access import VipuAccess
from sandbox.vipu.allocation_calls import new_key
from sandbox.vipu.certificates import certificates_of, make_certificates
from sandbox.vipu.controller import ControllerSettings, initialised
from sandbox.vipu.racks import rack_of
from sandbox.vipu.scene import Call
from sandbox.vipu.serving import Serving
from tests.vipu.desk import AT_ONCE, Desk

from .stand import InProcess, Stand

NAME = "acme-train-controller"
NOW = datetime.now(UTC).replace(microsecond=0)


@dataclass
class Machine:
    """Runs V-IPU's commands in this process, and others on this machine. `instead`: what some say another way."""

    folder: Path
    instead: dict[tuple[str, ...], Ran | VipuError] = field(default_factory=dict)
    lines: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it."""
        self.lines.append(tuple(words))
        if (said := self.instead.get(tuple(words))) is not None:
            if isinstance(said, VipuError):
                raise said
            return said
        is_vipu = any(Path(word).name == "vipu-admin" for word in words)
        return (InProcess(self.folder) if is_vipu else LocalRunner(NAME)).run(words)


@dataclass
class Secured:
    """A controller in secure mode over TLS, with the key of its admin, and how it is read."""

    stand: Stand
    machine: Machine
    key: str
    #: Words before what is read of the machine; the two folders.
    access: ControllerMachine

    def client(self) -> ControllerClient:
        access = load_vipu(self.stand.folder / "vipu.yaml").of(NAME)
        assert access is not None
        return ControllerClient(NAME, replace(access.of("", NAME, "10.0.0.5"), machine=self.access), self.machine)

    def read(self) -> ControllerSaid:
        return read_controller(self.client(), NOW)

    @property
    def storage(self) -> Path:
        return Path(str(self.access.storage))

    @property
    def backup(self) -> Path:
        return Path(str(self.access.backup))

    def back_up(self) -> None:
        """As the how-to page says it."""
        shutil.copy2(self.storage / STATE, self.backup / STATE)
        shutil.copytree(self.storage / CERTIFICATES, self.backup / CERTIFICATES, dirs_exist_ok=True)


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    state, key = tmp_path / "controller" / "state", new_key()
    state.mkdir(parents=True)
    initialised(state, "admin", key)
    make_certificates(state)
    desk = Desk(
        tmp_path / "controller", rack_of(), ControllerSettings(durations=AT_ONCE, secure=True),
        access=VipuAccess("admin", "admin", key),
    )  # fmt: skip
    desk.agents(range(1, 3))
    (tmp_path / "backup").mkdir()
    with Serving(desk.controller).running() as serving:
        stand = Stand(desk, serving, tmp_path)
        stand.write()
        files = certificates_of(state)
        with (tmp_path / "admin.hcl").open("a") as config:
            config.write(f'api-user-id="admin"\napi-access-key="{key}"\ntls-ca="{files.authority}"\n')
            config.write(f'tls-cert="{files.client_chain}"\ntls-key="{files.client_key}"\n')
        access = ControllerMachine((), str(state), str(tmp_path / "backup"))
        yield Secured(stand, Machine(tmp_path), key, access)
        desk.controller.close()


def sysctl(key: str, value: str) -> dict[tuple[str, ...], Ran | VipuError]:
    return {("sysctl", "-n", key): Ran(0, value, "")}


FORWARDING = {"ipv4": "net.ipv4.ip_forward", "ipv6": "net.ipv6.conf.all.forwarding"}
OFF = sysctl(FORWARDING["ipv4"], "0\n") | sysctl(FORWARDING["ipv6"], "0\n")


def test_a_controller_that_is_as_it_should_be(secured: Secured) -> None:
    secured.machine.instead = OFF
    secured.back_up()
    before = secured.stand.desk.controller.state
    said = secured.read()
    assert (said.release, set(said.agents.values())) == ("1.18.0", {"1.18.0"})
    assert (said.keys.asked, said.certificates) == (True, True)
    assert said.forwarding_off == {"ipv4": True, "ipv6": True}
    # The copy is what there is now, so it is of now, whenever it was made.
    assert said.backup is not None
    assert (said.backup.state, said.backup.certificates) == (NOW, True)
    # It changes nothing, and no key that counts stands on a command line.
    assert secured.stand.desk.controller.state == before
    assert not any(secured.key in word for line in secured.machine.lines for word in line)
    assert any(NO_KEY in line for line in secured.machine.lines)


def test_an_open_api_answers_with_a_wrong_key(secured: Secured) -> None:
    secured.stand.desk.controller.settings = ControllerSettings(durations=AT_ONCE, secure=False)
    assert secured.read().keys.asked is False


def answers(secured: Secured, flag: str, said: Ran | VipuError) -> None:
    """What the list of agents with this flag comes to."""
    client = secured.client()
    config = client.lines.spelling.flag("config", str(client.access.config))
    line = (*client.access.command, *config, *client.lines.listed_by("agent", flag, NO_KEY).words)
    secured.machine.instead[line] = said


UNKNOWN = "Error: unknown flag: {}\n"
NOT_TOLD = Ran(1, "", "Error: it did not work\n")
REFUSED = Ran(1, "", "Error: rpc error: code = Unauthenticated desc = who are you\n")
KEY = "--api-access-key"
#: What a release says to a flag that none has, to a wrong key -> whether it asks for keys, and why that is not known.
TRIED: dict[str, tuple[Ran, Ran, bool | None, str]] = {
    "it refuses the key, in words of gRPC": (Ran(1, "", UNKNOWN.format(NO_FLAG)), REFUSED, True, ""),
    "it does not know the flag": (
        Ran(1, "", UNKNOWN.format(NO_FLAG)), Ran(1, "", UNKNOWN.format(KEY)),
        None, "is answered as --api-access-key is",
    ),
    "it does not know the flag, and knows one like it": (
        Ran(1, "", UNKNOWN.format(NO_FLAG)), Ran(1, "", UNKNOWN.format(KEY) + "Did you mean --api-access-keys?\n"),
        None, "need not be for the key",
    ),
    "it explains its usage": (
        NOT_TOLD, Ran(2, "", "Usage: vipu-admin … or you are unauthenticated\n"), None, "need not be for the key",
    ),
    "a file may not be read": (
        NOT_TOLD, Ran(1, "", "open ca.pem: permission denied\n"), None, "need not be for the key",
    ),
    "the server is away": (
        NOT_TOLD, Ran(1, "", "code = Unavailable desc = connection refused\n"), None, "need not be for the key",
    ),
    "each call fails so": (REFUSED, REFUSED, None, "is answered as"),
    "it passes over flags": (Ran(0, "[]", ""), Ran(0, "[]", ""), None, "pass over flags"),
    "it says something else than a list": (NOT_TOLD, Ran(0, "welcome", ""), None, "is not understood"),
}  # fmt: skip


@pytest.mark.parametrize("case", TRIED)
def test_only_what_says_that_it_is_about_who_asks_is_a_refusal(secured: Secured, case: str) -> None:
    unknown, wrong, asked, why = TRIED[case]
    answers(secured, NO_FLAG, unknown)
    answers(secured, KEY, wrong)
    found = secured.read().keys
    assert (found.asked, why in found.why, bool(found.why)) == (asked, True, asked is None)


def test_a_controller_that_is_lost_meanwhile_refuses_nothing(secured: Secured) -> None:
    answers(secured, KEY, VipuError(VipuTrouble.UNREACHABLE, NAME, "nobody is there", "look"))
    found = secured.read().keys
    assert (found.asked, "nobody is there" in found.why) == (None, True)


@pytest.mark.parametrize(("host", "listens"), [
    ("127.0.0.1", ("127.0.0.1",)), ("0.0.0.0", ("0.0.0.0",)), ("*", ("*",)), ("::ffff:10.30.0.5", ("10.30.0.5",)),
    ("fe80::1%eth0", ("fe80::1",)), ("eth0", None),
])  # fmt: skip
def test_where_the_admin_api_listens(secured: Secured, host: str, listens: tuple[str, ...] | None) -> None:
    """By the simulator's own sockets beside others of its machine."""
    port = secured.stand.serving.admin[1]
    said = sockets.listed([("0.0.0.0", 22), secured.stand.serving.user, (host, port)])
    secured.machine.instead = {LISTENING: Ran(0, said, "")}
    assert secured.read().admin_api is None
    secured.access = replace(secured.access, admin_port=port)
    assert secured.read().admin_api == (None if listens is None else AdminApiSaid(port, listens))
    secured.access = replace(secured.access, admin_port=1)
    assert secured.read().admin_api == (None if listens is None else AdminApiSaid(1, ()))
    secured.machine.instead = {LISTENING: Ran(1, "", "ss: not here")}
    assert secured.read().admin_api is None


@pytest.mark.parametrize(("text", "clean"), [
    ("#cloud-config\nruncmd: [vipu-server]\n", True), ('api-access-key="${KEY}"\n', True),
    ("api-host = 10.0.0.5\n", True), ('api-access-key="0123_456789"\n', False), ("API_ACCESS_KEY: abc\n", False),
    ("  -----BEGIN RSA PRIVATE KEY-----\n", False),
])  # fmt: skip
def test_a_key_in_the_user_data_is_found_where_it_stands(secured: Secured, text: str, clean: bool) -> None:
    """By the machine's own grep, which tells a number of lines and nothing of them."""
    file = secured.stand.folder / "user-data.txt"
    file.write_text(text)
    line = ("grep", "-c", "-i", "-E", "-e", SECRET, "--", USER_DATA)
    ran = LocalRunner(NAME).run((*line[:-1], str(file)))
    assert ran.out.strip().isdecimal()
    secured.machine.instead = {line: ran}
    assert secured.read().user_data_clean is clean
    # Of a folder, and of a file that breaks off, grep counts what it read, and says that it failed.
    folder = LocalRunner(NAME).run((*line[:-1], str(secured.stand.folder)))
    assert (folder.code, folder.out.strip()) == (2, "0")
    for unread in (folder, Ran(2, "", "grep: Permission denied"), Ran(1, "", "sudo: a password is required")):
        secured.machine.instead = {line: unread}
        assert secured.read().user_data_clean is None


@pytest.mark.parametrize(("family", "value", "off"), [
    ("ipv4", "1\n", False), ("ipv6", "2\n", False), ("ipv6", "", None), ("ipv4", "off\n", None),
])  # fmt: skip
def test_forwarding_as_the_kernel_says_it(secured: Secured, family: str, value: str, off: bool | None) -> None:
    secured.machine.instead = OFF | sysctl(FORWARDING[family], value)
    other = {"ipv4": "ipv6", "ipv6": "ipv4"}[family]
    assert secured.read().forwarding_off == {family: off, other: True}


def test_backups_that_are_none_old_or_half(secured: Secured) -> None:
    assert (secured.read().backup, secured.access.backup is not None) == (_backup(None, False), True)
    secured.back_up()
    (secured.storage / STATE).write_text((secured.storage / STATE).read_text() + "\n")
    old = NOW - timedelta(days=3)
    asked = ("stat", "-c", "%Z", "--", f"{secured.backup}/{STATE}")
    secured.machine.instead = {asked: Ran(0, f"{int(old.timestamp())}\n", "")}
    assert secured.read().backup == _backup(old, True)
    # A clock that is ahead makes no backup of a time to come.
    secured.machine.instead = {asked: Ran(0, f"{int(NOW.timestamp()) + 99}\n", "")}
    assert secured.read().backup == _backup(NOW, True)
    shutil.rmtree(secured.backup / CERTIFICATES)
    assert secured.read().backup == _backup(NOW, False)
    secured.backup.rename(secured.backup.with_name("elsewhere"))
    assert secured.read().backup is None


def _backup(state: datetime | None, certificates: bool) -> BackupSaid:
    return BackupSaid(state, certificates)


def test_what_nobody_says_how_to_read_is_not_known(secured: Secured) -> None:
    secured.access = ControllerMachine((), None, None)
    secured.machine.instead = OFF
    said = secured.read()
    assert (said.certificates, said.backup) == (None, None)
    client = secured.client()
    alone = ControllerClient(NAME, replace(client.access, machine=None), secured.machine)
    before = len(secured.machine.lines)
    assert read_controller(alone, NOW).forwarding_off == {"ipv4": None, "ipv6": None}
    assert all("vipu-admin" in " ".join(line) for line in secured.machine.lines[before:])
    unsaid = replace(client.access, machine=None, flags={"access-key": "", "server-version": ""})
    said = read_controller(ControllerClient(NAME, unsaid, secured.machine), NOW)
    assert (said.keys.asked, said.release) == (None, None)


def test_a_controller_that_does_not_list_its_agents_is_not_read(secured: Secured) -> None:
    secured.stand.desk.controller.settings = ControllerSettings(durations=AT_ONCE, secure=True)
    config = secured.stand.folder / "admin.hcl"
    config.write_text(config.read_text().replace(secured.key, "not-its-key"))
    with pytest.raises(VipuError):
        secured.read()


@pytest.mark.parametrize(("line", "release"), [
    ("version: 1.18.0 (simulator)", "1.18.0"), ("v1.17.3", "1.17.3"), ("1.18", "1.18"),
    ("V-IPU server 1.18.1+g123", "1.18.1"), ("host: 10.3.7.150:8090", None), ("no release", None), ("", None),
])  # fmt: skip
def test_releases_in_words(line: str, release: str | None) -> None:
    assert release_in(line) == release


def test_a_backup_brings_another_controller_to_the_same_objects(secured: Secured, tmp_path: Path) -> None:
    """The two documented files, copied by hand, into a folder in which no controller ever was."""
    desk = secured.stand.desk
    desk.do("create cluster c --agents ag.01.01,ag.01.02")
    desk.do("create allocation a --cluster c")
    desk.do("create user alice --allocations a")
    desk.do("create partition p --size 4 --allocation a")
    nouns = ("agent", "cluster", "allocation", "user", "partition")
    listed = {noun: desk.controller.answer(Call("list", noun), desk.access) for noun in nouns}
    secured.back_up()
    fresh = tmp_path / "fresh" / "state"
    fresh.mkdir(parents=True)
    shutil.copy2(secured.backup / STATE, fresh / STATE)
    shutil.copytree(secured.backup / CERTIFICATES, fresh / CERTIFICATES)
    (fresh / STATE).chmod(0o600)
    other = Desk(tmp_path / "fresh", rack_of(), desk.settings, access=desk.access)
    assert {noun: other.controller.answer(Call("list", noun), desk.access) for noun in nouns} == listed
    assert certificates_of(fresh).authority.read_bytes() == certificates_of(secured.storage).authority.read_bytes()
    other.controller.close()
