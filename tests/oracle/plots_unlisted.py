"""Tables of which nobody says that they are complete, and ports, hosts and flavours that say less than they could."""

from __future__ import annotations

from interlock.model.site.completeness import SWITCH_TABLES
from interlock.model.site.inventory import FlavorSpec, Underlay, Vtep
from interlock.resources import Keypair
from tests.builders.pod64 import ssh_key

from .scene import Scene, machine


def open_table(made: Scene) -> None:
    """One table of one device."""
    rng, draft = made.rng, made.draft
    switches, others = sorted(draft.switches), sorted((*draft.hosts, *draft.machines))
    table = rng.choice((*SWITCH_TABLES, "attachments", "attachments"))
    draft.open_tables.add((table, rng.choice(switches if table in SWITCH_TABLES else others)))


def cloud_not_asked(made: Scene) -> None:
    """A table of what the cloud holds that nobody has looked through; somebody has a key where it is that of logins."""
    rng, draft = made.rng, made.draft
    networks = (*draft.networks, "vxlan")
    of_scopes = (("scopes", "external"), ("rights", "AddressScope"), ("rights", "SubnetPool"))
    tables = (("rights", "Network"), ("members", "default"), ("logins", "default"), ("networks", rng.choice(networks)))
    table, subject = rng.choice((*tables, *tables, rng.choice(of_scopes)))
    draft.open_tables.add((table, subject))
    if table == "logins" and rng.random() < 0.7:
        tenant = made.one()
        pair = Keypair(name=made.name(tenant, "key"), public_key=ssh_key(tenant))
        draft.add(tenant, made.name(tenant, "a-key"), pair)


def nothing_listed(made: Scene) -> None:
    """A switch of which no table is complete."""
    switch = made.rng.choice(sorted(made.draft.switches))
    made.draft.open_tables |= {(table, switch) for table in SWITCH_TABLES}


def port_without_a_cable(made: Scene) -> None:
    """A port that carries something, and perhaps nobody looked what is plugged in."""
    rng, leaf = made.rng, made.rng.choice(made.leaves)
    setting = rng.choice(({"untagged": rng.choice((*made.vlan.values(), 1090))}, {"mode": "trunk", "tagged": None}))
    made.draft.port(leaf, empty=rng.choice((True, False, False)), **setting)


def bmc_plug_unsaid(made: Scene) -> None:
    """A whole host with two plugs, one of which leads to its BMC: nobody states which, or that there is a cable."""
    rng, draft, a = made.rng, made.draft, made.one()
    name = f"bm-{len(draft.hosts) + 1}"
    port = draft.whole_host(name, made.leaf[a])
    made.port[name] = made.leaf[a], port
    draft.hosts[name] = draft.hosts[name].model_copy(update={"bmc": rng.choice((None, None, "xcc"))})
    draft.switch_port(a, made.leaf[a], port, made.vlan[a])
    if rng.random() < 0.7:
        draft.cable((name, "xcc"), ("mgmt-1", draft.port("mgmt-1", untagged=rng.choice((10, 4000)))))
    draft.assumptions["A13"] = {"in_band_closed": rng.choice((True, True, False, None))}


def neutrons_underlay(made: Scene) -> None:
    """An underlay of which nobody says whether Neutron's own overlays run over it."""
    rng, draft, a = made.rng, made.draft, made.one()
    overlays = made.draft.switches[made.leaf[a]].fields.get("vteps", ())
    neutron = rng.choice((None, None, True, False))
    draft.underlays = [Underlay(name="spine", neutron=neutron), Underlay(name="second", neutron=False)]
    number = rng.choice((7001, made.vlan[a] + 4000))
    vtep = Vtep(vlan=made.vlan[a], vni=number, underlay="spine", encapsulation="vxlan")
    draft.switch(made.leaf[a], vteps=(*overlays, vtep))
    b = made.one()
    network = draft.vxlan(b, made.name(b, "a-overlay"), number)
    port = draft.plug(b, made.name(b, "a-overlay-port"), network, vnic_type="normal")
    draft.server(b, made.name(b, "a-overlay-server"), made.host[b], (port,))


def passed_through(made: Scene) -> None:
    """A server whose flavour hands out a device of its host."""
    rng, draft, a = made.rng, made.draft, made.one()
    specification = rng.choice(("pci_passthrough:alias", "resources:CUSTOM_NIC", "accel:device_profile"))
    flavor = FlavorSpec(
        name="with-device", role="poplar", vcpus=1, ram_gib=1, disk_gib=1, extra_specs={specification: "x"},
        devices=rng.choice(("network", "other", "other", None)),
    )  # fmt: skip
    draft.flavors = [flavor]
    draft.server(a, made.name(a, "a-device"), made.host[a], (), flavor="site:Flavor/with-device")
    switch, number = made.port[made.host[a]]
    draft.change_port(switch, number, tagged=rng.choice((((1000, 1099),), ((made.vlan[a], made.vlan[a]),))))


def kernel_on_a_wire(made: Scene) -> None:
    """A hypervisor's port with a native VLAN."""
    rng, a = made.rng, made.one()
    switch, number = made.port[made.host[a]]
    native = rng.choice((made.vlan[a], 1090, 1091))
    made.draft.change_port(switch, number, untagged=native, tag_native=rng.choice((True, False, None)))


def switch_address(made: Scene) -> None:
    """An address of a leaf that forwards nothing, in a tenant's VLAN or where nobody is."""
    rng, a = made.rng, made.one()
    chosen = rng.choice(((made.vlan[a],), (made.vlan[a],), (1093,), None))
    made.draft.switch(made.leaf[a], routed_vlans=chosen, ip_routing=rng.choice((False, False, None)))
    if rng.random() < 0.2:
        made.draft.declare(made.leaf[a], "name-and-time")


def machine_of_more(made: Scene) -> None:
    """A machine of which more may be attached than is listed."""
    made.draft.open_tables.add(("attachments", machine(made, made.one())))


PLOTS = (
    open_table, open_table, cloud_not_asked, cloud_not_asked, nothing_listed, port_without_a_cable,
    port_without_a_cable, *[bmc_plug_unsaid] * 3, neutrons_underlay, *[passed_through] * 12,
    *[kernel_on_a_wire] * 4, machine_of_more, *[switch_address] * 3,
)  # fmt: skip
