"""The program of a head gives keys to the program of a node, over a real network, and munged takes what came.

Servers are those of a plan, at its addresses, each in a network namespace of its own: a head, two nodes, and somebody
else on the same wire. Tables are those of their user data; folders alone are the test's.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from interlock.planning.guest.cluster_keys import PORT, SERVER_TABLE, TABLE
from interlock.planning.guest.programs import program_source
from interlock.planning.plan import Plan
from tests.builders.gpu_heads import head_claims, headed, site_with_heads
from tests.builders.gpu_plans import clusters_planned
from tests.builders.gpu_sites import gpu_tenant

from .hall import SlurmHall, SlurmServer, program, require_slurm, slurm_hall

HEAD, NODE, OTHER, STRANGER = "acme-train-head-0", "acme-train-node-0", "acme-train-node-1", "stranger"
ADDRESSES = {HEAD: "10.60.1.5", NODE: "10.60.1.10", OTHER: "10.60.1.11", STRANGER: "10.60.1.77"}
#: As `S3CredentialActuator` makes it.
KEY = secrets.token_hex(128)
#: Says what systemctl was asked, and that no unit but munge's is enabled.
_SYSTEMCTL = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\ntest "$1" != is-enabled\n'
#: With: what is sent first, and the port to ask from. Prints the answer.
_BY_HAND = """\
import socket, sys
sock = socket.socket()
sock.settimeout(5)
sock.bind(("", int(sys.argv[2])))
sock.connect(("10.60.1.5", int(sys.argv[3])))
sock.sendall(sys.argv[1].encode())
try:
    print(sock.makefile().readline())
except OSError:
    pass
"""


def planned() -> Plan:
    site = site_with_heads().model_copy(update={"channel": True})
    return clusters_planned(gpu_tenant("acme", headed(1)), [head_claims(1, (1, 1), (1, 2))], site)


@dataclass
class KeyHall:
    """The hall, with a folder of secrets for each server."""

    hall: SlurmHall
    server: subprocess.Popen[str] | None = None

    def of(self, name: str) -> SlurmServer:
        return self.hall.servers[name]

    def folder(self, name: str) -> Path:
        return self.of(name).folder / "secrets"

    def key(self, name: str) -> Path:
        """Munge's key as munged of a server reads it."""
        return self.of(name).folder / "etc-munge" / "munge.key"

    def arrives(self, text: str) -> None:
        """The head has fetched it."""
        self.folder(HEAD).mkdir(mode=0o700, exist_ok=True)
        (self.folder(HEAD) / "munge").write_text(text)

    def serve(self) -> None:
        """Start the head's program."""
        head = self.of(HEAD)
        command = head.inside(sys.executable, str(head.folder / "server.py"), *self._server_options())
        self.server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.server.stderr is not None
        assert "listening" in self.server.stderr.readline()

    def end(self) -> str:
        """Kill it, as a power failure does; what it said."""
        assert self.server is not None
        children = Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text().split()
        subprocess.run(["kill", "-9", *children, str(self.server.pid)], check=False)
        said = self.server.communicate(timeout=20)
        return "".join(said)

    def again(self, node: str) -> subprocess.CompletedProcess[str]:
        head = self.of(HEAD)
        return head.run(sys.executable, str(head.folder / "server.py"), *self._server_options(), "--again", node)

    def _server_options(self) -> list[str]:
        folder = self.of(HEAD).folder
        return [
            "--table", str(folder / "key-server.json"), "--folder", str(self.folder(HEAD)),
            "--given", str(folder / "given.json"),
        ]  # fmt: skip

    def asking(self, name: str, *before: str) -> list[str]:
        """The command line of a node's program. `before`: what runs it."""
        server = self.of(name)
        return server.inside(
            *before, sys.executable, str(server.folder / "keys.py"), "--table", str(server.folder / "keys.json"),
            "--folder", str(self.folder(name)), "--systemctl", str(server.folder / "systemctl"), "--most", "0.1",
        )  # fmt: skip

    def ask(self, name: str, timeout: float = 20) -> subprocess.CompletedProcess[str]:
        """Run it to its end. Raises subprocess.TimeoutExpired if it goes on asking."""
        return subprocess.run(self.asking(name), capture_output=True, text=True, check=False, timeout=timeout)

    def by_hand(self, name: str, line: str, port: int, *before: str) -> subprocess.CompletedProcess[str]:
        """Ask from a port, without the program."""
        return self.of(name).run(*before, sys.executable, "-c", _BY_HAND, line, str(port), str(PORT))


def _program(server: SlurmServer, name: str, module: str) -> None:
    (server.folder / name).write_text(program_source(module))


def told(plan: Plan, server: str) -> dict[str, str]:
    document = yaml.safe_load(plan.by_name[server].resource.canonical()["user_data"])
    return {item["path"]: item["content"] for item in document["write_files"]}


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[KeyHall]:
    """Nothing has been fetched or given yet."""
    require_slurm()
    plan = planned()
    files = {name: told(plan, name) for name in (HEAD, NODE, OTHER)} | {STRANGER: {"/etc/hosts": ""}}
    with slurm_hall(tmp_path, files, ADDRESSES) as hall:
        found = KeyHall(hall)
        _program(found.of(HEAD), "server.py", "key_server_in_guest")
        assert (found.of(HEAD).folder / Path(SERVER_TABLE).name).exists()
        for name in (NODE, OTHER):
            server = found.of(name)
            table = json.loads(files[name][TABLE])
            table["places"]["munge"] |= {"path": str(found.key(name)), "owner": "root"}
            (server.folder / "keys.json").write_text(json.dumps(table))
            _program(server, "keys.py", "keys_in_guest")
            (server.folder / "systemctl").write_text(_SYSTEMCTL)
            (server.folder / "systemctl").chmod(0o755)
        yield found
        if found.server is not None and found.server.poll() is None:
            found.end()


def test_a_node_gets_the_key_once_and_munged_of_both_agree(keys: KeyHall) -> None:
    keys.arrives(KEY)
    keys.serve()
    done = keys.ask(NODE)
    assert (done.returncode, done.stderr) == (0, "munge: came from 10.60.1.5\n")
    assert keys.key(NODE).read_text() == KEY
    assert (keys.key(NODE).stat().st_mode & 0o777, keys.folder(NODE).stat().st_mode & 0o777) == (0o400, 0o700)
    asked = (keys.of(NODE).folder / "asked").read_text()
    assert asked.startswith("restart munge.service\nis-enabled --quiet slurmctld.service\n")
    assert "restart --no-block" not in asked
    # What it has it does not ask for, and what a person put there since stays.
    keys.key(NODE).unlink()
    assert keys.ask(NODE).returncode == 0
    assert not keys.key(NODE).exists()
    assert (keys.of(NODE).folder / "asked").read_text() == asked
    # A second time nobody is given it at this address, until somebody at the head says so.
    (keys.folder(NODE) / "munge").unlink()
    reply = keys.by_hand(NODE, '["munge"]\n', 600)
    assert KEY not in reply.stdout
    assert f"`interlock-key-server --again {NODE}` here allows it" in reply.stdout
    assert keys.again("acme-train-node-7").returncode == 1
    assert keys.again(NODE).stdout == f"{NODE} may ask again\n"
    (keys.folder(NODE) / ".munge.put").unlink()
    assert keys.ask(NODE).returncode == 0
    said = keys.end()
    assert f"{NODE} has munge\n" in said
    assert KEY not in said + done.stdout + done.stderr + (keys.of(HEAD).folder / "given.json").read_text()
    _sign(keys)


def _sign(keys: KeyHall) -> None:
    """What munged of the head signs, munged of the node takes; one with another key does not."""
    head, node, other = (keys.of(name) for name in (HEAD, NODE, OTHER))
    strange = other.folder / "strange.key"
    strange.write_text(secrets.token_hex(128))
    strange.chmod(0o400)
    ours = keys.folder(HEAD) / "munge"
    ours.chmod(0o400)
    for server, key in ((head, ours), (node, keys.key(NODE)), (other, strange)):
        own = {"socket": "socket", "pid-file": "pid", "seed-file": "seed", "log-file": "log-munge"}
        paths = (f"--{name}={server.folder / value}" for name, value in own.items())
        server.say(program("munged"), "--force", f"--key-file={key}", *paths)
    signed = head.say("munge", "--no-input", f"--socket={head.folder / 'socket'}")
    for server, code in ((node, True), (other, False)):
        (server.folder / "signed").write_text(signed)
        done = server.run("unmunge", f"--socket={server.folder / 'socket'}", f"--input={server.folder / 'signed'}")
        assert (done.returncode == 0) is code, done.stderr


def test_who_is_not_root_of_a_node_gets_nothing(keys: KeyHall) -> None:
    keys.arrives(KEY)
    keys.serve()
    line = '["munge"]\n'
    # From a port that anybody may send from, at a node; from root's at an address that is no node's.
    asked = [keys.by_hand(NODE, line, 40_000), keys.by_hand(STRANGER, line, 600)]
    without = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    refused = keys.by_hand(NODE, line, 600, *without)
    assert [done.stdout.strip() for done in asked] == ["", ""]
    assert "PermissionError" in refused.stderr
    # Its own port is root's as well, so nobody who logs in at the head answers in its place.
    keys.end()
    taken = keys.of(HEAD).run(*without, sys.executable, "-c", f"import socket; socket.socket().bind(('', {PORT}))")
    assert "PermissionError" in taken.stderr
    assert not (keys.of(HEAD).folder / "given.json").exists()


def test_a_head_that_does_not_have_it_yet_is_asked_again(keys: KeyHall) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        keys.ask(NODE, timeout=1)
    keys.serve()
    asking = subprocess.Popen(keys.asking(NODE), stderr=subprocess.PIPE, text=True)
    assert asking.stderr is not None
    assert asking.stderr.readline() == "munge is not at this head yet\n"
    keys.arrives(KEY)
    assert asking.wait(timeout=20) == 0
    assert keys.key(NODE).read_text() == KEY


def test_a_node_that_comes_later_is_one_as_soon_as_the_hosts_file_says_so(keys: KeyHall) -> None:
    keys.arrives(KEY)
    keys.serve()
    assert keys.by_hand(STRANGER, "[]\n", 600).stdout.strip() == ""
    with (keys.of(HEAD).folder / "hosts").open("a") as file:
        file.write("10.60.1.77 acme-train-node-67\n")
    assert json.loads(keys.by_hand(STRANGER, '["munge"]\n', 601).stdout)["items"] == {"munge": KEY}


def test_killed_half_way_a_node_asks_again_and_is_given_it(keys: KeyHall) -> None:
    """Before it has said that it kept the key, at whichever moment; and the head, which keeps what it noted."""
    keys.arrives(KEY)
    keys.serve()
    assert KEY in keys.by_hand(NODE, '["munge"]\n', 600).stdout  # ends without a word
    assert not (keys.of(HEAD).folder / "given.json").exists()
    (keys.folder(NODE)).mkdir(mode=0o700)
    (keys.folder(NODE) / ".munge.new").write_text(KEY[:9])
    assert keys.ask(NODE).returncode == 0
    assert (keys.folder(NODE) / "munge").read_text() == KEY
    keys.end()
    keys.serve()
    assert json.loads(keys.by_hand(NODE, '["munge"]\n', 602).stdout)["items"] == {}
    # Killed between the key and the restart: the place is filled again, by what is there.
    (keys.folder(NODE) / ".munge.put").unlink()
    os.truncate(keys.key(NODE), 0)
    assert keys.ask(NODE).returncode == 0
    assert keys.key(NODE).read_text() == KEY


def test_another_key_takes_the_place_of_the_first(keys: KeyHall) -> None:
    keys.arrives(KEY)
    keys.serve()
    assert keys.ask(NODE).returncode == 0
    later = secrets.token_hex(128)
    keys.arrives(later)
    (keys.folder(NODE) / "munge").unlink()
    assert keys.ask(NODE).returncode == 0
    assert keys.key(NODE).read_text() == later


@pytest.mark.parametrize("line", ["{", "7\n", '"munge"\n', "\n", '["../given.json", 3]\n', "[" * 5000])
def test_what_is_no_question_is_answered_with_no_key_and_others_are_served(keys: KeyHall, line: str) -> None:
    keys.arrives(KEY)
    keys.serve()
    assert KEY not in keys.by_hand(NODE, line, 600).stdout
    assert keys.ask(OTHER).returncode == 0
    assert "Traceback" not in keys.end()


def test_an_image_without_munge_is_told(keys: KeyHall) -> None:
    keys.arrives(KEY)
    keys.serve()
    table = keys.of(NODE).folder / "keys.json"
    table.write_text(table.read_text().replace('"owner": "root"', '"owner": "nobody-of-this-name"'))
    done = keys.ask(NODE)
    assert done.returncode == 65
    assert "this image has no user nobody-of-this-name: it lacks the package" in done.stderr
