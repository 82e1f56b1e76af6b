"""`interlock break-glass`: changes by hand, told before, recorded, and judged afterwards."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic_core import PydanticCustomError

from infra.cli.exits import EnvironmentFailed, Exit
from infra.cli.formats import print_json
from infra.cli.terminal import print_text
from infra.commands.options import MaybeSite, OneStack, Site, Stacks, site_of, tenant_of
from infra.program.break_glass import break_glass_of
from infra.program.gate import Gate
from interlock.model.evidence.values import moment, moment_text
from interlock.store.break_glass import MaybeRecorded
from interlock.store.objects import StoreFailed

if TYPE_CHECKING:
    from infra.break_glass.closing import Closing

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: Hours: long enough for an emergency, and no way of working for a week.
USUAL_HOURS, MOST_HOURS = 4, 72

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Key = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Sign with this ssh key: needed where the site lists signers."),
]


def _moment(text: str) -> datetime:
    try:
        return moment(text)
    except PydanticCustomError as error:
        raise typer.BadParameter(f"{error.message()}: {(error.context or {}).get('hint')}") from None


def _reason(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise typer.BadParameter("the reason must not be empty, and stands on one line")
    return text.strip()


@app.callback()
def break_glass() -> None:
    """Change objects by hand, and judge it afterwards.

    `plan` prints what may be done, from lock and state alone, so also while cloud and claims store are down. `open`
    records who, why and until when, before anything is changed; from then on `pulumi up` of the stack is refused, and
    `interlock audit`, `preflight` and `check --store` say so. `close` reads the cloud, judges each difference by the
    rules, and closes the entry when nothing is left or what is left is named.

    \b
    Examples:
      interlock break-glass plan acme
      interlock break-glass open acme --reason "INC-1207: poplar-0 floods the storage"
      interlock break-glass close acme --dry-run
    """


@app.command()
def plan(
    tenant: OneStack,
    names: Annotated[list[str] | None, typer.Argument(metavar="OBJECT", help="Only about these, by plan name.")] = None,
    site: Site = "",
    as_json: AsJson = False,
) -> None:
    """Print the commands for what may have to be done by hand.

    For each object of the stack: the exact commands of the service itself, what they do, what they do to isolation,
    how they are taken back, and who notices later. Ids come from the engine's state; where it cannot be read, or does
    not have an object, the commands ask for the id by name. No act joins anything. At the end stands what is not to be
    touched. Neither cloud nor claims store is asked; nothing is changed.

    \b
    Exit code:
      0  printed
      2  the input is wrong, or neither plan nor state of the stack can be read

    \b
    Examples:
      interlock break-glass plan acme
      interlock break-glass plan acme acme-train-poplar-0
      interlock break-glass plan site --json
    """
    # Imported here, as below: who asks for help needs none of it.
    from infra.break_glass.stack_acts import acts_at
    from infra.break_glass.texts import acts_document, acts_text

    found = acts_at(site, tenant_of(tenant))
    acts = found.acts(names or ())
    if as_json:
        print_json(acts_document(found.known.stack, found.known.notes, acts))
    else:
        # Not broken at the terminal's width: what is pasted from there would be broken, too.
        print(acts_text(found.known.stack, found.known.notes, acts), end="")


@app.command("open")
def open_entry(
    tenant: OneStack,
    reason: Annotated[str, typer.Option("--reason", callback=_reason, help="Why, in one line.")],
    site: Site = "",
    hours: Annotated[int, typer.Option("--hours", min=1, max=MOST_HOURS, help="How long, from now on.")] = USUAL_HOURS,
    since: Annotated[
        datetime | None,
        typer.Option("--since", parser=_moment, metavar="MOMENT", help="When it began, if that is over."),
    ] = None,
    key: Key = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="No key is at hand: an audit says so until it is closed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Record who changes objects of a stack by hand, why, and until when.

    To be done first: a record without a change is closed in a minute. If the claims store cannot be reached, it says
    so, with the command that records it later, `--since` included; if it answers neither to the record nor to the look
    at it, nobody knows whether it is there, and `list` shows it later. Several people may have an entry each. Where the
    site lists signers of evidence, each entry is signed by one of them.

    \b
    Exit code:
      0  recorded
      2  the input is wrong, or a signature is missing
      4  the claims store cannot be written: nothing is recorded, or nobody knows whether it is

    \b
    Examples:
      interlock break-glass open acme --reason "INC-1207: poplar-0 floods the storage"
      interlock break-glass open acme --reason "INC-1207" --hours 8 --key ~/.ssh/id_ed25519
      interlock break-glass open acme --reason "INC-1207" --since 2026-11-26T03:10:00Z
    """
    from infra.break_glass.recording import WantedEntry, applied_by, record_opening

    now = datetime.now(UTC)
    if since is not None and since > now:
        raise typer.BadParameter("it is to come: leave it out, and it begins now", param_hint="--since")
    gate = Gate.open(site)
    stack = gate.stack(_known_tenant(gate, tenant))
    wanted = WantedEntry(reason, since or now, now + timedelta(hours=hours), now)
    try:
        entry = record_opening(gate, stack, wanted, key, unsigned=unsigned)
    except StoreFailed as error:
        again = ["interlock", "break-glass", "open", tenant, "--reason", reason, "--since", moment_text(since or now)]
        raise _not_recorded(error, tenant, shlex.join(again)) from error
    for process in applied_by(stack):
        print(f"{stack}: {process} is applying it: wait for it, or it sets back what you change", file=sys.stderr)
    opening = entry.opening
    if as_json:
        print_json(opening.model_dump(mode="json"))
    else:
        print(f"{stack} {opening.number}: open until {opening.until}; close it: interlock break-glass close {tenant}")


def _not_recorded(error: StoreFailed, tenant: str, again: str) -> EnvironmentFailed:
    """What is said in place of the entry. `again`: the command that records it later."""
    cannot_wait = f"{error.hint}. If it cannot wait: `interlock break-glass plan {tenant}`"
    if isinstance(error, MaybeRecorded):
        return EnvironmentFailed(
            f"nobody knows whether it is recorded: the claims store answered neither to the record nor to the look at "
            f"it: {error.what}",
            f"{cannot_wait}. As soon as the store is there, `interlock break-glass list {tenant}` shows it; if it does "
            f"not, record it: {again}",
        )
    return EnvironmentFailed(
        f"no record could be made: {error.what}",
        f"{cannot_wait}, and record it as soon as the store is there: {again}",
    )


@app.command("list")
def list_entries(
    tenants: Stacks = None,
    site: Site = "",
    closed: Annotated[bool, typer.Option("--closed", help="Also those that are closed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what is open, and who signed it.

    \b
    Exit code:
      0  nothing is open
      1  something is open, or its time is over
      2  the input is wrong
      4  the claims store cannot be read

    \b
    Examples:
      interlock break-glass list
      interlock break-glass list acme --closed --json
    """
    from infra.break_glass.texts import entries_text, entry_document

    gate, now = Gate.open(site), datetime.now(UTC)
    records, signers = break_glass_of(gate).all(), gate.workspace.signers
    recorded = {record.stack for record in records}
    wanted = {gate.stack(tenant_of(word)) for word in tenants or ()} or recorded
    for word in tenants or ():
        # One that left may have entries; any other name of nobody is a slip, and not a stack without entries.
        if gate.stack(tenant_of(word)) not in recorded:
            _known_tenant(gate, word)
    shown = [
        (record.stack, entry)
        for record in records
        if record.stack in wanted
        for entry in record.entries
        if closed or entry.is_open
    ]
    if as_json:
        print_json({"entries": [entry_document(entry, now, signers) for _, entry in shown]})
    else:
        lines = [line for stack, entry in shown for line in entries_text(stack, (entry,), now, signers)]
        print_text("\n".join(lines or [f"{gate.workspace.site.name}: no entry is open"]) + "\n")
    if any(entry.is_open for _, entry in shown):
        raise typer.Exit(Exit.VIOLATED)


@app.command()
def close(
    tenant: OneStack,
    site: MaybeSite = "",
    undo: Annotated[
        list[str] | None,
        typer.Option("--undo", metavar="OBJECT", help="It is set back after this; `all`: all that may wait."),
    ] = None,
    looked: Annotated[
        str, typer.Option("--looked", metavar="TEXT", help="What you saw of what no program can read.")
    ] = "",
    everybody: Annotated[bool, typer.Option("--everybody", help="Also the entries of others.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge only; nothing is written.")] = False,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Judge what was changed by hand, and close the entries of a stack.

    It reads cloud, switches and fabric managers as `interlock audit` does, and what is switched off besides. The rules
    judge each difference: a leak, or what they cannot judge, is undone now, before anything is closed. Every other
    one is undone by the next `pulumi up --refresh` or by hand, and named here with `--undo`; or taken over: written
    into the request or site file and locked, after which it is no difference. What cannot be read, somebody looks at
    and says so with `--looked`. Where request and lock are deleted, what is there of the stack is judged by itself,
    none of it may stay, and `--looked` is needed in any case.

    \b
    Exit code:
      0  closed; or with --dry-run, could be closed; or nothing was open
      1  a leak, or a difference that is neither gone nor named, or somebody else's entry
      2  the input is wrong: a file, a lock that is old, a name, or a signature that is missing
      3  something could not be read, and nobody looked
      4  the cloud or the claims store failed, or an entry was opened or closed meanwhile

    \b
    Examples:
      interlock break-glass close acme --dry-run
      interlock break-glass close acme --undo "Server acme-train-poplar-0"
      interlock break-glass close acme --undo all --looked "vipu-admin list user: both are there"
      interlock break-glass close acme --everybody --key ~/.ssh/id_ed25519
    """
    from infra.break_glass.closing import Closing

    gate = Gate.indexed(site_of(site)).with_applied()
    closing = Closing.begun(gate, _recorded_stack(gate, tenant), tuple(undo or ()), looked.strip())
    if not closing.record.open_entries:
        print(f"{closing.record.stack}: no entry is open", file=sys.stderr)
        return
    who = None if dry_run else closing.require_author(key)
    code = _judge(closing, who, key, everybody=everybody, as_json=as_json)
    raise typer.Exit(code)


def _judge(closing: Closing, who: str | None, key: Path | None, *, everybody: bool, as_json: bool) -> Exit:
    """Judge and tell, and close it if nothing stands in the way. `who` None: nothing is written."""
    from infra.commands.audit import whole_audit

    judged = closing.judged(whole_audit)
    if as_json:
        print_json(judged.document())
    else:
        print(judged.text(), end="")  # whole lines: there are commands in them
    if who is None or judged.code is not Exit.PROVED:
        return judged.code
    if others := [] if everybody else closing.of_others(who):
        names = ", ".join(f"{entry.opening.number} by {entry.opening.by}" for entry in others)
        print(
            f"{closing.record.stack}: open by others: {names}\n  next: ask them, then add --everybody", file=sys.stderr
        )
        return Exit.VIOLATED
    judged.write(who, key)
    print(f"{closing.record.stack}: closed", file=sys.stderr)
    return Exit.PROVED


def _known_tenant(gate: Gate, word: str) -> str | None:
    """The tenant of the stack. Raises `InputErrors`, naming the nearest, if there is none of this name."""
    name = tenant_of(word)
    return None if name is None else gate.tenant(name).id


def _recorded_stack(gate: Gate, word: str) -> str:
    """The stack, also of a tenant whose request is gone if it has entries. Raises as `_known_tenant` for any other."""
    stack = gate.stack(tenant_of(word))
    if tenant_of(word) not in gate.workspace.tenants and break_glass_of(gate).of(stack).entries:
        return stack
    return gate.stack(_known_tenant(gate, word))
