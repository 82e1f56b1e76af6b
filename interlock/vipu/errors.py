"""What can go wrong with V-IPU, by what one can do about it."""

from __future__ import annotations

from enum import StrEnum

from interlock.vocabulary import InterlockError


class VipuTrouble(StrEnum):
    """Classes of failure; the words are those of the provider's own classes."""

    #: Nothing was sent: no way to the controller, or no command there.
    UNREACHABLE = "unreachable"
    #: The command may or may not have had its effect.
    LOST_ANSWER = "lost answer"
    #: `vipu.yaml` does not suit: a key that others read, a host that has another host key.
    UNAUTHORIZED = "unauthorized"
    #: The command ended, and what it was to do is not done.
    SERVICE = "service failed"
    #: Something is on it still.
    IN_USE = "in use"
    #: Refused by us, before anything was sent.
    REFUSED = "refused"


class VipuError(InterlockError):
    """A command to a controller that did not succeed. `place` is the controller's name.

    `is_final`: it is no better in a while, so nobody waits for the controller.
    """

    LEAD = "next"

    def __init__(self, trouble: VipuTrouble, controller: str, what: str, hint: str, *, is_final: bool = False) -> None:
        super().__init__(what, hint, place=controller)
        self.trouble, self.is_final = trouble, is_final
