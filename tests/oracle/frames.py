"""One port of one switch: which frames it sends out for a VLAN, and into which VLAN it takes a frame.

Tag 0 stands for an untagged frame. The second value of each answer is whether it is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from interlock.model.site.inventory import SwitchPortConfig

UNTAGGED = 0
Answer = Iterator[tuple[int, bool]]


class Setting(NamedTuple):
    """How a port is, or will be, configured."""

    mode: str
    untagged: int | None = None
    tagged: tuple[tuple[int, int], ...] | None = ()
    tag_native: bool | None = None
    translations: tuple[tuple[int, int], ...] = ()
    role: str | None = None
    #: Neutron's driver adds to the list.
    filled: bool = False

    def lists(self, vlan: int) -> bool:
        """The trunk's list names this VLAN; one without a list names all."""
        return self.tagged is None or any(first <= vlan <= last for first, last in self.tagged)

    def translated(self) -> list[tuple[int, int]]:
        """(id on the wire, VLAN inside) of what the list lets through by either."""
        return [(wire, inner) for wire, inner in self.translations if self.lists(wire) or self.lists(inner)]


#: A port that no record tells about: anything may be so.
UNKNOWN = Setting("unknown")


def setting_of(config: SwitchPortConfig, networks: Iterable[int]) -> Setting:
    """A port as the site file has it; `networks`: the VLANs that networks have on this switch."""
    filled = config.filled_by is not None and config.mode == "trunk" and config.tagged is not None
    tagged = (*(config.tagged or ()), *((vlan, vlan) for vlan in networks)) if filled else config.tagged
    return Setting(
        config.mode, config.untagged, tagged, config.tag_native, config.translations, config.private_vlan, filled
    )


def sent(setting: Setting, vlan: int, ids: Iterable[int]) -> Answer:
    """Tags with which a frame of this VLAN leaves the port."""
    if setting.mode in ("unknown", "dot1q-tunnel"):
        yield from ((tag, False) for tag in (UNTAGGED, *ids))
    elif setting.mode == "access" and setting.untagged == vlan:
        yield UNTAGGED, True
    elif setting.mode == "trunk":
        yield from _sent_by_trunk(setting, vlan)


def _sent_by_trunk(setting: Setting, vlan: int) -> Answer:
    if vlan == setting.untagged:
        if setting.tag_native is not True:
            yield UNTAGGED, setting.tag_native is False
        if setting.tag_native is not False:
            yield vlan, setting.tag_native is True
        return
    mapped = [wire for wire, inner in setting.translated() if inner == vlan]
    if setting.lists(vlan) and not mapped:
        # Where another VLAN goes by this id on the wire, the make of the switch decides who has it.
        yield vlan, not any(wire == vlan for wire, _ in setting.translated())
    yield from ((wire, setting.lists(vlan)) for wire in mapped)


def received(setting: Setting, tag: int, ids: Iterable[int]) -> Answer:
    """VLANs into which a frame with this tag comes."""
    if setting.mode in ("unknown", "dot1q-tunnel"):
        yield from ((vlan, False) for vlan in ids)
    elif setting.mode == "access" and setting.untagged is not None and tag == UNTAGGED:
        yield setting.untagged, True
    elif setting.mode == "trunk":
        yield from _received_by_trunk(setting, tag)


def _received_by_trunk(setting: Setting, tag: int) -> Answer:
    if tag == UNTAGGED:
        if setting.untagged is not None and setting.tag_native is not True:
            yield setting.untagged, setting.tag_native is False
        return
    mapped = [inner for wire, inner in setting.translated() if wire == tag]
    yield from ((inner, setting.lists(inner)) for inner in mapped if inner != setting.untagged)
    yield from ((i, setting.tag_native is True) for w, i in setting.translations if (w, i) == (tag, setting.untagged))
    if tag == setting.untagged:
        # Most switches take the VLAN that they send without a tag with it as well, whether or not the list names it.
        yield tag, setting.tag_native is True
    elif setting.lists(tag) and not any(inner == tag for _, inner in setting.translated()):
        yield tag, not mapped


def carried(setting: Setting, ids: Iterable[int]) -> Answer:
    """VLANs of a port on which whoever may send any frame is heard: the native one and every one it takes tagged."""
    if setting.mode in ("unknown", "dot1q-tunnel"):
        yield from ((vlan, False) for vlan in ids)
        if setting.untagged is not None:
            yield setting.untagged, True
    elif setting.mode == "access" and setting.untagged is not None:
        yield setting.untagged, True
    elif setting.mode == "trunk":
        yield from ((vlan, True) for vlan in ids if vlan == setting.untagged or _is_taken(setting, vlan))


def _is_taken(setting: Setting, vlan: int) -> bool:
    return setting.lists(vlan) or any(inner == vlan for _, inner in setting.translated())
