"""Is there room on the hosts for what Nova never gives out twice: pinned CPUs, and pages of 1 GiB."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from interlock.provider.actuators import ACTUATORS
from interlock.provider.actuators.compute import KEY
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import owner_of
from interlock.provider.references import parts, site_object
from interlock.resources import Admission, Flavor, Server, is_site_reference

from .faults import Fault, planned

CPUS, PAGES = "dedicated CPUs", "pages of 1 GiB"
_MIB_PER_PAGE = 1024


def pinned_room(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Hosts on which fewer pinned CPUs or pages are left than the plan's servers there need."""
    needed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, server in planned(admission, Server):
        fields = flavor_fields(cloud, admission, server.flavor)
        if fields is not None:
            needed[server.host].update(_pinned(fields["vcpus"], fields["ram_mib"], fields["extra_specs"]))
    for host, amounts in sorted(needed.items()):
        has = {CPUS: admission.dedicated_cpus.get(host), PAGES: admission.huge_pages.get(host)}
        others = _of_others(cloud, admission, host) if +amounts and None not in has.values() else Counter[str]()
        for what, count in sorted((+amounts).items()):
            limit = has[what]
            if limit is not None and count + others[what] > limit:
                yield Fault(
                    "host room",
                    f"host {host} has {limit} {what}: {others[what]} are used by others, the plan needs {count}",
                    "free some, or lock the servers to other hosts",
                )


def flavor_fields(cloud: Cloud, admission: Admission, reference: str) -> dict[str, Any] | None:
    """A flavour of the plan, or as it is on the cloud; None where that is not to be had, which `referred` tells."""
    if not is_site_reference(reference):
        return next((f.canonical() for name, f in planned(admission, Flavor) if name == reference), None)
    try:
        seen = ACTUATORS["Flavor"].read(cloud, site_object(cloud, admission, *parts(reference)))
    except Failure:
        return None
    return dict(seen.fields) if seen else None


def _of_others(cloud: Cloud, admission: Admission, host: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for server in cloud.api("compute").items("/servers/detail", "servers", all_tenants=1, host=host):
        if owner_of(server["metadata"].get(KEY, "")) != admission.owner:
            flavor = server["flavor"]
            found.update(_pinned(flavor["vcpus"], flavor["ram"], flavor.get("extra_specs", {})))
    return found


def _pinned(vcpus: int, ram_mib: int, extra_specs: Mapping[str, str]) -> Counter[str]:
    """What a server of such a flavour takes for itself alone; others share their CPUs and ordinary memory."""
    found: Counter[str] = Counter()
    if extra_specs.get("hw:cpu_policy") == "dedicated":
        found[CPUS] = vcpus
    if "hw:mem_page_size" in extra_specs:
        found[PAGES] = -(-ram_mib // _MIB_PER_PAGE)
    return found
