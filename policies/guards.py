"""Which guard facts the proof uses: the assumptions of docs/design/semantics.md and the guards of declared sharing.

The names are those of `interlock.model.guards`. Each can decide a verdict: true removes edges, false adds
them, not stated makes the plan not provable. A guard that is listed nowhere but stated counts the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.model.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site import Sharing, Site

#: Guards that no site file can state yet, beside those that it can. Plans that rest on them are not provable until it
#: can: the default partition of an InfiniBand subnet, and the way from a bare-metal host to its BMC.
NOT_STATED_YET: dict[str, tuple[str, ...]] = {"A6": ("default_partition_limited",), "A13": ("in_band_closed",)}
#: Guard of A5 that counts only where two owners sit on one host.
BETWEEN_OWNERS = "mitigations"


#: Facts are named as the site file has them: `sharing.<name>.guards.<guard>`, `assumptions.<id>.<guard>`.


@dataclass(frozen=True)
class Held:
    """Whether something is held: True, False, or None with the facts that would decide it."""

    value: bool | None
    missing: tuple[str, ...] = ()
    #: Guards known to be false.
    broken: tuple[str, ...] = ()

    @staticmethod
    def of(facts: Iterable[tuple[str, bool | None]]) -> Held:
        """All of `facts` (path, value): one false decides, else one unknown does."""
        known = tuple(facts)
        broken = tuple(path for path, value in known if value is False)
        missing = tuple(path for path, value in known if value is None)
        value = False if broken else (None if missing else True)
        return Held(value=value, missing=() if broken else missing, broken=broken)


def assumption(site: Site, name: str, *, only: str | None = None, without: str | None = None) -> Held:
    """Whether an assumption is held; `only` and `without` select one of its guards or all but one."""
    stated = {guard: value for item in site.assumptions if item.id == name for guard, value in item.guards.items()}
    known = ASSUMPTION_GUARDS.get(name, ()) + NOT_STATED_YET.get(name, ())
    facts = dict.fromkeys(known) | stated
    return Held.of(
        (f"assumptions.{name}.{guard}", value)
        for guard, value in sorted(facts.items())
        if guard != without and only in (None, guard)
    )


def sharing(site: Site, declarations: Iterable[Sharing]) -> Held:
    """Whether all guards of these are held. An external network without an address scope filters nothing."""
    stated: list[tuple[str, bool | None]] = []
    for declared in declarations:
        facts = dict.fromkeys(SHARING_GUARDS[declared.kind]) | declared.guards
        head = f"sharing.{declared.name}.guards"
        stated += [(f"{head}.{guard}", value) for guard, value in sorted(facts.items())]
        if declared.kind == "external-network":
            stated.append(("external.address_scope", site.external.address_scope is not None))
    return Held.of(stated)
