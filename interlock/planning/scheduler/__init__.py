"""What a cluster's scheduler is configured with, as texts of files: Slurm, Kubernetes, or none. Pure, and no secrets.

`layout` is the input and what is wrong with it; `hostlists` folds names as Slurm reads them; `slurm`, `bare` and
`kubernetes` write texts; `files` says which of them a scheduler takes, and which server gets which.
"""

from __future__ import annotations

from .files import Scheduler, files_of, scheduler_files
from .layout import ClusterLayout, ClusterNode, ClusterServer, NodeSize, SecondController

__all__ = [
    "ClusterLayout",
    "ClusterNode",
    "ClusterServer",
    "NodeSize",
    "Scheduler",
    "SecondController",
    "files_of",
    "scheduler_files",
]
