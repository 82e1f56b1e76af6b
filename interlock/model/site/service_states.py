"""Whether machines and hosts are in service, as a site file states it; one that says nothing is `ok`.

No isolation rests on it: a machine that failed is cabled as before, and keeps its holder. So silence is no unknown
fact here: whoever had to write `ok` for each of a thousand machines would write it unseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from interlock.model.tenant.values import Reason
from interlock.model.text.names import device_names
from interlock.model.text.validation import FileModel
from interlock.model.text.values import names

from .physical import ServiceState

#: What the keys mean, wherever a state is written.
STATE = (
    "whether it is in service: one that is `failed` or in `maintenance` is given to nobody new, and whoever has it "
    "keeps it"
)
REASON = "why it is not in service, in one line; required with such a state"
STATES = "machines or hosts that are not in service, by name, also `ipum-[03-04]`; all others are `ok`"


def named(value: Any) -> Any:
    """A key of the table as it was written, if it is a name or a range of names."""
    device_names(value)
    return value


class ServiceStateFile(FileModel):
    """Whether a device of a rack is in service."""

    state: ServiceState = Field(description=STATE)
    reason: Reason | None = Field(default=None, description=REASON)


#: Name or range -> state.
StateTable = dict[Annotated[str, BeforeValidator(named)], ServiceStateFile]


def key_of(table: Mapping[str, ServiceStateFile], device: str) -> str | None:
    """The key of a table that a device is stated under; None if nothing is said of it."""
    return next((key for key in table if device in names(key)), None)


def stated(table: Mapping[str, ServiceStateFile], device: str) -> dict[str, Any]:
    """The fields of a machine or host that say whether it is in service."""
    key = key_of(table, device)
    return {} if key is None else state_fields(table[key].state, table[key].reason)


def state_fields(state: ServiceState, reason: str | None) -> dict[str, Any]:
    """State and reason, under the names that machines and hosts have for them."""
    return {"state": state, "state_reason": reason or ""}
