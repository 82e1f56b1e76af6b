"""How the subnet manager behind a UFM is set, as far as UFM says it: which keys are set, and never a key itself.

What counts as set is what NVIDIA's infrastructure controller asks of a fabric with several tenants (its InfiniBand
runbook): an M_Key other than 0, an SM_Key and an SA_Key other than 1, an M_Key of its own for each port, and `limited`
as the membership that everybody has in the default partition. Everything else of that runbook stands in files of
UFM's host (`gv.cfg`, `opensm.conf`), which no call shows: P_Keys enforced by switches, `allowed_sm_guids`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.vocabulary.digits import is_number

from .answers import UfmMisread, default_of, prefix_of

#: Key of `/app/smconf` -> the value that OpenSM has where nobody set one.
_UNSET = {"m_key": 0, "sm_key": 1, "sa_key": 1}
#: What a setting is called for people.
NAMES = {"m_key": "M_Key", "sm_key": "SM_Key", "sa_key": "SA_Key", "m_key_per_port": "an M_Key for each port"}


@dataclass(frozen=True)
class ManagerSaid:
    """What one UFM says of its subnet manager; each value is None where it does not say it."""

    prefix: str
    #: `m_key`, `sm_key`, `sa_key`, `m_key_per_port` -> whether it is set.
    keys: Mapping[str, bool | None]
    #: True if everybody is a limited member of the default partition unless told otherwise.
    default_limited: bool | None
    #: GUIDs that are full members of the default partition all the same; None: it does not say who is in it.
    full_in_default: frozenset[str] | None


def keys_of(value: Any) -> dict[str, bool | None]:
    """Which keys are set, of the answer about the manager's configuration. Raises `UfmMisread`."""
    if not isinstance(value, Mapping):
        raise UfmMisread("the subnet manager's configuration is no object")
    found = {name: _is_set(name, value.get(name), unset) for name, unset in _UNSET.items()}
    per_port = value.get("m_key_per_port")
    if isinstance(per_port, str) and per_port.lower() in ("true", "false"):
        per_port = per_port.lower() == "true"
    return found | {"m_key_per_port": per_port if isinstance(per_port, bool) else None}


def _is_set(name: str, value: Any, unset: int) -> bool | None:
    if value is None or value == "" or isinstance(value, bool):
        return None
    text = str(value).strip().lower()
    digits = text.removeprefix("0x")
    if text.startswith("0x") and digits and not digits.strip("0123456789abcdef"):
        return int(digits, 16) != unset
    if is_number(text):
        return int(text) != unset
    # The value is not shown: it may be a key.
    raise UfmMisread(f"its {NAMES[name]} is no number")


def manager_of(configuration: Any, default: Any) -> ManagerSaid:
    """Of both answers. Raises `UfmMisread` and KeyError."""
    limited, full = default_of(default)
    return ManagerSaid(prefix_of(configuration["subnet_prefix"]), keys_of(configuration), limited, full)
