"""`heads:` and `scheduler:` of a cluster as a tenant writes them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from interlock.model.text.errors import Code, fault
from interlock.model.text.validation import FileModel
from interlock.model.text.values import MOST_NUMBER, shown

from .values import MountPoint

SCHEDULERS = ("none", "slurm", "kubernetes")


class HeadsFile(FileModel):
    """Virtual servers where the cluster's people log in and its scheduler runs."""

    count: int = Field(default=1, le=MOST_NUMBER, description="How many: 1 or 2.")
    flavor: str = Field(description="A flavour of the site for hosts that carry tenants' servers.")
    image: str | None = Field(default=None, description="An image of the site; by default that of the nodes.")


class SlurmFile(FileModel):
    """What of Slurm is not as usual."""

    controllers: int = Field(
        default=1, le=MOST_NUMBER, description="1, or 2: the second takes over. 2 need `heads: {count: 2}` and `state`."
    )
    state: MountPoint | None = Field(
        default=None, description="Folder of the state of two controllers, on a file system that both heads mount."
    )
    accounting: bool = Field(
        default=False, description="Whether slurmdbd runs on the first head; its database is the tenant's."
    )
    release: str | None = Field(
        default=None, description='Release of Slurm in the images, in quotes, as in "23.11"; by default "22.05".'
    )
    munge_key: int = Field(
        default=1, ge=1, le=99, description="Number of munge's key, which is made; another number is another key."
    )


class KubernetesFile(FileModel):
    """Nothing of its own: values and labels are for whoever bootstraps the cluster."""


class SchedulerFile(FileModel):
    """One of both; neither is `none`."""

    slurm: SlurmFile | None = Field(default=None, description="Slurm, set up from the start.")
    kubernetes: KubernetesFile | None = Field(
        default=None, description="Nothing on the servers: values and labels for a chart of an operator's."
    )


def scheduler_mapping(value: Any) -> Any:
    """`slurm` alone is short for `{slurm: {}}`, and so is a key with nothing behind it."""
    if isinstance(value, SchedulerFile):
        return value
    if isinstance(value, dict):
        return {key: {} if found is None else found for key, found in value.items()}
    if not isinstance(value, str) or value not in SCHEDULERS:
        hint = "write none, slurm or kubernetes, or a mapping as in {slurm: {controllers: 2, state: /srv/slurm}}"
        raise fault(Code.VALUE, f"{shown(value)} is no scheduler", hint)
    return {} if value == "none" else {value: {}}


ClusterScheduler = Annotated[SchedulerFile, BeforeValidator(scheduler_mapping)]
