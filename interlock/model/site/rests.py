"""What a guard rests on where nobody states it: evidence by `interlock switches --record`, and how old it may be.

The clock that decides is that of the machine on which the proof is made, in UTC. Whoever asks gives the moment.
"""

from __future__ import annotations

import datetime
from typing import Any

from interlock.model.evidence.values import age, age_text
from interlock.model.text.errors import Code, fault
from interlock.model.text.values import shown
from interlock.resources import Frozen

#: Command that writes such evidence again.
RENEW = "interlock switches --record"
#: Assumption -> its guards that may rest on evidence: of all others nothing is read anywhere.
BY_EVIDENCE: dict[str, tuple[str, ...]] = {"A1": ("configuration_matches",)}

_HINT = "write `{by: evidence, max_age: 30d}`, with the age that you allow, in days or hours"


class SwitchSeen(Frozen):
    """What there is of one switch of the site."""

    switch: str
    #: The file, relative to the site's folder; empty: there is none.
    file: str = ""
    #: When the switch was asked, as in `2026-11-23T10:05:00Z`.
    read: str = ""
    by: str = ""
    #: Digest of what the site stated of the switch then.
    configuration: str = ""
    #: Why it counts for nothing, however young it is; empty: it is about this switch as the site has it.
    wrong: str = ""


class RestsOnEvidence(Frozen):
    """A guard that holds as long as every switch of the site was seen to be as stated, and lately enough."""

    max_age_h: int
    #: Every switch of the whole site, once its folder was read; of a file alone nobody has seen any.
    switches: tuple[SwitchSeen, ...] = ()

    def lacking(self, now: datetime.datetime) -> tuple[str, ...]:
        """Why it does not hold at this moment, one sentence for each switch; nothing if it does."""
        if not self.switches:
            return ("there is no evidence of any switch",)
        return tuple(why for item in self.switches if (why := self.lacking_of(item, now)))

    def lacking_of(self, item: SwitchSeen, now: datetime.datetime) -> str:
        """Why the evidence of one switch does not count at this moment; empty if it does."""
        if item.wrong or not item.read:
            return item.wrong or f"there is no evidence of {item.switch}"
        read = datetime.datetime.fromisoformat(item.read)
        if read > now:
            return f"the evidence of {item.switch} is of {item.read}, which is yet to come"
        if now - read > datetime.timedelta(hours=self.max_age_h):
            return f"the evidence of {item.switch} is of {item.read}, older than {age_text(self.max_age_h)}"
        return ""

    def value(self, now: datetime.datetime) -> bool | None:
        """True, or nobody knows: evidence never says that a guard does not hold."""
        return None if self.lacking(now) else True

    def stated(self) -> dict[str, str]:
        """As the site file has it."""
        return {"by": "evidence", "max_age": age_text(self.max_age_h)}


def rests_on_evidence(value: Any) -> RestsOnEvidence:
    """A guard from `{by: evidence, max_age: 30d}`."""
    if not isinstance(value, dict) or value.keys() != {"by", "max_age"}:
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is no state of a guard", _HINT)
    if value["by"] != "evidence":
        raise fault(Code.VALUE, f"a guard rests on evidence, not on {shown(value['by'])}", _HINT)
    return RestsOnEvidence(max_age_h=age(value["max_age"]))
