"""Summary of the GPU demo: what exists, the partitions as the subnet manager has them, what to try next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infra.program.gate import Gate
from infra.program.places import OPENSTACK, ROOT
from infra.reports.demo_summary import TOLD_ELSEWHERE, exists
from interlock.model.site.inventory import Site
from interlock.ufm.answers import DEFAULT_KEY, FabricPartition

#: Subnet -> its partitions by P_Key.
Partitions = Mapping[str, Mapping[int, FabricPartition]]


def gpu_summary(gate: Gate, outputs: Mapping[str, Mapping[str, Any]], partitions: Partitions, sandbox: Path) -> str:
    """The text that `./run demo gpu` ends with; `outputs` are those of each tenant's stack."""
    parts = (
        exists(gate.stack(None), gate.plan(None)),
        *(exists(gate.stack(tenant), gate.plan(tenant)) for tenant in outputs),
        *(_clusters(gate.stack(tenant), shown) for tenant, shown in outputs.items()),
        *_partitions(gate.workspace.site, partitions),
        _stand_ins(),
        _look(sandbox),
        _try(),
    )
    return "\n\n".join(parts)


def _clusters(stack: str, outputs: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in outputs.items() if value and name not in TOLD_ELSEWHERE}
    text = json.dumps(shown, indent=2, sort_keys=True).replace("\n", "\n  ")
    return f"Outputs of {stack}, for the tenant:\n  {text}"


def _partitions(site: Site, found: Partitions) -> Iterator[str]:
    """A paragraph for each InfiniBand subnet."""
    node_of = {port.guid: node.name for node in site.gpu_nodes for port in node.ports}
    for subnet, partitions in found.items():
        lines = [_line(partition, node_of) for _, partition in sorted(partitions.items())]
        yield "\n".join([f"Partitions of {subnet}, as its subnet manager has them:", *lines])


def _line(partition: FabricPartition, node_of: Mapping[str | None, str]) -> str:
    key = f"  {partition.key:#06x}"
    kinds = Counter(member.membership for member in partition.members)
    said = " and ".join(f"{count} {membership}" for membership, count in sorted(kinds.items()))
    if partition.key == DEFAULT_KEY:
        return f"{key}  {said}: the default partition, which nobody leaves"
    first = " at index 0" if all(member.index0 for member in partition.members) else ""
    nodes = dict.fromkeys(node_of.get(member.guid, "an unknown port") for member in partition.members)
    return f"{key}  {said}{first}: {', '.join(nodes)}"


def _stand_ins() -> str:
    return (
        "The sandbox's services are real, and so is the subnet manager: OpenSM, on a simulated fabric and behind a "
        "stand-in of UFM's REST interface. Nodes and switches are not: nothing runs on a node, and no packet flows."
    )


def _look(sandbox: Path) -> str:
    client = OPENSTACK.relative_to(ROOT)
    return (
        "Look at it, from the root of the repository:\n"
        f"  export OS_CLIENT_CONFIG_FILE=$PWD/{sandbox.relative_to(ROOT)}/clouds.yaml OS_CLOUD=sandbox\n"
        f"  {client} network list --long\n"
        "  ./run interlock audit --site hall                     what cloud and fabric hold, beside what was proved"
    )


def _try() -> str:
    return (
        "Try next:\n"
        "  ./run interlock check --site hall                     what is proved, rule by rule\n"
        "  ./run interlock plan --site hall acme                 a tenant's plan\n"
        "  ./run pulumi destroy --stack hall-globex              delete a stack: its ports leave the partition\n"
        "  ./run interlock sandbox down --dir .interlock/sandbox-hall    stop the embedded cloud"
    )
