"""A subnet as frozen types: switches, HCAs with one port each, cables; and the text that ibsim reads.

GUIDs are the site's own: ibsim takes them from `switchguid=` and `caguid=` in front of each record. A CA of one port
has the GUID after that of its node, so the node gets the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

#: What a switch of the simulated make has; the P_Key table of each of its ports has 64 rows, as that of an HCA.
MAX_PORTS = 254


def hex16(guid: int) -> str:
    """A GUID as UFM writes it: 16 hex digits, without 0x."""
    return f"{guid:016x}"


class TopologyWrong(ValueError):
    """This cannot be a subnet; says what is wrong."""


@dataclass(frozen=True)
class TopologySwitch:
    """A switch: name, ports that it has, GUID."""

    name: str
    ports: int
    guid: int


@dataclass(frozen=True)
class TopologyHca:
    """The one port of an adapter of a host: name of its own, GUID of the port, what its host calls it."""

    name: str
    guid: int
    description: str


@dataclass(frozen=True)
class TopologyCable:
    """A cable between two ports. Those of HCAs are number 1."""

    a: str
    a_port: int
    b: str
    b_port: int


@dataclass(frozen=True)
class SubnetTopology:
    """What is cabled. The subnet manager runs at the HCA `manager`; a second one, if any, at `standby`."""

    switches: tuple[TopologySwitch, ...]
    hcas: tuple[TopologyHca, ...]
    cables: tuple[TopologyCable, ...]
    manager: str
    standby: str | None = None

    def __post_init__(self) -> None:
        """Raise TopologyWrong for what ibsim would refuse or take for something else."""
        ports = {switch.name: switch.ports for switch in self.switches} | {hca.name: 1 for hca in self.hcas}
        _once([*(switch.name for switch in self.switches), *(hca.name for hca in self.hcas)], "name")
        guids = [*(switch.guid for switch in self.switches), *(hca.guid for hca in self.hcas)]
        _once([hex16(guid) for guid in guids], "GUID")
        _once([f"{name}[{port}]" for cable in self.cables for name, port in _ends(cable)], "port")
        for cable in self.cables:
            for name, port in _ends(cable):
                if not 1 <= port <= min(ports.get(name, 0), MAX_PORTS):
                    raise TopologyWrong(f"a cable ends at {name}[{port}], which is not there")
        for name in (self.manager, *filter(None, (self.standby,))):
            self.guid(name)

    def guid(self, name: str) -> int:
        """GUID of an HCA's port. Raises TopologyWrong if no HCA has this name."""
        return self.hca(name).guid

    def hca(self, name: str) -> TopologyHca:
        """An HCA by its name. Raises TopologyWrong."""
        if name not in self._hca:
            raise TopologyWrong(f"no HCA is called {name}")
        return self._hca[name]

    def leaf(self, name: str) -> tuple[str, int]:
        """Switch and port to which an HCA is cabled. Raises TopologyWrong."""
        if name not in self._cabled:
            raise TopologyWrong(f"{name} has no cable")
        return self._cabled[name]

    @cached_property
    def _hca(self) -> dict[str, TopologyHca]:
        return {hca.name: hca for hca in self.hcas}

    @cached_property
    def _cabled(self) -> dict[str, tuple[str, int]]:
        """HCA -> the other end of its cable. A hall has thousands of them, so nobody looks for one among all cables."""
        both = (ends for cable in self.cables for ends in (_ends(cable), _ends(cable)[::-1]))
        return {here[0]: there for here, there in both if here[0] in self._hca}

    @property
    def hosts(self) -> tuple[TopologyHca, ...]:
        """HCAs but those of the hosts with the subnet managers, whose further ports are `<name>:<port>`."""
        managers = (self.manager, self.standby)
        return tuple(hca for hca in self.hcas if hca.name.partition(":")[0] not in managers)

    @property
    def netlist(self) -> str:
        """The text that ibsim reads."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        names = [*(switch.name for switch in self.switches), *(hca.name for hca in self.hcas)]
        ends = {name: dict[int, tuple[str, int]]() for name in names}
        for cable in self.cables:
            ends[cable.a][cable.a_port] = (cable.b, cable.b_port)
            ends[cable.b][cable.b_port] = (cable.a, cable.a_port)
        for hca in self.hcas:
            yield f"caguid={hca.guid - 1:#x}"
            yield f'Ca 1 "{hca.name}"\t# "{hca.description}"'
            yield from _cabled(ends[hca.name])
        for switch in self.switches:
            yield f"switchguid={switch.guid:#x}"
            yield f'Switch {switch.ports} "{switch.name}"\t# "{switch.name}"'
            yield from _cabled(ends[switch.name])


def rails(
    nodes: int,
    count: int,
    *,
    spines: int = 2,
    hca_guid: int = 0x946DAE0300000000,
    switch_guid: int = 0xFC6A1C0300000000,
) -> SubnetTopology:
    """Nodes with one HCA on each rail, a leaf for each rail, spines above; `ufm-0` and `ufm-1` for subnet managers.

    HCAs are `n<node>-r<rail>`, with GUIDs 16 apart in the order of nodes and rails. Switches have twice the ports that
    are cabled, so that cables can be moved.
    """
    names = [f"n{node}-r{rail}" for node in range(nodes) for rail in range(count)]
    guids = {name: hca_guid + 16 * (number + 1) for number, name in enumerate((*names, "ufm-0", "ufm-1"))}
    hcas = [TopologyHca(name, guids[name], f"{name.replace('-r', ' mlx5_')}") for name in guids]
    width = min(2 * (nodes + spines + 2), MAX_PORTS)
    cables = [TopologyCable(f"leaf-{r}", n + 1, f"n{n}-r{r}", 1) for r in range(count) for n in range(nodes)]
    cables += [
        TopologyCable(f"leaf-{r}", nodes + 1 + s, f"spine-{s}", r + 1) for r in range(count) for s in range(spines)
    ]
    cables += [
        TopologyCable(f"leaf-{leaf}", nodes + spines + 1 + number, f"ufm-{number}", 1)
        for number, leaf in enumerate((0, count - 1))
    ]
    switches = [*(f"leaf-{r}" for r in range(count)), *(f"spine-{s}" for s in range(spines))]
    return SubnetTopology(
        tuple(TopologySwitch(name, max(width, count), switch_guid + i + 1) for i, name in enumerate(switches)),
        tuple(hcas),
        tuple(cables),
        manager="ufm-0",
        standby="ufm-1",
    )


def _ends(cable: TopologyCable) -> tuple[tuple[str, int], tuple[str, int]]:
    return (cable.a, cable.a_port), (cable.b, cable.b_port)


def _cabled(ends: dict[int, tuple[str, int]]) -> Iterator[str]:
    for port, (remote, remote_port) in sorted(ends.items()):
        yield f'[{port}]\t"{remote}"[{remote_port}]'
    yield ""


def _once(values: list[str], what: str) -> None:
    twice = sorted(value for value, times in Counter(values).items() if times > 1)
    if twice:
        raise TopologyWrong(f"{what} used twice: {', '.join(twice[:5])}")
