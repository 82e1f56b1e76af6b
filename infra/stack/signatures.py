"""The signatures of a site's evidence, as OpenSSH's own `ssh-keygen` judges them.

A signature is about a whole file. An entry is signed if the key that signed its file is listed for the name that the
entry gives as `by`: now, and when it says that the step was seen. What `ssh-keygen` is given is what was read, byte for
byte, and not the files once more, which may be others by then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from infra.access.keygen import ToolFailed, run_tool
from interlock.model.evidence.reading import EvidenceText, Sighting
from interlock.model.evidence.signers import NAMESPACE, Signers
from interlock.model.evidence.steps import SeenStep
from interlock.model.load import Workspace
from interlock.model.text.errors import shown_safely
from interlock.vocabulary.nodes import HeldHost, parse

#: How `by` begins where `interlock settle` wrote down what switches said: any signer answers for that.
RECORDED = "interlock settle, "
#: Name of the copy that is judged; no list may be called so.
_SIGNATURE = "signature.sig"


class Signatures:
    """Those of one site. Each file is looked at once for each moment: keep the object for a run."""

    def __init__(self, site: str, signers: Signers, texts: Iterable[EvidenceText]) -> None:
        self.site = site
        self.signers = signers
        self._texts = {text.name: text for text in texts}
        self._known: dict[tuple[str, str, str], str] = {}

    def why_not(self, one: Sighting, now: datetime) -> str:
        """Why an entry is not signed by who saw it; empty if it is. Raises EnvironmentFailed without `ssh-keygen`."""
        text = self._texts.get(one.file)
        if text is None:
            return "stands in no file that could be signed"
        if text.signature is None:
            return "is not signed"
        if text.site != self.site:
            return f"is in a file without `site: {self.site}`, so its signature may be of another site"
        recorded = is_a_reading(one)
        return self._at(text, one.by, now, recorded=recorded) or self._at(text, one.by, one.at, recorded=recorded)

    def signers_of(self, one: Sighting, now: datetime) -> tuple[str, ...]:
        """Everybody for whom the key is listed that signed the file in which an entry stands."""
        text = self._texts.get(one.file)
        return () if text is None else self.signed_by(text, now)

    def signed_by(self, text: EvidenceText, moment: datetime) -> tuple[str, ...]:
        """Everybody for whom the key that signed a file is listed at a moment; nobody if the signature is not good."""
        names = sorted(self.signers.principals)
        return tuple(name for name in names if text.signature and not self._wrong(text, name, moment))

    def _at(self, text: EvidenceText, by: str, moment: datetime, *, recorded: bool) -> str:
        wrong = self._wrong(text, by, moment)
        if not wrong:
            return ""
        others = self.signed_by(text, moment)
        if others and recorded:
            return ""
        if others:
            return f"is signed by {' or '.join(others)}, and `by` says {by}: each signs a file of their own"
        return wrong

    def _wrong(self, text: EvidenceText, name: str, moment: datetime) -> str:
        """Why the file is not signed by somebody; empty if it is."""
        key = (text.name, name, _time(moment))
        if key not in self._known:
            self._known[key] = self._ask(text, name, key[2])
        return self._known[key]

    def _ask(self, text: EvidenceText, name: str, time: str) -> str:
        listed = Path(self.signers.name).name  # `ssh-keygen` names it where a line of it does not count
        with tempfile.TemporaryDirectory(prefix="interlock-signature-") as made:
            folder = Path(made)
            (folder / listed).write_bytes(self.signers.text.encode())
            (folder / _SIGNATURE).write_bytes(text.signature or b"")
            given = ("-n", NAMESPACE, "-I", name, "-s", _SIGNATURE, "-f", listed, f"-Overify-time={time}")
            try:
                run_tool("ssh-keygen", "-Y", "verify", *given, stdin=text.data, folder=folder)
            except ToolFailed as failed:
                if not failed.first:
                    return f"is signed with no key that {self.signers.name} lists for {name}"
                return f"has no good signature of {name} (ssh-keygen: {shown_safely(failed.first)})"
        return ""


def is_a_reading(one: Sighting) -> bool:
    """True for what `interlock settle` writes down by itself: no other step may speak in its name.

    Switches say that a port is unwired, and Ironic that a whole host is wiped; nothing says that of an IPU-Machine.
    """
    seen_by_ironic = one.step is SeenStep.WIPED and isinstance(parse(one.identity), HeldHost)
    in_its_file = one.file.endswith(f"/{one.released_by}-read.yaml")
    return one.by.startswith(RECORDED) and in_its_file and (one.step is SeenStep.UNWIRED or seen_by_ironic)


def signatures_of(workspace: Workspace) -> Signatures | None:
    """Those of a site; None where nobody has to sign."""
    if workspace.signers is None:
        return None
    return Signatures(workspace.site.name, workspace.signers, workspace.evidence_texts)


def _time(moment: datetime) -> str:
    """As `ssh-keygen` reads it: digits, of the time zone that it runs in, which is UTC here."""
    return moment.astimezone(UTC).strftime("%Y%m%d%H%M%S")
