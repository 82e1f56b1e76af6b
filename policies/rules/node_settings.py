"""SW-09 to SW-11, SW-13, SW-15: how a GPU node boots, and what it sets."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware.gpu.software import MIG_DRIVERS, SYSCTLS_GONE, is_below
from policies.about import SaidFact
from policies.graph.model import Model
from policies.proof import Severity

from .node_software import NodesOfOneKind, asked
from .rule import Cause, Of, Polarity, Rule

_NOTES = "operators' notes on AI infrastructure (one source, with errors)"
_NEEDS = ("gpu_nodes", "images.software", "servers")


# SW-09


def _signed(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause]:
    software = nodes.software
    if software.secure_boot is False or software.signed_modules:
        return
    if software.secure_boot is None or software.signed_modules is None:
        keys = ("secure_boot",) if software.secure_boot is None else ("signed_modules",)
        yield nodes.unknown("signed", "Secure Boot loads signed modules only", *keys)
    else:
        why = "which boots with Secure Boot, and whose modules are signed by no key that the firmware trusts"
        yield nodes.cause("signed", why, nodes.words("secure_boot", "signed_modules"))


# SW-10


def _persistence(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _persistent(nodes) if nodes.has_cuda else None


def _persistent(nodes: NodesOfOneKind) -> Iterator[Cause]:
    if nodes.software.persistenced is None:
        yield nodes.unknown("persistenced", "GPUs that nobody uses lose their settings without it", "persistenced")
    elif not nodes.software.persistenced:
        why = "which does not run `nvidia-persistenced`"
        yield nodes.cause("persistenced", why, nodes.words("persistenced"))


# SW-11


def _instances(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _mig(nodes) if nodes.has_cuda else None


def _mig(nodes: NodesOfOneKind) -> Iterator[Cause]:
    mig, driver, oldest = nodes.software.mig, nodes.software.driver, MIG_DRIVERS.get(nodes.gpu)
    if mig is None:
        yield nodes.unknown("mig", "not every GPU and driver has MIG", "mig")
    elif mig and oldest is None:
        why = f"which sets MIG mode, and whether a GPU of {nodes.node_type} has MIG is not in the catalogue"
        missing = (SaidFact(f"whether a GPU of {nodes.node_type} has MIG"),)
        yield nodes.cause("mig", why, nodes.words("mig"), missing=missing)
    elif mig and oldest is not None and not oldest.value:
        why = f"which sets MIG mode, and a {nodes.gpu} has no MIG"
        yield nodes.cause("mig", why, (*nodes.words("mig"), oldest.source))
    elif mig and oldest is not None and driver is None:
        yield nodes.unknown("mig", f"MIG of a {nodes.gpu} needs {oldest.value} or later", "driver")
    elif mig and oldest is not None and driver is not None and is_below(driver, oldest.value):
        why = f"which sets MIG mode with driver {driver}, and that of a {nodes.gpu} needs {oldest.value} or later"
        yield nodes.cause("mig", why, (*nodes.words("mig", "driver"), oldest.source))


# SW-13


def _guarded(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause]:
    software = nodes.software
    # A host that is given out whole has one tenant, whose own processes its processor may leak to.
    if nodes.is_bare_metal or software.mitigations:
        return
    if software.mitigations is None:
        yield nodes.unknown("mitigations", "processors leak between tenants of a host without them", "mitigations")
    else:
        why = "which boots with `mitigations=off`, and these servers share their hosts' processors with others"
        yield nodes.cause("mitigations", why, nodes.words("mitigations"))


# SW-15


def _sysctls(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause]:
    software = nodes.software
    if software.sysctls is None:
        yield nodes.unknown("sysctls", "keys go with kernels", "sysctls")
        return
    suspects = {key: SYSCTLS_GONE[key] for key in software.sysctls if key in SYSCTLS_GONE}
    if suspects and software.kernel is None:
        yield nodes.unknown("kernel", f"{', '.join(suspects)} are not on every kernel", "kernel")
        return
    gone = [key for key, since in suspects.items() if not is_below(software.kernel or "", since.value)]
    if gone:
        why = f"which sets {', '.join(gone)}, and kernel {software.kernel} has no such key"
        yield nodes.cause("sysctls", why, (*nodes.words("kernel", "sysctls"), suspects[gone[0]].source))


SW_09 = Rule(
    id="SW-09",
    title="a GPU node with Secure Boot has its own modules signed by a key that its firmware trusts",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="the kernel refuses the driver, and the node comes up without GPUs",
    source=_NOTES,
    needs=_NEEDS,
    ask=asked(_signed),
    of=Of.TENANT,
)
SW_10 = Rule(
    id="SW-10",
    title="GPU nodes run nvidia-persistenced",
    severity=Severity.WARN,
    polarity=Polarity.BOTH,
    why="without it a GPU that nobody uses is initialised anew for each job, and its settings are lost",
    source=_NOTES,
    needs=_NEEDS,
    ask=asked(_persistence),
    of=Of.TENANT,
)
SW_11 = Rule(
    id="SW-11",
    title="an image sets MIG mode only on GPUs, and with drivers, that have it",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a node whose GPUs refuse the mode runs no job",
    source="NVIDIA, MIG user guide, supported GPUs and deployment considerations; a mode set at boot resets no job",
    needs=_NEEDS,
    ask=asked(_instances),
    of=Of.TENANT,
)
SW_13 = Rule(
    id="SW-13",
    title="mitigations of processors are off on whole hosts only",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a server that shares a processor with another tenant's must not read what that one left in it",
    source=f"{_NOTES}; on shared hosts derived: it is the guard of A5 seen from inside",
    needs=_NEEDS,
    ask=asked(_guarded),
    of=Of.TENANT,
)
SW_15 = Rule(
    id="SW-15",
    title="keys that an image sets by sysctl are there on its kernel",
    severity=Severity.WARN,
    polarity=Polarity.BOTH,
    why="a key that is not there is an error at boot, and what it was to tune stays as it is",
    source=f"{_NOTES}; Linux commit 8a99b6833c, which moved the scheduler's keys to debugfs in 5.13",
    needs=_NEEDS,
    ask=asked(_sysctls),
    of=Of.TENANT,
)
