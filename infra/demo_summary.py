"""What a demo leaves behind, in words: what exists, what was not looked at or not wired, what to try."""

from __future__ import annotations

from collections import Counter

from infra.engine import Engine
from infra.gate import Gate
from infra.places import ROOT, SANDBOX
from interlock.planning import Plan


def summary(gate: Gate, tenant: str, engine: Engine) -> str:
    """The text that `./run demo` ends with."""
    plan = gate.plan(tenant)
    parts = (
        _exists(gate.stack(None), gate.plan(None)),
        _exists(gate.stack(tenant), plan),
        _reached(engine.outputs(gate.stack(tenant))),
        _open_ends(plan),
        _look(),
        _try(gate.stack(tenant)),
    )
    return "\n\n".join(parts)


def _exists(stack: str, plan: Plan) -> str:
    made = [item.resource.KIND for item in plan.resources if item.resource.HAS_ACTUATOR]
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(made).items()))
    return f"{stack}: {len(made)} objects exist on the cloud\n  {kinds}"


def _reached(outputs: dict[str, object]) -> str:
    return "Outputs (./run pulumi stack output --stack lyon-acme --show-secrets for the S3 secret):\n" + "\n".join(
        f"  {name}: {value}" for name, value in sorted(outputs.items()) if name not in ("not_wired", "plan_hash")
    )


def _open_ends(plan: Plan) -> str:
    ports = plan.without_actuator()
    names = ", ".join(item.name for item in ports)
    return (
        f"Not wired: {len(ports)} switch ports are planned and proved, and nothing sets them yet:\n  {names}\n"
        "  The IPU-Machines are reserved for this tenant; their ports are not on its VLANs.\n"
        "Not looked at: the applied state of other stacks (the proof is over the plan and all locks).\n"
        "The sandbox's services are real; its hypervisors are not: no guest runs and no packet flows."
    )


def _look() -> str:
    clouds = SANDBOX.relative_to(ROOT) / "clouds.yaml"
    return (
        "Look at it:\n"
        f"  export OS_CLIENT_CONFIG_FILE=$PWD/{clouds} OS_CLOUD=sandbox\n"
        '  eval "$(./run env)"\n'
        "  openstack server list --all-projects --long\n"
        "  openstack network list --long\n"
        "  openstack port list --project acme"
    )


def _try(stack: str) -> str:
    return (
        "Try next:\n"
        "  ./run interlock check                                   what is proved, rule by rule\n"
        "  ./run interlock check --site leaky/vlan-of-another      a site that must not be built\n"
        "  ./run pulumi up --stack lyon-globex                     the second tenant (stack init first)\n"
        f"  ./run pulumi destroy --yes --stack {stack}           take it all away\n"
        "  ./run interlock sandbox down                            stop the embedded cloud"
    )
