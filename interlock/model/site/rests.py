"""What a guard rests on where nobody states it: evidence that `interlock` recorded, and how old it may be.

The clock that decides is that of the machine on which the proof is made, in UTC. Whoever asks gives the moment.
"""

from __future__ import annotations

import datetime
from typing import Any

from interlock.model.evidence.values import age, age_text
from interlock.model.text.errors import Code, fault
from interlock.model.text.values import shown
from interlock.resources import Frozen

#: Assumption -> its guards that may rest on evidence: of all others nothing is read anywhere.
BY_EVIDENCE: dict[str, tuple[str, ...]] = {
    "A1": ("configuration_matches",),
    "A6": ("default_partition_limited", "subnet_manager_keys_set"),
}
#: Command that writes evidence of switches again, and that of subnet managers.
RENEW, RENEW_FABRICS = "interlock switches --record", "interlock fabrics --record"


def renewed_by(guard: str) -> str:
    """The command that writes evidence of a guard, `assumptions.<id>.<guard>`, again."""
    return RENEW_FABRICS if guard.startswith("assumptions.A6.") else RENEW


_HINT = "write `{by: evidence, max_age: 30d}`, with the age that you allow, in days or hours"


class DeviceSeen(Frozen):
    """What there is of one switch of the site, or of the subnet manager of one InfiniBand subnet."""

    #: Name of the switch, or of the subnet.
    device: str
    #: The file, relative to the site's folder; empty: there is none.
    file: str = ""
    #: When the device was asked, as in `2026-11-23T10:05:00Z`.
    read: str = ""
    by: str = ""
    #: Digest of what the site stated of the switch then; of a subnet manager that of the whole file.
    configuration: str = ""
    #: Why it counts for nothing, however young it is; empty: it is about this device as the site has it.
    wrong: str = ""
    #: What it says of the guard. Of a switch that is not as stated no evidence is written.
    holds: bool = True


class RestsOnEvidence(Frozen):
    """A guard that holds as long as every device that it is about was seen to be so, and lately enough."""

    max_age_h: int
    #: Every switch of the whole site, or every InfiniBand subnet, once its folder was read; of a file alone nobody has
    #: seen any.
    devices: tuple[DeviceSeen, ...] = ()

    def lacking(self, now: datetime.datetime) -> tuple[str, ...]:
        """Of which devices nothing is known at this moment and why, one sentence for each."""
        if not self.devices:
            return ("there is no evidence of any device",)
        return tuple(why for item in self.devices if (why := self.lacking_of(item, now)))

    def lacking_of(self, item: DeviceSeen, now: datetime.datetime) -> str:
        """Why the evidence of one device does not count at this moment; empty if it does."""
        if item.wrong or not item.read:
            return item.wrong or f"there is no evidence of {item.device}"
        read = datetime.datetime.fromisoformat(item.read)
        if read > now:
            return f"the evidence of {item.device} is of {item.read}, which is yet to come"
        if now - read > datetime.timedelta(hours=self.max_age_h):
            return f"the evidence of {item.device} is of {item.read}, older than {age_text(self.max_age_h)}"
        return ""

    def denied(self, now: datetime.datetime) -> tuple[str, ...]:
        """The devices that were seen not to be so, one sentence for each, by evidence that counts at this moment."""
        return tuple(
            f"{item.device} said so at {item.read} ({item.file})"
            for item in self.devices
            if not item.holds and not self.lacking_of(item, now)
        )

    def value(self, now: datetime.datetime) -> bool | None:
        """False if one device was seen not to be so; else None, if of one nothing is known."""
        if self.denied(now):
            return False
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
