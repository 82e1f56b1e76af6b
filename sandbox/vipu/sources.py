"""Where the behaviour of the simulator comes from: documents that were read, public use, what follows, what is assumed.

Pages of docs.graphcore.ai could be read in part only, so much is assumed; what is, is shown as unverified everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: `documented`: read in the vendor's document; `seen`: in public code or notes of operators; `derived`: follows from
#: those; `assumed`: of this simulator alone, an operator has to look at a real installation.
Basis = Literal["documented", "seen", "derived", "assumed"]


@dataclass(frozen=True)
class Source:
    """Where one thing is said."""

    basis: Basis
    #: Document and section, or what was seen where; of what is assumed, why it is so.
    words: str

    @property
    def unverified(self) -> bool:
        """True if nobody but this simulator says so."""
        return self.basis == "assumed"

    def __str__(self) -> str:
        return f"{self.basis}: {self.words}"


def assumed(words: str = "not public") -> Source:
    """What no source says."""
    return Source("assumed", words)


#: What no real command has.
SIMULATOR = assumed("of the simulator alone")
CLUSTERS = Source("documented", "V-IPU Administrator Guide, Clusters")
SECURING = Source("documented", "V-IPU Administrator Guide, 4 Securing the installation")
USERS = Source("documented", "V-IPU Administrator Guide, 5.1 Users")
ADMIN_ALLOCATIONS = Source("documented", "V-IPU Administrator Guide, 5.2 Allocations")
ARCHITECTURE = Source("documented", "V-IPU Administrator Guide, Concepts and architecture")
ALLOCATIONS = Source("documented", "V-IPU User Guide, 4 Allocations")
ATTRIBUTES = Source("documented", "V-IPU User Guide, 4.1 IPU attributes")
PARTITIONS = Source("documented", "V-IPU User Guide, 5.1 Overview of partitions")
RECONFIGURABLE = Source("documented", "V-IPU User Guide, 5.2 Creating a reconfigurable partition")
SHARING = Source("documented", "V-IPU User Guide, 5.8.2 Sharing access to devices")
GCDS = Source("documented", "V-IPU User Guide, 5.11 Multi-GCD partitions")
SIZES = Source("documented", "OpenStack reference design, Overview: vPODs of 1, 2, 4, 8, 16 or more IPU-Machines")
POPTORCH = Source("seen", "graphcore/poptorch, VirtualIpuManager, which reads `vipu-cli -a --showjson`")
POPTORCH_ERROR = Source("seen", "graphcore/poptorch, issue 14")
TWO_PODS = Source("seen", "a public script that makes a cluster of two IPU-POD64 and partitions of it")
POD128 = Source("seen", "a public script that trains BERT on an IPU-POD128 with poprun")
TABLE = Source("seen", "graphcore/demo-in-a-box, README: `vipu list partitions`")
RINGS_OF_RACKS = Source(
    "derived", "part of a rack has no ring; a whole IPU-POD64 is shown with RINGSWNC (demo-in-a-box)"
)
SLURM = Source("seen", "graphcore/examples-utils, the Slurm runner")
SCRIPTS = Source("seen", "public job scripts, which cut columns of `vipu list partitions`")
OPERATORS = Source("seen", "public job scripts that read /etc/vipu/vipu-cli.hcl")
PADDLE = Source("seen", "Paddle for IPU, README of BERT: `~/.ipuof.conf.d/ipu.conf` of the partition `ipu`")
CABLES = Source("derived", "8 IPU-Link ports of an IPU-Machine, 4 to each neighbour; 2 GW-Link ports (data sheets)")
ARITHMETIC = Source("derived", "arithmetic on IPUs, GCDs and replicas; the examples of public scripts fit")
POPDIST = Source("seen", "PopDist primer: at least one process for each IPU-Link domain")
