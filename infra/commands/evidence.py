"""`interlock evidence`: signing evidence of what was released, and verifying the signatures."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.access.keygen import run_tool
from infra.cli.exits import Exit
from infra.cli.formats import print_json
from infra.cli.terminal import print_text
from infra.commands.options import Site
from infra.program.places import stacks
from infra.stack.signatures import Signatures
from interlock.model.evidence.reading import SIGNATURE, EvidenceText, Sighting
from interlock.model.evidence.signers import NAMESPACE, Signers
from interlock.model.evidence.values import moment_text
from interlock.model.load import InputErrors, Workspace, load_workspace
from interlock.model.text.errors import Code, InputError
from interlock.model.text.validation import nearest
from interlock.whole_files import write_at_once

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def evidence() -> None:
    """Sign evidence of what was released, and verify it.

    A site that states `evidence.signers` names a file beside its site file, which lists in OpenSSH's form
    `allowed_signers` who may sign. From then on an entry in `evidence/` counts only if the file that it stands in is
    signed by whoever the entry gives as `by`. The signature lies beside the file, as `<file>.sig`.

    \b
    Examples:
      interlock evidence sign stacks/lyon/evidence/acme-anne.yaml --key ~/.ssh/id_ed25519
      interlock evidence verify
    """


@app.command()
def sign(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file in the site's evidence/.")],
    key: Annotated[
        Path,
        typer.Option("--key", metavar="FILE", help="Your private key; its .pub, where it is in the ssh-agent."),
    ],
    site: Site = "",
) -> None:
    """Sign a file of evidence with your own key.

    `ssh-keygen -Y sign` does it, and reads the key; it asks for the passphrase, if the key has one. The signature is
    written only if every entry of the file counts by it, but for those that are too old anyway: what somebody else
    saw stands in a file of theirs. Sign again after every change of the file.

    \b
    Exit code:
      0  signed
      2  the input is wrong: the file, the list of signers, or an entry that is not the signer's
      4  ssh-keygen is missing or failed

    \b
    Example:
      interlock evidence sign stacks/lyon/evidence/acme-anne.yaml --key ~/.ssh/id_ed25519
    """
    workspace, now = load_workspace(stacks(), site), datetime.now(UTC)
    signers, text = _signers(workspace), _text(workspace, file)
    if not text.site:
        message, hint = (
            "`site` is missing: its signature would count at any site",
            f"write `site: {workspace.site.name}`",
        )
        raise InputErrors([InputError(Code.MISSING_KEY, text.name, message, hint)])
    made = run_tool("ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", key, stdin=text.data)
    signed = replace(text, signature=made.encode())
    judged = Signatures(workspace.site.name, signers, [signed])
    young, _ = _by_age(workspace, text, now)
    wrong = [(one.position, f"it {why}") for one in young if (why := judged.why_not(one, now))]
    names = judged.signed_by(signed, now)
    if not names and not wrong:
        wrong = [(text.name, f"it is signed with no key that {signers.name} lists")]
    if wrong:
        hint = f"sign with the key of who saw it, which {signers.name} lists; nothing was written"
        raise InputErrors(
            InputError(Code.EVIDENCE_UNSIGNED, place, f"with this key, {why}", hint) for place, why in wrong
        )
    write_at_once(file.with_name(file.name + SIGNATURE), made)
    print(f"{text.name}{SIGNATURE}: signed by {' or '.join(names)}")
    print(f"next: commit {text.name} and {text.name}{SIGNATURE}", file=sys.stderr)


@dataclass(frozen=True)
class VerifiedEvidence:
    """One file of evidence: who signed it, and its entries that count for nothing, each with why."""

    text: EvidenceText
    signed_by: tuple[str, ...]
    entries: int
    #: Entries that nobody who may has signed.
    unsigned: tuple[tuple[Sighting, str], ...]
    #: Entries older than the site allows, which count for nothing whoever signed them.
    old: int


@app.command()
def verify(site: Site = "", as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Verify the signatures of a site's evidence.

    Each entry that is not older than the site allows has to be signed by whoever it gives as `by`, whose key the
    site's list has for now and for the time of the entry. Whether it is about what was released, and of after its last
    use, `interlock settle` says. Evidence that `interlock switches --record` wrote is not signed.

    \b
    Exit code:
      0  every entry is signed, or is too old to count
      1  an entry is not
      2  the input is wrong
      3  the site states no `evidence.signers`, so nobody can say whose signature it takes
      4  ssh-keygen is missing

    \b
    Examples:
      interlock evidence verify
      interlock evidence verify --site lyon --json
    """
    workspace, now = load_workspace(stacks(), site), datetime.now(UTC)
    if workspace.signers is None:
        code, looked = Exit.NOT_PROVABLE, list[VerifiedEvidence]()
    else:
        looked = list(_looked(workspace, workspace.signers, now))
        code = Exit.VIOLATED if any(one.unsigned for one in looked) else Exit.PROVED
    if as_json:
        print_json(_document(workspace, looked, code))
    else:
        print_text("\n".join(_lines(workspace, looked)))
    raise typer.Exit(code)


def _looked(workspace: Workspace, signers: Signers, now: datetime) -> Iterable[VerifiedEvidence]:
    signatures = Signatures(workspace.site.name, signers, workspace.evidence_texts)
    for text in workspace.evidence_texts:
        young, old = _by_age(workspace, text, now)
        unsigned = tuple((one, why) for one in young if (why := signatures.why_not(one, now)))
        yield VerifiedEvidence(text, signatures.signed_by(text, now), len(young) + len(old), unsigned, len(old))


def _by_age(workspace: Workspace, text: EvidenceText, now: datetime) -> tuple[list[Sighting], list[Sighting]]:
    """The entries of a file that may count, and those that are too old: these nobody has to sign any more."""
    hours = workspace.site.evidence.max_age_h
    oldest = None if hours is None else now - timedelta(hours=hours)
    entries = [one for one in workspace.evidence if one.file == text.name]
    young = [one for one in entries if oldest is None or one.at >= oldest]
    return young, [one for one in entries if one not in young]


def _lines(workspace: Workspace, looked: list[VerifiedEvidence]) -> Iterable[str]:
    if workspace.signers is None:
        where = workspace.position("evidence")
        yield f"{where}: not signed: the site states no `evidence.signers`, so nobody has to sign"
        return
    for one in looked:
        who = f"signed by {' or '.join(one.signed_by)}" if one.signed_by else "no good signature"
        old = f", {one.old} too old to count" if one.old else ""
        yield f"{one.text.name}: {who}; {one.entries} entries{old}"
        yield from (f"  {entry.position}: {entry.step} by {entry.by} {why}" for entry, why in one.unsigned)
    if not looked:
        yield f"{workspace.site.name}: there is no evidence"


def _document(workspace: Workspace, looked: list[VerifiedEvidence], code: Exit) -> dict[str, Any]:
    return {
        "site": workspace.site.name,
        "signers": workspace.signers.name if workspace.signers else "",
        "exit_code": int(code),
        "files": [
            {
                "file": one.text.name,
                "signed_by": list(one.signed_by),
                "entries": one.entries,
                "too_old": one.old,
                "unsigned": [
                    {
                        "position": entry.position,
                        "step": str(entry.step),
                        "at": moment_text(entry.at),
                        "by": entry.by,
                        "because": why,
                    }
                    for entry, why in one.unsigned
                ],
            }
            for one in looked
        ],
    }


def _signers(workspace: Workspace) -> Signers:
    """The site's list. Raises InputErrors if it names none."""
    if workspace.signers is None:
        message, hint = "`signers` is missing: nobody is listed who may sign", "write `signers: signers`, and that file"
        raise InputErrors([InputError(Code.MISSING_KEY, workspace.position("evidence"), message, hint)])
    return workspace.signers


def _text(workspace: Workspace, file: Path) -> EvidenceText:
    """The file of the site that a path means. Raises InputErrors if it is none."""
    known = {text.name: text for text in workspace.evidence_texts}
    given = workspace.shown(file.absolute()) if file.absolute().is_relative_to(stacks().parent) else str(file)
    if given not in known:
        message = f"it is no file of evidence of the site {workspace.site.name}"
        raise InputErrors([InputError(Code.NO_SUCH, given, message, nearest(given, known))])
    return known[given]
