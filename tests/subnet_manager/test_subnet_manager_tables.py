"""What a P_Key does, as a real subnet manager writes it into the tables of host ports and leaf ports."""

from __future__ import annotations

import re
import time

import pytest

from sandbox.infiniband.partitions import ConfiguredPartition, Membership
from sandbox.infiniband.subnet import LiveSubnet, ManagerSettings
from sandbox.infiniband.topology import rails

from .conftest import folder

FULL_1, LIMITED_DEFAULT = 0x8001, 0x7FFF


def partition(
    subnet: LiveSubnet, key: int, members: dict[str, Membership], *, index0: bool = True
) -> ConfiguredPartition:
    """One of HCAs by their names."""
    return ConfiguredPartition(
        key, f"t{key}", {subnet.topology.guid(name): kind for name, kind in members.items()}, index0=index0
    )


def tenant(subnet: LiveSubnet, key: int, *nodes: int) -> ConfiguredPartition:
    """All rails of some nodes, full members, at index 0."""
    return partition(subnet, key, {f"n{node}-r{rail}": "full" for node in nodes for rail in range(2)})


def test_the_sites_own_guids_are_there(subnet: LiveSubnet) -> None:
    assert set(subnet.tables()) == {hca.guid for hca in subnet.topology.hcas}
    cabled = {(link.here.guid, link.there.description, link.there.port) for link in subnet.links()}
    for hca in subnet.topology.hcas:
        assert (hca.guid, *subnet.topology.leaf(hca.name)) in cabled


def test_everybody_is_a_limited_member_of_the_default_partition(subnet: LiveSubnet) -> None:
    for hca in subnet.topology.hosts:
        assert subnet.host_table(hca.guid) == (LIMITED_DEFAULT,)
    assert subnet.host_table(subnet.topology.guid("ufm-0")) == (0xFFFF,), "the subnet manager alone is full"


@pytest.mark.parametrize(("index0", "table"), [(True, (0x8001, 0x7FFF)), (False, (0x7FFF, 0x8001))])
def test_index_0_is_what_the_flag_says(subnet: LiveSubnet, index0: bool, table: tuple[int, ...]) -> None:
    """NCCL takes the key at index 0: with a limited one there jobs hang."""
    subnet.apply([partition(subnet, 1, {"n0-r0": "full", "n1-r0": "full"}, index0=index0)])
    assert subnet.host_table(subnet.topology.guid("n0-r0")) == table


def test_the_leafs_port_has_the_hosts_table(subnet: LiveSubnet) -> None:
    subnet.apply([tenant(subnet, 1, 0, 1), tenant(subnet, 2, 2, 3)])
    for guid, tables in subnet.tables().items():
        if guid in {hca.guid for hca in subnet.topology.hosts}:
            assert tables.leaf == tables.host


def test_tables_are_those_that_smpquery_shows(subnet: LiveSubnet) -> None:
    """The reader of all tables against the operator's program, which asks for one."""
    subnet.apply([tenant(subnet, 1, 0, 1), tenant(subnet, 2, 2)])
    read = subnet.tables()
    for hca in map(subnet.topology.hca, ("n0-r1", "n2-r0", "n7-r1")):
        assert read[hca.guid].host == shown_by_smpquery(subnet, f"{hca.guid:#x}")
        leaf, port = subnet.topology.leaf(hca.name)
        switch = next(switch.guid for switch in subnet.topology.switches if switch.name == leaf)
        assert read[hca.guid].leaf == shown_by_smpquery(subnet, f"{switch:#x}", str(port))


def shown_by_smpquery(subnet: LiveSubnet, *words: str) -> tuple[int, ...]:
    """A table without its empty rows."""
    text = subnet.queries.ask("smpquery", "-G", "pkeys", *words)
    rows = [row for line in re.findall(r"^ *\d+: (.*)$", text, re.MULTILINE) for row in line.split()]
    return tuple(int(row, 16) for row in rows if int(row, 16))


def test_path_records_are_there_inside_a_tenant_and_not_between_two(subnet: LiveSubnet) -> None:
    subnet.apply([tenant(subnet, 1, 0, 1), tenant(subnet, 2, 2, 3)])
    guid = subnet.topology.guid
    assert subnet.paths(guid("n0-r0"), guid("n1-r0")) == (FULL_1,)
    assert subnet.paths(guid("n0-r0"), guid("n2-r0")) == (), "two limited members of the default partition"


def test_a_leak_is_in_the_tables_within_a_sweep(subnet: LiveSubnet) -> None:
    """A node written into another's partition: the time is that of SIGHUP, the sweep and one reading of all tables."""
    guid = subnet.topology.guid
    subnet.apply([tenant(subnet, 1, 0, 1), tenant(subnet, 2, 2, 3)])
    assert subnet.paths(guid("n0-r0"), guid("n2-r0")) == ()
    began = time.monotonic()
    leaking = partition(subnet, 1, {"n0-r0": "full", "n1-r0": "full", "n2-r0": "full"})
    subnet.apply([leaking, tenant(subnet, 2, 2, 3)])
    assert FULL_1 in subnet.leaf_table(guid("n2-r0"))
    assert time.monotonic() - began < 2 * subnet.settings.sweep_interval
    assert subnet.paths(guid("n0-r0"), guid("n2-r0")) == (FULL_1,)


def test_clients_of_a_storage_partition_reach_the_server_alone(subnet: LiveSubnet) -> None:
    guid = subnet.topology.guid
    members: dict[str, Membership] = {"n0-r0": "limited", "n1-r0": "limited", "n7-r0": "full"}
    subnet.apply([partition(subnet, 3, members, index0=False)])
    assert [key & 0x7FFF for key in subnet.paths(guid("n0-r0"), guid("n7-r0"))] == [3]
    assert subnet.paths(guid("n0-r0"), guid("n1-r0")) == ()


def test_nobody_leaves_the_default_partition(subnet: LiveSubnet) -> None:
    """With SELF alone in it hosts still hold 0x7fff, which questions to the subnet manager need."""
    text = f"Default=0x7fff : SELF=full ;\n{tenant(subnet, 1, 0, 1).line}\n"
    subnet.partition_file.write_text(text, encoding="utf-8")
    subnet.reload()
    assert subnet.host_table(subnet.topology.guid("n0-r0")) == (0x8001, 0x7FFF)
    assert subnet.host_table(subnet.topology.guid("n5-r1")) == (0x7FFF,)


def test_a_key_of_an_earlier_partition_is_gone(subnet: LiveSubnet) -> None:
    subnet.apply([tenant(subnet, 1, 0, 1)])
    subnet.apply([tenant(subnet, 1, 1)])
    assert subnet.tables()[subnet.topology.guid("n0-r0")].host == (LIMITED_DEFAULT,)
    assert subnet.tables()[subnet.topology.guid("n0-r0")].leaf == (LIMITED_DEFAULT,)


def test_enforcement_that_is_off_shows_in_leaf_tables_alone(subnet: LiveSubnet) -> None:
    """Two subnets beside one another, alike but for `part_enforce`: hosts' tables and paths are the same."""
    off = ManagerSettings(part_enforce="off")
    with LiveSubnet(rails(8, 2), folder("off"), off).running() as open_subnet:
        for here in (subnet, open_subnet):
            here.apply([tenant(here, 1, 0, 1), tenant(here, 2, 2, 3)])
        enforced, open_tables = subnet.tables(), open_subnet.tables()
        hosts = [hca.guid for hca in subnet.topology.hosts]
        assert [enforced[guid].host for guid in hosts] == [open_tables[guid].host for guid in hosts]
        assert {open_tables[guid].leaf for guid in hosts} == {(0xFFFF,)}, "everything passes"
        assert (0xFFFF,) not in {enforced[guid].leaf for guid in hosts}
        a, b, c = hosts[0], hosts[2], hosts[4]
        for here in (subnet, open_subnet):
            assert (here.paths(a, b), here.paths(a, c)) == ((FULL_1,), ())


def test_a_default_partition_of_full_members_joins_everybody(subnet: LiveSubnet) -> None:
    with LiveSubnet(rails(4, 1), folder("full"), ManagerSettings(default_membership="full")).running() as other:
        guid = other.topology.guid
        assert other.host_table(guid("n0-r0")) == (0xFFFF,)
        assert other.paths(guid("n0-r0"), guid("n3-r0")) == (0xFFFF,)
