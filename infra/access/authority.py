"""A tenant's certificate authority: its files in a folder of the operator's, and what it signs and revokes.

The private key never enters the repository, a plan, a state or a server. It lies in a folder that the operator names,
readable by its owner alone, or in an ssh-agent; only OpenSSH's `ssh-keygen` reads it.
"""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from infra.cli.exits import EnvironmentFailed
from infra.program.places import ROOT, stacks
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.vocabulary import StackName
from interlock.vocabulary.ssh_keys import fingerprints
from interlock.vocabulary.ssh_logins import CertificateId

from .keygen import run_tool
from .register import IssuedCertificate, IssuedCertificates, alone, read_register, write_register

_PRIVATE = 0o077
#: What a certificate lets its holder do besides running commands. No agent is forwarded: root of a server could use
#: it, and keys of other tenants may be in it.
_EXTENSIONS = ("permit-pty", "permit-port-forwarding")


@dataclass(frozen=True)
class WantedCertificate:
    """A certificate to be signed: for whom, about which key, for which accounts, and when it is good."""

    person: str
    key: str
    principals: tuple[str, ...]
    begins: datetime
    ends: datetime


@dataclass(frozen=True)
class CertificateAuthority:
    """That of one stack. `in_agent`: the private key is in the ssh-agent, and only its public half in the folder."""

    folder: Path
    stack: StackName
    in_agent: bool = False

    @property
    def private(self) -> Path:
        """The private key."""
        return self.folder / str(self.stack)

    @property
    def public(self) -> Path:
        """Its public half."""
        return self.folder / f"{self.stack}.pub"

    @property
    def revocations(self) -> Path:
        """The revocation list, as servers take it."""
        return self.folder / f"{self.stack}.revoked"

    @property
    def _register(self) -> Path:
        return self.folder / f"{self.stack}.json"

    @property
    def _lock(self) -> Path:
        return self.folder / f"{self.stack}.lock"

    def register(self) -> IssuedCertificates:
        """What it signed and revoked."""
        return read_register(self._register)

    def made(self, *, ask: bool) -> str:
        """Makes the key where there is none; the line of its public half. `ask`: for a passphrase, at the terminal."""
        with alone(self._lock):
            if not self.private.exists():
                phrase = () if ask else ("-N", "")
                comment = f"interlock-ca-{self.stack}"
                # Made under another name: of a run that was killed nothing is left that looks whole.
                with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as making:
                    new = Path(making) / "key"
                    run_tool("ssh-keygen", "-q", "-t", "ed25519", *phrase, "-C", comment, "-f", new)
                    new.with_suffix(".pub").rename(self.public)
                    new.rename(self.private)
        return self.line()

    def line(self) -> str:
        """The line of the public half. Raises EnvironmentFailed if there is none."""
        try:
            return self.public.read_text(encoding="utf-8").strip()
        except OSError as error:
            hint = f"name the folder in which `interlock access ca {self.stack.tenant}` made it"
            raise EnvironmentFailed(f"no authority of {self.stack} at {self.public}: {error.strerror}", hint) from None

    def matching(self, stated: str | None, place: str, former: Collection[str] = ()) -> CertificateAuthority:
        """Itself. Raises InputErrors if the request states another key, or none: servers trust what is stated.

        `former`: fingerprints of keys that the request no longer names; servers that were made with them trust them.
        """
        if stated is not None and self.in_agent and not self.private.exists():
            self.public.write_text(f"{stated}\n", encoding="utf-8")
        elif not {*fingerprints(self.line())} & {*fingerprints(stated or ""), *former}:
            message = f"`ca` is another key than {self.public}: servers would not take what it signs"
            raise InputErrors([InputError(Code.CONTRADICTION, place, message, "name the folder that has its key")])
        return self

    def signed(self, wanted: Iterable[WantedCertificate]) -> list[str]:
        """The certificates, in their order, as lines. Noted before they are signed: no serial is given twice."""
        lines = list[str]()
        with alone(self._lock):
            for item in wanted:
                register = self.register()
                serial = register.last + 1
                note = IssuedCertificate(
                    serial=serial, person=item.person, fingerprint=fingerprints(item.key)[0],
                    principals=item.principals, begins=item.begins, ends=item.ends,
                )  # fmt: skip
                known = register.remembered(datetime.now(UTC))
                write_register(
                    self._register, known.model_copy(update={"last": serial, "issued": (*known.issued, note)})
                )
                lines.append(self._sign(item, serial))
        return lines

    def _sign(self, item: WantedCertificate, serial: int) -> str:
        key = ("-U", "-s", self.public) if self.in_agent else ("-s", self.private)
        extensions = ("-O", "clear", *(word for name in _EXTENSIONS for word in ("-O", name)))
        valid = f"{item.begins:%Y%m%d%H%M%S}:{item.ends:%Y%m%d%H%M%S}"
        with tempfile.TemporaryDirectory(prefix="interlock-") as making:
            public = Path(making) / "key.pub"
            public.write_text(f"{item.key}\n", encoding="utf-8")
            named = ("-I", str(CertificateId(self.stack, item.person)), "-n", ",".join(item.principals))
            run_tool(
                "ssh-keygen", "-q", *key, *named, "-z", str(serial), "-V", valid, *extensions, public
            )  # fmt: skip
            return (Path(making) / "key-cert.pub").read_text(encoding="utf-8").strip()

    def revoked(self, *, person: str | None, serials: Iterable[int], now: datetime) -> tuple[IssuedCertificate, ...]:
        """Revokes what a person has that is alive, and these serials; what was revoked by it. Writes the list anew."""
        named = set(serials)
        with alone(self._lock):
            register = self.register()
            if unknown := sorted(named - {item.serial for item in register.issued}):
                hint = "`interlock access list` shows what was signed"
                raise EnvironmentFailed(f"{self.stack} has signed no certificate {unknown[0]}", hint)
            hit = {x.serial for x in register.issued if x.serial in named or x.person == person} & {
                x.serial for x in register.issued if x.is_alive(now)
            }
            issued = tuple(x.model_copy(update={"revoked": True}) if x.serial in hit else x for x in register.issued)
            after = register.model_copy(update={"issued": issued, "lists": register.lists + 1})
            # The register first: a killed run is run again, and the list is made of all of it.
            write_register(self._register, after)
            self._write_list(after)
        return tuple(item for item in issued if item.serial in hit)

    def _write_list(self, register: IssuedCertificates) -> None:
        serials = "".join(f"serial: {item.serial}\n" for item in register.issued if item.revoked)
        new = self.revocations.with_name(f"{self.revocations.name}.new")
        with tempfile.TemporaryDirectory(prefix="interlock-") as making:
            said = Path(making) / "serials"
            said.write_text(serials, encoding="utf-8")
            run_tool("ssh-keygen", "-q", "-k", "-s", self.public, "-z", str(register.lists), "-f", new, said)
        new.replace(self.revocations)


def authority_in(folder: Path, stack: StackName, *, in_agent: bool = False) -> CertificateAuthority:
    """The authority of a stack in a folder. Raises EnvironmentFailed for a folder that others can look into.

    The folder is made if it is not there; in the project, among stacks or in any work tree of Git it would be committed
    one day.
    """
    try:
        folder = folder.expanduser().absolute()
    except RuntimeError as error:
        raise EnvironmentFailed(f"{folder} cannot be used: {error}", "name another folder") from None
    above = (folder.resolve(), *folder.resolve().parents)
    kept = next((x for x in above if x in (ROOT.resolve(), stacks().resolve()) or (x / ".git").exists()), None)
    if kept is not None:
        hint = "name a folder outside, such as ~/.interlock-ca, on a disk that only you read"
        raise EnvironmentFailed(f"{folder} is inside {kept}, where keys would be committed one day", hint)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(folder.stat().st_mode)
    except OSError as error:
        raise EnvironmentFailed(f"{folder} cannot be used: {error.strerror}", "name another folder") from None
    if mode & _PRIVATE:
        raise EnvironmentFailed(f"others can look into {folder} (mode {mode:04o})", f"run `chmod 700 {folder}`")
    found = CertificateAuthority(folder, stack)
    return replace(found, in_agent=True) if in_agent else found
