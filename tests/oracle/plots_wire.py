"""What may go wrong on wires: lists, natives, translations, overlays, routing, ports, private VLANs."""

from __future__ import annotations

from typing import Literal

from interlock.model.site.inventory import Underlay, Vrf, Vtep
from interlock.resources import BareMetalServer

from .scene import POOL, Scene, machine
from .world import OP

Way = Literal["vxlan", "geneve"] | None
WAYS: tuple[Way, ...] = ("vxlan", "vxlan", "vxlan", "geneve", None)


def same_id_on_two_leaves(made: Scene) -> None:
    """Two tenants with one id on two leaves; the uplinks carry some of it, translated or not."""
    a, b = made.pair()
    draft, rng = made.draft, made.rng
    for tenant, leaf in ((a, 0), (b, -1)):
        network = f"data-{made.leaves[leaf][-1]}"
        draft.vlan(tenant, made.name(tenant, "a-storage"), network, 1050 if rng.random() < 0.8 else 1051)
    for ends in made.uplinks:
        for switch, port in ends:
            tagged = rng.choice((None, POOL, POOL, ((1050, 1050),), ((1051, 1052),), ()))
            draft.change_port(switch, port, tagged=tagged)
            if rng.random() < 0.15:
                wire = rng.choice((1050, 1051, 1060))
                draft.change_port(switch, port, translations=((wire, rng.choice((1050, 1051))),))
            if rng.random() < 0.1:
                draft.change_port(switch, port, mode=rng.choice(("dot1q-tunnel", "disabled", "routed")))


def filled_trunks(made: Scene) -> None:
    """A driver puts networks onto the uplinks, or onto what leads to a host; perhaps one id is used on two leaves."""
    a, b = made.pair()
    draft, rng = made.draft, made.rng
    for tenant, leaf in ((a, 0), (b, -1)):
        network = f"data-{made.leaves[leaf][-1]}"
        if rng.random() < 0.7:
            draft.vlan(tenant, made.name(tenant, "a-storage"), network, 1050 if rng.random() < 0.6 else 1051)
    ends = [end for pair in made.uplinks for end in pair] or list(made.port.values())
    for switch, port in ends if rng.random() < 0.8 else [rng.choice(list(made.port.values()))]:
        tagged = rng.choice(((), (), ((1050, 1050),), POOL))
        is_spine = switch == "spine-1" and rng.random() < 0.7
        draft.change_port(switch, port, tagged=None if is_spine else tagged, filled_by=None if is_spine else "neutron")
    if rng.random() < 0.3:
        draft.give_up(a, "storage_vlan", rng.choice((f"data-{made.leaves[0][-1]}:1051", "1051")))
    if rng.random() < 0.25:
        draft.open_tables.add(("networks", rng.choice(sorted(draft.networks))))


def native_vlans(made: Scene) -> None:
    """Natives on the uplinks: of tenants that live on the leaf, or whatever."""
    for ends in made.uplinks:
        planned = made.rng.random() < 0.6
        for switch, port in ends:
            local = [made.vlan[tenant] for tenant in made.tenants if made.leaf[tenant] == switch] or [1099]
            native = made.rng.choice(local) if planned else made.rng.choice((None, *made.vlan.values()))
            told = made.rng.choice((True, False, False, False, False, None))
            made.draft.change_port(switch, port, untagged=native, tag_native=told)


def unlisted_port(made: Scene) -> None:
    """No record of one end of an uplink, or of a host's port."""
    ends = [end for pair in made.uplinks for end in pair] + list(made.port.values())
    switch, port = made.rng.choice(ends)
    made.draft.switches[switch].ports.pop(port, None)


def overlays(made: Scene) -> None:
    """VLANs of leaves mapped to overlays, perhaps the same, perhaps Neutron's own."""
    rng, draft = made.rng, made.draft
    draft.underlays = [Underlay(name="spine", neutron=rng.random() < 0.5), Underlay(name="second")]
    for leaf in sorted({made.leaf[tenant] for tenant in made.tenants}):
        vteps = []
        for tenant in (item for item in made.tenants if made.leaf[item] == leaf):
            vni = rng.choice((7001, 7001, 7002, made.vlan[tenant] + 4000))
            underlay = rng.choice(("spine", "spine", "second"))
            vteps.append(Vtep(vlan=made.vlan[tenant], vni=vni, underlay=underlay, encapsulation=rng.choice(WAYS)))
        draft.switch(leaf, vteps=tuple(vteps))
    one = made.one()
    draft.vxlan(one, made.name(one, "a-overlay"), 7001)


def one_overlay_for_two(made: Scene) -> None:
    """Two tenants' overlays, perhaps with one id, and a server on one."""
    a, b = made.pair()
    vnis = (6001, made.rng.choice((6001, 6002)))
    for tenant, vni in zip((a, b), vnis, strict=True):
        network = made.draft.vxlan(tenant, made.name(tenant, "a-overlay"), vni)
        port = made.draft.plug(tenant, made.name(tenant, "a-port"), network, vnic_type="normal")
        made.draft.server(tenant, made.name(tenant, "a-extra"), made.host[tenant], (port,))


def routing_switch(made: Scene) -> None:
    """Addresses of a leaf in VLANs, in the default routing instance or others."""
    rng = made.rng
    leaf = rng.choice(made.leaves)
    vlans = tuple(made.vlan[tenant] for tenant in made.tenants if made.leaf[tenant] == leaf)
    chosen = tuple(rng.sample(vlans, rng.randint(0, len(vlans))))
    if rng.random() < 0.5:
        made.draft.switch(leaf, vrfs=(Vrf(name="red", vlans=chosen), Vrf(name="blue", vlans=vlans[:1])))
    else:
        known = rng.choice((chosen, chosen, None))
        made.draft.switch(leaf, routed_vlans=known, ip_routing=rng.choice((True, True, False, None)))
    for node in (leaf, f"{leaf}/red", f"{leaf}/blue"):
        if rng.random() < 0.2:
            _declare(made, node)


def _declare(made: Scene, node: str) -> None:
    """Shared on purpose, with everybody or one tenant, by guards that may not hold."""
    audience = (made.one(),) if made.rng.random() < 0.3 else ()
    made.draft.declare(node, "name-and-time", *audience, listeners_listed=made.rng.choice((True, True, False, None)))


def host_on_wrong_leaf(made: Scene) -> None:
    """A host whose network is one thing and whose cable another; its server uses an id of somebody else."""
    a, b = made.pair()
    draft = made.draft
    draft.networks["data-9"] = ()
    name = f"hv-{len(draft.hosts) + 1}"
    carried = made.rng.choice((POOL, POOL, None, ((1090, 1099),)))
    made.port[name] = made.leaf[b], draft.hypervisor(name, made.leaf[b], "data-9", carried)
    vlan = made.rng.choice((made.vlan[b], 1080))
    network = draft.vlan(a, made.name(a, "a-far"), "data-9", vlan)
    port = draft.plug(a, made.name(a, "a-port"), network, vnic_type=made.rng.choice(("direct", "normal")))
    draft.server(a, made.name(a, "a-far-server"), name, (port,))


def loose_function(made: Scene) -> None:
    """A virtual function that nothing holds to its VLAN."""
    a = made.one()
    network = f"{a}-a-ipu-data"
    secure = made.rng.random() < 0.3
    port = made.draft.plug(a, made.name(a, "a-port"), network, port_security=secure)
    made.draft.server(a, made.name(a, "a-loose"), made.host[a], (port,))
    switch, number = made.port[made.host[a]]
    own = (made.vlan[a], made.vlan[a])
    made.draft.change_port(switch, number, tagged=made.rng.choice((POOL, (own,))))


def whole_host(made: Scene) -> None:
    """A host given out whole, with more or less left over on its port."""
    a, b = made.pair()
    rng, draft = made.rng, made.draft
    name = f"bm-{len(draft.hosts) + 1}"
    leaf = made.leaf[a]
    left = rng.choice(((), (), ((made.vlan[b], made.vlan[b]),), ((3000, 3999),), None))
    trunk = {"mode": "trunk", "untagged": rng.choice((None, made.vlan[a])), "tagged": left, "tag_native": False}
    made.port[name] = leaf, draft.whole_host(name, leaf, **(trunk if rng.random() < 0.6 else {}))
    if rng.random() < 0.8:
        draft.switch_port(a, leaf, made.port[name][1], made.vlan[a])
    if rng.random() < 0.5:
        whole = BareMetalServer(name=name, project=draft.project(a), node=name, image="site:Image/poplar", ports=())
        draft.add(a, made.name(a, "a-whole"), whole)
    if rng.random() < 0.6:
        idrac = draft.port("mgmt-1", untagged=rng.choice((10, 4000)))
        draft.cable((name, "idrac"), ("mgmt-1", idrac))
        draft.assumptions["A13"] = {"in_band_closed": rng.choice((True, True, False, None))}


def two_whole_hosts(made: Scene) -> None:
    """Whole hosts of two tenants whose ports still take more than they use."""
    draft, rng = made.draft, made.rng
    for tenant in made.pair():
        name = f"bm-{len(draft.hosts) + 1}"
        left = rng.choice((((3000, 3499),), ((3400, 3999),), ((2000, 2999),), ()))
        port = draft.whole_host(
            name, made.leaf[tenant], mode="trunk", untagged=made.vlan[tenant], tagged=left, tag_native=False
        )
        made.port[name] = made.leaf[tenant], port
        whole = BareMetalServer(
            name=name, project=draft.project(tenant), node=name, image="site:Image/poplar", ports=()
        )
        draft.add(tenant, made.name(tenant, "a-whole"), whole)


def machine_on_wrong_vlan(made: Scene) -> None:
    """A switch port in somebody else's VLAN, by a plan or by the site file, or one held by two."""
    a, b = made.pair()
    rng = made.rng
    wrong = rng.choice((made.vlan[b], 1090))
    how = rng.choice(("site file", "plan", "two plans"))
    name = machine(made, a, wrong if how == "plan" else None)
    leaf, port = made.port[name]
    if how == "site file":
        made.draft.change_port(leaf, port, untagged=rng.choice((wrong, made.vlan[a])))
    elif how == "two plans":
        made.draft.switch_port(b, leaf, port, wrong)


def operators_device(made: Scene) -> None:
    """Something of the operator's on a leaf."""
    rng = made.rng
    leaf = rng.choice(made.leaves)
    vlan = rng.choice((*made.vlan.values(), 1090, 1091, 1092))
    name = f"appliance-{len(made.draft.devices) + 1}"
    if rng.random() < 0.4:
        made.draft.appliance(name, leaf, mode="trunk", tagged=((1001, 1002), (vlan, vlan)))
        _declare(made, name)
    else:
        made.draft.appliance(name, leaf, untagged=vlan)


def private_vlan(made: Scene) -> None:
    """Several tenants' machines on one VLAN with roles, and perhaps somebody who hears all."""
    rng, draft = made.rng, made.draft
    enforced = rng.choice((True, True, False, False, None))
    draft.assumptions["A7"] = {"private_vlan_enforced": enforced, "single_trunk": True}
    for tenant in rng.sample(made.tenants, 2):
        name = f"ipum-{len(draft.machines) + 1}"
        port, _ = draft.machine(name, made.leaves[0])
        made.machines[tenant].append(name)
        role = rng.choice(("isolated", "isolated", "isolated", "isolated", f"of-{tenant}", "shared"))
        draft.change_port(made.leaves[0], port, untagged=4000, private_vlan=role)
        draft.give_up(tenant, "machines", name)
    if rng.random() < 0.2:
        name = f"appliance-{len(draft.devices) + 1}"
        draft.appliance(name, made.leaves[0], untagged=4000)
        if rng.random() < 0.5:
            _declare(made, name)


def machines_management(made: Scene) -> None:
    """Management ports of machines, and what keeps a machine's own sides apart."""
    rng, draft = made.rng, made.draft
    a = made.one()
    if not made.machines[a]:
        machine(made, a)
    guards = ("no_forwarding", "credentials_rotated", "agent_port_operator_only")
    draft.assumptions["A3"] = dict.fromkeys(guards, True)
    draft.assumptions["A3"][rng.choice(guards)] = made.unsure()
    draft.vlan(OP, made.name(OP, "management"), "mgmt", 110)


PLOTS = (
    *[same_id_on_two_leaves] * 9, *[native_vlans] * 9, unlisted_port, *[overlays] * 4, one_overlay_for_two,
    routing_switch, routing_switch, *[host_on_wrong_leaf] * 3, loose_function, whole_host, whole_host, two_whole_hosts,
    *[machine_on_wrong_vlan] * 3, operators_device, *[private_vlan] * 4,
    *[machines_management] * 3,
)  # fmt: skip
