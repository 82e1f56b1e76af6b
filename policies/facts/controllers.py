"""The V-IPU controllers of a plan, and what was read of each that counts at the moment of the proof."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.site.controller_readings import MAX_AGE_H, ControllerSeen

from .kinds import PlanFacts, ServerFact
from .site import SiteFacts


@dataclass(frozen=True)
class ControllerFacts:
    """A controller, and the reading of it that counts, or why none does."""

    name: str
    vpod: str | None
    seen: ControllerSeen | None
    #: Why there is none; empty where there is one.
    why: str = ""
    #: What was read, however long ago: what it found open is open until somebody has seen otherwise.
    last: ControllerSeen | None = None

    @property
    def witness(self) -> tuple[str, ...]:
        """What is known, and from which file."""
        if self.seen is None:
            return (f"controller {self.name}", self.why)
        return (f"controller {self.name}", _said_by(self.seen))

    @property
    def last_witness(self) -> tuple[str, ...]:
        """The same of what was read, however long ago."""
        return self.witness if self.last is None else (f"controller {self.name}", _said_by(self.last))


def _said_by(seen: ControllerSeen) -> str:
    return f"{seen.file}, read {seen.read} by {seen.by}"


def controllers_of(plan: PlanFacts) -> list[ServerFact]:
    """What runs as a controller, and what an allocation names as one."""
    named = {item.controller for item in plan.allocations}
    return [item for item in plan.servers if item.is_controller or item.name in named]


def controllers_read(plan: PlanFacts, site: SiteFacts) -> list[ControllerFacts]:
    """Controllers that there is a file of, and all if the site wants a reading of each."""
    terms = None if site.site.controller is None else site.site.controller.readings
    files = {item.name: item for item in site.site.controllers_read if item.tenant == plan.owner}
    max_age_h = MAX_AGE_H if terms is None else terms.max_age
    found = list[ControllerFacts]()
    for server in controllers_of(plan):
        seen = files.get(server.name)
        if seen is None and terms is not None:
            found.append(ControllerFacts(server.name, server.vpod, None, f"nobody has read {server.name}"))
        elif seen is not None:
            why = seen.too_old(site.moment, max_age_h)
            found.append(ControllerFacts(server.name, server.vpod, None if why else seen, why, seen))
    return found
