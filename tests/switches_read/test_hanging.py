"""Switches that hang: they take a connection and say nothing, or fall silent at any point after it.

Every question has a limit of its own, whoever hangs does so beside the others, and nobody waits for a hanging switch
to agree that the connection is over.
"""

from __future__ import annotations

import contextlib
import datetime
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.switches.commands import EOS_SWITCHPORTS, EOS_VERSION
from interlock.switches.errors import SwitchUnread
from interlock.switches.loading import SwitchAccess
from interlock.switches.observed import ObservedSwitch
from interlock.switches.reading import Read, SwitchTarget, read_switches
from interlock.switches.transport import TimeLimits
from tests.switches_read.answers import texts
from tests.switches_read.ssh_server import PASSWORD, USER, FakeSwitch, running, write_secret

NOON = datetime.datetime(2026, 11, 24, 12, tzinfo=datetime.UTC)
ROOT = Path(__file__).resolve().parents[2]
#: Far apart, so that it shows which of them ended a wait.
LIMITS = TimeLimits(login=1.0, answer=1.0, switch=40.0)

Entry = Callable[..., SwitchAccess]


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    """How a switch at a port of this machine is asked."""
    password = write_secret(tmp_path / "password", f"{PASSWORD}\n")

    def made(name: str, port: int, host_key: str) -> SwitchAccess:
        return SwitchAccess(
            name=name, platform="eos", host="127.0.0.1", port=port, username=USER, key_file=None,
            password_file=password, host_key=host_key, known_hosts=None, position="switches.yaml:2:10",
        )  # fmt: skip

    return made


@contextlib.contextmanager
def hanging(says: bytes = b"") -> Iterator[int]:
    """A port that takes connections, says this, and nothing more."""
    held, listener = list[socket.socket](), socket.create_server(("127.0.0.1", 0))

    def take() -> None:
        with contextlib.suppress(OSError):
            while True:
                held.append(listener.accept()[0])
                held[-1].sendall(says)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
        for connection in held:
            connection.close()


def healthy(**how: object) -> FakeSwitch:
    return FakeSwitch({command.text: text for command, text in texts("eos").items()}, **how)  # type: ignore[arg-type]


def timed(*targets: SwitchAccess, limits: TimeLimits = LIMITS) -> tuple[dict[str, Read], float]:
    """What is read of these, and in how many seconds."""
    begun = time.monotonic()
    found = read_switches([SwitchTarget(item, "T-1") for item in targets], lambda: NOON, limits)
    return found, time.monotonic() - begun


@pytest.mark.parametrize("says", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"SSH-2.0-Open"], ids=["nothing", "banner", "half"])
def test_a_switch_that_takes_the_connection_and_says_no_more(entry: Entry, says: bytes) -> None:
    with hanging(says) as port:
        found, seconds = timed(entry("tor-1", port, healthy().known_as))
    unread = found["tor-1"]
    assert isinstance(unread, SwitchUnread)
    assert str(unread).startswith(f"tor-1: no login within 1 s at 127.0.0.1:{port}")
    assert "check `host` and `port` in switches.yaml" in unread.hint
    assert seconds < 5


def test_hanging_switches_are_waited_for_side_by_side(entry: Entry) -> None:
    """Twelve that hang, each at a point of its own, and one that answers: they take as long as one of them."""
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(hanging(says)) for says in (b"", b"SSH-2.0-OpenSSH_9.2\r\n") * 4]
        well, *frozen = healthy(), *(healthy(freezes=(EOS_VERSION.text,)) for _ in range(4))
        for switch in (well, *frozen):
            stack.enter_context(running(switch))
        silent = [entry(f"silent-{port}", port, well.known_as) for port in ports]
        stuck = [entry(f"stuck-{item.port}", item.port, item.known_as) for item in frozen]
        found, seconds = timed(*silent, *stuck, entry("well", well.port, well.known_as))
    assert isinstance(found.pop("well"), ObservedSwitch)
    assert len(found) == 12
    for name, unread in found.items():
        assert isinstance(unread, SwitchUnread)
        words = "no login within 1 s" if name.startswith("silent") else f"no answer to `{EOS_VERSION.text}` within 1 s"
        assert str(unread).startswith(f"{name}: {words}")
    assert seconds < 8


def test_a_switch_that_freezes_in_the_middle_of_an_answer(entry: Entry) -> None:
    """Nothing of it is taken for read, and closing a connection that nobody closes at the other end takes no time."""
    frozen = healthy(freezes=(EOS_SWITCHPORTS.text,))
    with running(frozen):
        found, seconds = timed(entry("tor-1", frozen.port, frozen.known_as))
    assert isinstance(found["tor-1"], SwitchUnread)
    assert f"no answer to `{EOS_SWITCHPORTS.text}` within 1 s" in str(found["tor-1"])
    assert "see whether it is overloaded" in found["tor-1"].hint
    assert seconds < 8


def test_an_answer_after_the_limit_is_none_and_the_next_question_gets_its_own(entry: Entry) -> None:
    late = healthy(delay=1.5)
    with running(late):
        target = entry("tor-1", late.port, late.known_as)
        found, _ = timed(target, limits=replace(LIMITS, answer=0.3))
        assert isinstance(found["tor-1"], SwitchUnread)
        late.delay = 0.0
        late.answers[EOS_VERSION.text] = late.answers[EOS_VERSION.text].replace('"T-1"', '"T-2"')
        again, _ = timed(target)
        assert "its serial is T-2" in str(again["tor-1"]), "what it says now, and not what came late"


READ = """
import datetime, sys
from pathlib import Path
from interlock.switches.loading import SwitchAccess
from interlock.switches.reading import SwitchTarget, read_switches

asked = [
    SwitchTarget(
        SwitchAccess(name=f"tor-{port}", platform="eos", host="127.0.0.1", port=int(port), username=sys.argv[1],
                     key_file=None, password_file=Path(sys.argv[2]), host_key=key, known_hosts=None, position="x"),
        "T-1",
    )
    for port, key in zip(sys.argv[3::2], sys.argv[4::2])
]
print("asking", flush=True)
try:
    read_switches(asked, lambda: datetime.datetime.now(datetime.UTC))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_the_wait_at_once(tmp_path: Path) -> None:
    """With the limits of everyday, one switch that is silent and one that is frozen after the login."""
    password, frozen = write_secret(tmp_path / "password", PASSWORD), healthy(freezes=(EOS_VERSION.text,))
    with hanging() as port, running(frozen):
        words = [USER, str(password), str(port), frozen.known_as, str(frozen.port), frozen.known_as]
        process = subprocess.Popen(
            [sys.executable, "-c", READ, *words], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        _until(lambda: frozen.asked != [])
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        seconds = time.monotonic() - begun
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)
    assert seconds < 5


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
