"""What judging a plan yields: a `Proof`, or `NotProved` with findings. Proofs are minted only by `prove`."""

from __future__ import annotations

from enum import StrEnum

from interlock.planning.plan import Plan
from interlock.resources import Admission, Admitted, Frozen, digest_of


class Verdict(StrEnum):
    """Outcome of one rule. `NOT_APPLICABLE`: it had nothing to look at, which is never a pass."""

    PROVED = "proved"
    VIOLATED = "violated"
    NOT_PROVABLE = "not provable"
    NOT_APPLICABLE = "not applicable"


class Severity(StrEnum):
    """B blocks and cannot be waived, E is an error, W a warning, I information (W and I never change the exit)."""

    BLOCK = "B"
    ERROR = "E"
    WARN = "W"
    INFO = "I"


class Finding(Frozen):
    """Why a rule is violated or not provable."""

    rule: str
    severity: Severity
    verdict: Verdict
    #: One sentence: what is wrong, in the site's own names.
    message: str
    #: The path, cut or pair of claims, step by step.
    witness: tuple[str, ...]
    #: The facts that nobody stated and that would decide it, as paths of the site file.
    missing: tuple[str, ...] = ()
    #: What to do next.
    hint: str = ""
    #: How narrowly this explains the conflict: reports name the highest first.
    specificity: int = 0


class RuleResult(Frozen):
    """One rule's verdict; `count` is the number of things it looked at."""

    rule: str
    title: str
    severity: Severity
    verdict: Verdict
    count: int
    findings: tuple[Finding, ...] = ()


class Judgement(Frozen):
    """All rules over one plan and the footprints of all others."""

    site: str
    stack: str
    plan_hash: str
    #: Hash over the locks (with what is released) that were taken into account.
    footprints: str
    results: tuple[RuleResult, ...]
    #: Names of the resources that are planned and proved but that nothing can make yet.
    without_actuator: tuple[str, ...] = ()
    applied_state: str = "not looked at"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in rule order."""
        return tuple(finding for result in self.results for finding in result.findings)

    @property
    def exit_code(self) -> int:
        """0 proved, 1 violated, 3 not provable; only severities B and E count."""
        verdicts = {f.verdict for f in self.findings if f.severity in (Severity.BLOCK, Severity.ERROR)}
        if Verdict.VIOLATED in verdicts:
            return 1
        return 3 if Verdict.NOT_PROVABLE in verdicts else 0


class Proof(Frozen):
    """A plan and the judgement that allows it."""

    plan: Plan
    judgement: Judgement

    @property
    def hash(self) -> str:
        """Hash over the plan's hash and the judgement."""
        return digest_of({"plan": self.plan.hash, "judgement": self.judgement.model_dump(mode="json")})


class NotProved(Exception):
    """The plan may not be applied; nothing has been touched."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(f"{judgement.stack}: {len(judgement.findings)} finding(s)")
        self.judgement = judgement


def admission(
    proof: Proof, *, cloud: str, site_folder: str, existing: dict[str, str], virtual_functions: dict[str, int]
) -> Admission:
    """The proof in the form that the provider takes: the digests of what can be made."""
    plan = proof.plan
    return Admission(
        stack=plan.stack,
        cloud=cloud,
        owner=plan.owner,
        site_owner=plan.site_owner,
        existing=existing,
        plan_hash=plan.hash,
        proof_hash=proof.hash,
        site_folder=site_folder,
        virtual_functions=virtual_functions,
        resources=tuple(
            Admitted(name=item.name, kind=item.resource.KIND, spec=item.resource.canonical())
            for item in plan.resources
            if item.resource.HAS_ACTUATOR
        ),
    )
