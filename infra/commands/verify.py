"""`interlock verify`: check a certificate without the rules, the graph or the planner that made it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.checker import Malformed, complaints, digest, edges, guarded, printable, proof_of, read, today, told
from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import OPERATORS, tenant_of
from infra.verifying.evidence import moment_of, outdated
from interlock.planning.plan_hash import hashed_form
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind

if TYPE_CHECKING:
    from infra.verifying.inputs import Inputs

#: Stands in the name of a file for the name of each stack.
EACH = "{stack}"
#: What nothing shows without, and even with, the files.
UNTIED = "whether these are the facts of the site, the plan and the locks: --site compares them"
BEYOND = "how the site file is expanded, the planner, the provider, and what is really there"


class Unreadable(InterlockError):
    """A file that is no certificate, plan or lock: told in one line."""

    kind = ErrorKind.INPUT


_File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A certificate; `-` reads stdin. {stack}: one for each stack.")
]
_Tenant = Annotated[
    str | None, typer.Argument(metavar="TENANT", help="With --site: whose it must be; `site` is the operator's.")
]
_Site = Annotated[
    str, typer.Option("--site", "-s", metavar="FOLDER", help="It must be about this site, folder below stacks/.")
]
_AsOf = Annotated[
    str,
    typer.Option(
        "--as-of", metavar="DATE", help="The day by which waivers and evidence count; today, in UTC, by default."
    ),
]
_ProofHash = Annotated[
    str | None, typer.Option("--proof", metavar="HASH", help="It must be about the proof with this hash.")
]
_PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="It must be about this plan (plan --format json).")
]
_LockFiles = Annotated[
    list[Path] | None,
    typer.Option("--lock", metavar="FILE", help="It must have looked at exactly these locks of others."),
]


def verify(
    file: _File,
    tenant: _Tenant = None,
    site: _Site = "",
    as_of: _AsOf = "",
    proof: _ProofHash = None,
    plan: _PlanFile = None,
    lock: _LockFiles = None,
    form: Annotated[Format, format_option("verify")] = Format.TEXT,
) -> None:
    """Check a certificate that `interlock check --certificate` wrote.

    The checker derives the edges that guards can remove from facts in the certificate, takes all others as stated, and
    rebuilds all classes by tables of its own. It checks that every class and identity has one owner, that every rule
    was asked, and that what the owner can do by API calls is closed. It shares no code with the proof.

    A guard that rests on evidence holds only while that is no older than the certificate says that it may be: by the
    clock of this machine, or of another day by its end.

    With --site it also derives edges, labels, guards, exclusive identities and what API calls allow from the site, all
    plans and the locks, again by code of its own, and compares them with the certificate; plan, locks and waivers must
    be those of the files. What it could not confirm it lists as not checked. Without --site nothing ties the facts to
    any file.

    \b
    Exit code: 0 sound, 1 not sound or about something else, 2 the input is wrong.

    \b
    Examples:
      interlock check acme --certificate acme.json
      interlock verify acme.json
      interlock verify acme.json acme --site lyon
      interlock verify '{stack}.json' --site lyon
      interlock verify acme.json --format json
    """
    day = _day(as_of)
    if not site and (tenant or EACH in str(file)):
        raise typer.BadParameter("a tenant, or {stack}, needs the site: name it", param_hint="--site")
    if EACH in str(file) and tenant:
        raise typer.BadParameter("{stack} stands for every stack: name no tenant", param_hint="TENANT")
    inputs = _site(site) if site else None
    each = [(file, tenant)]
    if inputs is not None and EACH in str(file):
        stacks = [(inputs.gate.stack(name), name or OPERATORS) for name in inputs.gate.stacks()]
        each = [(Path(str(file).replace(EACH, stack)), whose) for stack, whose in stacks]
    done = [_checked(name, _read(name), whose, inputs, (proof, plan, lock or []), day) for name, whose in each]
    if form is Format.JSON:
        documents = [item.document() for item in done]
        print_json({"certificates": documents} if EACH in str(file) else documents[0])
    else:
        print_text("\n".join(item.text() for item in done))
    raise typer.Exit(Exit.VIOLATED if any(item.complaints for item in done) else Exit.PROVED)


@dataclass(frozen=True)
class VerifiedCertificate:
    """One certificate: what is wrong with it, what was confirmed from files, and what nobody looked at."""

    found: dict[str, Any]
    complaints: tuple[str, ...]
    tied: tuple[str, ...]
    untied: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """For programs."""
        judgement = self.found["judgement"]
        hashes = {"stack": judgement["stack"], "plan": judgement["plan_hash"], "proof": proof_of(judgement)}
        said = {"sound": not self.complaints, "complaints": self.complaints}
        return said | {"confirmed": self.tied, "not_checked": self.untied, "date": self.found["date"], **hashes}

    def text(self) -> str:
        """For people."""
        if self.complaints:
            return "\n".join(self.complaints)
        lines = [*_sound(self.found)]
        if self.tied:
            lines.append(f"  confirmed from site, plans and locks: {', '.join(self.tied)}")
        lines += ["  not checked:", *(f"    {item}" for item in self.untied)]
        judgement = self.found["judgement"]
        lines += [f"  plan  {judgement['plan_hash']}", f"  proof {proof_of(judgement)}"]
        return "\n".join(map(printable, lines))


def _checked(
    file: Path,
    found: dict[str, Any],
    whose: str | None,
    inputs: Inputs | None,
    named: tuple[str | None, Path | None, list[Path]],
    day: str,
) -> VerifiedCertificate:
    """`named`: the proof, the plan and the locks that were given by themselves."""
    proof, plan, locks = named
    said = [*_complaints(found, file, proof, day), *_inputs(found, plan, locks)]
    if inputs is None:
        return VerifiedCertificate(found, tuple(said), (), (UNTIED,))
    compared = inputs.compare(found, _tenant(inputs, whose or found["judgement"]["stack"]))
    return VerifiedCertificate(
        found, (*dict.fromkeys((*said, *compared.complaints)),), compared.tied, (*compared.untied, BEYOND)
    )


def _tenant(inputs: Inputs, word: str) -> str | None:
    """The tenant that a word or the name of a stack means."""
    known = [*inputs.gate.stacks()]
    if word in known or word == OPERATORS:
        return tenant_of(word)
    stacks = {inputs.gate.stack(name): name for name in known}
    if word not in stacks:
        raise Unreadable(printable(f"the site has no stack {word}: name the tenant, or another --site"))
    return stacks[word]


def _site(site: str) -> Inputs:
    # Imported here: without --site nobody needs the models.
    from infra.verifying.inputs import Inputs

    try:
        return Inputs.of(site)
    except (Malformed, OSError) as error:
        raise Unreadable(printable(f"{site}: {error}")) from None


def _day(given: str) -> str:
    try:
        return date.fromisoformat(given).isoformat() if given else today()
    except ValueError:
        raise typer.BadParameter(f"{given!r} is no date, such as 2026-11-23", param_hint="--as-of") from None


def _read(file: Path) -> dict[str, Any]:
    """A JSON object, read as strictly as by the checker alone."""
    try:
        found = read(sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes())
    except OSError as error:
        raise Unreadable(printable(f"{file}: {error.strerror}")) from None
    except Malformed as error:
        raise Unreadable(printable(f"{file}: {error}")) from None
    if not isinstance(found, dict):
        raise Unreadable(printable(f"{file}: not a JSON object"))
    return found


def _complaints(found: dict[str, Any], file: Path, proof: str | None, day: str) -> list[str]:
    try:
        said = list(complaints(found, proof, day))
        return [*said, *map(printable, outdated(found["statement"], found["date"], moment_of(day, today())))]
    except Malformed as error:
        told = "not a certificate as `interlock check --certificate` writes it"
        raise Unreadable(f"{printable(str(file))}: {told}: {error}") from None


def _inputs(found: dict[str, Any], plan: Path | None, locks: list[Path]) -> list[str]:
    """Where it is about another plan, or other locks, than the ones at hand."""
    judgement, said = found["judgement"], []
    try:
        if plan is not None:
            document = _read(plan)
            if _plan_digest(document.get("plan", document)) != judgement["plan_hash"]:
                said.append(printable(f"it is about plan {judgement['plan_hash']}, and {plan} is another"))
        if locks:
            hashes = sorted([str(item.get("id")), digest(_unsealed(item))] for item in map(_read, locks))
            if digest(hashes) != judgement["footprints"]:
                said.append("it has not looked at exactly these locks")
    except RecursionError:
        raise Unreadable("a plan or lock that is nested too deeply") from None
    return said


def _plan_digest(plan: dict[str, Any]) -> str:
    """The hash of a plan; what is none has one of its own, which no certificate is about.

    The short form stands for what all resources state, or, in files of before, for what none does. Where some do not,
    somebody took it away.
    """
    try:
        stated = {len({"role", "vpod"} & set(item)) for item in plan["resources"]}
        return digest(hashed_form(plan) if len(stated) < 2 and 1 not in stated else plan)
    except (KeyError, TypeError, AttributeError, ValueError):
        return digest(plan)


def _unsealed(lock: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in lock.items() if key != "hash"}


def _sound(found: dict[str, Any]) -> tuple[str, ...]:
    said = found["statement"]
    classes = {least for least, _ in found["classes"].values()}
    there = len({frozenset(pair) for pair in edges(said)})
    away = len({frozenset((a, b)) for _, a, b, _, _, is_away in guarded(said) if is_away})
    size = f"  {len(found['classes'])} nodes in {len(classes)} classes, {there} edges"
    more = f"{away} removed by guards, {len(said['unknown'])} facts unknown"
    return (
        f"sound: {found['judgement']['stack']} is proved, as of {found['date']}",
        f"{size}, {more}",
        f"  {told(said)}",
    )
