"""What the client sends, and what it makes of answers in all their forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlock.ufm.answers import (
    Membership,
    UfmMisread,
    guid_of,
    key_of,
    partition_of,
    partitions_of,
    ports_of,
    prefix_of,
)
from interlock.ufm.client import UfmClient
from interlock.ufm.errors import UfmError, UfmTrouble
from interlock.ufm.transport import UfmTransport
from tests.ufm.conftest import AT_ONCE, GUIDS
from tests.ufm.double import CONFIG_MANAGER, INFRA_CONTROLLER, WITH_JOBS, Double, Profile, access

SETTINGS = {"index0": True, "ip_over_ib": False}


@pytest.mark.parametrize("profile", [CONFIG_MANAGER, INFRA_CONTROLLER, WITH_JOBS])
@pytest.mark.parametrize("token", [False, True])
def test_a_partition_is_made_read_and_deleted(double: Double, tmp_path: Path, profile: Profile, token: bool) -> None:
    double.profile = profile
    client = UfmClient(UfmTransport(access(double, tmp_path, token=token), AT_ONCE))
    assert (client.version(), client.prefix(), client.ports()) == ("6.23.1-6", double.prefix, frozenset(GUIDS))
    assert client.partition(5) is None
    client.add(5, GUIDS[:2], "limited", **SETTINGS)
    found = client.partition(5)
    assert found is not None
    assert (found.key, found.memberships, found.ip_over_ib) == (5, dict.fromkeys(GUIDS[:2], "limited"), False)
    assert {member.index0 for member in found.members} == {True}
    mixed: list[tuple[str, Membership]] = [(GUIDS[1], "full"), (GUIDS[2], "limited")]
    client.replace(5, mixed, index0=False, ip_over_ib=True)
    assert client.partitions()[5].memberships == dict(mixed)
    client.remove(5, [GUIDS[1], GUIDS[7]])
    client.remove(5, [GUIDS[2]])
    assert client.partition(5) is None
    client.remove(5, [GUIDS[2]])
    client.delete(5)


def test_members_of_one_membership_are_added_and_nobody_is_taken_out(double: Double, client: UfmClient) -> None:
    double.put(5, GUIDS[7])
    client.add(0x8005, GUIDS[:1], "full", **SETTINGS)
    assert double.members(5) == {GUIDS[7]: "full", GUIDS[0]: "full"}
    assert double.bodies == [
        {"pkey": "0x5", "guids": [GUIDS[0]], "membership": "full", "index0": True, "ip_over_ib": False}
    ]


def test_a_list_of_keys_always_asks_for_guids(double: Double, client: UfmClient) -> None:
    assert client.partitions() == {}
    assert client.partition(5) is None
    assert [path for _, path in double.asked] == [
        "/resources/pkeys?guids_data=true", "/resources/pkeys/0x5?guids_data=true",
    ]  # fmt: skip


def test_many_members_are_taken_out_by_several_requests(double: Double, client: UfmClient) -> None:
    guids = [f"{number:016x}" for number in range(1, 150)]
    for guid in guids:
        double.put(5, guid)
    client.remove(5, guids)
    assert double.table == {}
    assert [len(path) < 1500 for method, path in double.asked] == [True] * 3


@pytest.mark.parametrize("ends", ["Failed", "Aborted", "Completed With Errors"])
def test_a_job_that_ends_in_an_error_is_one(double: Double, client: UfmClient, ends: str) -> None:
    double.profile, double.job_ends = WITH_JOBS, ends
    with pytest.raises(UfmError, match=f"job 1 of UFM of ib-1 ended as {ends}: the SM says no") as caught:
        client.add(5, GUIDS[:1], "full", **SETTINGS)
    assert caught.value.trouble is UfmTrouble.SERVICE


def test_a_job_that_nobody_knows_any_more_is_a_lost_answer(double: Double, client: UfmClient) -> None:
    double.instead["POST", "/resources"] = (202, {}, '{"job_id": 77}')
    with pytest.raises(UfmError, match="does not know its job 77") as caught:
        client.add(5, GUIDS[:1], "full", **SETTINGS)
    assert caught.value.trouble is UfmTrouble.LOST_ANSWER


@pytest.mark.parametrize(
    "text", ["0002C903000E0B01", "0x0002c903000e0b01", "00:02:c9:03:00:0e:0b:01", " 0002c903000e0b01\n"]
)
def test_a_guid_has_one_form(text: str) -> None:
    assert guid_of(text) == "0002c903000e0b01"


@pytest.mark.parametrize("text", ["", None, "0x02c903000e0b01", "0002c903000e0b0g", "0002c903000e0b0101"])
def test_what_is_no_guid_is_told(text: Any) -> None:
    with pytest.raises(UfmMisread, match="is no GUID"):
        guid_of(text)


def test_a_key_has_fifteen_bits() -> None:
    assert [key_of(text) for text in ("0x5", "0x0005", "0x8005", "0X8005", "5", 5)] == [5] * 6
    assert prefix_of("0xfe80000000000000") == prefix_of("fe80:0000:0000:0000") == "fe80000000000000"
    for text in ("0x", "", "five", "-5", "0x1 0x2"):
        with pytest.raises(UfmMisread, match="is no P_Key"):
            key_of(text)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"partition": "x"}, "does not say which GUIDs are in P_Key 0x0005"),
        ({"guids": [{"guid": GUIDS[0]}]}, f"does not say whether {GUIDS[0]} is a full or a limited member"),
        ({"guids": [{"guid": GUIDS[0], "membership": "both"}]}, "a full or a limited member"),
        ({"guids": [{"membership": "full"}]}, "is no GUID"),
        ({"guids": [{"guid": GUIDS[0], "membership": "full"}] * 2}, "lists a GUID of P_Key 0x0005 twice"),
        ({"guids": ["0x0002c903000e0b01"]}, "a member of a partition is str"),
        (["0x5"], "the answer about P_Key 0x0005 is list"),
    ],
)
def test_what_is_not_said_is_an_error_and_never_a_default(value: Any, said: str) -> None:
    with pytest.raises(UfmMisread, match=said):
        partition_of(5, value)


def test_absent_has_two_forms_and_empty_is_not_absent() -> None:
    assert partition_of(5, {}) is None
    empty = partition_of(5, {"partition": "x", "guids": []})
    assert empty is not None
    assert (empty.members, empty.ip_over_ib) == ((), None)


def test_lists_of_other_forms() -> None:
    member = {"guid": GUIDS[0], "membership": "Full", "index0": "true"}
    found = partitions_of({"0x7fff": {"guids": []}, "0x8005": {"guids": [member]}, "0x6": {}})
    assert {key: item.memberships for key, item in found.items()} == {0x7FFF: {}, 5: {GUIDS[0]: "full"}}
    assert found[5].members[0].index0 is True
    assert ports_of({"data": [{"guid": GUIDS[0]}], "page": 1}) == {GUIDS[0]}
    values: tuple[Any, ...] = ({}, "none", [1])
    for value in values:
        with pytest.raises(UfmMisread):
            ports_of(value)
    with pytest.raises(UfmMisread, match="the list of P_Keys is list"):
        partitions_of(["0x5"])
