"""Declares a plan against Pulumi's mocks and records what the engine would be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
from pulumi.runtime import rpc
from pulumi.runtime.mocks import MockCallArgs, MockMonitor, MockResourceArgs

from components import declare
from components.base import PlannedComponent
from interlock.planning import Plan, plan_site, plan_tenant
from interlock.resources import Admission
from policies.proof import Judgement, Proof, admission
from tests.builders.pod64 import locked, pod64, site_locked, tenant

COMPUTED = {
    "access_key": "AK", "secret_key": "hidden", "public_address": "203.0.113.50", "export_path": "/exports/one",
}  # fmt: skip


def tenant_plan(name: str = "acme", **request: Any) -> Plan:
    """The plan of one tenant on the small site."""
    site = pod64()
    asked = tenant(name, **request)
    return plan_tenant(site, site_locked(site), asked, locked(site, asked))


def site_plan() -> Plan:
    """The plan of the small site's own objects."""
    site = pod64()
    return plan_site(site, site_locked(site))


def proof_of(plan: Plan) -> Proof:
    """A proof with no rules in it: components look at the plan only."""
    judgement = Judgement(site=plan.site, stack=plan.stack, plan_hash=plan.hash, footprints="sha256:0", results=())
    return Proof(plan=plan, judgement=judgement)


def admission_of(proof: Proof) -> Admission:
    """What the provider would be told of it."""
    return admission(proof, cloud="sandbox", site_folder="/site", existing={}, virtual_functions={})


class Provider(pulumi.runtime.Mocks):
    """Echoes inputs, gives `id of <name>` as ids, and answers `admit` with `faults` and `notes`."""

    def __init__(self, faults: Sequence[str], notes: Sequence[str] = ()) -> None:
        self.faults = list(faults)
        self.notes = list(notes)
        self.calls: list[MockCallArgs] = []

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        computed = COMPUTED if args.typ.startswith("interlock:index:") else {}
        return f"id of {args.name}", {**computed, **args.inputs}

    def call(self, args: MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        self.calls.append(args)
        return {"faults": self.faults, "notes": self.notes}, []


class Monitor(MockMonitor):
    """Keeps every request as the SDK sends it."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self.requests: list[Any] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - gRPC's own name
        if request.type != "pulumi:pulumi:Stack":
            self.requests.append(request)
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Declared:
    """What one run of `declare` told the engine."""

    plan: Plan
    provider: Provider
    requests: tuple[Any, ...]
    root: PlannedComponent | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict)
    refusal: str = ""

    def of_type(self, prefix: str) -> list[Any]:
        """Requests whose type starts so."""
        return [request for request in self.requests if request.type.startswith(prefix)]

    def object(self, name: str) -> Any:
        """The one request for a cloud object."""
        (found,) = [item for item in self.of_type("interlock:index:") if item.name == name]
        return found

    def inputs(self, name: str) -> dict[str, Any]:
        """Its inputs."""
        inputs: dict[str, Any] = rpc.deserialize_properties(self.object(name).object)
        return inputs


def declared(plan: Plan, faults: Sequence[str] = (), *, notes: Sequence[str] = (), preview: bool = False) -> Declared:
    """Declare the plan; a refusal is recorded, not raised."""
    provider = Provider(faults, notes)
    monitor = Monitor(provider)
    pulumi.runtime.set_mocks(provider, "clusters", plan.stack, preview=preview, monitor=monitor)
    roots: list[PlannedComponent | None] = []
    outputs: dict[str, Any] = {}

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def program() -> pulumi.Output[None]:
        proof = proof_of(plan)
        root = declare(proof, admission_of(proof), Path("preview_tokens"))
        roots.append(root)
        return pulumi.Output.from_input(root.outputs() if root else {}).apply(outputs.update)

    try:
        program()
    except pulumi.RunError as error:
        return Declared(plan, provider, tuple(monitor.requests), refusal=str(error))
    return Declared(plan, provider, tuple(monitor.requests), roots[0], outputs)
