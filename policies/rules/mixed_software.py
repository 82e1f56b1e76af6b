"""SW-19: nodes of one cluster have one NCCL, and CUDA of one major release, whichever image each of them boots.

Two images in one cluster are what a roll makes. Each fits its own node by the other rules; here it is whether one job
may run over nodes of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.hardware.gpu.software import numbers
from policies.about import Fact, components
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .node_software import NodesOfOneKind, kinds_of_nodes
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts

_APART = "keep jobs on nodes of one image until all have it: `interlock plan` says which node is next"


@dataclass(frozen=True)
class _Compared:
    """What is compared: its key, its name, and how many numbers of a version have to be alike."""

    key: str
    name: str
    parts: int
    why: str


_COMPARED = (
    _Compared("nccl", "NCCL", 3, "NCCL ends with an error where its version is not that of all ranks"),
    _Compared("cuda", "CUDA", 1, "programs and libraries mix within one major release"),
)


def _one_software(model: Model, _: Names) -> RuleAnswer:
    found = list(_mixed(model))
    return by_facts(len(found), [cause for name, kinds in found for cause in _differing(name, kinds)])


def _mixed(model: Model) -> Iterator[tuple[str, tuple[NodesOfOneKind, ...]]]:
    """(cluster, its nodes by image) of each that has NVIDIA's GPUs and several images, in the order of the plan."""
    kind_of = {server: kind for kind in kinds_of_nodes(model) if kind.has_cuda for server in kind.servers}
    for cluster in model.plan.clusters:
        members = [item.name for item in model.plan.servers if item.vpod == cluster.name]
        by_image = {kind_of[name].image: kind_of[name] for name in members if name in kind_of}
        if len(by_image) > 1:
            yield cluster.name, tuple(by_image.values())


def _differing(cluster: str, kinds: tuple[NodesOfOneKind, ...]) -> Iterator[Cause]:
    first, *others = kinds
    for other in others:
        for item in _COMPARED:
            one, two = (getattr(kind.software, item.key) for kind in (first, other))
            said = [_release(text or "")[: item.parts] for text in (one, two)]
            known = min(map(len, said))
            if said[0][:known] != said[1][:known]:
                yield _cause(cluster, (first, other), item, f"which have {item.name} {one} and {two}")
            elif known < item.parts:
                missing = tuple(
                    kind.stated(item.key)
                    for kind, found in zip((first, other), said, strict=True)
                    if len(found) < item.parts
                )
                why = f"and whether they have one {item.name} is not stated"
                yield _cause(cluster, (first, other), item, why, missing)


def _release(text: str) -> tuple[int, ...]:
    """The numbers of a version; NCCL's tags are written `v2.21.5-1`."""
    return numbers(text.removeprefix("v"))


def _cause(
    cluster: str, pair: tuple[NodesOfOneKind, NodesOfOneKind], item: _Compared, why: str,
    missing: tuple[Fact, ...] = (),
) -> Cause:  # fmt: skip
    one, two = pair
    return Cause(
        key=(cluster, one.image, two.image, item.key),
        message=f"nodes of {cluster} boot the images {one.image} and {two.image}, {why}: {item.why}",
        witness=tuple(text for kind in pair for text in (f"server {kind.servers[0]}", *kind.words(item.key))),
        hint=f"state `{item.key}` of both images as it is, to its last number" if missing else _APART,
        missing=missing,
        specificity=33,
        about=components(cluster),
    )


SW_19 = Rule(
    id="SW-19",
    title="nodes of one GPU cluster have one NCCL, and CUDA of one major release",
    severity=Severity.WARN,
    polarity=Polarity.BOTH,
    why="a job over nodes of both images ends at its first step, or does not start",
    source="NVIDIA, NCCL, src/init.cc: ranks compare versions, and a mismatched one is an invalid usage; NVIDIA, CUDA "
    "compatibility, minor version compatibility: it holds within one major release",
    needs=("clusters", "gpu_nodes", "images.software", "servers"),
    ask=_one_software,
    of=Of.TENANT,
)
