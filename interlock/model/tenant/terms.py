"""Terms of a request: who has access, what it may cost."""

from __future__ import annotations

from interlock.model.text.errors import Code
from interlock.vocabulary import Person

from .people import read_people
from .people_file import ACCOUNTS
from .public import read_public
from .reading import RequestReading
from .request import Access, Budget


def read_access(reading: RequestReading) -> Access:
    """Who may look, and who may log in."""
    file, path = reading.file.access, ("access",)
    reading.note_left_out(path, file, "members", "ssh_from")
    members = [str(Person.parse(member, reading.offered.domain)) for member in file.members]
    reading.each_once((*path, "members"), members)
    reading.each_once((*path, "ssh_from"), file.ssh_from)
    if file.ca is not None:
        reading.filled((*path, "accounts"), file.accounts, list(ACCOUNTS))
    elif file.ssh_public_key is None and not any(reading.faults.lost(*path, key) for key in ("ssh_public_key", "ca")):
        hint = "add the .pub line of one key, or `ca:` and `people:` for several people, each with keys of their own"
        reading.faults.add(Code.MISSING_KEY, path, "`ssh_public_key` is missing, and there is no `ca`", hint)
    return Access(
        members=tuple(members), ssh_public_key=file.ssh_public_key, ssh_from=tuple(file.ssh_from),
        public=read_public(reading), ca=file.ca, accounts=tuple(file.accounts or ACCOUNTS), people=read_people(reading),
    )  # fmt: skip


def read_budget(reading: RequestReading) -> Budget | None:
    """Most to pay per month, in the currency in which the site has its prices."""
    file, currency = reading.file.budget, reading.offered.currency
    if file is None:
        reading.note(("budget",), "no limit")
        return None
    if currency not in (None, file.currency):
        message = f"a budget in {file.currency}: the site has its prices in {currency}"
        reading.faults.add(Code.CONTRADICTION, ("budget", "currency"), message, f"state it in {currency}")
    return Budget(per_month=file.per_month, currency=file.currency)
