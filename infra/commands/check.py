"""`interlock check`: prove the committed files, without cloud and without Pulumi."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer

from infra.exits import Exit
from infra.gate import Gate
from policies import Judgement
from policies.report import as_json, as_table

#: What decides the exit code where several stacks differ: the worst first.
WORST_FIRST = (Exit.VIOLATED, Exit.NOT_PROVABLE, Exit.PROVED)


class Format(StrEnum):
    """Forms of the report."""

    TABLE = "table"
    JSON = "json"


def check(
    site: Annotated[str, typer.Option("--site", "-s", help="Folder of the site below stacks/.")] = "lyon",
    tenant: Annotated[list[str] | None, typer.Option("--tenant", "-t", help="Only these tenants.")] = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="Form of the report.")] = Format.TABLE,
) -> None:
    """Prove that the stacks of a site may be applied. No cloud, no Pulumi, nothing is touched.

    Every plan is judged beside the locks of all other tenants, with what they have released; what is
    applied on the cloud is not looked at, and the report says so.

    Exit code: 0 proved, 1 violated, 2 the input is wrong, 3 not provable (a fact is missing).

    Examples:

      interlock check

      interlock check --site leaky/vlan-of-another --format json

      interlock check --tenant acme
    """
    gate = Gate.open(site)
    wanted = list(tenant) if tenant else list(gate.stacks())
    judgements = [gate.judge(name) for name in wanted]
    _print(judgements, form)
    codes = {judgement.exit_code for judgement in judgements}
    raise typer.Exit(next(code for code in WORST_FIRST if code in codes))


def _print(judgements: list[Judgement], form: Format) -> None:
    if form is Format.JSON:
        json.dump([as_json(judgement) for judgement in judgements], sys.stdout, indent=1, sort_keys=True)
        print()
        return
    print("\n".join(as_table(judgement) for judgement in judgements))
