"""The project folder: where `stacks/` and `.interlock/` lie, for a checkout and for an installed package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "INTERLOCK_PROJECT"
#: What a project folder has at least one of.
MARKS = ("Pulumi.yaml", "stacks")
#: The folder above the packages: a checkout, or `site-packages`.
_PACKAGES = Path(__file__).resolve().parents[1]


def project_folder(environment: Mapping[str, str] = os.environ, packages: Path = _PACKAGES) -> Path:
    """INTERLOCK_PROJECT; else the checkout that this code runs from; else what is found from the current directory.

    Found is the nearest of the current directory and its parents with a `Pulumi.yaml` or `stacks/`; without any, the
    current directory itself. Absolute; nothing is created.
    """
    if named := environment.get(VARIABLE):
        return Path(named).absolute()
    if (packages / "Pulumi.yaml").is_file():
        return packages
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if _is_project(folder)), here)


def _is_project(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)
