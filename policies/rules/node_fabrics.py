"""SW-05 to SW-08, SW-14: what a GPU node needs for its fabrics and its parallel file system."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware.gpu.software import begins_with
from interlock.model.site.networks import FabricProfile
from interlock.model.site.software import INBOX, NO_CLIENT
from policies.about import SiteFact
from policies.graph.model import Model
from policies.proof import Severity

from .node_software import NodesOfOneKind, asked
from .rule import Cause, Of, Polarity, Rule

_NOTES = "operators' notes on AI infrastructure (one source, with errors)"
_NEEDS = ("gpu_nodes", "images.software", "servers")
_FABRIC = (*_NEEDS, "partitions", "fabric_profiles")


# SW-05


def _kernel(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    # Drivers of the kernel itself are for that kernel, and a node without a fabric needs none.
    stated = nodes.software.ofed
    return _built_for(nodes) if stated != INBOX and (stated is not None or nodes.uses_rdma) else None


def _built_for(nodes: NodesOfOneKind) -> Iterator[Cause]:
    software = nodes.software
    ofed, kernel, kernels = software.ofed, software.kernel, software.ofed_kernels
    if ofed is None or kernel is None or kernels is None:
        yield nodes.unknown("kernel", "OFED is built for some kernels", "ofed", "kernel", "ofed_kernels")
    elif not any(begins_with(kernel, item) for item in kernels):
        why = f"whose OFED {ofed} is built for {', '.join(kernels) or 'no kernel'}, and it has kernel {kernel}"
        hint = "build OFED for this kernel, and state it in `ofed_kernels` of the new image"
        yield nodes.cause("kernel", why, nodes.words("ofed", "ofed_kernels", "kernel"), hint=hint)


# SW-06


def _direct(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _gpu_memory(nodes) if nodes.uses_rdma and nodes.has_cuda else None


def _gpu_memory(nodes: NodesOfOneKind) -> Iterator[Cause]:
    ways = (nodes.software.peermem, nodes.software.dma_buf)
    if any(ways):
        return
    why = "adapters reach GPU memory by one of them"
    if None in ways:
        yield nodes.unknown("direct", why, "peermem", "dma_buf")
    else:
        why = "which has neither `nvidia-peermem` nor DMA-BUF, and these nodes use a fabric"
        yield nodes.cause("direct", why, nodes.words("peermem", "dma_buf"))


# SW-07


def _sharp(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _reductions(nodes) if nodes.has_cuda else None


def _reductions(nodes: NodesOfOneKind) -> Iterator[Cause]:
    software = nodes.software
    if software.sharp is False:
        return
    if not nodes.has_infiniband:
        if software.sharp is None:
            yield nodes.unknown("sharp", "without InfiniBand there is no SHARP", "sharp")
            return
        why = "which uses SHARP, and these nodes have no compute port on InfiniBand: there is none on Ethernet"
        yield nodes.cause("sharp", why, nodes.words("sharp"))
    elif software.sharp and software.ofed == INBOX:
        why = (
            "which uses SHARP with the kernel's own drivers: it states no OFED that firmware of switches is paired with"
        )
        yield nodes.cause("sharp", why, nodes.words("sharp", "ofed"))
    elif software.sharp is None and (software.ofed in (None, INBOX) or software.sharp_firmware is None):
        yield nodes.unknown("sharp", "SHARP needs a stated pair of OFED and firmware of switches", "sharp")
    elif software.ofed is None or software.sharp_firmware is None:
        why = "SHARP is used with a pair of OFED and firmware of switches"
        yield nodes.unknown("sharp", why, "ofed", "sharp_firmware")


# SW-08


def _lossless(model: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _paused_alike(model, nodes) if nodes.profiles or nodes.unprofiled else None


def _paused_alike(model: Model, nodes: NodesOfOneKind) -> Iterator[Cause]:
    described = {profile.name: profile for profile in model.site.site.fabric_profiles}
    for name in nodes.profiles:
        if name in described:
            yield from _profile(nodes, described[name])
        else:
            why = f"and nothing describes the profile {name} of the network that they are on"
            yield nodes.cause("profile", why, (f"profile {name}",), missing=(SiteFact(f"fabric_profiles.{name}"),))
    for name in nodes.unprofiled:
        missing = (SiteFact(f"physical_networks.{name}.profile"),)
        why = f"on the network {name}, which is for RoCE, and nobody states how its switches pause and mark"
        yield nodes.cause(f"profile of {name}", why, (f"{name}: no profile",), missing=missing)
    if nodes.unstated("pfc_priority", "ecn"):
        yield nodes.unknown("host", "RoCE asks for both on nodes, too", "pfc_priority", "ecn")
    if nodes.software.ecn is False:
        why = "which does not react to congestion marks, and is on a network for RoCE"
        yield nodes.cause("ecn", why, nodes.words("ecn"))


def _profile(nodes: NodesOfOneKind, profile: FabricProfile) -> Iterator[Cause]:
    pauses = nodes.software.pfc_priority
    if not profile.ecn:
        why = f"on a network for RoCE whose switches mark no congestion by profile {profile.name}"
        hint = "set ECN on the switches, and `ecn: true` in the profile; or take the profile off a network without RoCE"
        yield nodes.cause("marks", why, (f"profile {profile.name}: ecn false",), hint=hint)
    if pauses is not None and pauses != profile.pfc_priority:
        why = f"which pauses class {pauses}, and the switches of profile {profile.name} pause {profile.pfc_priority}"
        witness = (*nodes.words("pfc_priority"), f"profile {profile.name}: pfc_priority {profile.pfc_priority}")
        yield nodes.cause("pause", why, witness)


# SW-14


def _client(model: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    client, server = nodes.software.lustre, model.site.site.lustre_server
    if client == NO_CLIENT or (client is None and server is None):
        return None
    return _one_version(nodes, client, server)


def _one_version(nodes: NodesOfOneKind, client: str | None, server: str | None) -> Iterator[Cause]:
    stated = (*nodes.words("lustre"), f"lustre_server {server or 'not stated'}")
    if client is None:
        yield nodes.unknown("lustre", f"the Lustre servers are {server}", "lustre")
    elif server is None:
        why = f"which has Lustre client {client}, and nobody states the version of the servers"
        yield nodes.cause("lustre", why, stated, missing=(SiteFact("lustre_server"),))
    elif client != server:
        yield nodes.cause("lustre", f"which has Lustre client {client}, and the servers are {server}", stated)


SW_05 = Rule(
    id="SW-05",
    title="the OFED of a GPU node's image is built for its kernel",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="modules of another kernel do not load, and the node comes up without its fabric",
    source=f"{_NOTES}; a plan changes kernels with images only, so that the new image's build is what is asked for",
    needs=_FABRIC,
    ask=asked(_kernel),
    of=Of.TENANT,
)
SW_06 = Rule(
    id="SW-06",
    title="a GPU node that uses a fabric has a way from its adapters to GPU memory",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="without one every message is copied through the host, and jobs run at a fraction of their speed",
    source=f"{_NOTES}; NVIDIA, GPU operator, GPUDirect RDMA: DMA-BUF or nvidia-peermem",
    needs=_FABRIC,
    ask=asked(_direct),
    of=Of.TENANT,
)
SW_07 = Rule(
    id="SW-07",
    title="SHARP is used on InfiniBand, with a stated pair of OFED and firmware of switches",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="switches reduce by a protocol that both ends have to know, and Ethernet has none of it",
    source=f"{_NOTES}; the firmware that switches have is in no file, and not compared",
    needs=_FABRIC,
    ask=asked(_sharp),
    of=Of.TENANT,
)
SW_08 = Rule(
    id="SW-08",
    title="on a network for RoCE nodes and switches pause one class and mark congestion",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="RDMA over Ethernet that loses packets falls to a fraction of its speed",
    source=f"{_NOTES}; Graphcore, OpenStack reference design, RoCE: equal on every port of a path",
    needs=(*_FABRIC, "physical_networks.profile"),
    ask=asked(_lossless),
    of=Of.TENANT,
)
SW_14 = Rule(
    id="SW-14",
    title="the Lustre client of a GPU node's image is of the servers' version",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a client of another version may mount and then hang, or not mount",
    source=_NOTES,
    needs=(*_NEEDS, "lustre_server"),
    ask=asked(_client),
    of=Of.TENANT,
)
