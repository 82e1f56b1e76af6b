"""Every mutation operator there is, in one table."""

from __future__ import annotations

from tests.mutants.op_bastions import BASTIONS
from tests.mutants.op_cluster_shares import CLUSTER_SHARES
from tests.mutants.op_clusters import CLUSTERS
from tests.mutants.op_data import DATA
from tests.mutants.op_declarations import DECLARATIONS
from tests.mutants.op_encryption import ENCRYPTION
from tests.mutants.op_entries import ENTRIES
from tests.mutants.op_fabrics import FABRICS
from tests.mutants.op_figures import FIGURES
from tests.mutants.op_flavors import FLAVORS
from tests.mutants.op_groups import GROUPS
from tests.mutants.op_guards import GUARDS
from tests.mutants.op_halls import HALLS
from tests.mutants.op_links import LINKS
from tests.mutants.op_lossless import LOSSLESS
from tests.mutants.op_rights import RIGHTS
from tests.mutants.op_roce import ROCE
from tests.mutants.op_servers import SERVERS
from tests.mutants.op_storage_fabrics import STORAGE_FABRICS
from tests.mutants.op_switches import SWITCHES
from tests.mutants.op_unlisted import UNLISTED
from tests.mutants.op_vipu import VIPU
from tests.mutants.op_whole_nodes import WHOLE_NODES
from tests.mutants.op_wires import WIRES
from tests.mutants.operator import Operator

OPERATORS: tuple[Operator, ...] = (
    *WIRES, *SWITCHES, *LINKS, *RIGHTS, *ENTRIES, *SERVERS, *DATA, *FABRICS, *GUARDS, *DECLARATIONS, *GROUPS, *FLAVORS,
    *BASTIONS, *ENCRYPTION, *FIGURES, *UNLISTED, *HALLS, *LOSSLESS,
    *CLUSTERS, *CLUSTER_SHARES, *ROCE, *STORAGE_FABRICS, *WHOLE_NODES, *VIPU,
)  # fmt: skip
