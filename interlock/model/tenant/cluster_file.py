"""`clusters:` of a request as a tenant writes it: whole GPU nodes of one type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from interlock.model.text.names import PinnedNames
from interlock.model.text.validation import FileModel
from interlock.model.text.values import MOST_NUMBER

from .data_words import ROTATE
from .request import ClusterFabric, ClusterState, ServerKind
from .scheduler_file import ClusterScheduler, HeadsFile, SchedulerFile
from .values import KeyNumbers

_WHOLE = "ask for whole nodes: `nodes: 1` is the least; their tenant divides them as it likes"
_MIG = (
    "MIG layouts are not given out: a node that is cut into slices would have several tenants, and no rule keeps those "
    "apart"
)
_VIRTUAL = (
    "virtual GUIDs are not given out: whoever has a node has its whole ports, and partitions consist of the GUIDs of "
    "these"
)


class RollFile(FileModel):
    """Another image for a cluster, node by node."""

    image: str = Field(description="The image that its nodes are to have in the end.")
    drained: PinnedNames = Field(
        default=(),
        description="Nodes on which nothing runs any more: they are deployed anew with the new image, the others keep "
        "the old one.",
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
    kind: ServerKind = Field(
        default="bare-metal",
        description="`bare-metal`, or `vm`: each node as one virtual server that has all of its devices.",
    )
    image: str = Field(description="An image of the site, for its nodes.")
    fabric: ClusterFabric | None = Field(
        default=None,
        description="What joins GPUs of several nodes: `infiniband`, by default where the type has it; `roce`, a VLAN "
        "of Ethernet ports of whole nodes behind one leaf group; or `none`, the in-band network alone.",
    )
    heads: HeadsFile | None = Field(
        default=None, description="Head nodes; by default none, and the first node is its scheduler's controller."
    )
    scheduler: ClusterScheduler = Field(
        default_factory=SchedulerFile,
        description="What hands its nodes to jobs: `none`, `slurm` or `kubernetes`, or a mapping of one of these; by "
        "default `none`.",
    )
    s3_keys: KeyNumbers = Field(
        default=[1],
        description=f"Numbers of its S3 keys that are valid; it has them where the request has buckets. {ROTATE}",
    )
    state: ClusterState = Field(
        default="present",
        description="`released`: its nodes are given up, and with them what is on their own disks; its network and "
        "P_Keys stay its own.",
    )
    without: PinnedNames = Field(
        default=(),
        description="Nodes that it is not to have: one that it has leaves, and another comes in its place unless "
        "`nodes:` says less.",
    )
    roll: RollFile | None = Field(default=None, description="Another image, node by node; by default no change.")
