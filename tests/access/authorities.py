"""Keys, authorities and requests of tests: real keys of `ssh-keygen`, and plans that servers are made of."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from infra.access.authority import CertificateAuthority, WantedCertificate
from interlock.model.tenant.request import Access
from interlock.planning import plan_tenant
from interlock.planning.guest.login import principals
from interlock.resources import Server
from interlock.vocabulary import StackName
from tests.builders.pod64 import locked, pod64, site_locked, tenant, vpod


def now() -> datetime:
    """Asked for when it is used: between collecting tests and running them there may be half an hour."""
    return datetime.now(UTC).replace(microsecond=0)


HOUR = timedelta(hours=1)


def key_pair(folder: Path, name: str, *options: str) -> Path:
    """A new private key; its public half lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = options or ("-t", "ed25519")
    subprocess.run(["ssh-keygen", "-q", *wanted, "-N", "", "-C", name, "-f", folder / name], check=True)
    return folder / name


def public(key: Path) -> str:
    """The line of the public half."""
    return Path(f"{key}.pub").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Signer:
    """An authority, and the plan of its tenant's servers."""

    authority: CertificateAuthority
    folder: Path

    @property
    def stack(self) -> StackName:
        """Whose it is."""
        return self.authority.stack

    def certificate(
        self, key: Path, *, begins: timedelta = -HOUR, ends: timedelta = HOUR,
        vpods: Sequence[str] | None = None, accounts: Sequence[str] = ("ubuntu",), of: StackName | None = None,
    ) -> Path:  # fmt: skip
        """A certificate for a key, from and to times that are counted from now."""
        allowed = principals(of or self.stack, vpods, accounts)
        (line,) = self.authority.signed([WantedCertificate("anne", public(key), allowed, now() + begins, now() + ends)])
        self.folder.mkdir(exist_ok=True)
        file = self.folder / f"{self.stack}-{self.authority.register().last}-cert.pub"
        file.write_text(f"{line}\n", encoding="utf-8")
        return file

    def user_data(self, accounts: tuple[str, ...] = ("ubuntu", "root")) -> Mapping[str, str]:
        """User data of the first server of each vPOD of the tenant."""
        access = Access(members=(), ssh_public_key=None, ssh_from=(), ca=self.authority.line(), accounts=accounts)
        pods = (vpod("train", machines=2, servers=1), vpod("serve", machines=2, servers=1))
        request, site = tenant(str(self.stack.tenant), access=access, vpods=pods), pod64()
        plan = plan_tenant(site, site_locked(site), request, locked(site, request))
        servers = {item.name: item.resource for item in plan.resources if isinstance(item.resource, Server)}
        return {pod: servers[f"{self.stack.tenant}-{pod}-poplar-0"].user_data for pod in ("train", "serve")}


def signer(folder: Path, owner: str) -> Signer:
    """A new authority of a tenant of the site that tests plan on."""
    folder.mkdir(mode=0o700, exist_ok=True)
    authority = CertificateAuthority(folder, StackName(pod64().name, owner))
    authority.made(ask=False)
    return Signer(authority, folder / "certificates")
