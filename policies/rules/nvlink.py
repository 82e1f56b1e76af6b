"""ISO-22: an NVLink partition and its GPUs have one owner, and partitions of a domain are kept apart (A8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

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
    certain = (*_in_two_hands(model, names, domains), *_gpus_twice(model, names))
    answer = by_guard(sum(len(nodes) for nodes in domains.values()), held, joined)
    return replace(answer, violated=(*certain, *answer.violated))


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


def _cause(
    names: Names, model: Model, nodes: list[str], message: str, *named: str, missing: tuple[Fact, ...] = ()
) -> Cause:
    """`named`: the resources that the message names."""
    return Cause(
        key=message,
        message=message,
        witness=tuple(f"{names.of(node)} [{', '.join(sorted(model.label(node)))}]" for node in nodes),
        hint="give each owner a partition of its own in the fabric manager, and state the guards of A8",
        missing=missing,
        specificity=94,
        about=(*resources(*named), *components(*sorted(_owners(model, nodes)))),
    )


ISO_22 = Rule(
    id="ISO-22",
    title="an NVLink partition has one owner",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="GPUs of one partition reach each other's memory. That a GPU is in one partition, and each has one, is a rule "
    "of its own",
    source="NVIDIA kubevirt-gpu-device-plugin, pull request 195: fabric partitions; docs/design/semantics.md §4, E17",
    needs=("NVLink partitions", "locks of all tenants", "A8"),
    ask=_one_owner_each,
)
