"""The commands of `interlock break-glass plan` for a partition, pasted into a shell, at the stand-in of UFM."""

from __future__ import annotations

import pytest

from infra.break_glass.acts import ActsOf
from infra.break_glass.known import KnownObject, KnownStack
from interlock.resources import PartitionKey, PartitionMember
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet
from tests.support.cloud.by_hand import paste

from .calling import Caller, guid, guids


def commands(subnet: LiveSubnet, *names: str) -> tuple[str, ...]:
    members = tuple(PartitionMember(guid=guid(subnet, name), membership="full") for name in names)
    spec = PartitionKey(infiniband="ib-1", key=1, members=members)
    (act,) = ActsOf(KnownStack("hall-acme", (KnownObject("PartitionKey", "acme-key", spec),)), {}).all()
    return act.commands


def test_a_partition_is_emptied_and_another_is_not(subnet: LiveSubnet, standin: StandIn, ufm: Caller) -> None:
    others = guids(subnet, "n2-r0", "n3-r0")
    for key, some in ((1, guids(subnet, "n0-r0", "n1-r0")), (2, others)):
        body = {"pkey": f"{key:#x}", "guids": some, "index0": True, "membership": "full"}
        assert ufm("POST", "/resources/pkeys/", body).status_code == 200
    login = {"UFM": standin.url.removeprefix("https://"), "UFM_USER": f"{standin.user}:{standin.password}"}
    paste(commands(subnet, "n0-r0", "n1-r0"), **login, CURL_CA_BUNDLE=standin.ca_file)
    assert ufm.listed() == {"0x2", "0x7fff"}
    assert subnet.host_table(subnet.topology.guid("n0-r0")) == (0x7FFF,)
    assert subnet.host_table(subnet.topology.guid("n1-r0")) == (0x7FFF,)
    assert set(ufm.members(2)) == set(others)


def test_a_refusal_of_ufm_ends_the_command(subnet: LiveSubnet, standin: StandIn) -> None:
    """Otherwise whoever pasted it believes that it is done."""
    login = {"UFM": standin.url.removeprefix("https://"), "UFM_USER": f"{standin.user}:wrong"}
    with pytest.raises(AssertionError, match="401"):
        paste(commands(subnet, "n0-r0"), **login, CURL_CA_BUNDLE=standin.ca_file)
