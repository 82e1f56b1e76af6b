"""Persons: users whom the cloud knows and no plan makes, each by name and Keystone domain."""

from __future__ import annotations

from dataclasses import dataclass

#: Keystone's first domain: people write its id or its name.
DEFAULT_DOMAIN = "default"


@dataclass(frozen=True, slots=True)
class Person:
    """`alice@ops`: a name is a person's in one domain only. `alice` is the one in Keystone's domain `default`."""

    name: str
    domain: str = DEFAULT_DOMAIN

    @classmethod
    def parse(cls, text: str, domain: str = DEFAULT_DOMAIN) -> Person:
        """From `name@domain`, or a name alone in the domain given. Raises ValueError if either is empty.

        The last `@` divides: a name with one in it, as of an address, needs its domain behind it.
        """
        name, at, stated = text.rpartition("@")
        name, where = (name, stated) if at else (text, domain)
        if not (name and where):
            raise ValueError(f"{text!r} names no person: <name> or <name>@<domain>")
        return cls(name, DEFAULT_DOMAIN if where.lower() == DEFAULT_DOMAIN else where)

    def __str__(self) -> str:
        """One text for one person: without the domain where it is Keystone's first, unless the name has an `@`."""
        is_short = self.domain == DEFAULT_DOMAIN and "@" not in self.name
        return self.name if is_short else f"{self.name}@{self.domain}"
