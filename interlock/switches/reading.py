"""Reads several switches side by side; of each either what it says is there, or why it could not be read."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from .answers import AnswerMisread, Answers, CommandRefused, mac
from .cumulus import read_cumulus
from .eos import read_eos
from .errors import SwitchUnread
from .file import Platform
from .loading import SwitchAccess
from .observed import ObservedSwitch
from .transport import TimeLimits, ask

#: Switches that are asked at a time: each takes a connection, and one core decodes all answers.
SIDE_BY_SIDE = 16

READERS: Mapping[Platform, Callable[[str, Answers], ObservedSwitch]] = {"eos": read_eos, "cumulus": read_cumulus}


@dataclass(frozen=True)
class SwitchTarget:
    """A switch to read: how it is asked, and who it must be."""

    access: SwitchAccess
    #: As the site states it; None: whoever asks does not know it, and the system MAC decides.
    serial: str | None
    #: As the site states it, in any usual form; None: it does not.
    system_mac: str | None = None


Read = ObservedSwitch | SwitchUnread


def read_switches(
    targets: Iterable[SwitchTarget],
    now: Callable[[], datetime.datetime],
    limits: TimeLimits | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Read]:
    """What each switch says, by name, or why it could not be read. `progress` is told the name of each when done."""
    return asyncio.run(_read_all(list(targets), now, limits or TimeLimits(), progress))


async def _read_all(
    targets: list[SwitchTarget],
    now: Callable[[], datetime.datetime],
    limits: TimeLimits,
    progress: Callable[[str], None],
) -> dict[str, Read]:
    places = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(target: SwitchTarget) -> Read:
        async with places:
            try:
                # The time is that of the question: what is read may be older by no more than the answers took.
                asked = now()
                return replace(judged(target, await ask(target.access, limits)), at=asked)
            except SwitchUnread as error:
                return error
            finally:
                progress(target.access.name)

    found = await asyncio.gather(*map(one, targets))
    return {target.access.name: read for target, read in zip(targets, found, strict=True)}


def judged(target: SwitchTarget, answers: Answers) -> ObservedSwitch:
    """The answers, read. Raises `SwitchUnread` if they cannot be, or are those of another device."""
    access = target.access
    try:
        found = READERS[access.platform](access.name, answers)
    except AnswerMisread as error:
        raise SwitchUnread(access.name, str(error), _MISREAD.format(access.platform)) from None
    except CommandRefused as error:
        raise SwitchUnread(access.name, str(error), _REFUSED.format(access.username)) from None
    if other := _other(target, found):
        hint = "correct the address in switches.yaml, or, if the switch was replaced, its serial in the site file"
        raise SwitchUnread(access.name, f"another device answers at {access.address}: {other}", hint)
    return found


_MISREAD = "nothing of this switch is taken for read: try again, and see that it runs a release of {} that is supported"
_REFUSED = "allow the user `{}` to run it; a role that may only read is enough"


def _other(target: SwitchTarget, found: ObservedSwitch) -> str:
    """How the device that answered differs from the one that is meant; empty if it is that one."""
    wanted = mac(target.system_mac) if target.system_mac else None
    if wanted and found.system_mac != wanted:
        return f"its system MAC is {found.system_mac or 'not said'}, and the site states {wanted}"
    if target.serial is None:
        return "" if wanted else "neither its serial nor its system MAC is known to who asks"
    if found.serial is None:
        # A virtual switch has none; then only its MAC address says who it is.
        return "" if wanted else "it says no serial, and the site states no system MAC"
    if found.serial != target.serial:
        return f"its serial is {found.serial}, and the site states {target.serial}"
    return ""
