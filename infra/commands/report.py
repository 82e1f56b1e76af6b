"""`interlock report`: what has become of everything that a tenant was given, for its file."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.access.keygen import run_tool
from infra.cli.exits import EnvironmentFailed, Exit
from infra.cli.formats import Format, encodes_all, format_option
from infra.cli.terminal import print_text
from infra.commands.options import OneTenant, Site
from infra.locking.making import settled
from infra.program.gate import Gate
from infra.reports.leaving_text import leaving_markdown, leaving_text
from infra.stack.handing_over import Handover, demands
from infra.stack.leaving import KnownOfTenant
from infra.stack.leaving_document import LeavingReport
from infra.stack.settling import freed
from infra.stack.signatures import signatures_of
from interlock.model.evidence.signers import NAMESPACE
from interlock.model.evidence.values import moment
from interlock.model.load import Code, InputError, InputErrors
from interlock.model.lock.record import Lock
from interlock.model.text.validation import nearest
from interlock.store.history import History, HistoryRecord
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import StackRecord
from interlock.whole_files import write_at_once

#: Verdict -> exit code.
_CODES = {
    "complete": Exit.PROVED,
    "leaving": Exit.VIOLATED,
    "present": Exit.VIOLATED,
    "not known": Exit.NOT_PROVABLE,
}


def report(
    tenant: OneTenant,
    site: Site = "",
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there.")] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="With --out: sign it, too, with this ssh key, as FILE.sig."),
    ] = None,
    form: Annotated[Format, format_option("report")] = Format.TEXT,
) -> None:
    """Report what has become of all that a tenant was given.

    For a tenant with `state: gone`, for one on its way there, and for one whose request and lock are no more: machines,
    hosts, VLANs, P_Keys, addresses, keys, volumes, shares, buckets, users, projects. Of each it says whether it is in
    use, kept by request, being cleaned, free or deleted; since when; which step was seen by whom, and who signed that;
    what is still to be done, and by whom. It reads the site's files and the claims store, which keeps what each stack
    had and what `interlock settle` went by, and asks no cloud.

    It is complete only if nothing is to be done, everything was recorded, and `interlock settle` saw state and cloud
    without anything of the tenant after its last object was deleted. What nobody recorded is said to be not known.

    `--key` signs with `ssh-keygen -Y sign`, in the namespace of evidence (`interlock-evidence`).

    \b
    Exit code:
      0  complete
      1  something is in use, kept or being cleaned
      2  the input is wrong: a file, a lock that is old, or a tenant that nothing is known of
      3  something is not known
      4  the claims store failed, FILE cannot be written, or ssh-keygen failed

    \b
    Examples:
      interlock report acme
      interlock report acme --format markdown --out acme.md --key ~/.ssh/id_ed25519
      interlock report acme --format json
    """
    if key is not None and out is None:
        raise typer.BadParameter("what is signed has to be a file: add --out FILE", param_hint="--key")
    found = _known(Gate.open(site), tenant).report()
    text = _text(found, form, unicode=out is not None or encodes_all())
    if out is None and form is Format.TEXT:
        print_text(text)
    elif out is None:
        print(text)
    else:
        _write(Path(out), f"{text}\n", key)
    raise typer.Exit(_CODES[found.verdict])


def _text(found: LeavingReport, form: Format, *, unicode: bool) -> str:
    if form is Format.JSON:
        return json.dumps(found.model_dump(mode="json"), indent=1, ensure_ascii=not unicode)
    return leaving_markdown(found) if form is Format.MARKDOWN else leaving_text(found)


def _write(file: Path, text: str, key: Path | None) -> None:
    signature = file.with_name(file.name + ".sig")
    made = None
    if key is not None:
        made = run_tool("ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", key, stdin=text.encode())
    try:
        write_at_once(file, text)
        if made is None:
            signature.unlink(missing_ok=True)  # of an earlier report: it would not be one of this
        else:
            write_at_once(signature, made)
    except OSError as error:
        raise EnvironmentFailed(f"{file}: {error.strerror}", "name a file in a folder that you may write to") from None
    print(f"{file}: written" + (f", signed: {signature}" if made else ""), file=sys.stderr)


def _known(gate: Gate, tenant: str) -> KnownOfTenant:
    workspace, stack = gate.workspace, gate.stack(tenant)
    site = workspace.site
    store = open_store(site.claims, site.name, site.region)
    record, lock = Ledger(store).stack(stack), workspace.locks.get(tenant)
    owner = lock.owner if lock else record.owner if record else None
    past = History(store)
    pasts = past.all_of(stack) if owner is None else tuple(item for item in (past.of(stack, owner),) if item)
    history = max(pasts, key=lambda item: item.last_known, default=None)
    request = workspace.tenants.get(tenant)
    if request is None and lock is None and record is None and history is None:
        file = workspace.shown(workspace.folder / "tenants" / f"{tenant}.yaml")
        message = f"nothing is known of a tenant `{tenant}`: no request, no lock, nothing in the claims store"
        raise InputErrors([InputError(Code.NO_FILE, file, message, nearest(tenant, workspace.tenants))])
    now = datetime.now(UTC)
    return KnownOfTenant(
        site=site,
        tenant=tenant,
        stack=stack,
        owner=str(owner or (history.owner if history else "")),
        request="absent" if request is None else request.state,
        lock=lock,
        record=record,
        history=history,
        handover=_handover(gate, lock, record, history, now) if request is not None and lock is not None else None,
        now=now,
    )


def _handover(
    gate: Gate, lock: Lock, record: StackRecord | None, history: HistoryRecord | None, now: datetime
) -> Handover:
    """What the lock released. Where nobody recorded when it was last in use, no evidence is younger than now."""
    gate.plan(lock.id)
    new, workspace = settled(gate, gate.held[lock.id]), gate.workspace
    changed = record.changed if record else history.stays[-1].left if history and history.stays else ""
    given_up = freed(gate.held[lock.id], new)
    wanted = demands(
        workspace.site, lock.released, given_up, set(new.footprint.exclusive), moment(changed) if changed else now
    )
    return Handover(workspace.site, lock.id, wanted, workspace.evidence, now, signatures_of(workspace))
