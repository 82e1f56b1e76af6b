"""Takes the list of what is revoked to servers that run, over ssh, by a certificate of a few minutes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from infra.cli.exits import EnvironmentFailed
from interlock.planning.guest.login import REVOKED, principals

from .authority import CertificateAuthority, WantedCertificate
from .keygen import ToolFailed, run_tool

#: Who the certificate names: a word that no person can be called.
PUSHER = "(push)"
_MINUTES = timedelta(minutes=5)
#: sshd lets nobody in by a list that it cannot read, so such a one stays out. A rename, so that it reads the old or the
#: new one.
_PUT = f"""\
set -eu
root() {{ if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
cat >"$new"
ssh-keygen -Q -l -f "$new" >/dev/null
root cp "$new" {REVOKED}.new
root chown root:root {REVOKED}.new
root chmod 644 {REVOKED}.new
root mv {REVOKED}.new {REVOKED}
"""


def push(
    authority: CertificateAuthority, account: str, hosts: Sequence[str], options: Sequence[str], now: datetime
) -> list[ToolFailed | None]:
    """Puts the list on each host, as `ssh` is told to reach it; of each None, or what failed there.

    `account` becomes root by `sudo -n`, or is root. Raises EnvironmentFailed if nothing was revoked yet.
    """
    try:
        revoked = authority.revocations.read_bytes()
    except FileNotFoundError:
        hint = "`interlock access revoke` writes the list"
        raise EnvironmentFailed(f"{authority.stack} has revoked nothing yet", hint) from None
    with tempfile.TemporaryDirectory(prefix="interlock-") as making:
        key = Path(making) / "id"
        run_tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
        line = key.with_suffix(".pub").read_text(encoding="utf-8").strip()
        allowed = principals(authority.stack, None, (account,))
        (certificate,) = authority.signed([WantedCertificate(PUSHER, line, allowed, now - _MINUTES, now + _MINUTES)])
        (Path(making) / "id-cert.pub").write_text(f"{certificate}\n", encoding="utf-8")
        login = (
            "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", f"IdentityFile={key}", "-o", "ConnectTimeout=10",
        )  # fmt: skip
        return [_push(host, account, (*options, *login), revoked) for host in hosts]


def _push(host: str, account: str, options: Sequence[str], revoked: bytes) -> ToolFailed | None:
    try:
        run_tool("ssh", *options, "-l", account, "--", host, _PUT, stdin=revoked)
    except ToolFailed as failed:
        return failed
    return None
