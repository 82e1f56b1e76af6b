"""`interlock check`: prove the committed files, without cloud and without Pulumi."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer

from infra import colour
from infra.commands.options import Site
from infra.exits import Exit
from infra.gate import Gate, Judged, NotPlanned
from infra.refusal import note
from interlock.model.load import InputErrors
from policies import Judgement
from policies.report import as_json, as_table

#: What decides the exit code where several stacks differ: the worst first.
WORST_FIRST = (Exit.VIOLATED, Exit.NOT_PROVABLE, Exit.PROVED)


class Format(StrEnum):
    """Forms of the report."""

    TABLE = "table"
    JSON = "json"


def check(
    site: Site = "lyon",
    tenant: Annotated[
        list[str] | None, typer.Option("--tenant", "-t", metavar="TENANT", help="Only these tenants.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="Form of the report.")] = Format.TABLE,
) -> None:
    """Prove that the stacks of a site may be applied. No cloud, no Pulumi, nothing is touched.

    Every plan is judged beside the locks of all other tenants, with what they have released; what is
    applied on the cloud is not looked at, and the report says so. What nothing can make yet is noted:
    `pulumi up` refuses it.

    \b
    Exit code:
      0  proved
      1  violated
      2  the input is wrong: a file, or a lock that is missing or old
      3  not provable: nobody states a fact that decides

    \b
    Examples:
      interlock check
      interlock check --tenant acme --tenant globex
      interlock check --site leaky/vlan-of-another --format json
    """
    gate = Gate.indexed(site)
    judged = _judged(gate, dict.fromkeys(tenant or gate.stacks()))
    _print([item.judgement for item in judged], form)
    for item in judged:
        _note(item)
    codes = {item.judgement.exit_code for item in judged}
    raise typer.Exit(next(code for code in WORST_FIRST if code in codes))


def _judged(gate: Gate, stacks: Iterable[str | None]) -> list[Judged]:
    """All plans with their judgements; if some stacks have no plan, every reason, each once, and exit code 2."""
    judged: list[Judged] = []
    faults: dict[str, None] = {}
    for name in stacks:
        try:
            judged.append(gate.judge(name))
        except InputErrors as error:
            faults.update(dict.fromkeys(str(item) for item in error.errors))
        except NotPlanned as error:
            faults[str(error)] = None
    if faults:
        print("\n".join(faults), file=sys.stderr)
        raise typer.Exit(Exit.INPUT)
    return judged


def _print(judgements: list[Judgement], form: Format) -> None:
    if form is Format.JSON:
        json.dump([as_json(judgement) for judgement in judgements], sys.stdout, indent=1, sort_keys=True)
        print()
    else:
        paint = colour.wanted()
        print("\n".join(as_table(judgement, colour=paint) for judgement in judgements), end="")


def _note(judged: Judged) -> None:
    """Say on stderr what the plan holds and nothing can make; the verdict does not depend on it."""
    if said := note(judged.plan, proved=judged.judgement.exit_code == Exit.PROVED):
        print(said, file=sys.stderr)
