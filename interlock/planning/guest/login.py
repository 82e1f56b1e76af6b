"""Who may log in to a tenant's server: what its sshd is told of certificates. Public: no secret is in it.

A certificate opens an account if the tenant's authority signed it, today is within its days, its serial is not revoked,
and one of its principals is listed for the account. Principals say site, tenant and account, and the vPOD or GPU
cluster where a person is let in to the servers of some only. Who the tenant's people are stands nowhere here, so that
a person more or less changes no server.

Source: sshd_config(5), `TrustedUserCAKeys`, `AuthorizedPrincipalsFile`, `RevokedKeys`; sshd(8).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from interlock.model.tenant.request import Access
from interlock.vocabulary import StackName
from interlock.vocabulary.ssh_logins import LoginPrincipal

from .files import GuestFile

FOLDER = "/etc/ssh/interlock"
AUTHORITY = f"{FOLDER}/ca.pub"
PRINCIPALS = f"{FOLDER}/principals"
REVOKED = f"{FOLDER}/revoked"

_SSHD = f"""\
TrustedUserCAKeys {AUTHORITY}
AuthorizedPrincipalsFile {PRINCIPALS}/%u
RevokedKeys {REVOKED}
"""
#: sshd refuses every key while the file is missing, so that there is one from the beginning.
_NOTHING_REVOKED = "# nothing is revoked yet\n"


def login_files(stack: StackName, part: str, access: Access) -> tuple[GuestFile, ...]:
    """The files of a server of this vPOD or cluster; none if its tenant has no authority."""
    if access.ca is None:
        return ()
    return (
        GuestFile("/etc/ssh/sshd_config.d/20-certificates.conf", _SSHD),
        GuestFile(AUTHORITY, f"{access.ca}\n"),
        GuestFile(REVOKED, _NOTHING_REVOKED),
        *(_principals_of(stack, part, account) for account in access.accounts),
    )


def _principals_of(stack: StackName, part: str, account: str) -> GuestFile:
    """Whom an account of this server is open to: who may enter all of the tenant's, or those of its vPOD or cluster."""
    allowed = (LoginPrincipal(stack, account), LoginPrincipal(stack, account, part))
    return GuestFile(str(PurePosixPath(PRINCIPALS, account)), "".join(f"{item}\n" for item in allowed))


def principals(stack: StackName, parts: Iterable[str] | None, accounts: Iterable[str]) -> tuple[str, ...]:
    """Those of a certificate for these accounts; `parts`: vPODs and clusters, None for all of the tenant's."""
    # No part is none, and not all of them.
    named = (None,) if parts is None else tuple(parts)
    return tuple(str(LoginPrincipal(stack, account, part)) for account in accounts for part in named)
