"""Who of a tenant's people may have which certificate, and until when. The clock is given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta

from interlock.model.load import Workspace
from interlock.model.tenant.request import KeyHolder, Tenant
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.validation import nearest
from interlock.planning.guest.login import principals
from interlock.vocabulary import StackName

from .authority import WantedCertificate

#: Hours that a certificate is good for, and the most that may be asked for: what nobody revokes ends by then.
USUAL_HOURS, MOST_HOURS = 12, 24
#: Clocks of servers may be behind by as much.
_BEHIND = timedelta(minutes=5)


def first_moment(holder: KeyHolder) -> datetime | None:
    """When the first day of somebody begins, in UTC; None: no bound."""
    return None if holder.since is None else datetime.combine(datetime.fromisoformat(holder.since), time.min, UTC)


def last_moment(holder: KeyHolder) -> datetime | None:
    """When the last day of somebody ends, in UTC; None: no bound."""
    if holder.until is None:
        return None
    return datetime.combine(datetime.fromisoformat(holder.until), time(23, 59, 59), UTC)


def standing(holder: KeyHolder, now: datetime) -> str:
    """`may sign in`, `from 2027-01-01` or `ended 2026-12-31`: whether certificates are signed for somebody now."""
    begins, ends = first_moment(holder), last_moment(holder)
    if ends is not None and ends < now:
        return f"ended {holder.until}"
    return f"from {holder.since}" if begins is not None and begins > now else "may sign in"


def holder_of(workspace: Workspace, tenant: Tenant, name: str) -> tuple[int, KeyHolder]:
    """Somebody of the request, and the place in its list. Raises InputErrors for a name that is not there."""
    for index, holder in enumerate(tenant.access.people):
        if holder.name == name:
            return index, holder
    message = f"there is no `{name}` among the people of `{tenant.id}`"
    hint = nearest(name, [holder.name for holder in tenant.access.people])
    raise InputErrors(
        [InputError(Code.NO_SUCH, workspace.position("access", "people", tenant=tenant.id), message, hint)]
    )


def wanted_for(
    workspace: Workspace, tenant: Tenant, name: str, now: datetime, hours: int, chosen: int | None
) -> Sequence[WantedCertificate]:
    """A certificate for each key of somebody's, or for the one that is `chosen`, counted from 1.

    Raises InputErrors for who is not in the request, and before the first day and after the last.
    """
    index, holder = holder_of(workspace, tenant, name)
    path = ("access", "people", index)
    begins, ends = first_moment(holder), last_moment(holder)
    if begins is not None and now < begins:
        raise _refused(workspace, tenant, (*path, "since"), f"`{name}` is let in from {holder.since} on")
    if ends is not None and now > ends:
        raise _refused(workspace, tenant, (*path, "until"), f"`{name}` was let in up to {holder.until}")
    if chosen is not None and not 1 <= chosen <= len(holder.keys):
        message = f"`{name}` has {len(holder.keys)} key(s), and no number {chosen}"
        raise InputErrors([InputError(Code.NO_SUCH, workspace.position(*path, "keys", tenant=tenant.id), message)])
    until = now + timedelta(hours=hours)
    until = until if ends is None else min(until, ends)
    since = now - _BEHIND
    since = since if begins is None else max(since, begins)
    allowed = principals(StackName(workspace.site.name, tenant.id), holder.parts, holder.accounts)
    if not allowed:
        # ssh-keygen would sign a certificate without principals; what that opens is each server's to say.
        message = f"`{name}` is let in to no server: what `vpods` and `clusters` name is released, or they name nothing"
        place = workspace.position(*path, tenant=tenant.id)
        raise InputErrors([InputError(Code.VALUE, place, message, "name another one, or wait until it is back")])
    keys = holder.keys if chosen is None else holder.keys[chosen - 1 : chosen]
    return [WantedCertificate(name, key, allowed, since, until) for key in keys]


def _refused(workspace: Workspace, tenant: Tenant, path: Sequence[str | int], message: str) -> InputErrors:
    place = workspace.position(*path, tenant=tenant.id)
    return InputErrors([InputError(Code.VALUE, place, message, "change the day in the request first")])
