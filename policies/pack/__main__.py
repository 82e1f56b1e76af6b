"""The policy pack: one stack policy that holds what the engine registered against the proof.

It reads the copy of the proof that the program left in `.interlock/proofs/<stack>/<plan hash>.json`.
"""

from __future__ import annotations

from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

from interlock.deferred_imports import defer

# The pack compares with a proof and judges nothing: the rules, and the models they need, stay out.
defer("policies")

from policies.registered import validate  # noqa: E402

PolicyPack(
    name="interlock",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[
        StackValidationPolicy(
            name="registered-is-proved",
            description="The stack holds every resource of its proof, as proved, and no other.",
            validate=validate,
        )
    ],
)
