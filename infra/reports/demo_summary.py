"""Summary of the demo: what exists, what was not checked or not wired, what to try next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from infra.program.gate import Gate
from infra.program.places import OPENSTACK, ROOT, SANDBOX
from infra.reports.wiring_words import wiring_words
from interlock.planning import Plan
from interlock.resources import SwitchPort, VipuAllocation, VipuObject
from interlock.vocabulary import StackName

#: Outputs that the summary tells in other words.
TOLD_ELSEWHERE = ("not_wired", "plan_hash")


def summary(gate: Gate, tenant: str, outputs: Mapping[str, Any]) -> str:
    """The text that `./run demo` ends with; `outputs` are those of the tenant's stack."""
    stack, plan = gate.stack(tenant), gate.plan(tenant)
    parts = (
        exists(gate.stack(None), gate.plan(None)),
        exists(stack, plan),
        _reached(stack, outputs),
        _open_ends(plan, gate.explained_by),
        _look(tenant),
        _try(stack),
    )
    return "\n\n".join(parts)


def exists(stack: str, plan: Plan) -> str:
    """How many objects of a stack exist, by kind."""
    made = [item.resource.KIND for item in plan.resources if item.resource.is_declared]
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(made).items()))
    return f"{stack}: {len(made)} objects exist on the cloud\n  {kinds}"


def _reached(stack: str, outputs: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in outputs.items() if name not in TOLD_ELSEWHERE}
    text = json.dumps(shown, indent=2, sort_keys=True).replace("\n", "\n  ")
    return (
        f"Outputs of {stack}, for the tenant:\n  {text}\n"
        f"  The S3 secret: ./run pulumi stack output vpods --show-secrets --stack {stack}"
    )


def _open_ends(plan: Plan, site: str) -> str:
    wiring = "".join(f"{words}.\n" for words in wiring_words(plan, site))
    return (
        f"{_wired(plan)}{wiring}{_registered(plan)}"
        "Applied state: proved with the plan, as the claims store has it; the cloud itself is read by an audit.\n"
        "The sandbox's services are real; its hypervisors, switches and V-IPU controllers are not: no guest runs, and "
        "frames flow only where it was started with `--frames`."
    )


def _registered(plan: Plan) -> str:
    """What the V-IPU controllers of its vPODs were told, or that this site leaves it to a person."""
    told = Counter(
        item.resource.KIND.removeprefix("Vipu").lower()
        for item in plan.resources
        if isinstance(item.resource, VipuObject) and item.resource.is_declared
    )
    if told:
        objects = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in sorted(told.items()))
        return f"Registered at the V-IPU controllers of its vPODs, which the sandbox simulates: {objects}.\n"
    left = ", ".join(item.name for item in plan.without_actuator() if isinstance(item.resource, VipuAllocation))
    if not left:
        return ""
    return (
        "Not registered: the IPU-Machines are reserved for this tenant, and this site leaves it to a person to tell "
        f"V-IPU (`controller.managed_by: hand`): {left}.\n"
    )


def _wired(plan: Plan) -> str:
    """The switch ports that Neutron set, and that their switches confirmed."""
    ports = [item.resource for item in plan.resources if isinstance(item.resource, SwitchPort)]
    switches = sorted({port.switch for port in ports if port.is_declared})
    count = sum(port.is_declared for port in ports)
    if not count:
        return ""
    return f"Wired: {count} switch ports of {' and '.join(switches)}, each read back from its switch.\n"


def _look(tenant: str) -> str:
    client = OPENSTACK.relative_to(ROOT)
    return (
        "Look at it, from the root of the repository:\n"
        f"  export OS_CLIENT_CONFIG_FILE=$PWD/{SANDBOX.relative_to(ROOT)}/clouds.yaml OS_CLOUD=sandbox\n"
        f"  {client} server list --all-projects --long\n"
        f"  {client} network list --long\n"
        f"  {client} port list --project {tenant}"
    )


def _try(stack: str) -> str:
    site = StackName.parse(stack).site
    return (
        "Try next:\n"
        "  ./run interlock check                                 what is proved, rule by rule\n"
        "  ./run interlock audit                                 what the cloud holds, beside what was proved\n"
        "  ./run interlock switches                              what the switches say, port by port\n"
        "  ./run interlock check --site leaky/vlan-of-another    a site that must not be built\n"
        f"  ./run pulumi up --stack {site}-globex                   the second tenant\n"
        f"  ./run pulumi destroy --stack {stack}                delete the tenant's stack\n"
        "  ./run interlock sandbox down                          stop the embedded cloud"
    )
