"""Which software fits which: CUDA and drivers, systems and drivers, MIG, kernel modules, keys of sysctl.

Each line has its source. Operators' notes are one source with errors in it: where a maker's document says otherwise,
the document stands here and the source says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from interlock.hardware.facts import Fact, derived, practice, primary

_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)*")
_NOTES = "operators' notes on AI infrastructure, rev. 2026-06-18"
_CUDA = "NVIDIA, CUDA compatibility, minor version compatibility, table 1"
_MIG = "NVIDIA, MIG user guide, supported GPUs, and deployment considerations"
_OPEN = "NVIDIA, developer blog of July 2024 on open GPU kernel modules"
_DEEPOPS = "NVIDIA/deepops, pull request 1346: paths of the DGX software stack"
_NO_SUCH_MINIMUM = "the notes take it from a minimum of CUDA 12.5 that NVIDIA does not have"
_IS_UBUNTU = f"{_NOTES}; by {_DEEPOPS} it is Ubuntu"
_SCHEDULER = "Linux commit 8a99b6833c (5.13) moved it to debugfs"


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 550, 54, 15 of `550.54.15`, and 5, 15, 0 of `5.15.0-1063-nvidia`."""
    leading = _NUMBERS.match(version)
    # Python reads no number of some thousand digits; no version has so many.
    return tuple(int(digits[:18]) for digits in leading[0].split(".")) if leading else ()


def is_below(version: str, least: str) -> bool:
    """True if a version is older than another; one that is stated less exactly counts as the oldest of its kind."""
    return numbers(version) < numbers(least)


def begins_with(version: str, listed: str) -> bool:
    """True if a version is the listed one, or one of those that begin with its parts."""
    return version == listed or (version.startswith(listed) and not version[len(listed)].isalnum())


# CUDA and drivers.


@dataclass(frozen=True)
class DriverBand:
    """Drivers of one major release of CUDA: `least`, and `beyond`, from which on it is an older release's program."""

    least: Fact[str]
    beyond: Fact[str] | None


#: Major release of CUDA -> its drivers.
CUDA_DRIVERS = {
    11: DriverBand(primary("450", "", _CUDA), primary("525", "", _CUDA)),
    12: DriverBand(
        primary("525", "", f"{_CUDA}; that 12.5 needs 550, as the notes say, is wrong"), primary("580", "", _CUDA)
    ),
    13: DriverBand(primary("580", "", _CUDA), None),
}


# Operating systems.


@dataclass(frozen=True)
class SystemFloor:
    """What a system is used with: `driver` from, `cuda` from, and the CUDA `before` which it is, if any is said."""

    driver: Fact[str]
    cuda: Fact[str] | None = None
    before: Fact[str] | None = None
    #: Why an older driver is a warning; empty: it is an error.
    doubt: str = ""


_FROM_525 = SystemFloor(practice("525", "", _NOTES))

#: System, or how its name begins -> what it is used with.
SYSTEM_FLOORS = {
    "ubuntu-22.04": SystemFloor(
        practice("525", "", _NOTES), practice("12", "", f"{_NOTES}: CUDA 12.x"), practice("13", "", f"{_NOTES}: 12.x")
    ),
    "ubuntu-24.04": SystemFloor(
        practice("550", "", _NOTES), practice("12.5", "", _NOTES), doubt=_NO_SUCH_MINIMUM
    ),
    "dgx-os-6": SystemFloor(
        derived("525", "", f"{_IS_UBUNTU} 22.04"), derived("12", "", f"{_IS_UBUNTU} 22.04"),
        derived("13", "", f"{_IS_UBUNTU} 22.04"),
    ),
    "dgx-os-7": SystemFloor(
        derived("550", "", f"{_IS_UBUNTU} 24.04"), derived("12.5", "", f"{_IS_UBUNTU} 24.04"), doubt=_NO_SUCH_MINIMUM
    ),
    "rhel-9": _FROM_525,
    "rocky-9": _FROM_525,
    "sles-15sp5": _FROM_525,
    "debian-12": _FROM_525,
}  # fmt: skip

#: Systems that only run containers: no client of a parallel file system, and little of RDMA.
CONTAINER_SYSTEMS = {
    "flatcar": practice("container hosts only", "", _NOTES),
    "bottlerocket": practice("container hosts only", "", _NOTES),
}

#: Systems that DGX run in production -> who says so. The notes name the first two alone, which is too strict.
DGX_SYSTEMS = {
    "dgx-os": practice("DGX OS", "", _NOTES),
    "ubuntu-22.04": practice("Ubuntu 22.04", "", _NOTES),
    "ubuntu-24.04": practice("Ubuntu 24.04, as DGX OS 7", "", _DEEPOPS),
    "rhel-8": practice("RHEL 8", "", _DEEPOPS),
    "rhel-9": practice("RHEL 9", "", _DEEPOPS),
    "rocky-8": practice("Rocky Linux 8", "", _DEEPOPS),
    "rocky-9": practice("Rocky Linux 9", "", _DEEPOPS),
}


# GPUs.

#: GPU -> the oldest driver with MIG; an empty text: it has no MIG.
MIG_DRIVERS = {
    "a100": primary("450.80.02", "", _MIG),
    "h100": primary("525.85.12", "", _MIG),
    "h200": primary("550.90.07", "", _MIG),
    "b200": primary("570.133.20", "", _MIG),
    "gb200": primary("570.133.20", "", _MIG),
    "b300": primary("580.82.07", "", _MIG),
    "l40s": derived("", "", f"it is not in the list ({_MIG})"),
}

_OLDER = primary(False, "", f"{_OPEN}: open modules are recommended from Turing to Hopper, and the others work")
_BLACKWELL = primary(True, "", f"{_OPEN}: Blackwell and the newest Grace must use them, the others are not supported")

#: GPU -> whether it works with open kernel modules alone.
OPEN_MODULES_ALONE = {
    "a100": _OLDER, "h100": _OLDER, "h200": _OLDER, "l40s": _OLDER,
    "b200": _BLACKWELL, "b300": _BLACKWELL, "gb200": _BLACKWELL,
}  # fmt: skip


# Kernels.

#: Key of sysctl -> the kernel from which on there is none.
SYSCTLS_GONE = {
    f"kernel.{name}": practice("5.13", "", _SCHEDULER)
    for name in (
        "sched_min_granularity_ns", "sched_latency_ns", "sched_wakeup_granularity_ns", "sched_tunable_scaling",
        "sched_migration_cost_ns", "sched_nr_migrate", "numa_balancing_scan_delay_ms",
        "numa_balancing_scan_period_min_ms", "numa_balancing_scan_period_max_ms", "numa_balancing_scan_size_mb",
    )
}  # fmt: skip
