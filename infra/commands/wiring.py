"""`interlock wiring`: what plans want of switches, as commands to paste or as a file for a pipeline."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.exits import EnvironmentFailed, Exit
from infra.cli.formats import Format, encodes_all, format_option
from infra.commands.options import Site, Switches, Tenants
from infra.program.gate import Gate, NotPlanned
from infra.reports.wiring_text import Syntax, wiring_text
from interlock.model.load import InputErrors
from interlock.model.text.validation import nearest
from interlock.planning import Plan
from interlock.planning.wiring import SiteWiring, wiring_of
from interlock.whole_files import write_at_once
from policies.findings.report import as_message

#: Who wires the switches that are shown where none is named.
SHOWN = {Format.TEXT: ("hand",), Format.JSON: ("export", "hand")}


def wiring(
    tenants: Tenants = None,
    site: Site = "",
    switches: Switches = None,
    every: Annotated[bool, typer.Option("--all", help="Every switch, those that Neutron wires too.")] = False,
    rest: Annotated[
        bool, typer.Option("--rest", help="Also ports of IPU-Machines that no plan of the site uses.")
    ] = False,
    syntax: Annotated[
        Syntax | None, typer.Option("--syntax", help="What switches understand whose model the catalogue lacks.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there, and say whether it changed.")
    ] = None,
    form: Annotated[Format, format_option("wiring")] = Format.TEXT,
) -> None:
    """Print what switches need that Neutron does not wire.

    As text: for each switch that is wired by hand a block of commands, ready to paste: for Arista EOS, or with
    --syntax nvue for Cumulus Linux. With --rest also what has to be taken away: ports of IPU-Machines that nobody
    has are disabled, or rest in the quarantine VLAN of the switch.

    As JSON: a documented form for the pipeline that owns the configuration (`wired_by: export`), with switches that
    are wired by hand, and always with the ports that rest. `interlock schema wiring` has its schema.

    Only what is proved is printed. Nothing is read from a switch, and nothing is set: what counts is what the
    switch says when it is read back.

    \b
    Exit code:
      0  printed, written or unchanged
      1  a plan is violated
      2  the input is wrong: a file, a lock that is missing or old, or a switch that there is not
      3  a plan is not provable
      4  FILE cannot be written

    \b
    Examples:
      interlock wiring
      interlock wiring acme --rest
      interlock wiring --switch leaf-1 --syntax nvue
      interlock wiring --format json --out wiring.json
    """
    if form is Format.JSON and syntax is not None:
        raise typer.BadParameter("JSON has no commands in it: leave it out", param_hint="--syntax")
    gate = Gate.indexed(site)
    names = _names(gate, switches or [], form, every=every)
    plans = _plans(gate, tenants or sorted(gate.workspace.tenants))
    others = _plans(gate, sorted(gate.workspace.tenants)) if rest or form is Format.JSON else None
    _require_proved(gate, plans)
    found = wiring_of(gate.workspace.site, plans, names, others)
    if not names:
        print(f"no switch of {found.site} is wired {_by(form)}: --all shows every one", file=sys.stderr)
    _give(_text(found, form, syntax, unicode=out is not None or encodes_all()), out)


def _by(form: Format) -> str:
    return "by hand" if form is Format.TEXT else "by hand or by a pipeline"


def _names(gate: Gate, asked: Sequence[str], form: Format, *, every: bool) -> list[str]:
    """Names of the switches to show. Raises `typer.BadParameter` for one that there is not."""
    known = gate.workspace.site.switch
    for name in asked:
        if name not in known:
            message = f"{gate.workspace.site.name} has no switch `{name}`: {nearest(name, known)}"
            raise typer.BadParameter(message, param_hint="--switch")
    if asked:
        return list(asked)
    return [name for name, switch in known.items() if every or switch.wired_by in SHOWN[form]]


def _plans(gate: Gate, tenants: Sequence[str]) -> list[Plan]:
    """The plans of some tenants, each once; if one has none, every reason, each once, and exit code 2."""
    plans: list[Plan] = []
    faults: dict[str, None] = {}
    for name in dict.fromkeys(tenants):
        try:
            plans.append(gate.plan(name))
        except InputErrors as error:
            faults.update(dict.fromkeys(str(item) for item in error.errors))
        except NotPlanned as error:
            faults[str(error)] = None
    if faults:
        print("\n".join(faults), file=sys.stderr)
        raise typer.Exit(Exit.INPUT)
    return plans


def _require_proved(gate: Gate, plans: Sequence[Plan]) -> None:
    """Nothing is printed of a plan that `pulumi up` would refuse: whoever pastes it joins what must stay apart."""
    judged = [gate.look_at(plan)[0] for plan in plans]
    refused = [item for item in judged if item.judgement.exit_code]
    for item in refused:
        print(as_message(item.judgement, where=gate.places(item.plan), site=gate.explained_by), file=sys.stderr)
    if refused:
        raise typer.Exit(min(item.judgement.exit_code for item in refused))


def _text(found: SiteWiring, form: Format, syntax: Syntax | None, *, unicode: bool) -> str:
    if form is Format.JSON:
        return json.dumps(found.model_dump(mode="json"), indent=1, ensure_ascii=not unicode) + "\n"
    return wiring_text(found, syntax=syntax)


def _give(text: str, out: str | None) -> None:
    """Print it, or put it in the place of a file; lines are never broken, since people paste them."""
    if out is None:
        print(text, end="")
        return
    file = Path(out)
    try:
        same = file.is_file() and file.read_bytes() == text.encode()
        if not same:
            _write(file, text)
    except OSError as error:
        raise EnvironmentFailed(f"{out}: {error.strerror}", "name a file in a folder that you may write to") from None
    print(f"{out}: {'unchanged' if same else 'written'}", file=sys.stderr)


def _write(file: Path, text: str) -> None:
    if file.exists() and not file.is_file():
        file.write_text(text, encoding="utf-8")  # a pipe or a terminal, in whose place no file may come
    else:
        write_at_once(file.resolve(), text)
