"""Answers as tables. Columns are those that were seen; newer ones insert one, which breaks scripts that cut them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Sequence[str]
#: From this release on there are allocations in the table of partitions. Which release it was is assumed.
_WITH_ALLOCATIONS = (1, 17)


def table(head: Row, rows: Sequence[Row], *, rule_on_top: bool) -> str:
    """A table between lines of dashes, as the user guide and public notes show them."""
    widths = [max(len(row[number]) for row in (head, *rows)) for number in range(len(head))]
    lines = [
        " " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    ]
    rule = "-" * (max(map(len, lines)) + 1)
    body = [line.rstrip() for line in lines]
    return "\n".join([*([rule] if rule_on_top else []), body[0], rule, *body[1:], rule])


def _partitions(value: Any, release: tuple[int, ...]) -> str:
    newer = release >= _WITH_ALLOCATIONS
    middle = ("Allocation",) if newer else ()
    head = ("Partition", *middle, "Cluster", "ILDs", "GW Routing", "ILD Routing", "Size", "GCDs", "State")
    rows = []
    for item in value:
        spec, status = item["partition"]["spec"], item["partition"]["status"]
        between = (spec["allocation"] or "",) if newer else ()
        cells = (spec["cluster"], spec["domains"], spec["gateway_routing"], spec["routing"], len(spec["ipus"]))
        state = status["state"].removeprefix("PS_")
        rows.append([item["partition"]["id"], *between, *map(str, cells), str(spec["num_gcds"]), state])
    return table(head, rows, rule_on_top=False)


def _allocations(value: Any, _: tuple[int, ...]) -> str:
    rows = [[item["id"], " ".join(item["spec"]["agents"])] for item in value]
    return table(("Allocation ID", "Agents"), rows, rule_on_top=True)


def _agents(value: Any, _: tuple[int, ...]) -> str:
    rows = [
        [item["id"], item["spec"]["host"], str(item["spec"]["port"]), item["status"]["version"] or "",
         item["status"]["serial"] or "", item["status"]["state"]]
        for item in value
    ]  # fmt: skip
    return table(("Agent", "Host", "Port", "Version", "Serial", "State"), rows, rule_on_top=True)


def _clusters(value: Any, _: tuple[int, ...]) -> str:
    rows = [
        [item["id"], str(len(item["spec"]["ipu_link_domains"])), item["spec"]["topology"],
         item["spec"]["cluster_topology"], " ".join(item["spec"]["agents"]), item["status"]["state"]]
        for item in value
    ]  # fmt: skip
    return table(("Cluster", "ILDs", "Topology", "Cluster Topology", "Agents", "State"), rows, rule_on_top=True)


def _users(value: Any, _: tuple[int, ...]) -> str:
    rows = [
        [item["id"], "yes" if item["spec"]["admin"] else "no",
         "all" if item["spec"]["allocations"] is None else " ".join(item["spec"]["allocations"])]
        for item in value
    ]  # fmt: skip
    return table(("User", "Admin", "Allocations"), rows, rule_on_top=True)


def _attributes(value: Any, _: tuple[int, ...]) -> str:
    rows = []
    agent = None
    for item in value:
        for number, (name, text) in enumerate(item["attributes"].items()):
            rows.append([
                item["agent"] if number == 0 and item["agent"] != agent else "",
                str(item["ipu"]) if number == 0 else "", name, text,
            ])  # fmt: skip
            agent = item["agent"]
    return table(("Agent", "IPU", "Attribute", "Value"), rows, rule_on_top=False)


def _heard(value: Any, _: tuple[int, ...]) -> str:
    names = ("host", "port", "network_interface", "time_since_last_seen", "agent_auto_add_id")
    rows = [[str(item[name]) for name in names] for item in value]
    head = ("Host", "Port", "Network Interface", "Time Since Last Seen", "Agent Auto-Add ID")
    return table(head, rows, rule_on_top=True)


_TABLES: Mapping[tuple[str, str], Callable[[Any, tuple[int, ...]], str]] = {
    ("list", "partition"): _partitions,
    ("list", "allocation"): _allocations,
    ("list", "agent"): _agents,
    ("list", "cluster"): _clusters,
    ("list", "user"): _users,
    ("list", "ipu-attr"): _attributes,
    ("discover", "agent"): _heard,
}


def listed(verb: str, noun: str, value: Any, release: str) -> str:
    """A list, or one object as a list of one."""
    shown = _TABLES[verb if verb == "discover" else "list", noun]
    version = tuple(int(part) for part in release.split(".")[:2])
    return shown(value if isinstance(value, list) else [value], version)
