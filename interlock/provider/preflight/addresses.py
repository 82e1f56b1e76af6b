"""Has the external network an address for each gateway and floating IP that is to be made?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import marker, owner_of, split
from interlock.provider.references import parts, site_object
from interlock.resources import Admission, FloatingIp, Router, is_site_reference
from interlock.vocabulary.markers import Marker

from .faults import Fault, planned


def free_addresses(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """External networks of which Neutron has fewer addresses left than the plan takes besides what is there as ours."""
    for network, needed in sorted(_needed(cloud, admission).items()):
        try:
            ident = site_object(cloud, admission, *parts(network))
        except Failure:
            continue  # told by `referred`
        found = cloud.api("network").find(f"/network-ip-availabilities/{ident}")
        if found is None:
            continue  # an extension that the cloud is without: creation tells then
        room = found["network_ip_availability"]
        left = room["total_ips"] - room["used_ips"]
        if needed > left:
            yield Fault(
                "addresses",
                f"{network} has {left} of {room['total_ips']} addresses left, the plan takes {needed} for gateways and "
                "floating IPs",
                "make fewer servers public, or give the external network a larger pool",
            )


def _needed(cloud: Cloud, admission: Admission) -> Counter[str]:
    """External network, as the plan refers to it -> addresses that are still to be taken."""
    wanted = {name: (item.external_network, item.project) for name, item in planned(admission, FloatingIp)}
    wanted |= {
        name: (item.external_network, item.project)
        for name, item in planned(admission, Router)
        if item.external_network is not None
    }
    outside = {name: network for name, (network, _) in wanted.items() if is_site_reference(network)}
    have = _ours(cloud, admission, {project for _, project in wanted.values()}) if outside else set()
    return Counter(network for name, network in outside.items() if name not in have)


def _ours(cloud: Cloud, admission: Admission, projects: Iterable[str]) -> set[str]:
    """Plan names of gateways and floating IPs that this stack has already, with an address each.

    `projects`: plan names. A marker counts in the stack's own projects only: anybody may write one elsewhere.
    """
    api, found = cloud.api("network"), set[str]()
    marks = (marker(admission.owner, name) for name in sorted(projects))
    own = {ident for mark in marks for ident in ACTUATORS["Project"].search(cloud, mark, cloud.login.project)}
    for path, address in (("floatingips", "floating_ip_address"), ("routers", "external_gateway_info")):
        for item in api.items(f"/{path}", path, fields=["description", "project_id", address]):
            mark = split(item["description"])[1]
            if item["project_id"] in own and item[address] and owner_of(mark) == admission.owner:
                found.add(Marker.parse(mark).name)
    return found
