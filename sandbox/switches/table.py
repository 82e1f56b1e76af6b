"""The state of a switch, as far as VLANs go, and what a state is applied to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class PortState:
    """One port as it is configured.

    What does not belong to the mode is kept, as a switch does, and has no effect. `native_vlan` None: untagged frames
    are dropped. `allowed` are the VLANs of a trunk, ascending; the native one is carried only if it is among them.
    """

    enabled: bool
    mode: Literal["access", "trunk"]
    access_vlan: int
    native_vlan: int | None
    allowed: tuple[int, ...]


@dataclass(frozen=True)
class SwitchState:
    """One switch as it is configured. A VLAN that is not in `vlans` is not forwarded, whatever the ports say."""

    name: str
    ports: Mapping[str, PortState]  # by vendor name
    vlans: Mapping[int, str]


class Backend(Protocol):
    """What the command line works on: a file, or bridges that forward frames.

    The command line calls `load` once and `apply` for each command that changes anything, one at a time. An exception
    from `apply` says that nothing was changed: the command is answered with an error and its effect is forgotten.
    """

    def load(self) -> SwitchState:
        """The state as it was last applied, or the initial one."""

    def apply(self, before: SwitchState, after: SwitchState) -> None:
        """Make the second state of the first one."""
