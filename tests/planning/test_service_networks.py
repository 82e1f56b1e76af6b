"""A whole host keeps the VLAN on which it is deployed and cleaned, whatever is listed before it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from interlock.model.lock.record import SiteLock
from interlock.model.site.inventory import Host, Site
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.model.site.service_networks import recorded_of, service_networks
from interlock.planning import plan_site
from interlock.planning.errors import PlanningError
from interlock.resources import Network, Subnet
from tests.builders.pod64 import ironic_pod64, site_locked

BASE = ironic_pod64()
FOUR = {f"poplar-{number}": f"mgmt1g:{3199 + number}" for number in range(1, 5)}


def of(*names: str, networks: tuple[ServiceNetworks, ...] | None = None) -> Site:
    """The site with these whole hosts alone, in this order."""
    ironic = Ironic(conductor_group="lent", networks=networks) if networks is not None else BASE.ironic
    return ironic_pod64(hosts=tuple(map(host, names)), ironic=ironic)


def host(name: str) -> Host:
    """One of the site; of another name a further one, with interfaces as theirs."""
    return BASE.host.get(name) or BASE.host["poplar-1"].model_copy(update={"name": name, "serial": f"SN-{name}"})


def on(network: str, first: int, last: int, prefix: str = "10.90.0.0/24") -> ServiceNetworks:
    return ServiceNetworks(physical_network=network, vlans=((first, last),), subnets=(prefix, 28))


def locked_with(site: Site, recorded: dict[str, str]) -> SiteLock:
    return site_locked(site).model_copy(update={"services": recorded}).sealed()


def vlans(site: Site, recorded: dict[str, str]) -> dict[str, int]:
    return {name: item.vlan for name, item in service_networks(site, recorded).items()}


def test_the_first_lock_records_what_the_order_gives() -> None:
    assert recorded_of(BASE, {}) == FOUR
    assert recorded_of(BASE, FOUR) == FOUR
    assert recorded_of(ironic_pod64(ironic=None), FOUR) == FOUR
    assert recorded_of(ironic_pod64(ironic=None), {}) == {}


def test_whatever_the_order_a_host_keeps_its_vlan_and_its_subnet() -> None:
    before, after = service_networks(BASE, FOUR), service_networks(of(*reversed(FOUR)), FOUR)
    assert dict(before) == dict(after)
    plan = plan_site(of(*reversed(FOUR)), locked_with(BASE, FOUR))
    networks = {name: plan.by_name[f"service-{name}"].resource for name in FOUR}
    assert {name: item.segmentation_id for name, item in networks.items() if isinstance(item, Network)} == {
        name: int(text.partition(":")[2]) for name, text in FOUR.items()
    }
    subnet = plan.by_name["service-poplar-4-subnet"].resource
    assert isinstance(subnet, Subnet)
    assert subnet.cidr == "10.90.0.192/26"


def test_one_that_is_inserted_takes_what_is_left_and_moves_nobody() -> None:
    two = {name: FOUR[name] for name in ("poplar-1", "poplar-2")}
    site = of("poplar-1", "poplar-3", "poplar-2")
    assert vlans(site, two) == {"poplar-1": 3200, "poplar-3": 3202, "poplar-2": 3201}
    # As it was without a record: in the middle, everybody behind it moves.
    assert vlans(site, {}) == {"poplar-1": 3200, "poplar-3": 3201, "poplar-2": 3202}


def test_what_a_host_had_that_is_gone_is_given_last() -> None:
    """Its network goes with the same `up` that makes the new one."""
    recorded = {name: FOUR[name] for name in ("poplar-1", "poplar-2")}
    site = of("poplar-1", "poplar-3")
    assert vlans(site, recorded) == {"poplar-1": 3200, "poplar-3": 3202}
    assert recorded_of(site, recorded) == {
        "poplar-1": "mgmt1g:3200",
        "poplar-2": "mgmt1g:3201",
        "poplar-3": "mgmt1g:3202",
    }
    # Back on the site, it has it again.
    assert vlans(of("poplar-1", "poplar-3", "poplar-2"), recorded_of(site, recorded))["poplar-2"] == 3201
    few = of("poplar-1", "poplar-3", networks=(on("mgmt1g", 3200, 3201),))
    assert vlans(few, recorded) == {"poplar-1": 3200, "poplar-3": 3201}
    assert recorded_of(few, recorded) == {"poplar-1": "mgmt1g:3200", "poplar-3": "mgmt1g:3201"}


def test_what_the_site_lists_no_more_is_not_kept() -> None:
    site = of("poplar-1", "poplar-2", networks=(on("mgmt1g", 3201, 3209),))
    assert vlans(site, FOUR) == {"poplar-1": 3204, "poplar-2": 3201}


def test_a_host_without_an_interface_there_does_not_keep_it() -> None:
    recorded = {"poplar-1": "fabric100g:3300", "poplar-2": "elsewhere:3200"}
    site = of("poplar-1", "poplar-2", networks=(on("mgmt1g", 3200, 3203), on("fabric100g", 3300, 3301, "10.91.0.0/24")))
    assert {name: (item.interface, item.vlan) for name, item in service_networks(site, recorded).items()} == {
        "poplar-1": ("ens161f0", 3300), "poplar-2": ("eno1", 3200),
    }  # fmt: skip


def test_one_that_is_a_hypervisor_by_now_has_none() -> None:
    hypervisor = BASE.host["poplar-1"].model_copy(update={"provisioning": "hypervisor"})
    site = ironic_pod64(hosts=(hypervisor, BASE.host["poplar-2"]))
    assert vlans(site, FOUR) == {"poplar-2": 3201}
    assert "poplar-1" not in recorded_of(site, FOUR)


def test_where_nothing_is_left_on_its_network_it_says_who_has_what() -> None:
    """Enough is listed, and what others keep is where this one could be."""
    networks = (on("mgmt1g", 3200, 3200), on("fabric100g", 3300, 3301, "10.91.0.0/24"))
    management = BASE.host["infra-1"].model_copy(update={"provisioning": "bare-metal"})
    site = ironic_pod64(
        hosts=(BASE.host["poplar-1"], management), ironic=Ironic(conductor_group="lent", networks=networks)
    )
    with pytest.raises(PlanningError, match=r"no VLAN of `ironic\.networks` is left for infra-1") as refused:
        plan_site(site, locked_with(site, {"poplar-1": "mgmt1g:3200"}))
    assert "others keep theirs (poplar-1 3200)" in str(refused.value)


@pytest.mark.parametrize(("recorded", "message"), [
    ({"poplar-1": "mgmt1g:3200", "poplar-2": "mgmt1g:3200"}, "poplar-1 and poplar-2 both have the service VLAN"),
    ({"poplar-1": "3200"}, "3200 names no physical network"),
    ({"poplar-1": "mgmt1g:many"}, "is no VLAN of a physical network"),
])  # fmt: skip
def test_a_lock_that_nobody_wrote_so_is_refused(recorded: dict[str, str], message: str) -> None:
    fields = site_locked(BASE).model_dump() | {"services": recorded}
    with pytest.raises(ValidationError, match=message):
        SiteLock.model_validate(fields)
