"""The Pulumi program: one for every stack. Load, plan, prove; only then declare.

`clusters:site` names the folder below `stacks/`; with `clusters:tenant` the stack is that tenant's, without
it the operator's own. Anything wrong is raised before the first resource exists.
"""

from __future__ import annotations

import pulumi

from components import declare
from infra.program.break_glass import require_closed
from infra.program.gate import Gate, keep_copy
from infra.program.passphrase import refuse_demo_passphrase
from infra.program.places import PREVIEW_TOKENS
from infra.program.refusal import require_makeable
from infra.program.sdk_messages import silence_sdk
from infra.reports.vipu_words import let_go_words
from infra.reports.wiring_words import wiring_words
from interlock.garbage import collect_seldom
from interlock.vocabulary import InterlockError
from policies import NotProved, Proof
from policies.findings.report import as_message


def main() -> None:
    """Declare the stack that Pulumi's configuration names."""
    collect_seldom()
    silence_sdk()
    config = pulumi.Config("clusters")
    tenant = config.get("tenant")
    try:
        gate = Gate.open(config.require("site")).with_applied()
        _require_matching_name(gate, tenant)
        require_closed(gate, tenant)
        proof = _proof(gate, tenant)
        require_makeable(proof.plan)
    except InterlockError as error:
        raise pulumi.RunError(str(error)) from None
    refuse_demo_passphrase(gate.workspace.site.cloud)
    _declare(gate, proof)


def _proof(gate: Gate, tenant: str | None) -> Proof:
    try:
        return gate.prove(tenant)
    except NotProved as error:
        message = as_message(error.judgement, where=gate.places(gate.plan(tenant)), site=gate.explained_by)
        raise pulumi.RunError(message) from None


def _declare(gate: Gate, proof: Proof) -> None:
    admitted = gate.admission(proof)
    keep_copy(proof, admitted)
    root = declare(proof, admitted, PREVIEW_TOKENS)
    for words in wiring_words(proof.plan, gate.explained_by):
        pulumi.info(words)
    for words in let_go_words(proof.plan) if pulumi.runtime.is_dry_run() else ():
        pulumi.info(words)
    for words in gate.standing.words() if proof.plan.tenant is None else ():
        pulumi.info(words)
    pulumi.export("plan_hash", proof.plan.hash)
    pulumi.export("not_wired", [item.name for item in proof.plan.without_actuator()])
    if root is not None:
        for name, value in root.outputs().items():
            pulumi.export(name, value)


def _require_matching_name(gate: Gate, tenant: str | None) -> None:
    """A stack under another name would hold the same objects twice."""
    wanted, stack = gate.stack(tenant), pulumi.get_stack()
    if stack != wanted:
        raise pulumi.RunError(
            f"stack {stack} is configured for {wanted} (clusters:site, clusters:tenant): run "
            f"`pulumi stack select {wanted}`, or correct Pulumi.{stack}.yaml"
        )


# Both of Pulumi's Python hosts run a program under this name; tests import it.
if __name__ == "__main__":
    main()
