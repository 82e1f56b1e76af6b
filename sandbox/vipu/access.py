"""Who may ask what: users and keys in secure mode, everybody without it, and what each API serves."""

from __future__ import annotations

from dataclasses import dataclass

from .allocation_calls import knows
from .commands import command_of
from .objects import ControllerState
from .refusals import VipuRefused
from .scene import ANYBODY, ApiName, Call, VipuCaller


@dataclass(frozen=True)
class VipuAccess:
    """How a call came in: by which API, and what it says of who asks."""

    api: ApiName = "admin"
    user: str = ""
    key: str = ""


def caller_of(state: ControllerState, access: VipuAccess, *, secure: bool) -> VipuCaller:
    """Who asks. Without secure mode nobody is asked for a key, and everybody may do everything. Raises VipuRefused."""
    if not secure:
        return ANYBODY
    user = state.users.get(access.user)
    if user is None or not knows(user, access.key):
        raise VipuRefused("nobody")
    return VipuCaller(user.id, user.admin, user.allocations)


def check_served(call: Call, access: VipuAccess, caller: VipuCaller) -> None:
    """The user API has no calls for admins, wherever they come from. Raises VipuRefused."""
    command = command_of(call.verb, call.noun)
    if command is None:
        raise VipuRefused("no-such-call", verb=call.verb, noun=call.noun)
    if command.api == "admin" and access.api == "user":
        raise VipuRefused("not-here", verb=call.verb, noun=call.noun)
    if command.api == "admin" and not caller.admin:
        raise VipuRefused("not-admin", user=caller.user)
