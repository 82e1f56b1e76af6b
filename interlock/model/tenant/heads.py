"""Heads and scheduler of a cluster of a request: what each asks of the other, and what is refused."""

from __future__ import annotations

import re
from typing import Literal

from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .cluster_file import ClusterFile
from .reading import Path, RequestReading
from .request import HeadServers, Scheduler, SlurmOptions
from .scheduler_file import HeadsFile, SlurmFile

#: The oldest release of Slurm that its files are made for, which is the one that the tests run.
_OLDEST = "22.05"
_RELEASE = re.compile(r"[0-9]{2}\.(0[1-9]|1[0-2])")


def read_scheduler(reading: RequestReading, path: Path, file: ClusterFile) -> Scheduler:
    """Which one; the first of two that exclude each other."""
    if "scheduler" not in file.model_fields_set:
        reading.note((*path, "scheduler"), "none")
    stated = file.scheduler
    if stated.slurm is not None and stated.kubernetes is not None:
        message = "say either `slurm:` or `kubernetes:`"
        hint = "a node is handed out by one scheduler; ask for a cluster for each"
        reading.faults.add(Code.CONTRADICTION, (*path, "scheduler", "kubernetes", KEY), message, hint)
    if stated.slurm is not None:
        return "slurm"
    return "none" if stated.kubernetes is None else "kubernetes"


def read_heads(reading: RequestReading, path: Path, file: ClusterFile) -> HeadServers | None:
    """The heads; None where none is asked for."""
    heads, below = file.heads, (*path, "heads")
    if heads is None:
        if "heads" not in file.model_fields_set:
            reading.note(below, None)
        return None
    if file.scheduler.kubernetes is not None:
        hint = "take `heads:` out: whoever bootstraps the cluster makes its control plane"
        reading.faults.add(Code.CONTRADICTION, (*below, KEY), "`heads:` of a cluster with `kubernetes`", hint)
    reading.note_left_out(below, heads, "count")
    if heads.count not in (1, 2):
        message = f"{heads.count} heads: 1 or 2 are possible here"
        hint = "a scheduler has two controllers at most; leave `heads:` out for none"
        reading.faults.add(Code.VALUE, (*below, "count"), message, hint)
    reading.faults.need((*below, "flavor"), "a flavour for tenants' servers", heads.flavor, reading.offered.flavors)
    if heads.image is None:
        reading.note((*below, "image"), file.image, "the tenant")
    else:
        reading.faults.need((*below, "image"), "an image", heads.image, reading.offered.images)
    return HeadServers(count=_count(heads), flavor=heads.flavor, image=heads.image or file.image)


def read_slurm(reading: RequestReading, path: Path, file: ClusterFile) -> SlurmOptions:
    """What is asked of Slurm; as usual where there is none."""
    slurm, below = file.scheduler.slurm, (*path, "scheduler", "slurm")
    if slurm is None:
        return SlurmOptions()
    _check_controllers(reading, below, slurm, file)
    if slurm.accounting and file.heads is None and not reading.faults.lost(*path, "heads"):
        hint = "add `heads:`: slurmdbd and its database do not run on a node, which jobs have whole"
        reading.faults.add(Code.CONTRADICTION, (*below, "accounting"), "accounting without a head", hint)
    is_handed = file.heads is not None or file.kind == "vm" or reading.faults.lost(*path, "heads")
    if "munge_key" in slurm.model_fields_set and not is_handed:
        hint = "add `heads:`, or take `munge_key` out and bring a key: only a head hands one to whole hosts"
        reading.faults.add(Code.CONTRADICTION, (*below, "munge_key"), "`munge_key` without a head", hint)
    if slurm.release is not None and not _RELEASE.fullmatch(slurm.release):
        hint = 'write year and month in quotes, as in "23.11"'
        reading.faults.add(Code.VALUE, (*below, "release"), f"`{slurm.release}` is no release of Slurm", hint)
    elif slurm.release is not None and slurm.release < _OLDEST:
        message, hint = f"Slurm {slurm.release} is too old", f"files are made for {_OLDEST} and newer"
        reading.faults.add(Code.VALUE, (*below, "release"), message, hint)
    return SlurmOptions(
        controllers=2 if slurm.controllers == 2 else 1, state=slurm.state, accounting=slurm.accounting,
        release=None if slurm.release == _OLDEST else slurm.release, munge_key=slurm.munge_key,
    )  # fmt: skip


def _check_controllers(reading: RequestReading, path: Path, slurm: SlurmFile, file: ClusterFile) -> None:
    """Two need a head each, and a folder that both see."""
    heads_lost = reading.faults.lost(*path[:-2], "heads")
    heads = 0 if file.heads is None else file.heads.count
    if slurm.controllers not in (1, 2):
        message = f"{slurm.controllers} controllers: 1 or 2 are possible here"
        reading.faults.add(Code.VALUE, (*path, "controllers"), message, "a third would have nothing to take over")
        return
    if slurm.controllers == 1:
        if slurm.state is not None and not reading.faults.lost(*path, "controllers"):
            hint = "add `controllers: 2`, or take `state:` out: one controller keeps its state on its own disk"
            reading.faults.add(Code.CONTRADICTION, (*path, "state"), "`state:` of one controller", hint)
        return
    if heads != 2 and not heads_lost:
        has = "there are no heads" if not heads else f"there {'is' if heads == 1 else 'are'} {heads}"
        message = f"2 controllers, each on a head of its own, and {has}"
        reading.faults.add(Code.CONTRADICTION, (*path, "controllers"), message, "say `heads: {count: 2, flavor: …}`")
    if slurm.state is None and not reading.faults.lost(*path, "state"):
        message = "2 controllers without `state:`, the folder that both have their state in"
        hint = "add `state:`, a folder on a file system that both heads mount, as in /srv/slurm"
        reading.faults.add(Code.MISSING_KEY, (*path, "controllers"), message, hint)


def _count(heads: HeadsFile) -> Literal[1, 2]:
    return 2 if heads.count == 2 else 1
