"""Worlds on which oracle and prover once differed, as small as they get. Each stays as a test of both."""

from __future__ import annotations

from interlock.resources import BareMetalServer, RouterInterface, Volume, VolumeAttachment

from .drafting import CONTROLLERS, Draft
from .sayings import VLAN, A, Example, G, both, leaf, machine, management, more_leaf, tenant


def held_by_its_port_alone() -> Draft:
    """acme's plan sets the switch port of a whole host, deploys nothing on it yet, and its BMC answers root."""
    draft = both()
    management(draft)
    port = draft.whole_host("bm-1", "leaf-1")
    draft.switch_port(A, "leaf-1", port, 1001)
    draft.cable(("bm-1", "idrac"), ("mgmt-1", draft.port("mgmt-1", untagged=111)))
    draft.assumptions["A13"] = {"in_band_closed": False}
    return draft


def planned_port_without_a_record() -> Draft:
    """A plan sets a port of which nobody says how it is until then."""
    draft = both()
    port, _ = machine(draft, A, "ipum-01", 1001)
    del draft.switches["leaf-1"].ports[port]
    return draft


def spare_port() -> Draft:
    """acme's port on a VLAN of the operator's; no server has it yet."""
    draft = both()
    network = draft.vlan(A, "acme-a-theirs", "data-1", 1050, project=CONTROLLERS)
    draft.plug(A, "acme-a-spare", network)
    return draft


def spare_port_on_an_overlay() -> Draft:
    """The same on VXLAN."""
    draft = both()
    network = draft.vxlan(A, "acme-a-theirs", 5050, project=CONTROLLERS)
    draft.plug(A, "acme-a-spare", network, vnic_type="normal")
    return draft


def volume_on_the_operators_server() -> Draft:
    """acme's volume at a server of the operator's."""
    draft = both()
    network = draft.vxlan(A, "acme-a-theirs", 5050, project=CONTROLLERS)
    port = draft.plug(A, "acme-a-helper-port", network, vnic_type="normal", project=CONTROLLERS)
    server = draft.server(A, "acme-a-helper", "hv-1", (port,), project=CONTROLLERS)
    project = draft.project(A)
    draft.add(A, "acme-volume", Volume(name="v", project=project, size_gib=1, volume_type="site:VolumeType/x"))
    held = VolumeAttachment(project=project, server=server, volume="acme-volume")
    draft.add(A, "acme-attachment", held)
    return draft


def ids_that_only_lists_name() -> Draft:
    """Two tenants' whole hosts whose ports both still take 3000-3999, of which no network uses one."""
    draft = both()
    for number, (owner, vlan) in enumerate(VLAN.items(), start=1):
        name = f"bm-{number}"
        draft.whole_host(name, "leaf-1", mode="trunk", untagged=vlan, tagged=((3000, 3999),), tag_native=False)
        whole = BareMetalServer(name=name, project=draft.project(owner), node=name, image="site:Image/poplar", ports=())
        draft.add(owner, f"{owner}-a-whole", whole)
    return draft


def tenants_external_network() -> Draft:
    """acme calls a network external, and has a port on it that no server has yet."""
    draft = both()
    network = draft.vlan(A, "acme-a-outside", "data-1", 1050, external=True)
    draft.plug(A, "acme-a-spare", network)
    return draft


def function_inside_the_adapter() -> Draft:
    """A function that nothing holds to its VLAN, beside one of globex's that its switch port does not carry: what the
    adapter does with the frames between the two, nobody says."""
    draft = both()
    draft.change_port("leaf-1", 1, tagged=((1001, 1001),))
    port = draft.plug(A, "acme-a-loose", "acme-a-ipu-data-1001", port_security=False)
    draft.server(A, "acme-a-loose-server", "hv-1", (port,))
    return draft


def two_vlans_by_one_id() -> Draft:
    """1001 goes by 1050 on the wire, where globex's 1050 is listed as well: the make of the switch decides."""
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    tenant(draft, A, 1001)
    tenant(draft, G, 1050, "data-2", "hv-2")
    draft.vlan(A, "acme-a-storage", "data-1", 1060)
    here = {"tagged": ((1060, 1060), (1050, 1050)), "translations": ((1050, 1060),)}
    draft.link("leaf-1", "leaf-2", here, {"tagged": ()})
    draft.vlan(G, "globex-a-storage", "data-1", 1050)
    there = {"tagged": ((1050, 1050),)}
    draft.link("leaf-1", "leaf-3", {"tagged": ((1050, 1050),), "translations": ((1050, 1055),)}, there)
    draft.networks["data-3"] = ("leaf-3",)
    draft.vlan(A, "acme-a-third", "data-3", 1050)
    return draft


def plug_that_may_be_the_bmcs() -> Draft:
    """acme's whole host has a plug on a wire of the operator's, and nobody states where its BMC is."""
    draft = both()
    management(draft)
    port = draft.whole_host("bm-1", "leaf-1")
    draft.hosts["bm-1"] = draft.hosts["bm-1"].model_copy(update={"bmc": None})
    draft.switch_port(A, "leaf-1", port, 1001)
    draft.cable(("bm-1", "xcc"), ("mgmt-1", draft.port("mgmt-1", untagged=111)))
    draft.vlan("op", "management", "mgmt", 111)
    return draft


def bmc_without_a_cable() -> Draft:
    """The way inside a host needs none."""
    draft = both()
    port = draft.whole_host("bm-1", "leaf-1")
    draft.switch_port(A, "leaf-1", port, 1001)
    draft.assumptions["A13"] = {"in_band_closed": False}
    return draft


def interface_of_a_strangers_router() -> Draft:
    """acme's plan puts its subnet behind globex's router, by the plan name that it has there."""
    draft = both()
    for name, vni in ((A, 5001), (G, 5002)):
        network = draft.vxlan(name, f"{name}-a-control", vni)
        draft.subnet(name, network, f"10.30.{vni - 5000}.0/24")
    draft.router(G, "globex-router", ("globex-a-control-subnet",), external=None)
    leg = RouterInterface(project=draft.project(A), router="globex-router", subnet="acme-a-control-subnet")
    draft.add(A, "acme-leg", leg)
    return draft


def address_of_a_terminal_beside_roles() -> Draft:
    """Machines with roles on one VLAN; the leaf is declared, and nobody states in which VLANs it has an address."""
    draft = leaf()
    management(draft)
    draft.assumptions["A7"] = {"private_vlan_enforced": True, "single_trunk": True}
    for name, role in ((A, f"of-{A}"), (G, "isolated")):
        draft.tenant(name)
        port, _ = draft.machine(f"{name}-ipum")
        draft.change_port("leaf-1", port, untagged=4000, private_vlan=role)
        draft.give_up(name, "machines", f"{name}-ipum")
    draft.switch("leaf-1", routed_vlans=None, ip_routing=None)
    draft.declare("leaf-1", "name-and-time")
    return draft


def cleaned_host_beside_its_former_holder() -> Draft:
    """globex gave a whole host up and it was cleaned; its port is still in globex's VLAN. Of its firmware nobody knows.

    Seed 964726548960: clean firmware makes it the operator's, on a wire of globex's.
    """
    draft = both()
    management(draft)
    draft.whole_host("bm-1", "leaf-1", untagged=VLAN[G])
    draft.clean(G, "bm-1")
    draft.assumptions["A23"] = {"firmware_restored": None}
    return draft


def cleaned_machine(erases: bool | None, vlan: int | None = VLAN[A]) -> Draft:
    """acme gave machine 7 up, nobody has it, and its port is in a VLAN, acme's or another."""
    draft = both()
    management(draft)
    port, _ = draft.machine("ipum-07")
    draft.change_port("leaf-1", port, untagged=vlan)
    draft.clean(A, "ipum-07")
    draft.assumptions["A9"] = {"steps_erase": erases}
    return draft


def cleaned_machine_beside_a_cleaned_host() -> Draft:
    """Both were acme's, and are at rest on one VLAN; the machine is clean for certain, the host perhaps not."""
    draft = cleaned_machine(erases=True, vlan=4000)
    draft.whole_host("bm-1", "leaf-1", untagged=4000)
    draft.clean(A, "bm-1")
    draft.assumptions["A23"] = {"firmware_restored": None}
    return draft


def server_where_its_network_is_not(host: str) -> Draft:
    """acme's network is on leaf-1 alone; globex is on leaf-2, where hv-2 is cabled, and has no interface for it."""
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    tenant(draft, G, VLAN[G], "data-2", "hv-2")
    tenant(draft, A, VLAN[A], host=None)
    port = draft.plug(A, "acme-a-elsewhere", f"acme-a-ipu-data-{VLAN[A]}", vnic_type="normal")
    draft.server(A, "acme-a-there", host, (port,))
    return draft


FOUND = (
    Example("a", "V", held_by_its_port_alone),
    Example("b", "N", planned_port_without_a_record),
    Example("c", "V", spare_port),
    Example("d", "V", spare_port_on_an_overlay),
    Example("e", "V", volume_on_the_operators_server),
    Example("f", "V", ids_that_only_lists_name),
    Example("g", "V", tenants_external_network),
    Example("h", "N", function_inside_the_adapter),
    Example("i", "N", two_vlans_by_one_id),
    Example("j", "N", plug_that_may_be_the_bmcs),
    Example("k", "V", bmc_without_a_cable),
    Example("l", "V", interface_of_a_strangers_router),
    Example("m", "P", address_of_a_terminal_beside_roles),
    Example("n", "N", cleaned_host_beside_its_former_holder),
    Example("o", "N", lambda: cleaned_machine(erases=None)),
    Example("p", "V", lambda: cleaned_machine(erases=True)),
    Example("q", "P", lambda: cleaned_machine(erases=False)),
    Example("r", "P", lambda: cleaned_machine(erases=None, vlan=4000)),
    Example("s", "N", cleaned_machine_beside_a_cleaned_host),
    Example("t", "N", lambda: server_where_its_network_is_not("hv-2")),
    Example("u", "P", lambda: server_where_its_network_is_not("hv-1")),
)
