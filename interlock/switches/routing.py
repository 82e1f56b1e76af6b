"""Compares the addresses of a switch, VRF by VRF: each joins what is in its VLAN to what else is in that VRF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.model.site.inventory import Switch

from .findings import NOBODY, NOT_SAID, SITE_FILE, FindingKind, SwitchFinding
from .observed import ObservedSwitch, joined, ranges_text

#: What readers call the routing instance that every switch has.
DEFAULT_VRF = "default"


def routing_findings(switch: Switch, observed: ObservedSwitch) -> Iterator[SwitchFinding]:
    """A VRF whose VLANs differ, one that nobody states, and what the switch does not say.

    Of the default one nothing is compared where the site states no addresses in it.
    """
    stated = _stated(switch)
    if observed.routed is None:
        if stated:
            words = _words(stated)
            yield _finding(FindingKind.UNKNOWN, switch.name, "addresses", words, NOT_SAID, SITE_FILE)
        return
    found = dict[str, set[int]]()
    for item in observed.routed:
        found.setdefault(item.vrf or "", set()).add(item.vlan)
    unsaid = found.pop("", set[int]())
    for name in sorted({*stated, *found}, key=lambda name: (name != DEFAULT_VRF, name)):
        yield from _vrf(switch, name, stated.get(name), found.get(name, set()), unsaid)
    if strange := unsaid - set().union(*stated.values()) if stated else set():
        said = f"it has some in VLANs {_text(strange)}, and not in which VRF"
        yield _finding(FindingKind.DIFFERENT, switch.name, "addresses", _words(stated), said, SITE_FILE)
    elif unsaid and stated:
        said = f"not in which VRF it has those in VLANs {_text(unsaid)}"
        yield _finding(FindingKind.UNKNOWN, switch.name, "addresses", _words(stated), said, SITE_FILE)


def _stated(switch: Switch) -> dict[str, set[int]]:
    """VRF -> the VLANs in which the site states an address there."""
    named = {vrf.name: {*vrf.vlans} for vrf in switch.vrfs}
    return named if switch.routed_vlans is None else {DEFAULT_VRF: {*switch.routed_vlans}} | named


def _vrf(
    switch: Switch, name: str, stated: set[int] | None, found: set[int], unsaid: set[int]
) -> Iterator[SwitchFinding]:
    about = "addresses" if name == DEFAULT_VRF else f"VRF {name}"
    said = f"it has some in {_text(found)}"
    if stated is None:
        # Of addresses in the default VRF nobody has to state anything; then all of them are unknown to the proof.
        if name != DEFAULT_VRF:
            yield _finding(FindingKind.UNSTATED, switch.name, about, "states it", said, NOBODY)
    elif found - stated or (stated - found) - unsaid:
        words = f"has addresses in VLANs {_text(stated)}"
        yield _finding(FindingKind.DIFFERENT, switch.name, about, words, said, SITE_FILE)


def _words(stated: Mapping[str, set[int]]) -> str:
    parts = [
        f"in VLANs {_text(vlans)}" if name == DEFAULT_VRF else f"of VRF {name} in VLANs {_text(vlans)}"
        for name, vlans in stated.items()
    ]
    return f"has addresses {' and '.join(parts)}"


def _text(vlans: set[int]) -> str:
    return ranges_text(joined(tuple((vlan, vlan) for vlan in vlans)))


def _finding(found: FindingKind, switch: str, about: str, stated: str, says: str, by: str) -> SwitchFinding:
    return SwitchFinding(found, switch, None, "", about, stated, says, by)
