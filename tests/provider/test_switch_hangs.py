"""Switches that hang, or show an old table, on the real path: Neutron, its driver, ssh, and the reader.

A switch hangs in two ways here. Frozen: its whole process is stopped, the kernel takes connections for it and nobody
answers, in those that the driver has open already neither. Silent: it lets in whoever has a key, and sends no prompt.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import cast

import pytest

from interlock.provider.actuators.switch_port import SwitchPortActuator
from interlock.provider.clouds import Cloud
from interlock.switches import reading
from interlock.switches.transport import TimeLimits
from sandbox.launcher import processes
from sandbox.launcher.catalogue import PROCESSES
from sandbox.launcher.layout import Instance
from sandbox.switches import keys
from sandbox.switches.misbehaving import Misbehaving
from tests.conftest import ROOT, Sandbox
from tests.provider.test_switch_ports import NAME, PORT, VLAN, faults, ports_named, recreated
from tests.sandbox.cloud import until
from tests.sandbox.switch_sessions import QUARANTINE, Client, clients
from tests.support.engine.process import Listening, Process, Refused
from tests.support.world.small import World

#: Seconds that one operation of the provider may take while its switch hangs. Neutron's driver tries twice, with the
#: limits of the sandbox, undoes what it did, and the reader waits once.
BOUND = 45.0


@pytest.fixture
def tor(sandbox: Sandbox) -> Client:
    """`tor-1`, as a reader sees it."""
    return clients(sandbox.dir)["tor-1"]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader waits 2 s where it waits 15 s and more, and a port is waited for 4 s instead of 90."""
    limits = TimeLimits(login=2, answer=2, switch=10)
    monkeypatch.setattr(reading, "TimeLimits", lambda: limits)
    monkeypatch.setattr(SwitchPortActuator, "PATIENCE", 4.0)


@pytest.fixture(autouse=True)
def wired(world: World) -> None:
    """Each test begins with the port made, whatever one that failed left behind."""
    if NAME not in world.tenant.state:
        world.tenant.create(NAME)


@dataclass(frozen=True)
class Way:
    """A way to hang: how it begins and ends, and what a reader says of it."""

    begin: Callable[[], None]
    end: Callable[[], None]
    told: str


@pytest.fixture(params=["frozen", "silent"])
def way(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Way]:
    """It hangs from when it begins until it ends."""
    instance = Instance(sandbox.dir)
    server = next(process for process in PROCESSES if process.name == "switches")
    silent = Misbehaving(instance.state / "switches", "tor-1").hangs
    pid = processes.pid_of(instance, server)
    assert pid > 0
    ways = {
        "frozen": Way(
            lambda: os.kill(pid, signal.SIGSTOP), lambda: os.kill(pid, signal.SIGCONT), "no login within 2 s"
        ),
        "silent": Way(
            silent.touch, lambda: silent.unlink(missing_ok=True), "no answer to `show version | json` within"
        ),
    }
    found = ways[request.param]
    yield found
    found.end()


def test_a_switch_that_hangs_is_told_before_anything_is_made(world: World, way: Way) -> None:
    way.begin()
    (fault,) = faults(world.tenant, NAME)
    assert f"switch tor-1: {way.told}" in fault
    assert "next: " in fault


@pytest.mark.parametrize("way", ["frozen"], indirect=True)
def test_a_creation_at_a_switch_that_hangs_leaves_nothing(world: World, operator: Cloud, tor: Client, way: Way) -> None:
    """Neither then, nor when the switch goes on with what it was sent; the next `up` wires the port."""
    program = world.tenant
    program.delete(NAME)
    way.begin()
    began = time.monotonic()
    with pytest.raises(Refused, match=f"Neutron could not set tor-1 {PORT}") as refused:
        program.create(NAME)
    assert time.monotonic() - began < BOUND
    assert "next: see Neutron's log: whether tor-1 answers at ssh" in str(refused.value)
    assert ports_named(operator, NAME) == []
    way.end()
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    program.create(NAME)
    assert tor.vlan_of(PORT) == ("access", VLAN)


@pytest.mark.parametrize("way", ["frozen"], indirect=True)
def test_ctrl_c_twice_while_a_switch_hangs_ends_the_provider(
    world: World, operator: Cloud, sandbox: Sandbox, tor: Client, way: Way
) -> None:
    """The engine ends its providers then, whatever is under way; Neutron gives up by itself, and keeps nothing."""
    world.tenant.delete(NAME)
    command = [sys.executable, "-P", "-m", "interlock.provider", "127.0.0.1:1"]
    provider = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    )
    assert provider.stdout is not None
    other = Listening(int(provider.stdout.readline()))
    program = replace(world.tenant, process=cast(Process, other))
    assert program.admit(preview=False) == []
    way.begin()
    with ThreadPoolExecutor(1) as pool:
        creation = pool.submit(program.create, NAME)
        (port,) = until(lambda: ports_named(operator, NAME))
        os.killpg(provider.pid, signal.SIGINT)
        began = time.monotonic()
        _, err = provider.communicate(timeout=60)
        assert time.monotonic() - began < 5
        with pytest.raises(Refused):
            creation.result(30)
    other.close()
    assert (provider.returncode, err) == (0, "")
    # Neutron's port is gone before its driver gives up, and a driver that were let in now would set the switch once
    # more, by way of VLAN 1, while this test reads it.
    log = Instance(sandbox.dir).logs / "neutron.log"
    until(lambda: f"Failed to unplug port {port}" in log.read_text(encoding="utf-8"), 60)
    assert ports_named(operator, NAME) == []
    way.end()
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    world.tenant.create(NAME)
    assert tor.vlan_of(PORT) == ("access", VLAN)


@pytest.mark.parametrize("way", ["silent"], indirect=True)
def test_a_deletion_at_a_switch_that_hangs_is_none(world: World, operator: Cloud, tor: Client, way: Way) -> None:
    program = world.tenant
    before = program.state[NAME]
    way.begin()
    began = time.monotonic()
    with pytest.raises(Refused, match=f"how tor-1 {PORT} is set is not known: {way.told}"):
        program.delete(NAME)
    assert time.monotonic() - began < BOUND
    assert program.state[NAME] == before, "the state keeps it"
    way.end()
    program.delete(NAME)
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    assert ports_named(operator, NAME) == []
    program.create(NAME)


@pytest.fixture
def yesterday(sandbox: Sandbox) -> Iterator[Callable[[], None]]:
    """From now on readers of `tor-1` are shown the table as it is now; once more, and they see what is so."""
    folder = Instance(sandbox.dir).state / "switches"
    shown = Misbehaving(folder, "tor-1").yesterday

    def turn() -> None:
        if shown.exists():
            shown.unlink()
        else:
            shutil.copyfile(folder / "tor-1.json", shown)

    yield turn
    shown.unlink(missing_ok=True)


def test_a_switch_that_shows_the_old_vlan_after_it_was_set_confirms_nothing(
    world: World, tor: Client, yesterday: Callable[[], None]
) -> None:
    """The port is set and bound; without a word of its switch it is not made, and the next `up` has it confirmed."""
    program = world.tenant
    program.delete(NAME)
    yesterday()
    with pytest.raises(Refused, match=rf"tor-1 {PORT} is shut, not access {VLAN}") as refused:
        program.create(NAME)
    assert any("next: " in reason for reason in refused.value.reasons), refused.value.reasons
    made = refused.value.partial
    assert made is not None, "the engine keeps its id, and an error"
    program.state[NAME] = made
    yesterday()
    assert tor.vlan_of(PORT) == ("access", VLAN), "nobody knew, and it was so"
    program.update(NAME)
    assert program.diff(NAME) == {}
    assert program.read(NAME, record=False) == program.state[NAME]


def test_a_switch_that_shows_the_old_vlan_after_a_deletion_has_not_let_go(
    world: World, tor: Client, yesterday: Callable[[], None]
) -> None:
    program = world.tenant
    before = program.state[NAME]
    yesterday()
    with pytest.raises(Refused, match=f"tor-1 {PORT} is still in VLAN {VLAN}"):
        program.delete(NAME)
    assert program.state[NAME] == before
    yesterday()
    program.delete(NAME)
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    program.create(NAME)


def test_a_vlan_that_a_switch_confirmed_and_forgot_is_drift(world: World, sandbox: Sandbox, tor: Client) -> None:
    """It said the new VLAN when it was read back, and says another at the next look."""
    program = world.tenant
    recreated(program)
    key = keys.user_key_file(Instance(sandbox.dir).state / "switches", keys.WRITER)
    lines = "\n".join(("configure", f"interface {PORT}", f"switchport access vlan {QUARANTINE}"))
    assert tor.answers(lines, username=keys.WRITER, key_file=str(key)) == [(0, "")]
    seen = program.read(NAME)
    assert seen is not None
    assert seen.outputs["vlan"] == QUARANTINE
    assert program.diff(NAME) == {"vlan": True}
    recreated(program)
    assert program.diff(NAME) == {}
    assert tor.vlan_of(PORT) == ("access", VLAN)
