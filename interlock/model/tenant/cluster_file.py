"""`clusters:` of a request as a tenant writes it: whole GPU nodes of one type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from interlock.model.text.validation import FileModel
from interlock.model.text.values import MOST_NUMBER

from .request import ClusterFabric, Scheduler

_WHOLE = "ask for whole nodes: `nodes: 1` is the least; their tenant divides them as it likes"
_MIG = (
    "MIG layouts are not given out: a node that is cut into slices would have several tenants, and no rule keeps those "
    "apart"
)
_VIRTUAL = (
    "virtual GUIDs are not given out: whoever has a node has its whole ports, and partitions consist of the GUIDs of "
    "these"
)


class ClusterFile(FileModel):
    """A GPU cluster: `nodes:` or `gpus:`, exactly one of them."""

    #: What would give parts of a node away, and why nobody gets that.
    REFUSED: ClassVar[Mapping[str, tuple[str, str]]] = {
        "mig": (_MIG, _WHOLE),
        "virtual_guids": (_VIRTUAL, "take it out: each node has all of its ports"),
    }

    nodes: int | None = Field(default=None, le=MOST_NUMBER, description="Whole nodes.")
    gpus: int | None = Field(
        default=None, le=MOST_NUMBER, description="The same, counted in GPUs: 8 are one node of most types."
    )
    type: str = Field(description="A node type, as in `dgx-h100`: one of those that clusters are given of.")
    image: str = Field(description="An image of the site, for its nodes.")
    fabric: ClusterFabric | Literal["roce"] | None = Field(
        default=None,
        description="What joins GPUs of several nodes: `infiniband`, by default where the type has it, or `none`, the "
        "in-band network alone. `roce` cannot be had yet, and is told why.",
    )
    scheduler: Scheduler = Field(default="none", description="What hands its nodes to jobs, set up from the start.")
