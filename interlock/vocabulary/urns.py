"""What the engine calls a resource: its type token and its URN."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_PACKAGE = "interlock"
_START = "urn:pulumi:"


class TypeModule(StrEnum):
    """The module of a type of ours: what the provider makes, and what only groups it."""

    INDEX = "index"
    COMPONENTS = "components"


@dataclass(frozen=True, slots=True)
class TypeToken:
    """A type of ours: `interlock:index:<kind>` or `interlock:components:<component>`."""

    module: TypeModule
    name: str

    @classmethod
    def object(cls, kind: str) -> str:
        """The token of an object's kind."""
        return str(cls(TypeModule.INDEX, kind))

    @classmethod
    def component(cls, name: str) -> str:
        """The token of a component."""
        return str(cls(TypeModule.COMPONENTS, name))

    @classmethod
    def named(cls, text: str) -> TypeToken | None:
        """From any token; None for one of another package, and for one without a name."""
        for module in TypeModule:
            head = f"{_PACKAGE}:{module}:"
            if text.startswith(head) and text != head:
                return cls(module, text.removeprefix(head))
        return None

    @classmethod
    def kind_of(cls, text: str) -> str:
        """The kind of an object of ours; empty for any other token."""
        found = cls.named(text)
        return found.name if found is not None and found.module is TypeModule.INDEX else ""

    def __str__(self) -> str:
        return f"{_PACKAGE}:{self.module}:{self.name}"


ADMIT = TypeToken.object("admit")
"""The function by which a program hands its proof to the provider."""


@dataclass(frozen=True, slots=True)
class Urn:
    """`urn:pulumi:<stack>::<project>::<types>::<name>`; `types` are those of the parents and its own, joined by `$`."""

    stack: str
    project: str
    types: str
    #: Plan name; it may hold any character.
    name: str

    @classmethod
    def parse(cls, text: str) -> Urn:
        """From the engine's text. Raises ValueError if it is no URN."""
        parts = text.removeprefix(_START).split("::", 3)
        if not text.startswith(_START) or len(parts) != 4:
            raise ValueError(f"{text!r} is no URN: {_START}<stack>::<project>::<types>::<name>")
        return cls(*parts)

    def __str__(self) -> str:
        return "::".join((f"{_START}{self.stack}", self.project, self.types, self.name))

    @property
    def token(self) -> str:
        """The resource's own type."""
        return self.types.rpartition("$")[2]

    @property
    def kind(self) -> str:
        """The last part of its type."""
        return self.token.rpartition(":")[2]
