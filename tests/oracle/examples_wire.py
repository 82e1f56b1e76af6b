"""Worked examples 1 to 11 and others about wires, as worlds. Numbers are the page's; letters are its variants."""

from __future__ import annotations

from interlock.model.site.inventory import Underlay, Vrf, Vtep
from interlock.resources import BareMetalServer, Share, ShareAccess

from .drafting import CONTROLLERS, Draft
from .sayings import (
    POOL,
    VLAN,
    A,
    Example,
    G,
    apart,
    both,
    control,
    leaf,
    machine,
    management,
    more_leaf,
    tenant,
    vpods,
)


def two_vpods() -> Draft:
    """Own VLANs, own routers with filtered gateways, an address of the appliance each."""
    draft = both()
    for number, (name, vlan) in enumerate(((A, 1001), (G, 1002))):
        control(draft, name, 5001 + number)
        share = Share(name="s", project=draft.project(name), size_gib=1, share_type="site:ShareType/nfs")
        draft.add(name, f"{name}-share", share)
        access = ShareAccess(
            project=draft.project(name), share=f"{name}-share", network=f"{name}-a-ipu-data-{vlan}",
            prefix="10.0.0.0/24", vip=f"10.0.0.{200 + number}",
        )  # fmt: skip
        draft.add(name, f"{name}-access", access)
    return draft


def machine_on_anothers_vlan() -> Draft:
    """An RNIC of globex's on a port with acme's access VLAN."""
    draft = both()
    port, _ = machine(draft, G, "ipum-05", 1002)
    draft.change_port("leaf-1", port, untagged=1001)
    return draft


def port_on_a_claimed_network() -> Draft:
    """acme has no port there yet, only the claim."""
    draft = leaf()
    tenant(draft, A, 1001, host=None)
    draft.tenant(G)
    machine(draft, G, "ipum-05", 1001)
    return draft


def one_vlan_under_two_names() -> Draft:
    """One switch and one uplink, two physical networks."""
    draft = leaf()
    draft.networks["storage"] = ("leaf-1",)
    draft.hosts["hv-1"] = draft.hosts["hv-1"].model_copy(
        update={"interfaces": {"data-1": ("pf0",), "storage": ("pf0",)}}
    )
    tenant(draft, A, 1001)
    tenant(draft, G, 1001, network="storage")
    return draft


def one_id_on_two_leaves() -> Draft:
    """No link between them carries it."""
    draft = apart()
    draft.link("leaf-1", "leaf-2", {}, {})
    return draft


def uplinks_without_lists() -> Draft:
    """leaf-1 – spine – leaf-2, every uplink without a list."""
    draft = apart()
    for name in ("leaf-1", "leaf-2"):
        draft.link(name, "spine-1", {"tagged": None}, {"tagged": None})
    return draft


_FILLED = {"tagged": (), "filled_by": "neutron"}


def trunks_that_neutron_fills() -> Draft:
    """One id on two leaves, and Neutron fills the link between them at both ends."""
    draft = apart()
    draft.link("leaf-1", "leaf-2", _FILLED, _FILLED)
    return draft


def filled_trunks_and_own_ids() -> Draft:
    """The same link; globex has another id."""
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    tenant(draft, A, 1001)
    tenant(draft, G, 1002, "data-2", "hv-2")
    draft.link("leaf-1", "leaf-2", _FILLED, _FILLED)
    return draft


def filled_trunk_to_unlisted_networks() -> Draft:
    """Both tenants are on leaf-1, and nobody asked which networks there are on leaf-2."""
    draft = both()
    draft.switch("leaf-2")
    draft.networks["data-2"] = ("leaf-2",)
    draft.open_tables.add(("networks", "data-2"))
    draft.link("leaf-1", "leaf-2", _FILLED, _FILLED)
    return draft


def released_vlan_on_a_filled_trunk() -> Draft:
    """globex gave up 1001 on leaf-2, and nobody saw the switches to let go of it."""
    draft = filled_trunks_and_own_ids()
    draft.give_up(G, "storage_vlan", "data-2:1001")
    return draft


def natives_that_differ() -> Draft:
    """Native 1001 on the leaf and 1002 on the spine; every list pruned."""
    draft = leaf()
    tenant(draft, A, 1001)
    draft.switch("spine-1")
    draft.networks["data-2"] = ("spine-1",)
    tenant(draft, G, 1002, "data-2", None)
    ends = ({"untagged": 1001, "tag_native": False}, {"untagged": 1002, "tag_native": False})
    draft.link("leaf-1", "spine-1", *ends)
    return draft


def natives_of_which_nobody_says_how_they_leave() -> Draft:
    """As 7, and no end says whether its native VLAN leaves with its tag."""
    draft = natives_that_differ()
    for switch in draft.switches:
        for number, port in draft.switches[switch].ports.items():
            draft.switches[switch].ports[number] = port.model_copy(update={"tag_native": None})
    return draft


def _second_tag(native: int | None, *, tag_native: bool = False) -> Draft:
    """acme on leaf-1, globex on spine-1; the link carries both VLANs with their tags, but for its native one."""
    draft = leaf()
    tenant(draft, A, 1001)
    draft.networks["data-2"] = ("spine-1",)
    draft.hypervisor("hv-2", "spine-1", "data-2", POOL)
    tenant(draft, G, 1002, "data-2", "hv-2")
    here: dict[str, object] = {"untagged": native, "tag_native": None if native is None else tag_native}
    draft.link("leaf-1", "spine-1", here | {"tagged": ((1002, 1002),)}, here | {"tagged": ((1002, 1002),)})
    return draft


def second_tag_behind_a_native_vlan() -> Draft:
    """acme's VLAN leaves leaf-1 untagged; what stands behind its tag the spine reads."""
    return _second_tag(1001)


def second_tag_behind_a_tagged_native_vlan() -> Draft:
    """Its tag stays on."""
    return _second_tag(1001, tag_native=True)


def second_tag_behind_nobodys_native_vlan() -> Draft:
    """Nobody can send in the native VLAN."""
    return _second_tag(999)


def second_tag_at_a_hypervisor() -> Draft:
    """As the link, at a host's uplink: the external network has it untagged for itself, acme's function behind it."""
    draft = leaf()
    tenant(draft, A, 1001)
    draft.external = draft.external.model_copy(update={"physical_network": "data-1", "network_type": "flat"})
    draft.change_port("leaf-1", 1, untagged=900, tag_native=False)
    return draft


def left_over_on_bare_metal() -> Draft:
    """acme's whole host; its port still takes 1002 tagged."""
    draft = both()
    port = draft.whole_host("bm-1", "leaf-1", mode="trunk", untagged=1001, tagged=((1002, 1002),), tag_native=False)
    draft.switch_port(A, "leaf-1", port, 1001)
    whole = BareMetalServer(name="x", project=draft.project(A), node="bm-1", image="site:Image/poplar", ports=())
    draft.add(A, "acme-a-whole", whole)
    return draft


def left_over_on_a_hypervisor() -> Draft:
    """acme alone on a host whose port takes 1002 as well."""
    draft = both()
    draft.networks["data-1"] = ("leaf-1",)
    draft.hypervisor("hv-2", "leaf-1", "data-1", ((1001, 1002),))
    port = draft.plug(A, "acme-a-second-port", "acme-a-ipu-data-1001")
    draft.server(A, "acme-a-second", "hv-2", (port,))
    return draft


def _overlays(second: int, vni: int) -> Draft:
    """leaf-1 maps acme's 1001 to 7001, leaf-2 maps globex's VLAN to another overlay."""
    draft = leaf()
    draft.networks["data-2"] = ("leaf-2",)
    draft.hypervisor("hv-2", "leaf-2", "data-2", POOL)
    tenant(draft, A, 1001)
    tenant(draft, G, second, "data-2", "hv-2")
    draft.underlays = [Underlay(name="fabric")]
    for name, vlan, number in (("leaf-1", 1001, 7001), ("leaf-2", second, vni)):
        mapped = Vtep(vlan=vlan, vni=number, underlay="fabric", encapsulation="vxlan")
        draft.switch(name, vteps=(mapped,))
    draft.link("leaf-1", "leaf-2", {"mode": "routed"}, {"mode": "routed"})
    return draft


def overlays_of_their_own() -> Draft:
    """Routed uplinks, 7001 and 7002."""
    return _overlays(1001, 7002)


def one_overlay() -> Draft:
    """leaf-2 maps 1055 to acme's overlay."""
    return _overlays(1055, 7001)


def _neutron_and_evpn(way: object) -> Draft:
    draft = leaf()
    draft.tenant(A)
    network = draft.vxlan(A, "acme-a-control", 5001)
    port = draft.plug(A, "acme-a-port", network, vnic_type="normal")
    draft.server(A, "acme-a-server", "hv-1", (port,))
    tenant(draft, G, 1002)
    draft.underlays = [Underlay(name="fabric", neutron=True)]
    mapped = Vtep.model_validate({"vlan": 1002, "vni": 5001, "underlay": "fabric", "encapsulation": way})
    draft.switch("leaf-1", vteps=(mapped,))
    return draft


def neutron_and_evpn() -> Draft:
    """Both VXLAN 5001 over one underlay."""
    return _neutron_and_evpn("vxlan")


def geneve_and_vxlan() -> Draft:
    """Two encapsulations."""
    return _neutron_and_evpn("geneve")


def encapsulation_not_stated() -> Draft:
    """Nobody says which."""
    return _neutron_and_evpn(None)


def kept_apart_by_security_groups() -> Draft:
    """Two tenants on one network, normal ports."""
    draft = leaf()
    for name in (A, G):
        draft.tenant(name)
        network = draft.vlan(name, f"{name}-a-shared", "data-1", 1001)
        port = draft.plug(name, f"{name}-a-port", network, vnic_type="normal", security_groups=(f"{name}-closed",))
        draft.server(name, f"{name}-a-server", "hv-1", (port,))
    return draft


def own_vlans_without_groups() -> Draft:
    """No security group at all."""
    return both()


def host_without_a_record() -> Draft:
    """acme's server on a host whose switch port no record tells about."""
    draft = both()
    del draft.switches["leaf-1"].ports[1]
    return draft


def hosts_with_records() -> Draft:
    """Of every host somebody says what its port carries."""
    draft = both()
    draft.hypervisor("hv-9", "leaf-1", "data-1", POOL)
    return draft


def another_host_without_a_record() -> Draft:
    """Nobody's server is there, but its own system may be on acme's wire."""
    draft = hosts_with_records()
    del draft.switches["leaf-1"].ports[draft.switches["leaf-1"].last]
    return draft


def routing_leaf() -> Draft:
    """Addresses in both VLANs, in the default routing instance."""
    draft = both()
    draft.switch("leaf-1", routed_vlans=(1001, 1002), ip_routing=True)
    return draft


def perhaps_routing_leaf() -> Draft:
    """Nobody says whether it routes, nor in which VLANs it has an address."""
    draft = both()
    draft.switch("leaf-1", routed_vlans=None, ip_routing=None)
    return draft


def instance_for_each_tenant() -> Draft:
    """A routing instance for each, declared for that tenant."""
    draft = both()
    draft.switch("leaf-1", vrfs=tuple(Vrf(name=name, vlans=(vlan,)) for name, vlan in VLAN.items()))
    for name in VLAN:
        draft.declare(f"leaf-1/{name}", "name-and-time", name)
    return draft


def _relay() -> Draft:
    """Data networks by their planned names, and an address of the operator in acme's VLAN only."""
    draft = leaf()
    for name, vlan in VLAN.items():
        draft.tenant(name)
        vpods(draft, name, vlan)
    draft.switch("leaf-1", vrfs=(Vrf(name="acme", vlans=(1001,)),))
    return draft


def declared_address_of_the_switch() -> Draft:
    """Declared for acme."""
    draft = _relay()
    draft.declare("leaf-1/acme", "name-and-time", A)
    return draft


def address_declared_for_another() -> Draft:
    """Declared for globex."""
    draft = _relay()
    draft.declare("leaf-1/acme", "name-and-time", G)
    return draft


def address_of_the_switch() -> Draft:
    """An address of the operator in acme's VLAN only, declared nowhere."""
    draft = both()
    draft.switch("leaf-1", vrfs=(Vrf(name="acme", vlans=(1001,)),))
    return draft


def operators_storage_router() -> Draft:
    """Forwards between both storage VLANs, no access list."""
    draft = both()
    draft.switch("leaf-1", vrfs=(Vrf(name="storage", vlans=(1001, 1002)),))
    return draft


def _declared_router(denies: bool | None) -> Draft:
    draft = operators_storage_router()
    draft.declare("leaf-1/storage", "routed-back-end", default_deny=denies)
    return draft


def router_with_an_access_list() -> Draft:
    """Default deny, and permits to the service only."""
    return _declared_router(True)


def access_list_not_stated() -> Draft:
    """Nobody says what it denies."""
    return _declared_router(None)


def access_list_that_permits() -> Draft:
    """It permits by default."""
    return _declared_router(False)


def two_ends_of_an_uplink() -> Draft:
    """Each plan sets one end of it: alone they join nothing."""
    draft = leaf()
    draft.networks["data-2"] = ("leaf-2",)
    draft.switch("leaf-2")
    tenant(draft, A, 1002)
    tenant(draft, G, 1002, "data-2", None)
    ends = draft.port("leaf-1"), draft.port("leaf-2")
    draft.cable(("leaf-1", ends[0]), ("leaf-2", ends[1]))
    draft.switch_port(A, "leaf-1", ends[0], 1002)
    draft.switch_port(G, "leaf-2", ends[1], 1002)
    return draft


def bridge_between_two() -> Draft:
    """carol's server on two segments of the operator's, acme on one and globex on the other."""
    draft = leaf()
    carols: list[str] = []
    draft.tenant("carol")
    for name, vlan in ((A, 1001), (G, 1002)):
        draft.tenant(name)
        own = draft.vlan(name, f"{name}-a-segment", "data-1", vlan, project=CONTROLLERS)
        draft.server(name, f"{name}-a-server", "hv-1", (draft.plug(name, f"{name}-a-port", own),))
        same = draft.vlan("carol", f"carol-a-{vlan}", "data-1", vlan, project=CONTROLLERS)
        carols.append(draft.plug("carol", f"carol-a-port-{vlan}", same))
    draft.server("carol", "carol-a-server", "hv-1", tuple(carols))
    management(draft)
    return draft


EXAMPLES = (
    Example("1", "P", two_vpods),
    Example("2", "V", machine_on_anothers_vlan),
    Example("3", "V", port_on_a_claimed_network),
    Example("4", "V", one_vlan_under_two_names),
    Example("5", "P", one_id_on_two_leaves),
    Example("6", "V", uplinks_without_lists),
    Example("6b", "V", trunks_that_neutron_fills),
    Example("6c", "P", filled_trunks_and_own_ids),
    Example("6d", "N", filled_trunk_to_unlisted_networks),
    Example("6e", "V", released_vlan_on_a_filled_trunk),
    Example("7", "V", natives_that_differ),
    Example("7b", "N", natives_of_which_nobody_says_how_they_leave),
    Example("64a", "N", second_tag_behind_a_native_vlan),
    Example("64b", "P", second_tag_behind_a_tagged_native_vlan),
    Example("64c", "P", second_tag_behind_nobodys_native_vlan),
    Example("64d", "N", second_tag_at_a_hypervisor),
    Example("8a", "V", left_over_on_bare_metal),
    Example("8b", "P", left_over_on_a_hypervisor),
    Example("9a", "P", overlays_of_their_own),
    Example("9b", "V", one_overlay),
    Example("10a", "V", neutron_and_evpn),
    Example("10b", "P", geneve_and_vxlan),
    Example("10c", "N", encapsulation_not_stated),
    Example("33a", "V", kept_apart_by_security_groups),
    Example("33b", "P", own_vlans_without_groups),
    Example("34", "V", bridge_between_two),
    Example("36a", "N", host_without_a_record),
    Example("36b", "P", hosts_with_records),
    Example("36c", "N", another_host_without_a_record),
    Example("37a", "V", routing_leaf),
    Example("37b", "P", instance_for_each_tenant),
    Example("37c", "N", perhaps_routing_leaf),
    Example("39a", "V", operators_storage_router),
    Example("39b", "P", router_with_an_access_list, rules=("ISO-01", "ISO-02", "L3-06")),
    Example("39c", "N", access_list_not_stated),
    Example("39d", "V", access_list_that_permits, rules=("ISO-02", "L3-06")),
    Example("49a", "P", declared_address_of_the_switch, rules=("ISO-01", "ISO-02", "ISO-03")),
    Example("49b", "V", address_of_the_switch),
    Example("49c", "V", address_declared_for_another, rules=("ISO-02",)),
    Example("51", "V", two_ends_of_an_uplink),
)
