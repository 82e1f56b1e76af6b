"""The stand-in of UFM: what it answers has been asked of the subnet, and what it refuses the real one refuses."""

from __future__ import annotations

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from interlock.ufm.client import UfmClient
from interlock.ufm.loading import FabricAccess
from interlock.ufm.transport import UfmTransport
from sandbox.infiniband.faults import UfmFault, fault_of
from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet, ManagerSettings
from sandbox.infiniband.topology import hex16, rails

from .calling import Caller, guid, guids
from .conftest import folder


def body(subnet: LiveSubnet, *names: str, **more: Any) -> dict[str, Any]:
    """The body of POST or PUT for key 0x1."""
    return {"pkey": "0x1", "guids": guids(subnet, *names), "index0": True, **more}


def test_members_are_put_in_and_taken_out(subnet: LiveSubnet, ufm: Caller) -> None:
    """POST adds, DELETE takes out, and the partition goes with its last member; each shows in the ports' tables."""
    number = subnet.topology.guid
    assert ufm("POST", "/resources/pkeys/", body(subnet, "n0-r0", "n1-r0")).status_code == 200
    assert subnet.host_table(number("n0-r0")) == (0x8001, 0x7FFF)
    assert ufm("POST", "/resources/pkeys", body(subnet, "n2-r0", membership="limited")).status_code == 200
    a, b, c = guids(subnet, "n0-r0", "n1-r0", "n2-r0")
    assert ufm.members(1) == {a: ("full", True), b: ("full", True), c: ("limited", True)}
    assert ufm("DELETE", f"/resources/pkeys/0x1/guids/{a},{c}").status_code == 200
    assert ufm.members(1) == {b: ("full", True)}
    assert subnet.host_table(number("n0-r0")) == (0x7FFF,)
    assert ufm("DELETE", f"/resources/pkeys/0x1/guids/{b}").status_code == 200
    assert ufm("GET", "/resources/pkeys/0x1", guids_data="true").status_code == 404
    assert ufm.listed() == {"0x7fff"}


def test_a_set_is_replaced_with_a_membership_for_each(subnet: LiveSubnet, ufm: Caller) -> None:
    ufm("POST", "/resources/pkeys", body(subnet, "n0-r0", "n1-r0"))
    wanted = body(subnet, "n1-r0", "n2-r0", memberships=["limited", "full"])
    assert ufm("PUT", "/resources/pkeys/", wanted).status_code == 200
    b, c = guids(subnet, "n1-r0", "n2-r0")
    assert ufm.members(1) == {b: ("limited", True), c: ("full", True)}
    assert ufm("DELETE", "/resources/pkeys/0x1").status_code == 200
    assert ufm("DELETE", "/resources/pkeys/0x1").status_code == 404
    assert subnet.partitions() == ()


def test_it_answers_what_the_subnet_has_and_not_what_it_was_told(subnet: LiveSubnet, ufm: Caller) -> None:
    """A partition that comes without it, and one whose index 0 another key has."""
    subnet.apply([ConfiguredPartition(9, "foreign", {subnet.topology.guid("n3-r1"): "limited"}, index0=False)])
    assert ufm.members(9) == {guid(subnet, "n3-r1"): ("limited", False)}
    assert "0x9" in ufm.listed()


def test_a_guid_that_is_not_in_the_subnet_is_told_as_the_configuration_has_it(subnet: LiveSubnet, ufm: Caller) -> None:
    assert ufm("POST", "/resources/pkeys", body(subnet, "n0-r0") | {"guids": ["0xa088c20300aa0010"]}).status_code == 200
    assert ufm.members(1) == {"a088c20300aa0010": ("full", False)}
    assert subnet.host_table(subnet.topology.guid("n0-r0")) == (0x7FFF,)


def test_the_default_partition(subnet: LiveSubnet, ufm: Caller) -> None:
    told = ufm("GET", "/resources/pkeys/0x7fff", guids_data="true").json()
    assert (told["partition"], told["membership"]) == ("management", "limited")
    kinds = {item["guid"]: item["membership"] for item in told["guids"]}
    assert len(kinds) == len(subnet.topology.hcas)
    assert {name for name, kind in kinds.items() if kind == "full"} == {guid(subnet, "ufm-0")}


def test_an_empty_partition_and_its_quality_of_service(subnet: LiveSubnet, ufm: Caller) -> None:
    asked = {"pkey": "0x7", "partition_name": "reserved", "mtu_limit": 4, "rate_limit": 200, "service_level": 3}
    assert ufm("POST", "/resources/pkeys/add", asked).status_code == 200
    told = ufm("GET", "/resources/pkeys/0x7", guids_data="true", qos_conf="true").json()
    quality = {"mtu_limit": 4, "service_level": 3, "rate_limit": 200}
    assert told == {"partition": "reserved", "ip_over_ib": True, "guids": [], "qos_conf": quality}
    assert ufm("POST", "/resources/pkeys/add", asked).status_code == 400
    assert ufm("GET", "/resources/pkeys", qos_conf="true").json()["0x7"]["qos_conf"] == quality


def test_lists_of_keys_have_three_forms(subnet: LiveSubnet, ufm: Caller) -> None:
    ufm("POST", "/resources/pkeys", body(subnet, "n0-r0"))
    assert ufm("GET", "/resources/pkeys").json() == ["0x1", "0x7fff"]
    listed = ufm("GET", "/resources/pkeys", guids_data="true").json()
    assert listed["0x1"]["guids"] == [{"guid": guid(subnet, "n0-r0"), "membership": "full", "index0": True}]
    assert ufm("GET", "/resources/pkeys", guids_data="true", qos_conf="true").status_code == 400


def test_ports_and_keys_of_the_manager(subnet: LiveSubnet, ufm: Caller) -> None:
    ports = ufm("GET", "/resources/ports", sys_type="Computer").json()
    assert {port["guid"] for port in ports} == {f"{hca.guid:016x}" for hca in subnet.topology.hcas}
    first = next(port for port in ports if port["guid"] == guid(subnet, "n5-r1"))
    assert (first["system_name"], first["dname"], first["logical_state"]) == ("n5", "mlx5_1", "Active")
    keys = ufm("GET", "/app/smconf").json()
    assert keys == {
        "subnet_prefix": "0xfe80000000000000",
        "m_key": "0x0000000000000000",
        "sm_key": "0x0000000000000001",
        "sa_key": "0x0000000000000001",
        "m_key_per_port": False,
    }
    assert "stand-in" in ufm("GET", "/app/ufm_version").json()["stand_in"]


@pytest.mark.parametrize(
    ("method", "path", "changed"),
    [
        ("POST", "", {"pkey": "0x0"}),
        ("POST", "", {"pkey": "0x7fff"}),
        ("POST", "", {"pkey": "0x8001"}),
        ("POST", "", {"pkey": "1"}),
        ("POST", "", {"pkey": 1}),
        ("POST", "", {"guids": []}),
        ("POST", "", {"guids": ["946dae03"]}),
        ("POST", "", {"guids": ["946dae030000001g"]}),
        ("POST", "", {"membership": "both"}),
        ("POST", "", {"memberships": ["full", "full"]}),
        ("POST", "", {"membership": "full", "memberships": ["full"]}),
        ("POST", "", {"index0": "yes"}),
        ("PUT", "", {"mtu_limit": 3}),
        ("PUT", "", {"rate_limit": 400}),
        ("PUT", "", {"service_level": 16}),
        ("PUT", "", {"service_level": True}),
        ("POST", "/add", {"partition_name": "a b"}),
        ("DELETE", "/0x7fff", {}),
        ("DELETE", "/0x1/guids/zz", {}),
        ("GET", "/0x8001", {}),
    ],
)
def test_values_that_are_refused(
    subnet: LiveSubnet, ufm: Caller, method: str, path: str, changed: dict[str, Any]
) -> None:
    """With 400 and a text, and nothing is changed."""
    assert ufm(method, f"/resources/pkeys{path}", body(subnet, "n0-r0") | changed).status_code == 400
    assert subnet.partitions() == ()


@pytest.mark.parametrize("target", ["/resources/elsewhere", "/app", "/resources/pkeys/0x1/hosts/n1"])
def test_what_is_not_there(ufm: Caller, target: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert ufm(method, target, {}).status_code == 404


def test_who_may_ask(standin: StandIn, ufm: Caller) -> None:
    """A password under /ufmRest, a token under /ufmRestV3, neither in the place of the other; a new token counts."""
    token = ufm("POST", "/app/tokens").json()["access_token"]

    def status(prefix: str, header: str | None) -> int:
        with requests.Session() as session:
            session.trust_env, session.verify = False, standin.ca_file
            headers = {"Authorization": header} if header else {}
            return session.get(f"{standin.url}{prefix}/app/ufm_version", headers=headers, timeout=30).status_code

    assert status("/ufmRestV3", f"Basic {standin.token}") == status("/ufmRestV3", f"Basic {token}") == 200
    assert status("/ufmRest", f"Basic {standin.token}") == 401
    assert status("/ufmRestV3", f"Bearer {standin.token}") == 401
    assert status("/ufmRest", None) == 401
    assert status("/elsewhere", None) == 404


def test_a_client_that_verifies_refuses_another_authority(subnet: LiveSubnet, standin: StandIn) -> None:
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"{standin.url}/ufmRest/app/ufm_version", timeout=30)
    host, port = standin.url.removeprefix("https://").split(":")
    context = ssl.create_default_context(cafile=standin.ca_file)
    with socket.create_connection((host, int(port))) as plain:
        assert context.wrap_socket(plain, server_hostname="localhost").version() in ("TLSv1.2", "TLSv1.3")
    with socket.create_connection((host, int(port))) as plain, pytest.raises(ssl.SSLCertVerificationError):
        context.wrap_socket(plain, server_hostname="ufm.example.org")


def test_a_client_that_says_nothing_stops_nobody(standin: StandIn, ufm: Caller) -> None:
    host, port = standin.url.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port))):
        assert ufm("GET", "/app/ufm_version").status_code == 200


# Faults


def test_a_status_on_demand(subnet: LiveSubnet, standin: StandIn, ufm: Caller) -> None:
    standin.faults.add(UfmFault("PUT", "/resources/pkeys*", status=503, times=2))
    assert ufm("GET", "/resources/pkeys").status_code == 200
    for status in (503, 503, 200):
        assert ufm("PUT", "/resources/pkeys", body(subnet, "n0-r0")).status_code == status
        assert bool(subnet.partitions()) == (status == 200)


@pytest.mark.parametrize(
    ("cut", "members"),
    [
        ("before", {"n0-r0": "full", "n1-r0": "full"}),
        ("middle", {"n1-r0": "full", "n2-r0": "limited"}),
        ("after", {"n2-r0": "limited", "n3-r0": "full"}),
    ],
)
def test_a_connection_that_is_cut(
    subnet: LiveSubnet, standin: StandIn, ufm: Caller, cut: Any, members: dict[str, str]
) -> None:
    """In the middle of a PUT half of those who come are in, and half of those who go are out."""
    ufm("PUT", "/resources/pkeys", body(subnet, "n0-r0", "n1-r0"))
    standin.faults.add(UfmFault("PUT", "/resources/pkeys", cut=cut))
    with pytest.raises(requests.ConnectionError):
        ufm("PUT", "/resources/pkeys", body(subnet, "n2-r0", "n3-r0", memberships=["limited", "full"]))
    assert {name: kind for name, (kind, _) in ufm.members(1).items()} == {
        guid(subnet, name): kind for name, kind in members.items()
    }


def test_jobs(subnet: LiveSubnet) -> None:
    """The answer comes before the tables show it; a job that fails has done nothing."""
    with StandIn(subnet, asynchronous=True).serving() as standin:
        ufm = Caller(standin)
        for fails, status, members in ((False, "Completed", 1), (True, "Completed With Errors", 1)):
            if fails:
                standin.faults.add(UfmFault("POST", "*", job_fails=True))
            answer = ufm("POST", "/resources/pkeys", body(subnet, "n1-r0" if fails else "n0-r0"))
            job = answer.json()["job_id"]
            assert (answer.status_code, answer.headers["Location"]) == (202, f"/ufmRest/jobs/{job}")
            assert ufm("GET", f"/jobs/{job}").json()[0]["Status"] == "Running"
            standin.jobs.wait()
            assert ufm("GET", f"/jobs/{job},99").json()[0]["Status"] == status
            assert len(ufm.members(1)) == members
        assert [job["ID"] for job in ufm("GET", "/jobs", status="Completed").json()] == ["1"]
        assert ufm("GET", "/jobs/77").json() == []


def test_without_its_subnet_manager(small: LiveSubnet) -> None:
    """What is there can still be read; nothing is taken, and nothing is done later."""
    with StandIn(small).serving() as standin:
        ufm = Caller(standin)
        ufm("POST", "/resources/pkeys", body(small, "n0-r0"))
        small.stop_manager()
        assert ufm("PUT", "/resources/pkeys", body(small, "n1-r0")).status_code == 503
        assert set(ufm.members(1)) == {guid(small, "n0-r0")}
        small.start_manager()
        assert set(ufm.members(1)) == {guid(small, "n0-r0")}
        assert ufm("PUT", "/resources/pkeys", body(small, "n1-r0")).status_code == 200


def test_two_writers_at_once_lose_nothing(subnet: LiveSubnet, standin: StandIn, ufm: Caller) -> None:
    names = [f"n{node}-r0" for node in range(8)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda name: ufm("POST", "/resources/pkeys", body(subnet, name)).status_code, names))
    assert answers == [200] * 8
    assert set(ufm.members(1)) == set(guids(subnet, *names))


def test_keys_that_are_set_are_told(subnet: LiveSubnet) -> None:
    settings = ManagerSettings(
        m_key=0x66, sm_key=0x77, sa_key=0x88, m_key_per_port=True, subnet_prefix=0xFE80000000000007
    )
    with LiveSubnet(rails(2, 1), folder("keys"), settings).running() as other, StandIn(other).serving() as standin:
        told = Caller(standin)("GET", "/app/smconf").json()
        assert (told["sm_key"], told["sa_key"], told["m_key_per_port"]) == (f"{0x77:#018x}", f"{0x88:#018x}", True)
        assert told["subnet_prefix"] == "0xfe80000000000007"
        said = other.queries.ask("smpquery", "-G", "portinfo", f"{other.topology.guid('n0-r0'):#x}")
        assert "GidPrefix:.......................0xfe80000000000007" in said, "as the port has it"

        file = folder("keys") / "secret"
        file.write_text(standin.password)
        access = FabricAccess("ib-1", standin.url, standin.user, file, None, Path(standin.ca_file), "fabrics.yaml:2:9")
        read = UfmClient(UfmTransport(access)).settings()
        assert set(read.keys.values()) == {True}
        assert (read.prefix, read.default_limited) == ("fe80000000000007", True)
        # The manager's own port alone: it is a full member everywhere.
        assert read.full_in_default == frozenset({hex16(other.topology.guid(other.topology.manager))})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("PUT /resources/pkeys*=503", UfmFault("PUT", "/resources/pkeys*", status=503)),
        ("* *=cut-middle", UfmFault("*", "*", cut="middle")),
        ("POST /resources/pkeys=job-fails", UfmFault("POST", "/resources/pkeys", job_fails=True)),
    ],
)
def test_faults_as_words(text: str, fault: UfmFault) -> None:
    assert fault_of(text) == fault


@pytest.mark.parametrize("text", ["503", "PUT=503", "PUT /x=200", "PUT /x=cut", "PUT x=503"])
def test_faults_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"PUT|503"):
        fault_of(text)
