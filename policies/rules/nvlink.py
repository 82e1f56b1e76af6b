"""ISO-22: an NVLink partition and its GPUs have one owner, and partitions of a domain are kept apart (A8).

A GPU node is a domain of its own, called as the node. It is given out whole, so its group is all of its GPUs, as Fabric
Manager's table of its type has it (`interlock.hardware.gpu.nvlink`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from interlock.hardware.gpu import NODE_TYPES, NvlinkTable
from interlock.vocabulary.digits import is_number
from interlock.vocabulary.nodes import FabricNode, parse
from policies.about import Fact, components, resources
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts.guards import assumption
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer, by_guard


def _one_owner_each(model: Model, names: Names) -> RuleAnswer:
    domains = _domains(model)
    held = assumption(model.site.site, "A8")
    shared = {_name(fabric): nodes for fabric, nodes in domains.items() if len(_owners(model, nodes)) > 1}
    known = "false" if held.broken else "not known"
    joined = (
        _cause(names, model, nodes, f"whether the partitions of {name} are apart is {known}", missing=held.missing)
        for name, nodes in shared.items()
    )
    whole = _whole_nodes(model)
    certain = (
        *_in_two_hands(model, names, domains), *_gpus_twice(model, names), *_parts_of_nodes(model, names),
        *_of_others(model, names, whole),
    )  # fmt: skip
    count = sum(len(nodes) for nodes in domains.values()) + len(whole)
    answer = by_guard(count, held, joined)
    return replace(answer, violated=(*certain, *answer.violated))


def _whole_nodes(model: Model) -> list[str]:
    """GPU nodes with NVSwitches that the plan has whole: each is a domain, and all of it its owner's."""
    whole = (item.host for item in model.plan.servers if item.is_bare_metal or model.site.is_whole(item.host))
    hosts = dict.fromkeys(host for host in whole if host)
    return [host for host in hosts if _table(model, host) is not None]


def _table(model: Model, domain: str) -> NvlinkTable | None:
    """What Fabric Manager knows of the node that is the domain; None: it is no node, or has no NVSwitches."""
    node = model.site.site.gpu_node.get(domain)
    known = NODE_TYPES.get(node.node_type) if node is not None else None
    return known.nvlink if known is not None else None


def _parts_of_nodes(model: Model, names: Names) -> Iterator[Cause]:
    """Groups that no table has, and those that are a part of a node: what shares its NVSwitches is not kept apart."""
    for item in model.plan.nvlinks:
        node = model.site.site.gpu_node.get(item.domain)
        if node is None:
            continue
        known, table = NODE_TYPES.get(node.node_type), _table(model, item.domain)
        where, group = f"{item.name}: {item.domain} ({node.node_type})", ", ".join(item.gpus) or "none"
        partition = ids.nvlink_partition(item.domain, item.partition)
        if known is None or table is None or known.gpus is None:
            what = f"{where} has no NVSwitches, and so no groups of GPUs"
            yield _cause(names, model, [partition], what, item.name, hint=_WHOLE)
            continue
        number = table.partition_of(frozenset(int(gpu) for gpu in item.gpus if is_number(gpu)))
        whole = table.whole(known.gpus.value)
        if number is None or not all(map(is_number, item.gpus)):
            what = f"{where} has no group of the GPUs {group}: Fabric Manager has {_menu(table)}"
            yield _cause(names, model, [partition], what, item.name, hint=_WHOLE)
        elif number != whole:
            what = f"{where}: the GPUs {group} are a part of the node, and nodes are given out whole"
            yield _cause(names, model, [partition], what, item.name, hint=_WHOLE)
        elif item.partition != number:
            what = f"{where}: all GPUs are partition {number} of Fabric Manager, and not {item.partition}"
            yield _cause(names, model, [partition], what, item.name, hint=_WHOLE)


def _menu(table: NvlinkTable) -> str:
    return "; ".join(f"{number}: {', '.join(map(str, gpus))}" for number, gpus in table.partitions.value.items())


def _of_others(model: Model, names: Names, whole: list[str]) -> Iterator[Cause]:
    """Partitions of somebody else's in a node that the plan has whole."""
    domains = {ids.fabric(host): host for host in whole}
    for partition, fabric in model.union.facts(Relation.NVLINK):
        if fabric in domains and (others := sorted(model.label(partition) - {model.plan.owner})):
            theirs, host = " and ".join(others), domains[fabric]
            what = f"{names.of(partition)} of {host} is that of {theirs}, and {model.plan.owner} has the whole node"
            yield _cause(names, model, [partition], what)


def _domains(model: Model) -> dict[str, list[str]]:
    """NVLink domain -> its partitions; of a tenant's plan the domains that it has GPUs of."""
    mine = {ids.fabric(item.domain) for item in model.plan.nvlinks}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for partition, fabric in model.union.facts(Relation.NVLINK):
        if fabric in mine or not model.plan.is_tenant:
            found[fabric].append(partition)
    return dict(found)


def _name(fabric: str) -> str:
    node = parse(fabric)
    return f"NVLink domain {node.name if isinstance(node, FabricNode) else fabric}"


def _owners(model: Model, nodes: list[str]) -> frozenset[str]:
    return frozenset(owner for node in nodes for owner in model.label(node))


def _in_two_hands(model: Model, names: Names, domains: dict[str, list[str]]) -> Iterator[Cause]:
    partitions = [node for nodes in domains.values() for node in nodes]
    gpus = [ids.gpu(item.domain, name) for item in model.plan.nvlinks for name in item.gpus]
    for node in dict.fromkeys((*partitions, *gpus)):
        owners = sorted(model.label(node))
        if len(owners) > 1:
            yield _cause(names, model, [node], f"{names.of(node)} is that of {' and '.join(owners)}")


def _gpus_twice(model: Model, names: Names) -> Iterator[Cause]:
    """A GPU is in one partition; a partition has at least one."""
    held: defaultdict[str, list[str]] = defaultdict(list)
    for item in model.plan.nvlinks:
        node = ids.nvlink_partition(item.domain, item.partition)
        if not item.gpus:
            what = f"{item.name} has no GPU: its domain's default partition is left"
            yield _cause(names, model, [node], what, item.name)
        for name in item.gpus:
            held[ids.gpu(item.domain, name)].append(item.name)
    for gpu, partitions in sorted(held.items()):
        if len(partitions) > 1:
            yield _cause(names, model, [gpu], f"{names.of(gpu)} is in {' and '.join(partitions)}", *partitions)


#: What to do about groups of two owners, and about those that are not a whole node.
_APART = "give each owner a partition of its own in the fabric manager, and state the guards of A8"
_WHOLE = "take the partition of all GPUs of the node, or no partition: a node is given out whole"


def _cause(
    names: Names,
    model: Model,
    nodes: list[str],
    message: str,
    *named: str,
    missing: tuple[Fact, ...] = (),
    hint: str = _APART,
) -> Cause:
    """`named`: the resources that the message names."""
    return Cause(
        key=message,
        message=message,
        witness=tuple(f"{names.of(node)} [{', '.join(sorted(model.label(node)))}]" for node in nodes),
        hint=hint,
        missing=missing,
        specificity=94,
        about=(*resources(*named), *components(*sorted(_owners(model, nodes)))),
    )


ISO_22 = Rule(
    id="ISO-22",
    title="an NVLink partition has one owner",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="GPUs of one partition reach each other's memory. That a GPU is in one partition, each has one, and a GPU node "
    "is one group, is a rule of its own",
    source="NVIDIA kubevirt-gpu-device-plugin, pull request 195: fabric partitions; docs/design/semantics.md §4, E17",
    needs=("NVLink partitions", "gpu_nodes", "locks of all tenants", "A8"),
    ask=_one_owner_each,
)
