"""The generated parts of docs/reference/gpu-catalogue.md: GPU nodes, halls and their sources, from the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from interlock.hardware import Fact
from interlock.hardware.gpu import (
    HALL_DESIGNS,
    NODE_TYPES,
    NVLINK_TABLES,
    FabricDesign,
    HallDesign,
    NodePorts,
    NodeType,
    PortRole,
    cluster_verdict,
    counts,
    expand,
)
from interlock.hardware.gpu.acceptance import (
    DIAGNOSTIC_LEVEL,
    DIAGNOSTIC_TESTS,
    LANES,
    LINK_DOWNED,
    SYMBOL_ERRORS,
    TEN_ADAPTERS,
    limits_of,
)

from .tables import code, table

UNKNOWN = "unknown"
#: Stands for ports that no source names.
UNNAMED = "–"
#: Parts of a node type whose figures are told elsewhere: its GPU's by themselves, the menus in a table of their own.
_ELSEWHERE = {"nvlink"}


def node_types(_old: str) -> str:
    """Every node type with its main figures."""
    head = ["node type", "GPUs", "memory, GB", "NVSwitches", "CPUs", "compute ports", "W at most", "units", "kg"]
    return table(head, (_node_row(node) for node in NODE_TYPES.values()))


def node_ports(_old: str) -> str:
    """Ports of every node type by role."""
    head = ["node type", *(role.value for role in PortRole)]
    rows = ([code(node.name), *(_ports(node.ports_for(role)) for role in PortRole)] for node in NODE_TYPES.values())
    return table(head, (row for row in rows if set(row[1:]) != {UNNAMED}))


def refusals(_old: str) -> str:
    """Node types of which no cluster is offered, with what is said then."""
    refused = (node for node in NODE_TYPES.values() if node.not_offered is not None)
    return table(
        ["node type", "what is said"], ([code(node.name), cluster_verdict(node.name).reason] for node in refused)
    )


def acceptance(_old: str) -> str:
    """What a node of each type has to show before it is given out."""
    head = ["node type", "GPUs", "NVSwitches", "adapters", "all-reduce, GB/s", "message, bytes", "compute ports, Gb/s"]
    return table(head, (_acceptance_row(node) for node in NODE_TYPES.values() if node.not_offered is None))


def _acceptance_row(node: NodeType) -> list[str]:
    limits = limits_of(node.name)
    assert limits is not None
    reduce, ports = limits.all_reduce, f"{_shown(limits.ports)} × {_shown(limits.link)}"
    return [
        code(node.name),
        _shown(limits.gpus),
        _shown(limits.nvswitches) if limits.has_nvswitches else UNNAMED,
        _shown(limits.hcas),
        _shown(reduce.busbw if reduce else None),
        _shown(reduce.message if reduce else None),
        ports if limits.has_fabric else UNNAMED,
    ]


def acceptance_sources(_old: str) -> str:
    """Where the limits come from that are not figures of the node itself."""
    found: dict[str, list[str]] = {}
    for name in NODE_TYPES:
        limits = limits_of(name)
        if limits is not None and limits.all_reduce is not None:
            found.setdefault(limits.all_reduce.busbw.source, []).append(name)
    rows = [[f"all-reduce of {', '.join(map(code, names))}", "practice", source] for source, names in found.items()]
    for what, fact in (
        ("adapters of DGX H100, H200 and B200", TEN_ADAPTERS),
        ("suite of diagnostics", DIAGNOSTIC_LEVEL),
        ("symbol errors of a port", SYMBOL_ERRORS),
        ("times that a link went down", LINK_DOWNED),
        ("lanes of a port", LANES),
    ):
        rows.append([f"{what}: {fact.value}", fact.provenance, fact.source])
    tests = ", ".join(map(code, DIAGNOSTIC_TESTS.value))
    rows.append([f"tests of that suite: {tests}", DIAGNOSTIC_TESTS.provenance, DIAGNOSTIC_TESTS.source])
    return table(["limit", "how far it can be trusted", "source"], rows)


def nvlink_menus(_old: str) -> str:
    """Groups of GPUs that can be isolated, by generation."""
    rows = (
        [code(item.name), _shown(item.links), _menu(item.partitions.value), item.partitions.source]
        for item in NVLINK_TABLES.values()
    )
    return table(["generation", "links of each GPU", "groups of more than one GPU, by id", "source"], rows)


def halls(_old: str) -> str:
    """Every row of the makers' tables, as the expanded hall has it."""
    head = ["hall", "units", "nodes", "GPUs", "leaves", "spines", "cores", "links: node, spine, core", "source"]
    return table(head, (row for design in HALL_DESIGNS.values() for row in _hall_rows(design)))


def fabrics(_old: str) -> str:
    """The four fabrics of each hall, and how far each figure of them can be trusted."""
    head = ["hall", "fabric", "medium", "Gb/s", "rails", "planes", "ports of a switch", "of one unit: leaves, spines"]
    return table(head, (row for design in HALL_DESIGNS.values() for row in _fabric_rows(design)))


def sources(_old: str) -> str:
    """Every figure of node types and halls with where it comes from."""
    told: dict[tuple[str, str, str], list[str]] = {}
    items: list[NodeType | HallDesign] = [*NODE_TYPES.values(), *HALL_DESIGNS.values()]
    for item in items:
        for name, fact in _facts("", item):
            told.setdefault((item.name, fact.provenance.value, fact.source), []).append(f"{name}: {_told(fact)}")
    rows = ([code(name), "; ".join(figures), how, where] for (name, how, where), figures in told.items())
    return table(["of", "figures", "provenance", "source"], rows)


def _node_row(node: NodeType) -> list[str]:
    build = node.build
    cpus = UNKNOWN if node.host.cpus is None else f"{node.host.cpus.value} × {_shown(node.host.cpu)}"
    gpus = UNKNOWN if node.gpus is None else f"{node.gpus.value} × {node.gpu.name}"
    memory = UNKNOWN if node.memory_gb is None else str(node.memory_gb)
    weights = (_shown(build.nameplate), _shown(build.height), _shown(build.weight))
    return [
        code(node.name), gpus, memory, _shown(node.nvswitches), cpus, _ports(node.ports_for(PortRole.COMPUTE)), *weights
    ]  # fmt: skip


def _ports(ports: NodePorts | None) -> str:
    if ports is None:
        return UNNAMED
    if ports.count is None:
        return f"{ports.bandwidth} Gb/s together"
    speed = "" if ports.speed is None else f" × {ports.speed.value} Gb/s"
    return f"{ports.count.value}{speed}" + ("" if ports.medium is None else f" {ports.medium.value}")


def _menu(partitions: dict[int, tuple[int, ...]]) -> str:
    several = {number: gpus for number, gpus in partitions.items() if len(gpus) > 1}
    return "; ".join(f"{number}: {_members(gpus)}" for number, gpus in several.items())


def _members(gpus: tuple[int, ...]) -> str:
    """Module ids, runs of three or more with a dash."""
    runs: list[list[int]] = []
    for gpu in gpus:
        if runs and gpu == runs[-1][-1] + 1:
            runs[-1].append(gpu)
        else:
            runs.append([gpu])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _hall_rows(design: HallDesign) -> Iterator[list[str]]:
    read = {} if design.rows is None else {row.units: row for row in design.rows.value}
    for units in list(read) or [1]:
        hall = expand(design, units)
        found = counts(hall, PortRole.COMPUTE)
        links = f"{found.node_links}, {found.leaf_spine_links}, {found.spine_core_links or '–'}"
        source = "no table was read" if design.rows is None else design.rows.source
        switches = (str(found.leaves), str(found.spines), str(found.cores or "–"))
        yield [code(design.name), str(units), str(len(hall.nodes)), str(hall.gpus), *switches, links, source]


def _fabric_rows(design: HallDesign) -> Iterator[list[str]]:
    hall = expand(design, 1)
    for fabric in design.fabrics:
        found = counts(hall, fabric.role)
        placeholder = "" if fabric.role is PortRole.COMPUTE else " (placeholder)"
        yield [
            code(design.name),
            fabric.role.value,
            fabric.medium.value + placeholder,
            _shown(fabric.speed),
            _shown(fabric.rails),
            _shown(fabric.planes),
            _shown(fabric.radix) + placeholder,
            f"{found.leaves}, {found.spines or '–'}{placeholder}",
        ]


def _facts(where: str, value: object) -> Iterator[tuple[str, Fact[Any]]]:
    """Every figure below a record, with the names that lead to it."""
    if isinstance(value, Fact):
        yield where, value
    elif isinstance(value, tuple):
        for item in value:
            role = item.role.value if isinstance(item, NodePorts | FabricDesign) else ""
            yield from _facts(f"{where} {role}".strip(), item)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in _ELSEWHERE and not isinstance(getattr(value, field.name), NodeType):
                yield from _facts(f"{where} {field.name.replace('_', ' ')}".strip(), getattr(value, field.name))


def _told(fact: Fact[Any]) -> str:
    """Value and unit; a table of rows stands on the page already."""
    return f"{len(fact.value)} rows" if isinstance(fact.value, tuple) else f"{fact.value} {fact.unit}".strip()


def _shown(fact: Fact[Any] | None) -> str:
    """The value alone: units stand in the headings."""
    return UNKNOWN if fact is None else str(fact.value)
