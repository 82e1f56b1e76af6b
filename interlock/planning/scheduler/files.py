"""Which files a scheduler takes, and which server gets which."""

from __future__ import annotations

from enum import StrEnum

from .bare import bare_files
from .kubernetes import kubernetes_files
from .layout import ClusterLayout
from .slurm import SLURMDBD_CONF, slurm_files


class Scheduler(StrEnum):
    """What hands nodes of a cluster to jobs, as a request names it."""

    SLURM = "slurm"
    KUBERNETES = "kubernetes"
    NONE = "none"


def scheduler_files(scheduler: Scheduler, layout: ClusterLayout) -> dict[str, str]:
    """Path -> text of everything. An absolute path is a file of a server; the others are for people who set it up."""
    if scheduler is Scheduler.KUBERNETES:
        return kubernetes_files(layout)
    return bare_files(layout) | (slurm_files(layout) if scheduler is Scheduler.SLURM else {})


def files_of(scheduler: Scheduler, layout: ClusterLayout, server: str) -> dict[str, str]:
    """Path -> text of what one server of the cluster gets, by its name; ValueError if it has none of that name."""
    if server not in {item.name for item in layout.servers}:
        raise ValueError(f"cluster {layout.name} has no server {server}")
    accounts = layout.accounting is not None and layout.accounting.name == server
    files = {path: text for path, text in scheduler_files(scheduler, layout).items() if path.startswith("/")}
    if accounts:
        return files
    return {path: text for path, text in files.items() if path != SLURMDBD_CONF}
