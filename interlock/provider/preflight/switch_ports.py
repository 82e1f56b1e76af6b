"""May the operator bind switch ports, and are those free that are to be bound?"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from interlock.provider.actuators.switch_port import ONE_WRITER, binds, bound_by, bound_ports
from interlock.provider.clouds import Cloud
from interlock.provider.markers import owner_of, split
from interlock.provider.switch_readings import SIDE_BY_SIDE, SwitchReadings
from interlock.provider.switch_settings import taken_from
from interlock.resources import Admission, SwitchPort
from interlock.switches.errors import SwitchUnread

from .faults import Fault, NotLookedAt, planned

if TYPE_CHECKING:
    from interlock.switches.observed import ObservedSwitch

#: Role that Neutron's default policies ask of whoever writes `binding:profile`; an administrator's is not enough.
BINDING_ROLE = "service"


def binding_role(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Without the role Neutron refuses the first switch port, half-way through the apply."""
    wired = sum(1 for _ in planned(admission, SwitchPort))
    if wired and BINDING_ROLE not in cloud.login.roles:
        have = ", ".join(sorted(cloud.login.roles)) or "none"
        yield Fault(
            "credential",
            f"the plan has {wired} switch ports for Neutron to wire, and the user of cloud {cloud.name!r} has no role "
            f"{BINDING_ROLE} in its project (roles: {have}): Neutron lets nobody else write binding profiles",
            f"`openstack role add --user {cloud.login.user} --project {cloud.login.project} {BINDING_ROLE}`, or let "
            "another hand wire these switches (`wired_by` in the site file)",
        )


def free_switch_ports(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Switch ports that another's Neutron port is bound to already."""
    wanted = [spec for _, spec in planned(admission, SwitchPort)]
    if not wanted:
        return
    for raw in bound_ports(cloud):
        for spec in wanted:
            if binds(raw, spec) and owner_of(split(raw["description"])[1]) != admission.owner:
                yield Fault("switch port", bound_by(spec, raw), ONE_WRITER)


def resting_switch_ports(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Switch ports that their switch says are in use: what Neutron does not know of is set by somebody else.

    A port is taken from rest (shut, in quarantine, or as delivered), or where it is as planned already.
    """
    by_switch = dict[tuple[str, str | None], list[SwitchPort]]()
    for _, spec in planned(admission, SwitchPort):
        by_switch.setdefault((spec.switch, spec.switch_mac), []).append(spec)
    if cloud.switches is None or not by_switch:
        return
    # Side by side: each that hangs takes a reader's time limit, and all of them together no more than that.
    with ThreadPoolExecutor(min(len(by_switch), SIDE_BY_SIDE)) as pool:
        answers = [*pool.map(partial(_said, cloud.switches), by_switch)]
    for (switch, specs), said in zip(by_switch.items(), answers, strict=True):
        if isinstance(said, SwitchUnread):
            yield NotLookedAt("switch port", f"switch {switch[0]}: {said.what}", said.hint)
            continue
        for spec in specs:
            if taken := taken_from(spec, said):
                yield Fault("switch port", f"{taken}: it is neither at rest nor as planned", _IN_USE)


def _said(switches: SwitchReadings, switch: tuple[str, str | None]) -> ObservedSwitch | SwitchUnread:
    """What a switch, of this name and MAC address, says; or why it could not be read."""
    try:
        return switches.now(*switch)
    except SwitchUnread as unread:
        return unread


_IN_USE = (
    "a former tenant's VLAN stays on a port whose switch was down when it was released, and people set ports by hand: "
    "see who uses it (`interlock switches`), set it to rest, then go on"
)
