"""The worked examples of docs/design/semantics.md as worlds, and those that no world can say yet."""

from __future__ import annotations

from .examples_cloud import EXAMPLES as CLOUD
from .examples_clusters import EXAMPLES as CLUSTERS
from .examples_data import EXAMPLES as DATA
from .examples_devices import EXAMPLES as DEVICES
from .examples_operated import EXAMPLES as OPERATED
from .examples_passed_on import EXAMPLES as PASSED_ON
from .examples_wire import EXAMPLES as WIRE

EXAMPLES = (*WIRE, *CLOUD, *DATA, *DEVICES, *OPERATED, *CLUSTERS, *PASSED_ON)

#: About two proofs and not one world: `examples_versions`, with a test of its own.
VERSIONS = "45"

#: Number, and what there is no word for in a site file, a plan or a lock.
UNSAID = {
    "32b": "a deny statement: a bucket policy of a plan only allows, so no wildcard in a deny can count as a grant",
}
