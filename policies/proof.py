"""What judging a plan yields: a `Proof`, or `NotProved` with findings. Proofs are minted only by `prove`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, PlainSerializer

from interlock.planning.plan import Plan
from interlock.resources import Admission, Admitted, Frozen, digest_of
from interlock.vocabulary import InterlockError
from interlock.vocabulary.entries import SpecEntry
from interlock.vocabulary.errors import ErrorKind
from policies.about import Alike, Subject


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


#: An entry of the specification, which models write as text.
Entry = Annotated[SpecEntry, PlainSerializer(str, return_type=str)]


class FixKind(StrEnum):
    """How good a set of changes is."""

    #: No fewer entries would do.
    SMALLEST = "smallest"
    #: Each of its entries is needed; there may be a smaller set.
    MINIMAL = "minimal"


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
    #: Short and stable, as in `ISO-05-3f2a`: what `interlock explain` takes.
    id: str = ""
    #: The nodes of the witness, where it is a path.
    path: tuple[str, ...] = ()
    #: What its rule says that it is about besides the path, until `about` is made of it; never told.
    subjects: tuple[Subject, ...] = Field(default=(), exclude=True, repr=False)
    #: What it says of one thing as others do of theirs; for folding alone, never told by itself.
    alike: Alike | None = Field(default=None, exclude=True, repr=False)
    #: What causes it, as entries of the specification (see `policies.findings.spec_entries`).
    about: tuple[Entry, ...] = ()
    #: The entries that, changed together, part the two owners; empty: not asked for, or there are none.
    fix: tuple[Entry, ...] = ()
    #: Whether no fewer would do, or each of these is needed.
    fix_kind: FixKind | None = None


class WaiverState(StrEnum):
    """What became of a waiver. Only one in use changes a verdict."""

    USED = "used"
    UNUSED = "unused"
    EXPIRED = "expired"
    UNKNOWN = "unknown rule"


class Waived(Frozen):
    """A waiver of the request, and what became of it."""

    rule: str
    owner: str
    reason: str
    #: ISO date: the last day on which it counts.
    expires: str
    state: WaiverState
    #: How many findings of the rule there are.
    findings: int
    #: What to do; only where the state is not `used`.
    hint: str = ""


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
    #: Hash over the lock files (with what is released) that were taken into account.
    footprints: str
    results: tuple[RuleResult, ...]
    #: Names of the resources that are planned and proved but that nothing can make yet.
    without_actuator: tuple[str, ...] = ()
    #: What of this stack is applied and was proved together with the plan.
    applied_state: str = "not looked at"
    #: Digest over the versions of the boundary nodes in the classes that the plan meets (`boundary_versions`).
    boundary: str = ""
    #: Hash over ids, titles, severities and polarities of the rules that were asked.
    rule_set: str = ""
    #: Digest of the facts that it rests on (`policies.statement`).
    statement: str = ""
    #: The request's waivers, and what became of each.
    waivers: tuple[Waived, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in rule order."""
        return tuple(finding for result in self.results for finding in result.findings)

    @property
    def exit_code(self) -> int:
        """0 proved, 1 violated, 3 not provable; only severities B and E count, and nothing that is waived."""
        blocking = (f for f in self.findings if f.severity in (Severity.BLOCK, Severity.ERROR))
        verdicts = {finding.verdict for finding in blocking if not self.is_waived(finding)}
        if Verdict.VIOLATED in verdicts:
            return 1
        return 3 if Verdict.NOT_PROVABLE in verdicts else 0

    def waiver(self, finding: Finding) -> Waived | None:
        """The waiver that lets a finding pass, if there is one. Severity B is never let pass."""
        used = (item for item in self.waivers if item.state is WaiverState.USED and item.rule == finding.rule)
        return None if finding.severity is Severity.BLOCK else next(used, None)

    def is_waived(self, finding: Finding) -> bool:
        """True if a waiver lets a finding pass."""
        return self.waiver(finding) is not None


class Proof(Frozen):
    """A plan and the judgement that allows it."""

    plan: Plan
    judgement: Judgement
    #: Boundary nodes in the classes that it met, sorted: what it relies on others not to change.
    met: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Hash over the plan's hash and the judgement."""
        return digest_of({"plan": self.plan.hash, "judgement": self.judgement.model_dump(mode="json")})


class NotProved(InterlockError):
    """The plan may not be applied; nothing has been touched."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(f"{judgement.stack}: {len(judgement.findings)} finding(s)")
        self.judgement = judgement
        self.kind = ErrorKind.VIOLATED if judgement.exit_code == 1 else ErrorKind.NOT_PROVABLE


def admission(
    proof: Proof,
    *,
    cloud: str,
    site_folder: str,
    existing: dict[str, str],
    stated: tuple[Admitted, ...] = (),
    virtual_functions: dict[str, int],
    dedicated_cpus: dict[str, int] | None = None,
    huge_pages: dict[str, int] | None = None,
    conductor_group: str = "",
    service_networks: dict[str, str] | None = None,
    region: str = "",
    first: Admitted | None = None,
    claims: dict[str, Any] | None = None,
) -> Admission:
    """The proof in the form that the provider takes: the digests of what can be made.

    `first` and `claims`: what is taken in the operator's store before anything is made, as resource and in full.
    """
    plan = proof.plan
    return Admission(
        stack=plan.stack,
        cloud=cloud,
        region=region,
        owner=plan.owner,
        site_owner=plan.site_owner,
        existing=existing,
        stated=stated,
        plan_hash=plan.hash,
        proof_hash=proof.hash,
        site_folder=site_folder,
        virtual_functions=virtual_functions,
        dedicated_cpus=dedicated_cpus or {},
        huge_pages=huge_pages or {},
        conductor_group=conductor_group,
        service_networks=service_networks or {},
        claims=claims,
        resources=(
            *([first] if first else ()),
            *(
                Admitted(name=item.name, kind=item.resource.KIND, spec=item.resource.canonical())
                for item in plan.resources
                if item.resource.is_declared
            ),
        ),
    )
