"""L3-14: Keystone's exchange of a signature for a token is open only to the services that need it."""

from __future__ import annotations

from policies.about import resources
from policies.facts.guards import assumption
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_guard


def _closed_to_outside(model: Model, _: Names) -> RuleAnswer:
    """Of the keys of a plan: where there are none, there are no signatures either."""
    keys = model.plan.credentials
    held = assumption(model.site.site, "A15", only="token_endpoints_closed")
    known = "false" if held.broken else "not known"
    causes = [
        Cause(
            key="A15",
            message=f"whether ec2tokens and s3tokens of Keystone are closed to everybody but its services is {known}",
            witness=("whoever has a presigned URL", "ec2tokens, s3tokens", f"S3 key {keys[0].name}"),
            hint="let the S3 gateway alone reach them (or update Keystone), and state `token_endpoints_closed` of A15",
            missing=held.missing,
            specificity=73,
            about=resources(keys[0].name),
        )
    ] if keys else []  # fmt: skip
    return by_guard(len(keys), held, causes)


L3_14 = Rule(
    id="L3-14",
    title="only services can exchange a signature of an S3 key for a token",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="who sees one presigned URL would act in the whole project",
    source="OSSA-2025-002: tokens for any valid AWS signature at ec2tokens and s3tokens",
    needs=("S3 keys", "A15.token_endpoints_closed"),
    ask=_closed_to_outside,
    of=Of.TENANT,
)
