"""The scenario: two tenants on one rack by `interlock lock` and `pulumi up` alone, until nothing of them is left.

V-IPU is the sandbox's simulator, told by its commands. No guest runs: what a Poplar server would do is done with its
name and key from the same network, and GCDs that are occupied stand for a workload. A machine that is swapped is
another board in the simulator's racks, and other serials and MAC addresses in the site file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from openstack.connection import Connection

from sandbox.vipu.census import VipuCensus, vipu_census
from sandbox.vipu.guest import PoplarGuest
from tests.conftest import ROOT, Sandbox
from tests.e2e.killing import kill
from tests.e2e.listing import Listing, listing
from tests.e2e.project import Project
from tests.e2e.standing import SITE, TENANTS, Standing
from tests.e2e.swapping import boards_put_back, seen_by_a_person, settled_as_seen, swap_in_site_file, swap_machine
from tests.sandbox.cloud import until
from tests.sandbox.switch_sessions import clients
from tests.support.sampling import sampling_of

#: The small tenant of other tests, which would stand in the way of growth.
SMALL = ("lyon/tenants/initech.yaml", "lyon/tenants/initech.lock.json")

#: Tenant -> its vPOD.
VPODS = {"acme": "train", "globex": "research"}
#: The board that is put in the place of one that failed.
SPARE = "SPARE-M2000-77"
STACK, PLANNED = "lyon-acme", "acme-train-partition-all"
ACME, SITE_FILE = "lyon/tenants/acme.yaml", "lyon/site.yaml"
BY_HAND = "controller: {flavor: vipu.controller, image: vipu-controller, user_api_port: 8090}"
BY_INTERLOCK = BY_HAND.replace("}", ", managed_by: interlock}")
NAMED = "name: Acme Robotics\n"
FOUR, TWO = "    machines: 4 # or `ipus: 16`\n", "    machines: 2\n"
POPLAR = "    poplar: {servers: 2, flavor: poplar.half, image: poplar, volume: 100GiB}\n"
#: The partition may be made anew: growth and other sizes end what runs on it, and this tenant says so.
PARTITION = "    partitions: {all: {ipus: %d, replaceable: true}}\n"

#: A way in from outside, and a volume that is asked for later.
SSH_FROM, PUBLIC = "  ssh_from: ", "  public: {train: {servers: [0]}}\n"
SHARES, SCRATCH = "shares:\n", "volumes:\n  scratch: {size: 20GiB, vpod: train, server: 0}\n\n"

#: Phase -> what the engine says when its `up` or `destroy` is killed.
PHASES = {
    "arrival": "VipuCluster",
    "another partition": "VipuPartition",
    "replacement": "VipuPartition",
    "growth": "VipuAgent",
    "the end": "VipuAllocation",
}

#: What the engine says when it begins with an object; a preview has other words.
_AT_WORK = re.compile(r" (creat|delet|replac|updat)ing\b")


@pytest.fixture
def by_interlock(stands: Standing) -> Iterator[None]:
    """Files in which interlock tells controllers, and acme has two machines with one partition; put back."""
    folder = stands.project.folder / "stacks" / "lyon"
    files = [folder / "site.yaml", folder / "site.lock.json", *(folder / "tenants").iterdir()]
    before = {path: path.read_text(encoding="utf-8") for path in files}
    yield
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")
    stands.project.must(stands.project.interlock("lock"))


@pytest.fixture
def alone(stands: Standing, by_interlock: None) -> Iterator[Project]:
    """The site without a tenant, whatever stood; also if a test leaves one half made."""
    project = stands.apply(SITE)
    _destroy(stands)
    yield project
    _destroy(stands)


def _destroy(stands: Standing) -> None:
    for stack in TENANTS:
        if stack in stands.applied:
            stands.project.destroy(stack)
            stands.applied.discard(stack)


def _admin(sandbox: Sandbox, server: str, *words: str) -> Any:
    """What `vipu-admin` in a controller's server answers, as JSON."""
    station = [sys.executable, "-m", "sandbox.vipu.station", str(sandbox.dir), server, "vipu-admin"]
    done = subprocess.run([*station, *words, "--showjson"], cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _carried(port: dict[str, Any]) -> tuple[Any, ...]:
    """What a switch port carries; names of VLANs, and lists that have no effect in its mode, stay as they were set."""
    if port["mode"] == "access":
        return "access", port["accessVlanId"]
    return port["mode"], port["trunkingNativeVlanId"], port["trunkAllowedVlans"]


def _census(sandbox: Sandbox, cloud: Connection) -> tuple[VipuCensus, Any, Any]:
    """All objects of V-IPU, what the tenants have at the cloud, and what every switch port carries."""
    objects = {
        tenant: {what: dict(names) for what, names in (listing(cloud, tenant) | _shown(cloud, tenant)).items() if names}
        for tenant in VPODS
    }
    ports = {
        name: {port: _carried(item["switchportInfo"]) for port, item in shown["switchports"].items()}
        for name, shown in (
            (name, client.show("interfaces switchport")) for name, client in clients(sandbox.dir).items()
        )
    }
    return vipu_census(sandbox.dir), objects, ports


def _shown(cloud: Connection, tenant: str) -> Listing:
    """Shares and floating IPs, whatever project they are in; a floating IP has its name in its marker alone."""
    shares = cloud.shared_file_system.get("/shares/detail", params={"all_tenants": "1"}).json()["shares"]
    names = {
        "shares": [str(item["name"]) for item in shares],
        "floating ips": [str(item.description).rpartition(":")[2] for item in cloud.network.ips()],
    }
    return {what: Counter(name for name in found if name.startswith(f"{tenant}-")) for what, found in names.items()}


def _server(cloud: Connection, name: str) -> str:
    return str(next(one for one in cloud.compute.servers(all_projects=True) if one.name == name).id)


@dataclass(frozen=True)
class Scene:
    """Both tenants' stacks, and which phase is cut."""

    project: Project
    stands: Standing
    cloud: Connection
    sandbox: Sandbox
    cut: str

    def run(self, phase: str, verb: str = "up") -> str:
        """One phase of acme's: killed in the middle where that is this run's, and then to its end."""
        if phase == self.cut:
            self._killed(verb, PHASES[phase])
            self.project.must(self.project.interlock("unlock", STACK))
        return self.project.must(self.project.pulumi(verb, STACK, "--yes")).out

    def _killed(self, verb: str, kind: str) -> None:
        """SIGKILL when the engine begins with the first object of this kind."""
        running = self.project.start("pulumi", verb, "--yes", "--non-interactive", "--stack", STACK)
        assert running.stdout is not None
        said = []
        for line in running.stdout:
            said.append(line)
            if kind in line and _AT_WORK.search(line):
                break
        else:
            kill(running)
            pytest.fail(f"{verb} ended and told of no {kind}:\n{''.join(said)}")
        kill(running)

    def lock(self, tenant: str = "acme") -> None:
        self.project.must(self.project.interlock("lock", tenant))

    def held(self, tenant: str) -> set[str]:
        """Serials of the machines that a tenant's lock has."""
        lock = self._lock_of(tenant)
        return {lock["serials"][machine] for machine in lock["allocation"]["vpods"][VPODS[tenant]]["machines"]}

    def machine(self) -> str:
        """The last one of acme's vPOD, by name."""
        machines: list[str] = self._lock_of("acme")["allocation"]["vpods"][VPODS["acme"]]["machines"]
        return max(machines)

    def _lock_of(self, tenant: str) -> dict[str, Any]:
        path = self.project.folder / "stacks" / "lyon" / "tenants" / f"{tenant}.lock.json"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def agents(self, tenant: str) -> set[str]:
        """Serials of the machines whose agents a tenant's controller has and reaches."""
        controller = _server(self.cloud, f"{tenant}-{VPODS[tenant]}-controller")
        found = _admin(self.sandbox, controller, "list", "agents")
        assert {agent["status"]["state"] for agent in found} == {"ONLINE"}
        return {agent["status"]["serial"] for agent in found}

    def guest(self, tenant: str) -> PoplarGuest:
        """The first Poplar server of a tenant, with a new key, which the operator hands to it."""
        base = f"{tenant}-{VPODS[tenant]}"
        controller, server = _server(self.cloud, f"{base}-controller"), _server(self.cloud, f"{base}-poplar-0")
        (user,) = (item["id"] for item in _admin(self.sandbox, controller, "list", "users") if "poplar-0" in item["id"])
        key = _admin(self.sandbox, controller, "update", "user", user, "--new-access-key")["access_key"]
        return PoplarGuest(self.sandbox.dir, controller, server, user, key)


def _partitions(guest: PoplarGuest) -> dict[str, Any]:
    done = guest.vipu("list", "partitions", "--showjson")
    assert done.returncode == 0, done.stderr
    return {item["partition"]["id"]: item["partition"] for item in json.loads(done.stdout)}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A long run is killed in every phase, each in a life of its own with its own time; another run in one of them."""
    if "cut" in metafunc.fixturenames:
        sampling = sampling_of(metafunc.config)
        chosen = sampling.random("phase that is killed").choice([*PHASES])
        metafunc.parametrize("cut", [*PHASES] if sampling.long else [chosen])


@pytest.mark.timeout(1800)
def test_scenario_two_tenants_on_one_rack_until_they_are_gone(
    alone: Project, stands: Standing, cloud: Connection, sandbox: Sandbox, cut: str
) -> None:
    before = _census(sandbox, cloud)
    assert before[:2] == ({}, {tenant: {} for tenant in VPODS})
    with boards_put_back(sandbox.dir):
        _life(Scene(alone, stands, cloud, sandbox, cut))
    until(lambda: not [*(sandbox.dir / "state" / "vipu").glob("*-*-*-*-*")])
    assert _census(sandbox, cloud) == before


def _life(scene: Scene) -> None:
    """From the first request to nothing, with a partition, a workload, another size, growth."""
    project = scene.project
    with _requests(project):
        for tenant in VPODS:
            scene.lock(tenant)
            scene.stands.applied.add(f"lyon-{tenant}")
        scene.run("arrival")
        project.must(project.plain_up("lyon-globex"))
        for tenant in VPODS:
            assert scene.agents(tenant) == scene.held(tenant)
        assert len(scene.held("acme")) == 2
        shown = _shown(scene.cloud, "acme")
        assert shown == {"shares": {"acme-datasets": 1}, "floating ips": {"acme-train-poplar-0-public": 1}}
        _tenants_work(scene)
        project.edit(ACME, PARTITION % 8, PARTITION % 4)
        project.edit(ACME, SHARES, SCRATCH + SHARES)
        scene.lock()
        scene.run("another partition")
        assert listing(scene.cloud, "acme")["volumes"]["acme-scratch"] == 1
        guest = scene.guest("acme")
        assert {name: len(item["spec"]["ipus"]) for name, item in _partitions(guest).items()} == {PLANNED: 4}
        _a_machine_fails(scene)
        project.edit(ACME, TWO, FOUR)
        scene.lock()
        scene.run("growth")
        assert scene.agents("acme") == scene.held("acme")
        assert len(scene.held("acme")) == 4
        assert {*_partitions(scene.guest("acme"))} == {PLANNED}
        project.unchanged(STACK)
        _leaves(scene)
        # The other way to an end, without a word in the request.
        _destroy(scene.stands)


def _a_machine_fails(scene: Scene) -> None:
    """Another board in its place: not used before somebody has seen it tested, then agent and partition follow."""
    project, failed = scene.project, scene.machine()
    before = scene.held("acme")
    swap_machine(scene.sandbox.dir, failed, SPARE)
    swap_in_site_file(project, SITE_FILE, failed, SPARE)
    project.must(project.interlock("lock"))
    assert (len(scene.held("acme") - before), scene.machine()) == (1, failed)
    refused = project.pulumi("up", STACK, "--yes")
    assert refused.code != 0
    assert "LIF-13" in refused.text, refused.text
    seen_by_a_person(project, "acme", lambda about: about.get("serial") == SPARE)
    # The board that failed is still acme's until it is seen clean, which keeps nobody from using the other.
    tested = project.interlock("settle", "acme")
    assert tested.code != 0
    assert f"{failed} ({SPARE}) was seen self-tested" in tested.err, tested.text
    scene.run("replacement")
    assert scene.agents("acme") == scene.held("acme")
    assert SPARE in scene.held("acme")
    assert {*_partitions(scene.guest("acme"))} == {PLANNED}


def _leaves(scene: Scene) -> None:
    """As docs/how-to/leave.md has it: state gone, `up`, what a person saw, settle, report."""
    project = scene.project
    project.edit(ACME, NAMED, f"state: gone\n{NAMED}")
    scene.lock()
    scene.run("the end")
    scene.stands.applied.discard(STACK)
    settled_as_seen(project, "acme")
    told = project.must(project.interlock("report", "acme")).out
    assert "lyon-acme: complete" in told, told


@contextmanager
def _requests(project: Project) -> Iterator[None]:
    """What the tenants ask for first, and interlock as who tells controllers; afterwards what was there."""
    folder = project.folder / "stacks"
    before = {name: (folder / name).read_text(encoding="utf-8") for name in (ACME, SITE_FILE, *SMALL)}
    project.edit(SITE_FILE, BY_HAND, BY_INTERLOCK)
    project.edit(ACME, FOUR, TWO)
    project.edit(ACME, POPLAR, POPLAR + PARTITION % 8)
    project.edit(ACME, SSH_FROM, PUBLIC + SSH_FROM)
    # Nothing of acme is applied: two machines are given to it as to a new tenant, with neighbours that are free.
    for name in ("lyon/tenants/acme.lock.json", *SMALL):
        (folder / name).unlink()
    yield
    for name, text in before.items():
        (folder / name).write_text(text, encoding="utf-8")
    for file in (folder / "lyon" / "evidence").glob("acme*.yaml"):
        file.unlink()


def _tenants_work(scene: Scene) -> None:
    """Users of both vPODs: a workload on the partition that was planned, and a partition that a user makes."""
    acme, globex = scene.guest("acme"), scene.guest("globex")
    assert _partitions(acme)[PLANNED]["spec"]["num_gcds"] == 1
    done = acme.vipu("occupy", "partition", PLANNED, "--gcd", "0")
    assert done.returncode == 0, done.stderr
    for words in (("create", "partition", "mine", "--size", "4"), ("remove", "partition", "mine")):
        done = globex.vipu(*words)
        assert done.returncode == 0, done.stderr
    assert _partitions(globex) == {}
