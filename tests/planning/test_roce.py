"""GPU clusters with RoCE: what a lock gives them, what a plan makes of it, and what stops either.

The site of `roce_sites`: units su01 and su02 of 4 nodes, each a leaf group.
"""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Network

import pytest
import yaml
from pydantic import ValidationError

from interlock.model.lock.record import ClusterAllocation, Lock
from interlock.model.site.inventory import Site, VlanPool
from interlock.model.tenant.request import Cluster, Pins, Tenant
from interlock.planning import AllocationError, NeedsMove, Plan, PlanningError, SiteHashes, allocate
from interlock.planning.addresses import most_railed_nodes, rail_address
from interlock.planning.capacity import capacity
from interlock.planning.cluster_errors import recreated_of_cluster
from interlock.planning.enrolment import enrolment_of
from interlock.resources import BareMetalServer, Network, Port, RouterInterface, Subnet, SwitchPort
from tests.builders.gpu_plans import claims, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, node_name
from tests.builders.pod64 import locked
from tests.builders.roce_sites import RAIL_NAMES, roce_claims, roce_cluster, roce_site

SITE = roce_site()


def of_size(nodes: int, name: str = "acme", **fields: object) -> Tenant:
    return gpu_tenant(name, roce_cluster(nodes=nodes), **fields)


ACME = locked(SITE, of_size(2))


def given_to(lock: Lock, name: str = "train") -> ClusterAllocation:
    return lock.allocation.clusters[name]


def roce_of(found: ClusterAllocation) -> tuple[str | None, int | None, str | None]:
    return found.roce_network, found.roce_vlan, found.roce_subnet


def changed(site: Site, **fields: object) -> Site:
    return Site(**{name: getattr(site, name) for name in Site.model_fields} | fields)


def recabled(site: Site, *nodes: str) -> Site:
    """The site where these nodes have their rails on the other leaf group's physical network, as it states them."""
    hosts = tuple(
        host.model_copy(update={"interfaces": {"inband": host.interfaces["inband"], "roce-su02": RAIL_NAMES}})
        if host.name in nodes
        else host
        for host in site.hosts
    )
    return changed(site, hosts=hosts)


class TestLocks:
    def test_a_cluster_is_behind_one_leaf_group_with_a_vlan_and_a_subnet_there(self) -> None:
        found = given_to(ACME)
        assert found.hosts == (node_name(1, 1), node_name(1, 2))
        assert (roce_of(found), found.partition_keys) == (("roce-su01", 2500, "10.61.0.0/24"), {})
        # Three do not fit beside them; ids of another leaf group are its own, addresses are nobody else's.
        globex = given_to(locked(SITE, of_size(3, "globex"), [ACME]))
        assert (globex.hosts[0], roce_of(globex)) == (node_name(2, 1), ("roce-su02", 2500, "10.61.1.0/24"))
        beside = given_to(locked(SITE, of_size(2, "globex"), [ACME]))
        assert (beside.hosts[0], roce_of(beside)) == (node_name(1, 3), ("roce-su01", 2501, "10.61.1.0/24"))

    def test_nodes_without_infiniband_are_told_the_fabric_that_they_have(self) -> None:
        nodes = tuple(node.model_copy(update={"ports": ()}) for node in SITE.gpu_nodes)
        with pytest.raises(PlanningError, match="or ask for `fabric: roce`"):
            locked(changed(SITE, gpu_nodes=nodes), gpu_tenant("acme", cluster("train", 2, fabric="infiniband")))

    def test_more_nodes_than_a_leaf_group_has_are_refused_with_what_would_work(self) -> None:
        with pytest.raises(AllocationError) as told:
            locked(SITE, of_size(5, "globex"), [ACME])
        assert "5 dgx-h100 nodes behind one leaf group; closest is roce-su02 in hall-1, with 4 of them" in str(
            told.value
        )
        assert "ask for 4 at most" in str(told.value)
        assert "a VRF for each tenant, which cannot be made yet" in str(told.value)

    def test_it_keeps_what_it_has_when_it_grows_shrinks_and_is_released(self) -> None:
        was = roce_of(given_to(ACME))
        grown = locked(SITE, of_size(4), previous=ACME)
        small = locked(SITE, of_size(1), previous=grown)
        released = locked(SITE, gpu_tenant("acme", roce_cluster(nodes=2, state="released")), previous=small)
        back = locked(SITE, of_size(2), previous=released.model_copy(update={"released": ()}))
        assert [roce_of(given_to(lock)) for lock in (grown, small, released, back)] == [was] * 4
        assert {item.claim for lock in (grown, small, released) for item in lock.released} == {"hosts"}
        with pytest.raises(NeedsMove, match="cannot grow to 5 nodes where it is"):
            locked(SITE, of_size(5), previous=ACME)

    def test_what_it_gives_up_stays_taken_until_it_is_settled(self) -> None:
        without = locked(SITE, gpu_tenant("acme", cluster()), previous=ACME)
        assert roce_of(given_to(without)) == (None, None, None)
        released = {(item.claim, item.value) for item in without.released}
        assert released == {("roce_vlan", "roce-su01:2500"), ("roce_subnet", "10.61.0.0/24")}
        other = given_to(locked(SITE, of_size(2, "globex"), [without]))
        assert roce_of(other) == ("roce-su01", 2501, "10.61.1.0/24")
        lost = recreated_of_cluster(given_to(ACME), given_to(without))
        assert lost == ("its RoCE network, and with that the ports of its nodes there",)

    def test_another_fabric_is_given_where_the_nodes_are(self) -> None:
        plain = locked(SITE, gpu_tenant("acme", cluster()))
        found = given_to(locked(SITE, of_size(2), previous=plain))
        assert (found.hosts, found.roce_network) == (given_to(plain).hosts, "roce-su01")
        assert recreated_of_cluster(given_to(plain), found) == ()

    def test_nodes_that_are_cabled_elsewhere_move_only_if_asked(self) -> None:
        site = recabled(SITE, node_name(1, 1), node_name(1, 2))
        with pytest.raises(
            NeedsMove, match="has its RoCE network on roce-su01, and not all rails of its nodes are stated"
        ):
            locked(site, of_size(2), previous=ACME)
        moved = allocate(site, of_size(2), [], ACME, move=True)[0].clusters["train"]
        assert (moved.hosts, moved.roce_network) == (given_to(ACME).hosts, "roce-su02")

    def test_pins_are_behind_one_leaf_group(self) -> None:
        pins = {"train": Pins(hosts=(node_name(1, 1), node_name(2, 1)))}
        with pytest.raises(PlanningError, match="not with all rails on one network of the pool `roce`"):
            locked(SITE, of_size(2, pins=pins))

    def test_a_node_without_all_rails_mac_addresses_and_cables_is_none(self) -> None:
        one, two, three = (node_name(1, number) for number in (1, 2, 3))
        hosts = {host.name: host for host in SITE.hosts}
        less: dict[str, object] = {"interfaces": {**hosts[one].interfaces, "roce-su01": RAIL_NAMES[:7]}}
        bare: dict[str, object] = {"macs": {name: mac for name, mac in hosts[two].macs.items() if name != "eth8"}}
        changes = {one: less, two: bare}
        cables = tuple(item for item in SITE.cables if (item.a.device, item.a.interface) != (three, "eth1"))
        found = changed(
            SITE, hosts=tuple(host.model_copy(update=changes.get(host.name, {})) for host in SITE.hosts), cables=cables
        )
        assert given_to(locked(found, of_size(1))).hosts == (node_name(1, 4),)

    def test_what_the_site_lacks_is_told(self) -> None:
        pools = {"cluster": SITE.pools.cluster, "cluster_subnets": SITE.pools.cluster_subnets}
        none = changed(SITE, pools=SITE.pools.model_copy(update={"roce": None, "roce_subnets": None, **pools}))
        with pytest.raises(PlanningError, match="none has its 8 Ethernet compute ports on one network of the pool"):
            locked(none, of_size(1))
        one = VlanPool(physical_networks=("roce-su01",), vlans=((2500, 2500),))
        tight = changed(SITE, pools=SITE.pools.model_copy(update={"roce": one}))
        with pytest.raises(AllocationError, match="no free VLAN id for roce_vlan"):
            locked(tight, of_size(1, "globex"), [locked(tight, of_size(1))])
        narrow = changed(SITE, pools=SITE.pools.model_copy(update={"roce_subnets": ("10.61.0.0/16", 27)}))
        with pytest.raises(PlanningError, match=r"has addresses for 1 node of 8 rails, not 2"):
            locked(narrow, of_size(2))

    def test_capacity_counts_what_is_left(self) -> None:
        found = capacity(SITE, [ACME])
        free = {(item.network, item.free) for item in found.vlans if item.pool == "roce"}
        assert free == {("roce-su01", 99), ("roce-su02", 100)}
        assert [item.free for item in found.subnets if item.pool == "roce"] == [255]

    def test_while_it_is_released_it_may_ask_for_another_type_or_for_roce(self) -> None:
        other = gpu_tenant("acme", cluster(node_type="gcore-l40s", fabric="none", state="released"))
        assert roce_of(given_to(locked(SITE, other, (), ACME))) == roce_of(given_to(ACME))
        plain = locked(SITE, gpu_tenant("acme", cluster(nodes=2, fabric="none")))
        asked = roce_cluster(nodes=2, state="released")
        found = given_to(locked(SITE, gpu_tenant("acme", asked), (), plain))
        assert roce_of(found) == (None, None, None)
        assert "acme-train-roce" not in planned(found, asked=asked).by_name

    def test_a_node_whose_number_has_no_place_in_the_subnet_is_told(self) -> None:
        """A /27 has addresses for one node, number 0; the one that is left is number 1."""
        narrow = changed(SITE, pools=SITE.pools.model_copy(update={"roce_subnets": ("10.61.0.0/16", 27)}))
        two = locked(narrow, gpu_tenant("acme", cluster(nodes=2, fabric="none")))
        left = roce_cluster(nodes=1, without=(given_to(two).hosts[0],))
        with pytest.raises(
            PlanningError, match="addresses for 1 node of 8 rails, and one of its nodes is number 1"
        ) as told:
            locked(narrow, gpu_tenant("acme", left), (), two)
        assert told.value.path == ("clusters", "train", "nodes")
        assert told.value.hint == "let the site's pool `roce` cut larger subnets, /26 for so many"

    def test_a_lock_says_all_of_a_network_or_nothing(self) -> None:
        with pytest.raises(ValidationError, match="roce_network, roce_vlan, roce_subnet: all of them, or none"):
            roce_claims(1, (1, 1), roce_vlan=None)
        assert "roce" not in json.dumps(claims(1, (1, 1)).model_dump(mode="json"))

    def test_only_locks_with_roce_rest_on_its_pool(self) -> None:
        plain, railed = gpu_site(), locked(SITE, gpu_tenant("acme", cluster())).allocation
        pools = plain.pools.model_copy(update={"roce": SITE.pools.roce, "roce_subnets": SITE.pools.roce_subnets})
        assert SiteHashes(plain).slice_hash(railed) == SiteHashes(changed(plain, pools=pools)).slice_hash(railed)
        wider = VlanPool(physical_networks=("roce-su01", "roce-su02"), vlans=((2500, 2699),))
        other = changed(SITE, pools=SITE.pools.model_copy(update={"roce": wider}))
        assert SiteHashes(SITE).slice_hash(ACME.allocation) != SiteHashes(other).slice_hash(ACME.allocation)


class TestAddresses:
    def test_every_rail_has_one_of_its_own_and_growth_moves_nobody(self) -> None:
        most = most_railed_nodes(24, 8)
        found = [rail_address("10.61.1.0/24", number, rail, 8) for number in range(most) for rail in range(1, 9)]
        assert len(set(found)) == len(found) == 8 * 29
        assert (found[0], found[-1]) == ("10.61.1.8", "10.61.1.239")
        with pytest.raises(PlanningError):
            rail_address("10.61.1.0/24", most, 8, 8)
        assert (most_railed_nodes(28, 8), most_railed_nodes(27, 8)) == (0, 1)


def planned(*given: ClusterAllocation, asked: Cluster | None = None, site: Site = SITE) -> Plan:
    return clusters_planned(gpu_tenant("acme", asked or roce_cluster(nodes=len(given[0].hosts))), given, site)


class TestPlans:
    def test_the_network_has_no_way_out_and_nobody_else_on_it(self) -> None:
        plan = planned(roce_claims(1, (1, 1), (1, 2)))
        network, subnet = (plan.by_name[name].resource for name in ("acme-train-roce", "acme-train-roce-subnet"))
        assert isinstance(network, Network)
        assert isinstance(subnet, Subnet)
        assert (network.physical_network, network.segmentation_id) == ("roce-su01", 2501)
        assert (subnet.cidr, subnet.gateway, subnet.dhcp) == ("10.61.1.0/24", None, False)
        routed = {item.resource.subnet for item in plan.resources if isinstance(item.resource, RouterInterface)}
        assert routed == {"acme-train-cluster-subnet"}

    def test_each_rail_is_a_port_a_switch_port_and_a_leg_of_its_node(self) -> None:
        plan = planned(roce_claims(1, (1, 1), (1, 2)))
        seen = set[tuple[str, int]]()
        for number in (0, 1):
            name = f"acme-train-node-{number}"
            server = plan.by_name[name].resource
            assert isinstance(server, BareMetalServer)
            assert server.ports == (f"{name}-cluster", *(f"{name}-roce{rail}" for rail in range(1, 9)))
            assert len(server.legs) == len(server.ports)
            for rail, (port_name, leg) in enumerate(zip(server.ports[1:], server.legs[1:], strict=True), start=1):
                port, behind = plan.by_name[port_name].resource, plan.by_name[f"{port_name}-switch"].resource
                assert isinstance(port, Port)
                assert isinstance(behind, SwitchPort)
                assert (port.address, port.vnic_type) == (f"10.61.1.{8 * (number + 1) + rail - 1}", "baremetal")
                assert (behind.device, behind.interface) == (server.node, f"eth{rail}")
                assert (behind.wired_by, behind.vlan, behind.network) == ("ironic", 2501, "acme-train-roce")
                assert (leg.switch, leg.port, leg.vlan) == (behind.switch, behind.port, behind.vlan)
                seen.add((leg.switch, leg.port))
        assert seen == {("roce-su01", port) for port in range(1, 17)}

    def test_a_node_answers_for_each_address_on_its_own_interface(self) -> None:
        server = planned(roce_claims(1, (1, 1))).by_name["acme-train-node-0"].resource
        assert isinstance(server, BareMetalServer)
        document = yaml.safe_load(server.user_data)
        files = {item["path"]: item["content"] for item in document["write_files"]}
        ethernets = yaml.safe_load(files["/etc/netplan/60-roce.yaml"])["network"]["ethernets"]
        assert list(ethernets) == ["in-band", *(f"roce{rail}" for rail in range(1, 9))]
        for rail in range(1, 9):
            item = ethernets[f"roce{rail}"]
            assert item["match"] == {"macaddress": f"02:00:01:01:01:{rail:02x}"}
            (address,), (rule,), (route,) = item["addresses"], item["routing-policy"], item["routes"]
            assert IPv4Address(address.split("/")[0]) in IPv4Network(route["to"])
            assert (rule["from"], rule["table"], route["scope"]) == (address.split("/")[0], route["table"], "link")
            assert item["mtu"] == 9000
        assert len({item["routes"][0]["table"] for name, item in ethernets.items() if name != "in-band"}) == 8
        sysctl = files["/etc/sysctl.d/90-rails.conf"]
        assert "net.ipv4.conf.all.arp_ignore = 1\nnet.ipv4.conf.all.arp_announce = 2\n" in sysctl
        assert document["runcmd"] == [["sysctl", "--system"], ["netplan", "apply"]]
        # DSCP 26 in the upper six bits, and ECT(0), since the profile marks congestion.
        assert "NCCL_IB_TC=106\n" in files["/etc/nccl.conf"]
        assert "NCCL_IB_PKEY" not in files["/etc/nccl.conf"]

    def test_without_a_profile_no_class_is_guessed(self) -> None:
        networks = tuple(item.model_copy(update={"profile": None}) for item in SITE.physical_networks)
        text = planned(roce_claims(1, (1, 1)), site=changed(SITE, physical_networks=networks))
        server = text.by_name["acme-train-node-0"].resource
        assert isinstance(server, BareMetalServer)
        assert "NCCL_IB_TC=" not in server.user_data
        assert "NCCL_IB_TC says it" in server.user_data

    def test_slurm_sees_one_leaf(self) -> None:
        plan = planned(roce_claims(1, (1, 1), (1, 2)), asked=roce_cluster(scheduler="slurm"))
        server = plan.by_name["acme-train-node-0"].resource
        assert isinstance(server, BareMetalServer)
        assert "SwitchName=roce-su01 Nodes=acme-train-node-[0-1]" in server.user_data
        assert "SwitchName=spine" not in server.user_data

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (claims(1, (1, 1), partition_keys={}), "gives cluster train no RoCE network"),
            (roce_claims(1, (2, 1)), "has not its 8 Ethernet compute ports on roce-su01"),
        ],
    )
    def test_what_a_lock_does_not_give_stops_a_plan(self, given: ClusterAllocation, said: str) -> None:
        with pytest.raises(PlanningError, match=said):
            planned(given)

    def test_rails_are_enrolled_and_boot_from_none(self) -> None:
        assert SITE.ironic is not None
        found = {item.name: item for item in enrolment_of(SITE, SITE.ironic).nodes}[node_name(1, 1)]
        rails = {port.name: port for port in found.ports if port.physical_network == "roce-su01"}
        assert set(rails) == {f"{node_name(1, 1)}-{name}" for name in RAIL_NAMES}
        assert not any(port.pxe_enabled for port in rails.values())
        assert [port.physical_network for port in found.ports if port.pxe_enabled] == ["inband"]
