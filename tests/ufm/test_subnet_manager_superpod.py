"""The site `superpod` at a real subnet manager: 1 016 ports, cabled as the site says, and every planned partition.

Partitions are made by the provider's lifecycle, through the stand-in of UFM: in a usual run the largest, of more
members than a line of OpenSM's file holds, and those of a smaller tenant; OpenSM is told of the others at once. A long
run makes all of them so. What OpenSM wrote into the tables of ports counts: those of hosts and those of leaf ports,
each by themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from infra.program.gate import Gate
from interlock.resources import PartitionKey
from interlock.ufm.loading import FabricAccess
from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet, ManagerSettings, PortTables
from sandbox.infiniband.topology import hex16
from tests.builders.site_subnet import subnet_of_site
from tests.builders.superpod import SITE, TENANTS
from tests.ufm.double import Double
from tests.ufm.test_subnet_manager_partitions import LiveStack, folder

COMPUTE = "compute"
KEY_BITS, FULL, DEFAULT = 0x7FFF, 0x8000, 0x7FFF
PORTS = 127 * 8
#: Tenants whose partitions the provider makes in a usual run: one with 40 nodes, one with two clusters.
USUAL = ("acme", "umbrella")


@dataclass(frozen=True)
class Planned:
    """A partition of a tenant's plan: its owner, its name there, what it is."""

    tenant: str
    name: str
    spec: PartitionKey

    @property
    def guids(self) -> frozenset[int]:
        """Its members."""
        return frozenset(int(member.guid, 16) for member in self.spec.members)


@dataclass
class SiteStack(LiveStack):
    """A stack of one of them, at the subnet that the site names."""

    def way(self) -> FabricAccess:
        """By password."""
        assert self.standin is not None
        file = self.folder / "secret"
        file.write_text(self.standin.password)
        ca_file = Path(self.standin.ca_file)
        return FabricAccess(COMPUTE, self.standin.url, self.standin.user, file, None, ca_file, "fabrics.yaml:2:9")


@cache
def gate() -> Gate:
    return Gate.open(SITE)


@cache
def planned() -> tuple[Planned, ...]:
    """Every partition of every tenant."""
    return tuple(
        Planned(tenant, item.name, item.resource)
        for tenant in TENANTS
        for item in gate().plan(tenant).resources
        if isinstance(item.resource, PartitionKey)
    )


@pytest.fixture(scope="module")
def pod() -> Iterator[LiveSubnet]:
    """The site's switches, cables and GUIDs."""
    site = gate().workspace.site
    (subnet,) = site.infiniband
    settings = ManagerSettings(sweep_interval=0, subnet_prefix=int(subnet.prefix, 16))
    with LiveSubnet(subnet_of_site(site, subnet.name), folder("superpod"), settings).running() as found:
        yield found


@pytest.fixture(scope="module")
def stacks(pod: LiveSubnet, tmp_path_factory: pytest.TempPathFactory, long: bool) -> Iterator[dict[str, SiteStack]]:
    """Every partition is made. Name -> its stack, of those that the provider made."""
    by_provider = planned() if long else tuple(item for item in planned() if item.tenant in USUAL)
    others = (item for item in planned() if item not in by_provider)
    pod.apply(
        ConfiguredPartition(item.spec.key, item.name, dict.fromkeys(item.guids, "full"), index0=True) for item in others
    )
    with StandIn(pod).serving() as standin:
        found: dict[str, SiteStack] = {}
        for item in by_provider:
            home = tmp_path_factory.mktemp(item.name)
            found[item.name] = SiteStack(Double(frozenset()), home, standin=standin, name=item.name)
            found[item.name].up(item.spec)
        yield found


def meeting(tables: Mapping[int, tuple[int, ...]]) -> set[frozenset[str]]:
    """Pairs of tenants of whose ports two share a key of which one is a full member."""
    owner = {guid: item.tenant for item in planned() for guid in item.guids}
    members: defaultdict[int, set[int]] = defaultdict(set)
    full: defaultdict[int, set[int]] = defaultdict(set)
    for guid in owner:
        for row in tables[guid]:
            members[row & KEY_BITS].add(guid)
            if row & FULL:
                full[row & KEY_BITS].add(guid)
    return {
        frozenset((owner[one], owner[other]))
        for key, guids in full.items()
        for one in guids
        for other in members[key]
        if owner[one] != owner[other]
    }


def test_subnet_manager_has_the_sites_ports(pod: LiveSubnet) -> None:
    """Each at the leaf of its rail, with everybody limited in the default partition."""
    site = gate().workspace.site
    ports = {int(port.guid, 16): (node.name, port.name) for node in site.gpu_nodes for port in node.ports if port.guid}
    assert len(ports) == PORTS
    found = {link.here.guid: link.there for link in pod.links() if link.here.guid in ports}
    stated = {guid: site.far_end(*place) for guid, place in ports.items()}
    assert {guid: f"{end.description}:{end.port}" for guid, end in found.items()} == {
        guid: str(end) for guid, end in stated.items()
    }


def test_subnet_manager_keeps_sixteen_tenants_apart(pod: LiveSubnet, stacks: dict[str, SiteStack]) -> None:
    tables = pod.tables()
    key_of = {guid: item.spec.key for item in planned() for guid in item.guids}
    assert len(key_of) == 124 * 8
    for guid in (hca.guid for hca in pod.topology.hosts):
        # At index 0, where NCCL looks; a node of nobody is in the default partition alone.
        rows = (key_of[guid] | FULL, DEFAULT) if guid in key_of else (DEFAULT,)
        assert tables[guid] == PortTables(rows, rows), hex16(guid)
    assert meeting({guid: item.host for guid, item in tables.items()}) == set()
    assert meeting({guid: item.leaf for guid, item in tables.items()}) == set()
    acme = next(item for item in planned() if item.tenant == "acme")
    assert not stacks[acme.name].audited(acme.spec).has_drifted


def test_subnet_manager_shows_a_port_in_anothers_partition(pod: LiveSubnet, stacks: dict[str, SiteStack]) -> None:
    """The same reading, of a table in which somebody put one port of globex into the partition of acme."""
    acme, globex = (next(item for item in planned() if item.tenant == name) for name in ("acme", "globex"))
    stranger = min(globex.guids)
    before = pod.partitions()
    leaking = [
        replace(item, members={**item.members, stranger: "full"}) if item.key == acme.spec.key else item
        for item in before
    ]
    pod.apply(leaking)
    tables = pod.tables()
    assert meeting({guid: item.leaf for guid, item in tables.items()}) == {frozenset(("acme", "globex"))}
    assert stacks[acme.name].audited(acme.spec).reason == (
        f"in it are members that no plan puts there: {hex16(stranger)} (full)"
    )
    pod.apply(before)
