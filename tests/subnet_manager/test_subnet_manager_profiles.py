"""Where sources about UFM disagree: each profile behaves as its own row says, on one real subnet manager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from sandbox.infiniband.profiles import PROFILES
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet

from .calling import Caller, guid, guids

Of = Callable[[str], Caller]
ABSENT = "0xa088c20300aa0010"


@pytest.fixture
def of(subnet: LiveSubnet) -> Iterator[Of]:
    """A client of a profile, by its name."""
    with ExitStack() as stack:
        yield lambda name: Caller(stack.enter_context(StandIn(subnet, PROFILES[name]).serving()))


@pytest.mark.parametrize(("profile", "status"), [("documented", 404), ("nvcm", 404), ("nico", 200)])
def test_a_key_that_is_not_there(of: Of, profile: str, status: int) -> None:
    answer = of(profile)("GET", "/resources/pkeys/0x5", guids_data="true")
    assert answer.status_code == status
    if status == 200:
        assert answer.json() == {}


@pytest.mark.parametrize(("profile", "status"), [("documented", 400), ("nvcm", 409), ("nico", 409)])
def test_a_key_that_is_there_already(of: Of, profile: str, status: int) -> None:
    ufm = of(profile)
    assert [ufm("POST", "/resources/pkeys/add", {"pkey": "0x5"}).status_code for _ in range(2)] == [200, status]


@pytest.mark.parametrize(("profile", "status"), [("documented", 200), ("nvcm", 200), ("nico", 404)])
def test_a_guid_that_is_not_in_the_subnet(subnet: LiveSubnet, of: Of, profile: str, status: int) -> None:
    answer = of(profile)("POST", "/resources/pkeys", {"pkey": "0x5", "guids": [guid(subnet, "n0-r0"), ABSENT]})
    assert answer.status_code == status
    assert bool(subnet.partitions()) == (status == 200), "all or nothing"


@pytest.mark.parametrize(("profile", "second"), [("documented", "limited"), ("nvcm", "full"), ("nico", "full")])
def test_memberships_in_a_post(subnet: LiveSubnet, of: Of, profile: str, second: str) -> None:
    """6.19.x and both simulators make everybody full, silently. A PUT heeds them in every profile."""
    ufm, (a, b) = of(profile), guids(subnet, "n0-r0", "n1-r0")
    asked = {"pkey": "0x5", "guids": [a, b], "memberships": ["full", "limited"]}
    assert ufm("POST", "/resources/pkeys", asked).status_code == 200
    assert {name: kind for name, (kind, _) in ufm.members(5).items()} == {a: "full", b: second}
    assert ufm("PUT", "/resources/pkeys", asked).status_code == 200
    assert {name: kind for name, (kind, _) in ufm.members(5).items()} == {a: "full", b: "limited"}
    assert subnet.host_table(subnet.topology.guid("n1-r0"))[:2] == (0x7FFF, 0x0005)


@pytest.mark.parametrize("profile", list(PROFILES))
def test_a_partition_goes_with_its_last_member_and_an_empty_one_stays(subnet: LiveSubnet, of: Of, profile: str) -> None:
    ufm, one = of(profile), guid(subnet, "n0-r0")
    ufm("POST", "/resources/pkeys", {"pkey": "0x5", "guids": [one]})
    ufm("POST", "/resources/pkeys/add", {"pkey": "0x6"})
    for key in ("0x5", "0x6"):
        assert ufm("DELETE", f"/resources/pkeys/{key}/guids/{one}").status_code == 200
    assert {item.key for item in subnet.partitions()} == {6}


@pytest.mark.parametrize(("profile", "keys"), [("documented", {"0x7fff"}), ("nvcm", set()), ("nico", {"0x7fff"})])
def test_the_default_partition_in_lists(of: Of, profile: str, keys: set[str]) -> None:
    assert of(profile).listed() == keys


@pytest.mark.parametrize(
    ("profile", "prefixes"),
    [("documented", {"/ufmRest", "/ufmRestV3"}), ("nvcm", {"/ufmRest"}), ("nico", {"/ufmRestV3"})],
)
def test_prefixes(of: Of, profile: str, prefixes: set[str]) -> None:
    standin = of(profile).standin
    served = {
        prefix
        for prefix in ("/ufmRest", "/ufmRestV2", "/ufmRestV3")
        if standin.answer("GET", f"{prefix}/app/ufm_version", "", b"")[0].status == 401
    }
    assert served == prefixes
