"""Where things lie: the project's folders, and what is made at run time."""

from __future__ import annotations

import os
from pathlib import Path

from interlock.project import project_folder

#: The project: the checkout, or for an installed package the folder of the user's stacks.
ROOT = project_folder()
RUNTIME = ROOT / ".interlock"
#: The local state backend.
STATE = RUNTIME / "state"
PROOFS = RUNTIME / "proofs"
#: Where the provider notes that a plan was previewed.
PREVIEW_TOKENS = RUNTIME / "preview_tokens"
SANDBOX = RUNTIME / "sandbox"
#: The embedded cloud of the GPU demo, which has hosts, switches and an InfiniBand subnet of its own.
GPU_SANDBOX = RUNTIME / "sandbox-hall"
#: The `openstack` client, which the sandbox installs for itself.
OPENSTACK = RUNTIME / "sandbox-base" / "venv" / "bin" / "openstack"
#: The policy pack is part of the packages, wherever they are installed.
PACK = Path(__file__).resolve().parents[2] / "policies" / "pack"

#: Pulumi's project, and the passphrase of the committed demo stacks, which no other cloud accepts.
PROJECT = "clusters"
DEMO_PASSPHRASE = "interlock-demo"


def stacks() -> Path:
    """The folder of all sites; INTERLOCK_STACKS names another than the project's."""
    return Path(os.environ.get("INTERLOCK_STACKS") or ROOT / "stacks").absolute()


def index_of(site: str) -> Path:
    """The index of the locks of a site's folder, beside the folder of all sites."""
    name = Path(site).as_posix().replace("/", "--")  # `lyon/` is `lyon`
    return stacks().parent / ".interlock" / "index" / f"{name}.sqlite"
