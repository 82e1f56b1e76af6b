"""What `interlock settle` found in the way, told for people and as JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import typer

from infra.cli.exits import Exit
from infra.stack.former_keys import FormerKeys
from infra.stack.handing_over import Lacking
from infra.stack.settling import LookedAt
from interlock.model.evidence.accepting import ASSUMED_FACT, RUNS
from interlock.model.evidence.steps import SeenStep

#: What makes a former key nobody's.
ENDS = "next: recreate these servers (`pulumi up --replace URN`) or delete them, then settle again"


@dataclass(frozen=True)
class Findings:
    """What stands in the way of settling."""

    stack: str
    #: What still holds something, a sentence each.
    obstacles: tuple[str, ...]
    #: What was not seen unwired or cleaned.
    lacking: tuple[Lacking, ...]
    #: The file for evidence of it.
    file: str
    #: The file that now says what switches said of machines and hosts; empty: nothing was recorded.
    recorded: str = ""
    #: The list of who may sign evidence; empty: nobody has to.
    signers: str = ""

    @property
    def exit_code(self) -> Exit:
        """1 if anything is known to be in the way; 3 if nobody is known to have seen it clean."""
        if self.obstacles or any(one.refuted for one in self.lacking):
            return Exit.VIOLATED
        return Exit.NOT_PROVABLE if self.lacking else Exit.PROVED


def document(findings: Findings, found: LookedAt | None, keys: FormerKeys | None) -> dict[str, object]:
    """The JSON form: what is given up, what still holds it, what nobody saw. With `--dry-run` it is the same."""
    still, is_held = (keys.still, bool(keys.held)) if keys else ((), False)
    released = found.lock.released if found else ()
    leftover = found.leftover if found else ()
    return {
        "stack": findings.stack,
        "exit_code": int(Exit.VIOLATED if is_held and findings.exit_code is Exit.PROVED else findings.exit_code),
        "released": [
            {"vpod": one.vpod, "claim": one.claim, "value": one.value, "since": one.since} for one in released
        ],
        "former_keys": [
            {
                "fingerprint": key.fingerprint,
                "since": key.since,
                "still_opens": [str(one) for one in still if one.fingerprint == key.fingerprint],
            }
            for key in (keys.of_lock if keys else ())
        ],
        "leftover": [entry.digest for entry in leftover],
        "obstacles": [*findings.obstacles, *map(str, findings.lacking)],
        "recorded": findings.recorded,
        "signers": findings.signers,
        "evidence": [
            {
                "identity": one.demand.identity,
                "about": dict(one.demand.entry),
                "step": one.step,
                "because": one.because,
                "missing": one.missing,
                "file": findings.file,
            }
            | ({"run": RUNS[one.step].commands} if one.step in RUNS else {})
            for one in findings.lacking
        ],
    }


def refuse(findings: Findings) -> None:
    """Say all of it, and what to do next. Raises typer.Exit."""
    said = "\n".join(f"  - {line}" for line in (*findings.obstacles, *findings.lacking))
    kept = f"what was unwired was recorded in {findings.recorded}" if findings.recorded else "nothing was changed"
    print(f"{findings.stack}: not settled, {kept}:\n{said}", file=sys.stderr)
    if findings.recorded:
        first = "sign and " if findings.signers else ""
        print(
            f"next: {first}commit {findings.recorded}; what comes after `unwired` counts from now on", file=sys.stderr
        )
    if any("ssh key" in line for line in findings.obstacles):
        print(ENDS, file=sys.stderr)
    elif findings.obstacles:
        print("next: run `pulumi up` on it; then remove by hand what is left on the cloud", file=sys.stderr)
    facts = sorted({fact for one in findings.lacking for fact in one.missing})
    if facts:
        print(f"next: state {' and '.join(facts)} in the site file, if you answer for it", file=sys.stderr)
    _say_runs(findings)
    lines = [one.line() for one in findings.lacking if one.can_be_written]
    if lines:
        own = f", or a file of your own, and sign it ({findings.signers})" if findings.signers else ""
        print(f"next: see to each, and write into {findings.file}{own}, below `seen:`, what was seen:", file=sys.stderr)
        print(*(f"  - {line}" for line in lines), sep="\n", file=sys.stderr)
    for file in sorted({entry.file for one in findings.lacking for entry in one.unsigned}):
        print(f"next: who saw it signs: interlock evidence sign {file} --key KEY; commit {file}.sig", file=sys.stderr)
    for fact in sorted({fact for one in findings.lacking for fact in one.refuted}):
        print(f"next: see that cleaning leaves nothing, then state {fact}: true", file=sys.stderr)
    raise typer.Exit(findings.exit_code)


def _say_runs(findings: Findings) -> None:
    """What to run on which GPU nodes, for the steps that nobody has seen or that were too little."""
    on: dict[SeenStep, list[str]] = {}
    for one in findings.lacking:
        if one.step in RUNS:
            on.setdefault(one.step, []).append(str(one.demand.entry["host"]))
    for step, names in on.items():
        run = RUNS[step]
        commands = "; ".join(f"`{command}`" for command in run.commands)
        print(f"next: {step}: on {', '.join(names)} run {commands} ({run.source})", file=sys.stderr)
        if step is SeenStep.FIRMWARE_ATTESTED:
            print(f"next: or state {ASSUMED_FACT}: true, if nobody attests it and you answer for it", file=sys.stderr)
