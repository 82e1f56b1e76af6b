"""A live subnet: ibsim with a topology, OpenSM as its subnet manager, and everything that can be done to them."""

from __future__ import annotations

import hashlib
import re
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import partitions
from .needs import preloaded, program, require_subnet
from .partitions import ConfiguredPartition, Membership
from .processes import TAKEOVER_SECONDS, WAIT_SECONDS, Daemon, SubnetFailed, end_leftovers, last_of, wait_until
from .queries import DiscoveredLink, Queries
from .topology import SubnetTopology, hex16

_UP = "SUBNET UP"
_PROMPT = b"sim> "
_NOT_FOUND = "no HCA with the GUID {} is discovered"


@dataclass(frozen=True)
class ManagerSettings:
    """What OpenSM is told beside partitions. Keys as OpenSM has them unless told otherwise."""

    part_enforce: str = "both"
    #: Membership of all ports in the default partition.
    default_membership: Membership = "limited"
    sweep_interval: int = 2
    m_key: int = 0
    sm_key: int = 1
    sa_key: int = 1
    m_key_per_port: bool = False
    subnet_prefix: int = 0xFE80000000000000

    @property
    def text(self) -> str:
        """The file. `m_key_per_port` is UFM's own and not in it."""
        return (
            f"sweep_interval {self.sweep_interval}\npart_enforce {self.part_enforce}\nforce_log_flush TRUE\n"
            f"m_key {self.m_key:#018x}\nsm_key {self.sm_key:#018x}\nsa_key {self.sa_key:#018x}\n"
            f"subnet_prefix {self.subnet_prefix:#018x}\n"
            # A standby looks every half second, and takes over after two answers that did not come.
            "sminfo_polling_timeout 500\npolling_retry_number 2\n"
        )


@dataclass(frozen=True)
class PortTables:
    """P_Keys of one HCA's port and of the switch port it is cabled to, each in the order of its table."""

    host: tuple[int, ...]
    leaf: tuple[int, ...]


class LiveSubnet:
    """One fabric in a folder of its own, with a subnet manager and perhaps a standby."""

    def __init__(self, topology: SubnetTopology, folder: Path, settings: ManagerSettings | None = None) -> None:
        self.topology = topology
        self.folder = folder.resolve()
        self.settings = settings or ManagerSettings()
        self.partition_file = self.folder / "partitions.conf"
        #: How many times as long everything may take as in a small fabric.
        self.patience = max(1.0, len(topology.hcas) / 100)
        self._cabled = {hca.name: topology.leaf(hca.name) for hca in topology.hcas}
        self._fabric: Daemon | None = None
        self._managers: dict[str, Daemon] = {}
        self._queries: dict[str, Queries] = {}

    # Life

    def start(self) -> None:
        """Start the fabric and its subnet manager; returns when the subnet is up. What a killed run left is ended.

        Raises SubnetLacks and SubnetFailed; after the second nothing runs.
        """
        require_subnet()
        self.folder.mkdir(parents=True, exist_ok=True)
        end_leftovers(self.folder)
        (self.folder / "net").write_text(self.topology.netlist, encoding="utf-8")
        (self.folder / "opensm.conf").write_text(self.settings.text, encoding="utf-8")
        self._write([])
        try:
            words = [program("ibsim"), "-s", *_limits(self.topology).split(), "net"]
            self._fabric = Daemon(self.folder, "ibsim", words, self._environment(self.topology.manager))
            self._wait(self._answers, "the simulated fabric answers", self._fabric.output)
            self.start_manager()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End everything. Does nothing if nothing runs."""
        # The managers first, and killed: without its fabric OpenSM heeds no other signal.
        for manager in self._managers.values():
            manager.kill()
        self._managers.clear()
        for asker in self._queries.values():
            asker.close()
        self._queries.clear()
        if self._fabric is not None:
            self._fabric.kill()
            self._fabric = None

    @contextmanager
    def running(self) -> Iterator[LiveSubnet]:
        """Started, and stopped in the end; its folder is removed unless something went wrong."""
        self.start()
        try:
            yield self
            shutil.rmtree(self.folder, ignore_errors=True)
        finally:
            self.stop()

    def start_manager(self) -> None:
        """Start the subnet manager; returns when it has brought the subnet up. Raises SubnetFailed."""
        self._manage(self.topology.manager, priority=2)
        log = self._log(self.topology.manager)
        self._wait(lambda: self._times_up(self.topology.manager) > 0, "OpenSM brings the subnet up", log)

    def start_standby(self) -> None:
        """Start a second subnet manager at `standby`, which waits for the first one to go. Raises SubnetFailed."""
        if self.topology.standby is None:
            raise SubnetFailed("the topology names no HCA for a standby")
        self._manage(self.topology.standby, priority=1)
        name = self.topology.standby
        wait_until(lambda: "Entering STANDBY state" in self._said(name), "the standby stands by", self._log(name))

    def stop_manager(self) -> None:
        """Kill the subnet manager: tables stay as they are, nobody answers questions about paths."""
        self._end_manager(self.topology.manager)

    def stop_standby(self) -> None:
        """Kill the second subnet manager."""
        if self.topology.standby is not None:
            self._end_manager(self.topology.standby)

    @property
    def managers(self) -> tuple[str, ...]:
        """HCAs at which a subnet manager runs."""
        return tuple(self._managers)

    @property
    def queries(self) -> Queries:
        """Who asks: from the HCA of a subnet manager that runs, as UFM does."""
        host = next(iter(self._managers), self.topology.manager)
        if host not in self._queries:
            self._queries[host] = Queries(self._environment(host), self.folder, self.patience)
        return self._queries[host]

    def wait_for_takeover(self) -> None:
        """Return when the standby has brought the subnet up."""
        if self.topology.standby is None:
            raise SubnetFailed("the topology names no HCA for a standby")
        name = self.topology.standby
        wait_until(lambda: self._times_up(name) > 0, "the standby takes over", self._log(name), TAKEOVER_SECONDS)

    # Partitions

    def partitions(self) -> tuple[ConfiguredPartition, ...]:
        """What the subnet manager was told last. Raises PartitionsWrong."""
        return partitions.read(self.partition_file.read_text(encoding="utf-8"))

    def apply(self, wanted: Iterable[ConfiguredPartition]) -> None:
        """Tell OpenSM of these partitions and no others; returns after the sweep that followed. Raises SubnetFailed."""
        self._require_manager()
        self._write(wanted)
        self.reload()

    def reload(self) -> None:
        """SIGHUP: OpenSM reads its partitions and sweeps; returns after that. Every manager is told."""
        self._require_manager()
        before = {name: self._times_up(name) for name in self._managers}
        for manager in self._managers.values():
            manager.send(signal.SIGHUP)
        self._wait(
            lambda: any(self._times_up(name) > times for name, times in before.items()),
            "OpenSM sweeps after SIGHUP",
            self._log(next(iter(self._managers))),
        )

    # What is there

    def links(self) -> tuple[DiscoveredLink, ...]:
        """Every cable, from either end, as discovered now."""
        return self.queries.links()

    def tables(self) -> dict[int, PortTables]:
        """Port GUID of each HCA that is discovered -> the tables of its port and of its leaf's."""
        ends = [(link.here, link.there) for link in self.links() if not link.here.is_switch and link.there.is_switch]
        asked = [(end.lid, end.port) for pair in ends for end in pair]
        found = self.queries.tables(asked)
        return {host.guid: PortTables(found[host.lid, host.port], found[leaf.lid, leaf.port]) for host, leaf in ends}

    def host_table(self, guid: int) -> tuple[int, ...]:
        """P_Keys of an HCA's port in the order of its table. Raises SubnetFailed if it is not discovered."""
        return self._tables_of(guid).host

    def leaf_table(self, guid: int) -> tuple[int, ...]:
        """P_Keys of the switch port that an HCA is cabled to. Raises SubnetFailed if it is not discovered."""
        return self._tables_of(guid).leaf

    def paths(self, a: int, b: int) -> tuple[int, ...]:
        """P_Keys of the path records from one port GUID to another, asked of the subnet manager."""
        lids = {link.here.guid: link.here.lid for link in self.links() if not link.here.is_switch}
        for guid in (a, b):
            if guid not in lids:
                raise SubnetFailed(_NOT_FOUND.format(hex16(guid)))
        return self.queries.path_keys(lids[a], lids[b])

    # What is done behind the model's back

    def swap_cables(self, a: str, b: str) -> None:
        """Put the cable of each of two HCAs where the other's was. Returns when OpenSM has swept."""
        place_a, place_b = self._cabled[a], self._cabled[b]
        self._console(f'Unlink "{a}"[1]')
        self._console(f'Unlink "{b}"[1]')
        self._move(a, *place_b)
        self._move(b, *place_a)
        self.reload()

    def replace_hca(self, name: str, guid: int) -> None:
        """Put another adapter, with this port GUID, in the place of one. Returns when OpenSM has swept."""
        self._console(f'Unlink "{name}"[1]')
        self.reload()
        self.plug(name, guid)

    def plug(self, name: str, guid: int) -> None:
        """Put an adapter with this port GUID where one was unplugged. Returns when OpenSM has swept."""
        self._console(f'Guid "{name}" {guid - 1:#x}')
        self._console(f'Guid "{name}"[1] {guid:#x}')
        self._move(name, *self._cabled[name])
        self.reload()

    def unplug(self, name: str) -> None:
        """Take an HCA's cable out. Returns when OpenSM has swept."""
        self._console(f'Unlink "{name}"[1]')
        self.reload()

    # Inside

    def _wait(self, is_so: Callable[[], bool], what: str, log: Path) -> None:
        wait_until(is_so, what, log, WAIT_SECONDS * self.patience)

    def _require_manager(self) -> None:
        if not self._managers:
            raise SubnetFailed("no subnet manager runs: nobody reads partitions.conf")

    def _tables_of(self, guid: int) -> PortTables:
        found = self.tables()
        if guid not in found:
            raise SubnetFailed(_NOT_FOUND.format(hex16(guid)))
        return found[guid]

    def _write(self, wanted: Iterable[ConfiguredPartition]) -> None:
        # Renamed over: OpenSM never reads half of it.
        text = partitions.written(wanted, self.settings.default_membership)
        beside = self.partition_file.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.partition_file)

    def _environment(self, host: str) -> dict[str, str]:
        """Of what runs at one HCA: which fabric, and files of its own."""
        socket = f"interlock-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]}"
        own = self.folder / f"tmp-{host}"
        return {"IBSIM_SOCKNAME": socket, "SIM_HOST": host, "OSM_TMP_DIR": str(own), "OSM_CACHE_DIR": str(own)}

    def _manage(self, host: str, priority: int) -> None:
        own = self.folder / f"tmp-{host}"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir()
        self._log(host).unlink(missing_ok=True)
        files = ["-F", str(self.folder / "opensm.conf"), "-P", str(self.partition_file), "-f", str(self._log(host))]
        words = [program("opensm"), *files, "-p", str(priority), "-g", f"{self.topology.guid(host):#x}", "-R", "ftree"]
        preload = {"LD_PRELOAD": preloaded()}
        self._managers[host] = Daemon(self.folder, f"opensm-{host}", words, {**self._environment(host), **preload})

    def _end_manager(self, host: str) -> None:
        """Kill a manager, and tell ibsim, which would go on to hand it what is for the manager at this HCA."""
        manager = self._managers.pop(host)
        manager.kill()
        for client in re.findall(rf"Client (\d+): pid {manager.process.pid} ", self._console("Attached")):
            self._console(f"X {client}")

    def _log(self, host: str) -> Path:
        return self.folder / f"opensm-{host}.log"

    def _said(self, host: str) -> str:
        manager = self._managers.get(host)
        if manager is not None and not manager.runs:
            raise SubnetFailed(f"the subnet manager at {host} ended{last_of(manager.output)}")
        log = self._log(host)
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""

    def _times_up(self, host: str) -> int:
        return self._said(host).count(_UP)

    def _answers(self) -> bool:
        if self._fabric is None or not self._fabric.runs:
            raise SubnetFailed(f"ibsim ended{last_of(self.folder / 'ibsim.out')}")
        try:
            return bool(self.links())
        except SubnetFailed:
            return False

    def _move(self, name: str, leaf: str, port: int) -> None:
        self._console(f'Link "{name}"[1] "{leaf}"[{port}]')
        self._cabled[name] = leaf, port

    def _console(self, command: str) -> str:
        """A command of ibsim's console, and what it says. Raises SubnetFailed if it refuses."""
        if self._fabric is None:
            raise SubnetFailed("the fabric does not run")
        output = self._fabric.output
        before = len(output.read_bytes())
        self._fabric.type(command)
        wait_until(lambda: _PROMPT in output.read_bytes()[before:], f"ibsim takes {command!r}", output)
        said = output.read_bytes()[before:].replace(_PROMPT, b"").decode(errors="replace").strip()
        if said.startswith("#"):
            raise SubnetFailed(f"ibsim refuses {command!r}: {said}")
        return said


def _limits(topology: SubnetTopology) -> str:
    """ibsim's tables: as many rows as the topology needs, and some more."""
    ports = sum(switch.ports + 1 for switch in topology.switches) + len(topology.hcas)
    nodes = len(topology.switches) + len(topology.hcas)
    return f"-N {nodes + 16} -S {len(topology.switches) + 4} -P {ports + 64}"
