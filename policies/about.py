"""What a finding is about, and the facts that it rests on, as values; their text is made where they are shown.

A rule names its subjects: resources and components of the plan, devices of the site, facts. It may name what is another
owner's as well: which of them the plan and the site have is decided in `policies.findings.spec_entries`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PlanResource:
    """A resource, by its plan name."""

    name: str


@dataclass(frozen=True)
class PlanComponent:
    """A component of the plan, such as a vPOD or a tenant's project, by its name."""

    name: str


@dataclass(frozen=True)
class SiteDevice:
    """A switch, machine or host of the site."""

    name: str


@dataclass(frozen=True)
class SiteFact:
    """A fact that has a place in the site file: `assumptions.A3.no_forwarding`, `switches.tor-1.ports.33`."""

    path: str

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Alike:
    """What is wrong in the same words with several things, and with which of them here: a report may say it once."""

    why: str
    #: What it is said of, as in `rack A1 in hall-1`.
    of: str


@dataclass(frozen=True)
class UndeclaredSharing:
    """The site file declares no sharing of a kind."""

    kind: str

    def __str__(self) -> str:
        return f"sharing declares no {self.kind}"


@dataclass(frozen=True)
class OpenScope:
    """An address scope or subnet pool that every project may use, or a subnet outside that is in no scope."""

    #: `address scope`, `subnet pool` or `subnet`.
    kind: str
    #: Its plan name, or a reference to the site's.
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def why(self) -> str:
        """What is wrong with it."""
        if self.kind == "subnet":
            return "it is in no address scope of its own family, IPv4 or IPv6"
        return "every project may use it"

    @classmethod
    def parse(cls, text: str) -> OpenScope:
        """From what `str` writes, which is how premises have it."""
        kind, _, name = text.rpartition(" ")
        return cls(kind, name)


@dataclass(frozen=True)
class ScopeIsShared:
    """The guards of a gateway count for nothing, since tenants may use a scope, or nothing outside is in one."""

    scope: OpenScope

    def __str__(self) -> str:
        if self.scope.kind == "subnet":
            return f"{self.scope} is in no address scope of its family"
        return f"{self.scope} is shared with tenants"


@dataclass(frozen=True)
class SaidFact:
    """A fact that has no place in the site file, in words."""

    words: str

    def __str__(self) -> str:
        return self.words


#: What an edge, a grant or a finding rests on.
Fact = SiteFact | UndeclaredSharing | ScopeIsShared | SaidFact
Subject = PlanResource | PlanComponent | SiteDevice | SiteFact | UndeclaredSharing


@dataclass(frozen=True)
class Reason:
    """Why something is wrong, in words, and the subjects that these name."""

    words: str
    about: tuple[Subject, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.words


def resources(*names: str | None) -> tuple[PlanResource, ...]:
    """Resources of these names; None is nobody's."""
    return tuple(PlanResource(name) for name in names if name is not None)


def components(*names: str | None) -> tuple[PlanComponent, ...]:
    """Components of these names; None is nobody's."""
    return tuple(PlanComponent(name) for name in names if name is not None)


def devices(*names: str) -> tuple[SiteDevice, ...]:
    """Devices of these names."""
    return tuple(map(SiteDevice, names))


def in_order(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Each fact once, in the order of their texts."""
    return tuple(sorted(set(facts), key=str))


def listed(facts: Iterable[Fact]) -> str:
    """Facts in words: `assumptions.A3.no_forwarding, sharing declares no bastion`."""
    return ", ".join(map(str, facts))


def with_places(facts: Iterable[Fact]) -> tuple[SiteFact | UndeclaredSharing, ...]:
    """Those of the facts that have a place in the site file."""
    return tuple(fact for fact in facts if isinstance(fact, SiteFact | UndeclaredSharing))
