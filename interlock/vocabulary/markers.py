"""Whose an object on the cloud is: `interlock:<owner id>:<plan name>`, and names of key pairs, which say the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .owners import OwnerId

_CARRIED = re.compile(r"^(?:(?P<text>.*) )?interlock:(?P<owner>[^\s:]+):(?P<name>[^\s:]+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Marker:
    """What an object of ours carries where a tenant cannot write it."""

    owner: OwnerId
    #: Plan name.
    name: str

    @classmethod
    def carried_by(cls, value: str) -> tuple[str, Marker | None]:
        """What else a description or a name says, and the marker that stands last in it."""
        found = _CARRIED.match(value)
        return (value, None) if found is None else (found["text"] or "", cls(OwnerId(found["owner"]), found["name"]))

    @classmethod
    def named(cls, text: str) -> Marker | None:
        """From a text that is a marker and nothing else; None for every other text."""
        other, found = cls.carried_by(text)
        return None if other else found

    @classmethod
    def parse(cls, text: str) -> Marker:
        """From the text of a marker. Raises ValueError if it is none."""
        found = cls.named(text)
        if found is None:
            raise ValueError(f"{text!r} is no marker: interlock:<owner id>:<plan name>")
        return found

    def __str__(self) -> str:
        return f"interlock:{self.owner}:{self.name}"


@dataclass(frozen=True, slots=True)
class KeypairName:
    """The name of a key pair on the cloud, `<name>-<owner id>`: Nova gives it no other field for a marker.

    Whose it is counts only where the owner id is known; an owner id has no dash.
    """

    name: str
    owner: OwnerId

    @classmethod
    def parse(cls, text: str) -> KeypairName:
        """From any name; `name` is empty for one without a dash."""
        name, _, owner = text.rpartition("-")
        return cls(name, OwnerId(owner))

    def __str__(self) -> str:
        return f"{self.name}-{self.owner}"
