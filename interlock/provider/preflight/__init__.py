"""Preflight: finds what would fail later by asking the cloud, read-only, and reports all of it at once.

It runs before every apply, also when nothing is to do: what exists already as ours is counted as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from interlock.provider.asked_once import SharedAnswers, sharing
from interlock.provider.calls import reading
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.resources import Admission

from .addresses import free_addresses
from .bare_metal import whole_hosts
from .capacity import hosts, key_pairs, quotas, virtual_functions
from .encryption import encrypted_types, hand_over, key_manager
from .faults import Fault, NotLookedAt, of_failure
from .host_room import pinned_room
from .names import free_names
from .partitions import fabric_managers, free_partitions
from .passed_devices import passed_devices
from .presence import copies, credential, domains, existing, image_files, referred
from .segments import free_segments, reserved_segments
from .shares import shares
from .switch_ports import binding_role, free_switch_ports, resting_switch_ports
from .vipu import controllers

Look = Callable[[Cloud, Admission], Iterator[Fault]]

#: Looks at what is to be created only: what is there has its name and its segment already, also where somebody took
#: off the marker that says whose it is, which the same `up` puts back.
OF_THE_NEW: tuple[Look, ...] = (
    free_names, free_segments, free_addresses, free_switch_ports, resting_switch_ports,
    free_partitions,
)  # fmt: skip

#: What the proof rests on is looked at in each update, however young its preview: a network that took a planned VLAN,
#: or an object or fabric of the site that is another by now, would be no refusal later but a leak.
OF_THE_PROOF: tuple[Look, ...] = (existing, reserved_segments, fabric_managers)

#: Every look, in the order in which faults are told.
LOOKS: tuple[Look, ...] = (
    credential,
    binding_role,
    domains,
    existing,
    referred,
    free_names,
    image_files,
    copies,
    key_manager,
    encrypted_types,
    hand_over,
    hosts,
    virtual_functions,
    pinned_room,
    passed_devices,
    reserved_segments,
    free_segments,
    free_addresses,
    free_switch_ports,
    resting_switch_ports,
    fabric_managers,
    free_partitions,
    controllers,
    whole_hosts,
    shares,
    quotas,
    key_pairs,
)


def preflight(
    admission: Admission, cloud: Cloud | None = None, creates: frozenset[str] | None = None, was_clear: bool = False
) -> list[Fault]:
    """Everything that stands in the way of the apply; empty if nothing does. Never raises `Failure`.

    `creates` are plan names of what does not exist yet, where a preview has found that out; else it may be all. None
    are named while that preview runs: then names and segments are not looked at. `was_clear`: that preview found
    nothing a moment ago; only what it could not look at and what the proof rests on is left.
    """
    cloud = cloud or Cloud(admission.cloud, site_region=admission.region)
    try:
        # Logging in first: without it each look would report the same.
        _ = cloud.login
    except Failure as failure:
        return [of_failure("cloud", failure)]
    new = [item for item in admission.resources if creates is None or item.name in creates]
    looks = dict.fromkeys(OF_THE_PROOF if was_clear else LOOKS, admission) | dict.fromkeys(
        OF_THE_NEW, admission.model_copy(update={"resources": tuple(new)})
    )
    answers = SharedAnswers()
    with ThreadPoolExecutor(len(looks)) as pool:
        results = [pool.submit(_look, look, cloud, about, answers) for look, about in looks.items()]
    return [fault for result in results for fault in result.result()]


def _look(look: Look, cloud: Cloud, admission: Admission, answers: SharedAnswers) -> list[Fault]:
    try:
        with sharing(answers):
            return reading(lambda: list(look(cloud, admission)))
    except Failure as failure:
        return [of_failure(look.__name__, failure)]


__all__ = ["Fault", "NotLookedAt", "preflight"]
