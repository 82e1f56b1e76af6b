"""What racks are made of besides machines: PDUs, feeds, cooling methods with their limits, heights and loads."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .facts import Fact, derived, practice, primary, remembered

_NETBOX = "NetBox community, device type library, AP8886"
_CABINET = "NetBox community, rack types, APC AR3300, a usual cabinet of 42 U"
_NOTES = "operators' notes on AI infrastructure, rev. 2026-06-18"
_RULE_OF_THUMB = f"{_NOTES}: a rule of thumb, makers go beyond it; state the room's own limit"


@dataclass(frozen=True)
class PduModel:
    """A power distribution unit. `capacity` of all phases together; each bank has a breaker of its own."""

    name: str
    capacity: Fact[int]
    phases: Fact[int]
    current: Fact[int]
    banks: Fact[int]
    bank_current: Fact[int]
    #: (kind of outlet, how many).
    outlets: Fact[tuple[tuple[str, int], ...]]
    height: Fact[int]
    weight: Fact[Decimal] | None


@dataclass(frozen=True)
class FeedKind:
    """How power comes to a rack. `capacity` is what one feed of this kind can carry before any derating."""

    name: str
    voltage: Fact[int]
    capacity: Fact[int] | None


@dataclass(frozen=True)
class CoolingMethod:
    """A way to take heat from a rack, with the most that is usually said to be possible."""

    name: str
    limit: Fact[int]


APC_AP8886 = PduModel(
    name="apc-ap8886",
    capacity=practice(22000, "W", _NETBOX),
    phases=practice(3, "", "an operator's notes on the APC AP8886: three-phase, two banks on each"),
    current=practice(32, "A", _NETBOX),
    banks=practice(6, "", "an operator's notes on the APC AP8886: three-phase, two banks on each"),
    bank_current=practice(16, "A", "an operator's notes on the APC AP8886: more trips the bank's breaker"),
    outlets=practice((("C13", 30), ("C19", 12)), "", _NETBOX),
    height=practice(0, "U", f"{_NETBOX}: stands beside the units"),
    weight=None,
)

#: Every PDU of the catalogue.
PDUS = {model.name: model for model in (APC_AP8886,)}

#: PDUs that one logical rack needs: both power inputs of a machine on one PDU are no redundancy.
PDUS_PER_LOGICAL_RACK = primary(
    2, "", "Graphcore, IPU-POD direct-attach build and test guide, kit: two; an older bill of material has one"
)

#: Every kind of feed of the catalogue.
FEEDS = {
    kind.name: kind
    for kind in (
        FeedKind(
            "three-phase-32a",
            practice(400, "V", f"{_NETBOX}: 230 V between phase and neutral"),
            derived(22000, "W", "3 × 230 V × 32 A, as the APC AP8886 is rated"),
        ),
        FeedKind("hvdc", practice(400, "V", f"{_NOTES}: rooms should be ready for it"), None),
    )
}

#: Share of a feed that may be drawn for long. Only a suggestion: the site states its own.
FEED_DERATE = remembered(
    Decimal("0.8"), "", "rule for continuous loads, remembered, not read: take it from the electrician"
)

#: Every cooling method that a rack may name.
COOLING_METHODS = {
    method.name: method
    for method in (
        CoolingMethod("room-air", practice(15000, "W", _RULE_OF_THUMB)),
        CoolingMethod("in-row-air", practice(30000, "W", _RULE_OF_THUMB)),
        CoolingMethod("rear-door", practice(50000, "W", _RULE_OF_THUMB)),
        CoolingMethod("direct-to-chip", practice(150000, "W", _RULE_OF_THUMB)),
        CoolingMethod("immersion", practice(200000, "W", f"{_RULE_OF_THUMB}; two-phase baths go beyond")),
    )
}

#: Usual heights of racks for AI systems; 42 is the usual one elsewhere.
RACK_HEIGHTS = practice((52, 60), "U", f"{_NOTES}: from 52 to 60")

#: What a rack stands on, and what it weighs with nothing in it: no site file states either.
RACK_AREA = practice(Decimal("0.72"), "m²", f"{_CABINET}: 600 mm × 1200 mm")
RACK_WEIGHT = practice(Decimal("134.09"), "kg", f"{_CABINET}: empty")

#: Static load that the floor of a hall for AI systems should carry.
FLOOR_LOAD = practice(1500, "kg/m²", f"{_NOTES}: at least")
