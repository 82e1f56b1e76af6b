"""A fabric: brought up, set, read back and taken down."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sandbox.switches.table import SwitchState

from . import bridges
from .bridges import Columns, columns_of
from .namespaces import FabricFailed, batch, inside, quieten, remove, run, switch_on, with_prefix
from .needs import require_fabric
from .wiring import Wiring

#: The interface of every host.
HOST_INTERFACE = "eth0"
_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_SECONDS = "10"


class SwitchDrifted(FabricFailed):
    """A bridge forwards otherwise than it was set: somebody else changed it."""


@dataclass(frozen=True)
class Fabric:
    """One instance: what is cabled, and the folder that it has for itself, by which its namespaces are named."""

    wiring: Wiring
    folder: Path

    @cached_property
    def prefix(self) -> str:
        """What the names of this instance's namespaces begin with."""
        return f"il-{hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()[:10]}-"

    @property
    def switch_namespace(self) -> str:
        """The namespace of all switches."""
        return f"{self.prefix}switches"

    def namespace(self, host: str) -> str:
        """The namespace of a host. Raises KeyError if nothing of this name is cabled."""
        if host not in self.wiring.hosts:
            raise KeyError(host)
        return f"{self.prefix}host-{host}"

    @property
    def is_up(self) -> bool:
        """True if its switches are there, whoever made them."""
        return self.switch_namespace in with_prefix(self.prefix)

    def up(self, initial: Mapping[str, SwitchState] | None = None) -> None:
        """Make everything; all ports are down but those of the switches with an `initial` state.

        What an earlier instance in this folder left is removed first. Raises FabricLacks and FabricFailed; after the
        second nothing is left.
        """
        require_fabric()
        self.down()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._cable()
            self._start()
            self._bridges()
            self.apply([(self.load(name), state) for name, state in (initial or {}).items()])
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """Remove everything, also what was left by a process that was killed. Does nothing if nothing is there."""
        require_fabric()
        names = with_prefix(self.prefix)
        if names:
            remove(names)
        if (self.folder / "run").exists():
            shutil.rmtree(self.folder / "run")

    @contextmanager
    def running(self) -> Iterator[Fabric]:
        """Up, and down in the end."""
        self.up()
        try:
            yield self
        finally:
            self.down()

    def backend(self, switch: str) -> BridgeBackend:
        """What the command line of one switch works on."""
        return BridgeBackend(self, switch)

    def load(self, switch: str) -> SwitchState:
        """The state of a switch, read back. Raises SwitchDrifted if its bridge is not set like this."""
        bridge = self.wiring.bridges[switch]
        found = _rows(self._vsctl("-f", "json", "--columns=external_ids", "list", "Bridge", bridge))
        state = bridges.decoded(dict(found[0]["external_ids"])[bridges.STATE])
        seen, wanted = self._seen(switch), self._wanted(state)
        if seen != wanted:
            wrong = sorted(port for port in {*seen, *wanted} if seen.get(port) != wanted.get(port))
            raise SwitchDrifted(f"{switch}: {', '.join(wrong)} forwards otherwise than it was set; run `down` and `up`")
        return state

    def apply(self, changes: Sequence[tuple[SwitchState, SwitchState]]) -> None:
        """Take switches from one state to another, all in one transaction.

        No port is ever between two settings: mode, tag and list change together, and one that was not on its bridge
        comes there with them. When this returns nothing is forwarded any more as it was before. Raises FabricFailed;
        then nothing was changed, unless `ovs-vswitchd` itself is gone or stands still, and forwards nothing.
        """
        words = [word for before, after in changes for word in self._words(before, after)]
        if words:
            self._vsctl(*words)
            # Flows that were worked out before go within half a second otherwise.
            self.control("revalidator/purge")

    def control(self, method: str, *arguments: str) -> str:
        """One command to `ovs-vswitchd` over its control socket; it answers between two rounds of forwarding."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(10)
            link.connect(str(self._run / "vswitchd.ctl"))
            link.sendall(json.dumps({"method": method, "params": list(arguments), "id": 0}).encode())
            answer = b""
            while not answer.endswith(b"}"):
                part = link.recv(65536)
                if not part:
                    raise FabricFailed(f"ovs-vswitchd closed its control socket after {method}")
                answer += part
        found = json.loads(answer)
        if found.get("error"):
            raise FabricFailed(f"ovs-vswitchd refused {method}: {found['error']}")
        return str(found["result"])

    @property
    def _run(self) -> Path:
        return self.folder / "run"

    @property
    def _within(self) -> tuple[str, ...]:
        return "ip", "netns", "exec", self.switch_namespace

    @property
    def _database(self) -> str:
        return f"unix:{self._run}/db.sock"

    def _vsctl(self, *words: str) -> str:
        # In the namespace, so that it goes with all others there if this process is killed while it waits.
        return run(*self._within, "ovs-vsctl", f"--timeout={_SECONDS}", f"--db={self._database}", *words)

    def _cable(self) -> None:
        hosts = {host: self.namespace(host) for host in self.wiring.hosts}
        batch([f"netns add {name}" for name in (self.switch_namespace, *hosts.values())])
        for name in (self.switch_namespace, *hosts.values()):
            with inside(name):
                quieten()
        ends, home = self.wiring.interfaces, self.switch_namespace
        pairs = [(ends[end], f"{HOST_INTERFACE} netns {hosts[host]}") for host, end in self.wiring.hosts.items()]
        pairs += [(ends[a], f"{ends[b]} netns {home}") for a, b in self.wiring.links]
        batch([f"link add {here} netns {home} type veth peer name {there}" for here, there in pairs])
        with inside(self.switch_namespace):
            switch_on(list(ends.values()))
        for name in hosts.values():
            with inside(name):
                switch_on([HOST_INTERFACE])

    def _start(self) -> None:
        folder = self._run
        folder.mkdir(exist_ok=True)
        run("ovsdb-tool", "create", f"{folder}/conf.db", _SCHEMA)
        # Detached programs read this folder where no option names a file.
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"} | dict.fromkeys(
            ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"), str(folder)
        )
        server = ("ovsdb-server", f"{folder}/conf.db", f"--remote=punix:{folder}/db.sock")
        run(*self._within, *server, *_daemon(folder, "ovsdb"), env=env)
        self._vsctl("--no-wait", "init")
        run(*self._within, "ovs-vswitchd", self._database, *_daemon(folder, "vswitchd"), env=env)

    def _bridges(self) -> None:
        words: list[str] = []
        for switch, bridge in self.wiring.bridges.items():
            state = bridges.encoded(bridges.initial(switch, self.wiring.switches[switch]))
            words += [
                "--",
                "add-br",
                bridge,
                "--",
                "set",
                "Bridge",
                bridge,
                "datapath_type=netdev",
                "fail_mode=standalone",
            ]
            words += [_state(state)]
        self._vsctl(*words[1:])

    def _wanted(self, state: SwitchState) -> dict[str, Columns]:
        """Interface -> how it is set, of those that are on the bridge in this state."""
        found = {}
        for end, interface in self.wiring.interfaces.items():
            columns = columns_of(state.ports[end.port], state.vlans) if end.switch == state.name else None
            if columns is not None:
                found[interface] = columns
        return found

    def _words(self, before: SwitchState, after: SwitchState) -> Iterator[str]:
        """The commands of one switch within a transaction."""
        if before == after:
            return
        bridge, old, new = self.wiring.bridges[after.name], self._wanted(before), self._wanted(after)
        for interface in sorted(old.keys() - new.keys()):
            yield from ("--", "--if-exists", "del-port", bridge, interface)
        for interface in sorted(new.keys()):
            if old.get(interface) != new[interface]:
                yield from ("--", "--may-exist", "add-port", bridge, interface)
                yield from ("--", "set", "Port", interface, *new[interface].settings())
        yield from ("--", "set", "Bridge", bridge, _state(bridges.encoded(after)))

    def _seen(self, switch: str) -> dict[str, Columns]:
        """Interface -> how it is set, of those that are on the bridge."""
        own = set(self._vsctl("list-ports", self.wiring.bridges[switch]).split())
        rows = _rows(self._vsctl("-f", "json", "--columns=name,vlan_mode,tag,trunks", "list", "Port"))
        return {
            row["name"]: Columns(row["vlan_mode"] or "", row["tag"], tuple(sorted(_all(row["trunks"]))))
            for row in rows
            if row["name"] in own
        }


@dataclass(frozen=True)
class BridgeBackend:
    """One switch of a fabric, as the command line of a switch uses it (`sandbox.switches.table.Backend`)."""

    fabric: Fabric
    switch: str

    def load(self) -> SwitchState:
        """The state as it was last applied. Raises SwitchDrifted."""
        return self.fabric.load(self.switch)

    def apply(self, before: SwitchState, after: SwitchState) -> None:
        """Make the second state of the first. Raises FabricFailed; then nothing was changed."""
        self.fabric.apply([(before, after)])


def _daemon(folder: Path, name: str) -> tuple[str, ...]:
    return (
        f"--pidfile={folder}/{name}.pid", f"--log-file={folder}/{name}.log", f"--unixctl={folder}/{name}.ctl",
        "--detach", "--no-chdir", "-vconsole:off",
    )  # fmt: skip


def _state(encoded: str) -> str:
    # Values with commas stand in quotation marks, escaped as in JSON.
    return f"external_ids:{bridges.STATE}={json.dumps(encoded)}"


def _rows(text: str) -> list[dict[str, Any]]:
    """The rows of `ovs-vsctl -f json`; a set of at most one value is that value or None."""
    found = json.loads(text)
    return [{name: _value(value) for name, value in zip(found["headings"], row, strict=True)} for row in found["data"]]


def _value(value: Any) -> Any:
    if isinstance(value, list) and value[0] in ("set", "map"):
        return value[1] or None
    return value


def _all(value: Any) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]
