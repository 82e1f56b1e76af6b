"""`interlock check`: prove the committed files, without cloud and without Pulumi."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from infra.cli import colour
from infra.cli.exits import EnvironmentFailed, Exit
from infra.cli.formats import Format, format_option, print_json, print_plain_json
from infra.cli.terminal import Progress, print_text
from infra.commands.options import EarlierTenants, Site, Stacks, tenant_of
from infra.program.gate import Gate, Judged, NotPlanned
from infra.program.refusal import note
from infra.reports.check_report import Checked, summary
from infra.reports.ci_reports import check_junit, check_sarif
from infra.reports.wiring_words import switch_ports_elsewhere, wiring_words
from interlock.model.load import InputErrors
from interlock.resources import canonical_json
from policies.certificate import certificate as certified
from policies.findings.report import as_json, as_table

#: What decides the exit code where several stacks differ: the worst first.
WORST_FIRST = (Exit.VIOLATED, Exit.NOT_PROVABLE, Exit.ENVIRONMENT, Exit.PROVED)

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Every rule of every stack, and every finding at length.")
]
Store = Annotated[bool, typer.Option("--store", help="Prove together with what is applied, and look at the cloud.")]


def check(
    tenants: Stacks = None,
    site: Site = "",
    tenant: EarlierTenants = None,
    verbose: Verbose = False,
    form: Annotated[Format, format_option("check")] = Format.TEXT,
    certificate: Annotated[
        str | None,
        typer.Option("--certificate", "-c", metavar="FILE", help="Write what the verdict rests on, for `verify`."),
    ] = None,
    store: Store = False,
) -> None:
    """Prove that the stacks of a site may be applied. No cloud, no Pulumi, nothing is touched.

    Every plan is judged together with the locks of all other tenants and what they have released; what is applied
    is not included, and the report says so. With --store it is included: what the claims store says is applied, or
    may be, of this stack and of all others; and as a preview does, it asks the cloud, read-only, for what would stop
    `pulumi up`, or says `not looked at`. Resources that nothing can make yet are noted: `pulumi up` refuses them.

    A certificate holds every fact that the verdict rests on; `interlock verify` checks it without any of the
    rules. In FILE, {stack} stands for the name of the stack.

    The worst finding comes first. Findings of severity W or I, and waived ones, do not change the verdict: each
    is one line, with the reason, and where a rule says the same of many racks one line is for all of them. SARIF and
    JUnit are for CI: findings with file and line, a test case for each rule.

    A rule of severity E that the request waives, or of the operator's stack the site file, does not count: the
    result then reads `proved with 1 waiver`.

    \b
    Exit code:
      0  proved
      1  violated
      2  the input is wrong: a file, or a lock that is missing or old
      3  not provable: nobody states a fact that decides
      4  with --store: the store cannot be read, or what is proved could not be applied: a line each

    \b
    Examples:
      interlock check
      interlock check acme globex
      interlock check site
      interlock check --verbose
      interlock check --store
      interlock check --site leaky/vlan-of-another --format json
      interlock check --format sarif > interlock.sarif
      interlock check acme --certificate acme.json
    """
    gate = Gate.indexed(site).with_applied() if store else Gate.indexed(site)
    texts: list[str] | None = [] if certificate else None
    named = [tenant_of(word) for word in (*(tenants or ()), *(tenant or ()))]
    judged = _judged(gate, dict.fromkeys(named or gate.stacks()), texts)
    files = _files(certificate, judged) if certificate else []
    _print(gate, judged, form, verbose=verbose)
    _note(gate, judged)
    if texts:
        _certify(judged, texts, files)
    codes = _codes(judged, obstructed=store and _obstructed(gate, judged))
    raise typer.Exit(next(code for code in WORST_FIRST if code in codes))


def _codes(judged: list[Judged], *, obstructed: bool) -> set[int]:
    """The exit code of each; of what is proved and could not be applied another one."""
    codes: set[int] = {item.judgement.exit_code for item in judged}
    return (codes - {Exit.PROVED} or {Exit.ENVIRONMENT}) if obstructed else codes


def _obstructed(gate: Gate, judged: list[Judged]) -> bool:
    """True if something would stop an `up` of a proved stack; all of it is said on stderr."""
    # Imported here: the cloud's client takes as long to load as everything else together.
    from infra.program.looking import has_no_cloud, obstacles
    from interlock.provider.clouds import Cloud
    from interlock.provider.preflight import NotLookedAt

    site, obstructed = gate.workspace.site, False
    cloud = Cloud(site.cloud, site_region=site.region)
    progress = Progress("looked at")
    told = dict[str, None]()
    for item in judged:
        if item.judgement.exit_code != Exit.PROVED:
            continue
        progress(item.plan.stack)
        found = list(obstacles(gate, item.plan.tenant, cloud))
        silent = [fault for fault in found if isinstance(fault, NotLookedAt)]
        told.update(dict.fromkeys(f"not looked at: {fault.message}" for fault in silent))
        told.update(dict.fromkeys(f"{item.plan.stack}: {fault}" for fault in found if fault not in silent))
        obstructed |= len(found) > len(silent)
        if any(map(has_no_cloud, silent)):
            break
    progress.end()
    if told:
        print("\n".join(told), file=sys.stderr)
    return obstructed


def _judged(gate: Gate, stacks: Iterable[str | None], texts: list[str] | None) -> list[Judged]:
    """All plans with their judgements; if some stacks have no plan, every reason, each once, and exit code 2.

    `texts` takes the certificate of each, made while its model is there.
    """
    judged: list[Judged] = []
    faults: dict[str, None] = {}
    progress = Progress("judged")
    for name in stacks:
        progress(gate.stack(name))
        try:
            found, seen = gate.look(name)
            judged.append(found)
            if texts is not None:
                texts.append(canonical_json(certified(seen, found.judgement).model_dump(mode="json")))
        except InputErrors as error:
            faults.update(dict.fromkeys(str(item) for item in error.errors))
        except NotPlanned as error:
            faults[str(error)] = None
    progress.end()
    if faults:
        print("\n".join(faults), file=sys.stderr)
        raise typer.Exit(Exit.INPUT)
    return judged


def _print(gate: Gate, judged: list[Judged], form: Format, *, verbose: bool) -> None:
    checked = [_checked(gate, item) for item in judged]
    if form is Format.JSON:
        print_json({"stacks": [as_json(item.judgement, where=item.where) for item in checked]})
    elif form is Format.SARIF:
        print_plain_json(check_sarif(checked))
    elif form is Format.JUNIT:
        print(check_junit(checked))
    else:
        paint, site = colour.wanted(), gate.explained_by
        tables = (as_table(item.judgement, colour=paint, where=item.where, site=site) for item in checked)
        print_text("\n".join(tables) if verbose else summary(checked, colour=paint, site=site))


def _checked(gate: Gate, item: Judged) -> Checked:
    ports = switch_ports_elsewhere(item.plan).total()
    return Checked(item.judgement, gate.places(item.plan), wiring_words(item.plan, gate.explained_by), ports)


def _files(template: str, judged: list[Judged]) -> list[Path]:
    """The file of each certificate. Raises `typer.BadParameter` where several would be one."""
    files = [Path(template.replace("{stack}", item.plan.stack)) for item in judged]
    if len(set(files)) < len(files):
        message = "several stacks would go to one file: name one tenant, or write {stack} into the name"
        raise typer.BadParameter(message, param_hint="--certificate")
    return files


def _certify(judged: list[Judged], texts: list[str], files: list[Path]) -> None:
    for item, text, file in zip(judged, texts, files, strict=True):
        try:
            file.write_text(text + "\n")
        except OSError as error:
            raise EnvironmentFailed(f"{file}: {error.strerror}") from None
        print(f"certificate of {item.plan.stack}: {file}", file=sys.stderr)


def _note(gate: Gate, judged: list[Judged]) -> None:
    """Say on stderr what plans hold and nothing can make, and which locks are unlike what follows from their inputs.

    No verdict depends on it.
    """
    for item in judged:
        if said := note(item.plan, proved=item.judgement.exit_code == Exit.PROVED):
            print(said, file=sys.stderr)
    for line in gate.held.notes():
        print(line, file=sys.stderr)
