"""The worked examples that need two switches. The number is the example's.

leaf-1: ipum-01..08, poplar-1..2      leaf-2: ipum-09..16, poplar-3..4
      └──────── spine-1 ────────┘     uplinks: port 32 of each leaf, ports 1, 2 of the spine
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.model.site.inventory import Cable, Endpoint, PhysicalNetwork, Site, Switch, SwitchPortConfig, VlanPool
from interlock.resources import SwitchPort
from tests.builders.pod64 import cable, cables, hosts, management_switch, pools, tenant
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    added,
    changed,
    edited,
    first,
    full_site,
    judged,
    made,
    text,
    verdicts,
    with_footprint,
)

NONE: tuple[tuple[int, int], ...] = ()
WIDE = ((1000, 2999),)


def _native(vlan: int | None) -> dict[str, object]:
    """A native VLAN that leaves without its tag."""
    return {} if vlan is None else {"untagged": vlan, "tag_native": False}


def leaves(
    tagged: tuple[tuple[int, int], ...] | None = NONE,
    natives: tuple[int | None, int | None] = (None, None),
    **spine: object,
) -> Site:
    """The site; what the uplinks carry tagged at all ends, and the native VLANs of the first one."""
    legs = [SwitchPortConfig(port=port, mode="trunk", tagged=WIDE) for port in range(17, 25)]
    rnics = [SwitchPortConfig(port=port, mode="disabled") for port in range(1, 17)]
    up = SwitchPortConfig(port=32, mode="trunk", tagged=tagged)
    down = [SwitchPortConfig(port=port, mode="trunk", tagged=tagged) for port in (1, 2)]
    switches = (
        _switch("leaf-1", "tor", (*rnics[:8], *legs[:4], up.model_copy(update=_native(natives[0])))),
        _switch("leaf-2", "tor", (*rnics[8:], *legs[4:], up)),
        _switch("spine-1", "spine", (down[0].model_copy(update=_native(natives[1])), down[1])),
        management_switch(),
    )
    base = full_site()
    names = {"leaf-1": "fabric-1", "leaf-2": "fabric-2"}
    networks = tuple(PhysicalNetwork(name=name, switches=(leaf,)) for leaf, name in names.items())
    return full_site(
        switches=switches,
        cables=(
            *(_rewired(item) for item in cables()),
            cable("leaf-1:32", "spine-1:1"),
            cable("leaf-2:32", "spine-1:2"),
        ),
        physical_networks=networks + base.physical_networks[1:],
        hosts=tuple(
            host.model_copy(update={"interfaces": {_fabric(host.name): host.interfaces["fabric100g"]}})
            if host.role == "poplar"
            else host
            for host in hosts()
        ),
        pools=pools(
            ipu_data=VlanPool(physical_networks=("fabric-1", "fabric-2"), vlans=((1000, 1999),)),
            storage=VlanPool(physical_networks=("fabric-1", "fabric-2"), vlans=((2000, 2999),)),
        ),
        **spine,
    )


def _switch(name: str, role: str, ports: Sequence[SwitchPortConfig]) -> Switch:
    return Switch.model_validate(
        {
            "name": name, "serial": f"SN-{name}", "model": "arista-7060x", "role": role,
            "port_groups": ((100, 32), (10, 2)), "ports": tuple(ports),
            "routed_vlans": (), "ip_routing": False,
        }
    )  # fmt: skip


def _fabric(host: str) -> str:
    return "fabric-1" if host in ("poplar-1", "poplar-2") else "fabric-2"


def _rewired(item: Cable) -> Cable:
    """A cable to tor-1 as one to the leaf that its machine or host belongs to."""
    if item.b.device != "tor-1":
        return item
    far = int(item.a.device.rpartition("-")[2]) > (8 if item.a.device.startswith("ipum") else 2)
    return item.model_copy(update={"b": Endpoint(device="leaf-2" if far else "leaf-1", interface=item.b.interface)})


def two(site: Site, vlan: int = 1000) -> tuple[Made, Made]:
    """acme on leaf 1 with VLAN 1000, globex on leaf 2 with `vlan`."""
    acme = made(site, tenant("acme"), hosts=("poplar-1", "poplar-2"))
    wish = tenant("globex", machines=8, servers=1)
    machines = tuple(f"ipum-{number:02}" for number in range(9, 17))
    globex = made(
        site, wish, [acme.lock], machines=machines, hosts=("poplar-3",), ipu_data_vlan=vlan, storage_vlan=2777
    )  # fmt: skip
    return acme, globex


def test_example_05_one_id_on_two_unconnected_leaves() -> None:
    site = leaves()
    acme, globex = two(site)
    assert judged(site, globex.plan, acme).exit_code == 0
    assert judged(site, acme.plan, globex).exit_code == 0


def test_an_id_of_another_leaf_group_is_another_segment() -> None:
    """acme's machines hang on leaf 1; its network is moved to the physical network of leaf 2."""
    site = leaves()
    acme, _ = two(site)
    judgement = judged(site, edited(acme.plan, "acme-train-ipu-data", physical_network="fabric-2"))
    found = verdicts(judgement)
    assert (found["TOP-13"], found["ISO-03"]) == (V, V)
    assert "VLAN 1000 on fabric-2 (acme-train-ipu-data) does not reach leaf-1" in first(judgement).message
    management = judged(site, edited(acme.plan, "acme-train-management", physical_network="external"))
    assert verdicts(management)["ISO-12"] == V


def test_example_06_uplinks_without_a_list() -> None:
    site = leaves(tagged=None)
    acme, globex = two(site)
    judgement = judged(site, globex.plan, acme)
    assert verdicts(judgement)["ISO-11"] == V
    way = text(next(item for item in judgement.findings if item.rule == "ISO-11"))
    assert "leaf-2 VLAN 1000 [globex] – spine-1 VLAN 1000 – leaf-1 VLAN 1000 [acme]" in way


def test_example_06_an_uplink_that_nobody_describes() -> None:
    site = leaves(tagged=None)
    spine = site.switch["spine-1"].model_copy(update={"ports": site.switch["spine-1"].ports[:1]})
    switches = tuple(spine if switch.name == "spine-1" else switch for switch in site.switches)
    site = changed(site, switches=switches)
    acme, globex = two(site)
    judgement = judged(site, globex.plan, acme)
    assert verdicts(judgement)["ISO-11"] == N
    found = next(item for item in judgement.findings if item.rule == "ISO-11")
    assert found.missing == ("switches.spine-1.ports.2",)


def test_example_07_native_vlans_that_differ() -> None:
    site = leaves(natives=(1000, 1002))
    acme, _ = two(site)
    globex = made(site, tenant("globex", machines=1, servers=1), [acme.lock], hosts=("poplar-2",), ipu_data_vlan=1005)
    # 1002 is spoken on the spine only: globex claims it there.
    networks = tuple(
        item.model_copy(update={"switches": ("leaf-2", "spine-1")}) if item.name == "fabric-2" else item
        for item in site.physical_networks
    )
    site = changed(site, physical_networks=networks)
    plan = edited(globex.plan, "globex-train-ipu-data", physical_network="fabric-2", segmentation_id=1002)
    judgement = judged(site, plan, acme)
    assert verdicts(judgement)["ISO-02"] == V
    way = text(next(item for item in judgement.findings if item.rule == "ISO-11"))
    assert "spine-1 VLAN 1002 [globex] – leaf-1 VLAN 1000 [acme]" in way


def test_example_51_two_plans_join_what_neither_joins_alone() -> None:
    """Each plan sets one end of an uplink to its own VLAN; only the union of the two premises is an edge."""
    site = leaves()
    spine = PhysicalNetwork(name="fabric-2", switches=("leaf-2", "spine-1"))
    networks = tuple(spine if item.name == "fabric-2" else item for item in site.physical_networks)
    site = changed(site, physical_networks=networks)
    acme, globex = two(site, vlan=1002)
    leaf_end = SwitchPort(switch="leaf-1", port=32, device="spine-1", interface="rnic", vlan=1000)
    spine_end = SwitchPort(switch="spine-1", port=1, device="leaf-1", interface="rnic", vlan=1002)
    mine = added(acme.plan, "acme-uplink", "acme-train", leaf_end)
    theirs = with_footprint(site, added(globex.plan, "globex-uplink", "globex-train", spine_end), globex.lock)
    assert verdicts(judged(site, mine, globex))["ISO-02"] == P
    assert verdicts(judged(site, acme.plan, theirs))["ISO-02"] == P
    judgement = judged(site, mine, theirs)
    assert verdicts(judgement)["ISO-02"] == V
    assert verdicts(judgement)["ISO-11"] == V


def test_wires_of_one_vpod_over_two_leaves_need_the_uplink() -> None:
    """A presence claim: what is not carried is missing, not isolated."""
    site = leaves()
    # One physical network over both leaves: a name for two segments, as nothing joins them.
    both = tuple(
        item.model_copy(update={"switches": ("leaf-1", "leaf-2")}) if item.name == "fabric-1" else item
        for item in site.physical_networks
    )
    legs = {"fabric-1": ("ens161f0", "ens161f1")}
    servers = tuple(
        host.model_copy(update={"interfaces": legs}) if host.role == "poplar" else host for host in site.hosts
    )
    site = changed(site, physical_networks=both, hosts=servers)
    acme = made(site, tenant("acme"), hosts=("poplar-1", "poplar-3"))
    judgement = judged(site, acme.plan)
    assert verdicts(judgement)["ISO-03"] == V
    assert "acme-train-poplar-1-ipu-data" in first(judgement).message
