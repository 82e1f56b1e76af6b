"""LAGs and MLAGs: the switch ports of one bundle are one logical port (docs/design/semantics.md §4, E1).

Whatever is set on one member holds for the bundle: a frame may leave by any of its cables. So each member carries what
any of them carries; only one that is disabled carries nothing, and gives nothing to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interlock.model.site.inventory import Lag, Site

from .port_modes import PortMode, SwitchEnd, is_disabled


class LogicalPorts:
    """The bundles of a site, by switch port; every other port is a logical port by itself."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._groups = _groups(site)

    def bundle(self, end: SwitchEnd) -> tuple[SwitchEnd, ...]:
        """All ports of a logical port; of a port in no bundle that one alone."""
        return self._groups.get(end, (end,))

    def set_with(self, end: SwitchEnd) -> tuple[SwitchEnd, ...]:
        """Those by which a plan sets a port: also a disabled one of its bundle, which is in use once a plan says so."""
        return (end,) if is_disabled(self.site, end) else self.bundle(end)

    def members(self, end: SwitchEnd) -> tuple[SwitchEnd, ...]:
        """Those that are set like a port: all of its bundle, but a disabled one is like no other."""
        return tuple(port for port in self.set_with(end) if port == end or not is_disabled(self.site, port))


def _groups(site: Site) -> dict[SwitchEnd, tuple[SwitchEnd, ...]]:
    """Switch port -> all ports of its logical port, in order; of ports in no bundle nothing.

    A bundle names the interfaces of one device. What they are cabled to is a bundle as well, of one switch or of two.
    """
    group: dict[SwitchEnd, list[SwitchEnd]] = {}
    for lag in site.lags:
        for members in (_near(site, lag), _far(site, lag)):
            _join(group, members)
    return {end: tuple(sorted(found, key=_place)) for end, found in group.items() if len(found) > 1}


def _near(site: Site, lag: Lag) -> list[SwitchEnd]:
    return [] if lag.device not in site.switch else [SwitchEnd.at(lag.device, name) for name in lag.interfaces]


def _far(site: Site, lag: Lag) -> list[SwitchEnd]:
    ends = (site.far_end(lag.device, name) for name in lag.interfaces)
    return [SwitchEnd.at(end.device, end.interface) for end in ends if end is not None and end.device in site.switch]


def _place(end: SwitchEnd) -> tuple[str, int]:
    return end.switch, end.port


def _join(group: dict[SwitchEnd, list[SwitchEnd]], members: Iterable[SwitchEnd]) -> None:
    """Put these into one group with all that each of them is in already."""
    whole = list(dict.fromkeys(other for end in members for other in group.get(end, [end])))
    for end in whole:
        group[end] = whole


def _tag_native(modes: Sequence[PortMode]) -> bool | None:
    """Of those members alone that have a native VLAN; of the whole where none has."""
    stated = {mode.tag_native for mode in modes if mode.untagged} or {mode.tag_native for mode in modes}
    return stated.pop() if len(stated) == 1 else None


def one_mode(modes: Sequence[PortMode]) -> PortMode:
    """What a port carries that is set in any of these ways."""
    first, *others = distinct = tuple(dict.fromkeys(modes))
    if not others:
        return first
    lists = [mode.tagged for mode in distinct]
    return PortMode(
        known=all(mode.known for mode in distinct),
        untagged=frozenset().union(*(mode.untagged for mode in distinct)),
        tagged=None if None in lists else tuple(dict.fromkeys(item for found in lists for item in found or ())),
        tag_native=_tag_native(distinct),
        # Certain where some member surely sends it without its tag.
        perhaps_tagged=frozenset()
        .union(*(mode.perhaps_tagged for mode in distinct))
        .difference(*(mode.untagged - mode.perhaps_tagged for mode in distinct)),
        translations=tuple(dict.fromkeys(pair for mode in distinct for pair in mode.translations)),
        # Members with two roles: whoever is behind them may hear what either hears, and a promiscuous port hears all.
        private=first.private if len({mode.private for mode in distinct}) == 1 else None,
        unmodelled=any(mode.unmodelled for mode in distinct),
        routed=any(mode.routed for mode in distinct),
        filled=frozenset().union(*(mode.filled for mode in distinct)),
        members=distinct,
    )
