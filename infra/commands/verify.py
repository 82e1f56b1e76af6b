"""`interlock verify`: check a certificate without the rules, the graph or the planner that made it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.checker import complaints, digest, proof_of
from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from interlock.planning.plan_hash import hashed_form
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind


class Unreadable(InterlockError):
    """A file that is no certificate, plan or lock."""

    kind = ErrorKind.INPUT


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate; `-` reads it from stdin.")],
    proof: Annotated[
        str | None, typer.Option("--proof", metavar="HASH", help="It must be about the proof with this hash.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="It must be about this plan (plan --format json).")
    ] = None,
    lock: Annotated[
        list[Path] | None,
        typer.Option("--lock", metavar="FILE", help="It must have looked at exactly these locks of others."),
    ] = None,
    form: Annotated[Format, format_option("verify")] = Format.TEXT,
) -> None:
    """Check a certificate that `interlock check --certificate` wrote.

    The checker rebuilds all classes from the edges in the certificate by tables of its own. It checks that every
    class and identity has one owner, that guards that hold justify every edge that is left out, and that what the
    owner can do by API calls is closed. It shares no code with the proof, and does not check that the facts are
    those of the plan; with --proof, --plan and --lock it also checks that they are about your plan and locks.

    \b
    Exit code: 0 sound, 1 not sound or about something else, 2 the input is wrong.

    \b
    Examples:
      interlock check acme --certificate acme.json
      interlock verify acme.json
      interlock verify acme.json --format json
      interlock plan acme --format json > plan.json && interlock verify acme.json --plan plan.json
    """
    found = _read(file)
    said = [*_complaints(found, file, proof), *_inputs(found, plan, lock or [])]
    if form is Format.JSON:
        judgement = found["judgement"]
        hashes = {"stack": judgement["stack"], "plan": judgement["plan_hash"], "proof": proof_of(judgement)}
        print_json({"sound": not said, "complaints": said, **hashes})
    else:
        print_text("\n".join(said) if said else _sound(found))
    raise typer.Exit(Exit.VIOLATED if said else Exit.PROVED)


def _read(file: Path) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
        found = json.loads(text)
    except OSError as error:
        raise Unreadable(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise Unreadable(f"{file}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{file}: not a JSON object")
    return found


def _complaints(found: dict[str, Any], file: Path, proof: str | None) -> list[str]:
    try:
        return list(complaints(found, proof))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        hint = "`interlock check --certificate` writes one"
        raise Unreadable(f"not a certificate ({type(error).__name__}: {error})", hint, place=str(file)) from None


def _inputs(found: dict[str, Any], plan: Path | None, locks: list[Path]) -> list[str]:
    """Where it is about another plan, or other locks, than the ones at hand."""
    judgement, said = found["judgement"], []
    if plan is not None:
        document = _read(plan)
        if _plan_digest(document.get("plan", document)) != judgement["plan_hash"]:
            said.append(f"it is about plan {judgement['plan_hash']}, and {plan} is another")
    if locks:
        hashes = sorted([str(item.get("id")), digest(_unsealed(item))] for item in map(_read, locks))
        if digest(hashes) != judgement["footprints"]:
            said.append("it has not looked at exactly these locks")
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


def _sound(found: dict[str, Any]) -> str:
    said, judgement = found["statement"], found["judgement"]
    classes = {least for least, _ in found["classes"].values()}
    edges, away = (sum(len(rows) for rows in said[part].values()) for part in ("facts", "held"))
    size = f"  {len(found['classes'])} nodes in {len(classes)} classes, {edges} edges"
    more = f"{away} removed by guards, {len(said['unknown'])} facts unknown"
    hashes = (f"  plan  {judgement['plan_hash']}", f"  proof {proof_of(judgement)}")
    return "\n".join((f"sound: {judgement['stack']} is proved", f"{size}, {more}", *hashes))
