"""The Pulumi program: what it refuses before the first resource, and what it declares and shows."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest

from infra.program import gate, passphrase
from infra.program.passphrase import refuse_demo_passphrase
from infra.program.places import DEMO_PASSPHRASE
from interlock.resources import Admission
from policies import Proof
from tests.components.declaring import Monitor, Provider
from tests.infra.conftest import Interlock, Lyon
from tests.support.event_loop import own_event_loop

CLOUDS = """\
clouds:
  sandbox: {auth: {auth_url: "http://127.0.0.1:5000/v3", username: u, password: p, project_name: p}}
  six: {auth: {auth_url: "http://[::1]:5000/v3", username: u, password: p, project_name: p}}
  real: {auth: {auth_url: "https://keystone.example.org/v3", username: u, password: p, project_name: p}}
"""
DEMO = {"PULUMI_CONFIG_PASSPHRASE": DEMO_PASSPHRASE}

Run = Callable[..., Monitor]


@pytest.fixture
def clouds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clouds.yaml; nothing listens at its addresses."""
    file = tmp_path / "clouds.yaml"
    file.write_text(CLOUDS)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    return file


@pytest.fixture
def run(lyon: Lyon, clouds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs the program as a stack, against mocks; what it registers is in the monitor."""
    program = importlib.import_module("infra.__main__")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", DEMO_PASSPHRASE)

    def keep_copy(proof: Proof, admitted: Admission) -> Path:
        return gate.keep_copy(proof, admitted, tmp_path / "proofs")

    monkeypatch.setattr(program, "keep_copy", keep_copy)

    def start(stack: str, **config: str) -> Monitor:
        provider = Provider(())
        monitor = Monitor(provider)
        pulumi.runtime.set_mocks(provider, "clusters", stack, preview=False, monitor=monitor)
        pulumi.runtime.set_all_config({f"clusters:{key}": value for key, value in config.items()})
        # The SDK leaves its decorator without annotations.
        pulumi.runtime.test(program.main)()  # type: ignore[no-untyped-call]
        return monitor

    with own_event_loop():
        yield start


def test_a_tenants_stack_is_declared_and_a_copy_of_its_proof_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported: dict[str, Any] = {}
    monkeypatch.setattr(pulumi, "export", exported.__setitem__)
    monitor = run("lyon-acme", site="lyon", tenant="acme")
    objects = {item.name for item in monitor.requests if item.type.startswith("interlock:index:")}
    (copy,) = (tmp_path / "proofs" / "lyon-acme").iterdir()
    document = json.loads(copy.read_text())
    assert {item["name"] for item in document["admission"]["resources"]} == objects
    assert copy.name == f"{exported['plan_hash'].removeprefix('sha256:')}.json"
    assert set(exported) == {
        "plan_hash", "not_wired", "project_id", "vpods", "clusters", "volumes", "shares", "buckets",
    }  # fmt: skip
    # Neutron sets the switch ports of this site; a person tells controllers.
    base = "acme-train"
    agents = [f"{base}-agent-ipum-0{number}" for number in range(1, 5)]
    users = [f"{base}-poplar-{number}-vipu" for number in range(2)]
    assert exported["not_wired"] == [*agents, f"{base}-cluster", f"{base}-allocation", *users]


def test_switch_ports_that_somebody_else_wires_are_told_and_stop_nothing(
    run: Run, lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lyon.file("site.yaml").read_text()
    lyon.file("site.yaml").write_text(text.replace("wired_by: neutron", "wired_by: hand"))
    assert interlock("lock").code == 0
    exported: dict[str, Any] = {}
    told: list[str] = []
    monkeypatch.setattr(pulumi, "export", exported.__setitem__)
    monkeypatch.setattr(pulumi, "info", told.append)
    run("lyon-acme", site="lyon", tenant="acme")
    assert told == ["8 switch ports to wire by hand: `interlock wiring acme`"]
    # Both switch ports of each machine; four agents, a cluster, an allocation and two users of V-IPU.
    assert len(exported["not_wired"]) == 8 + 8


def test_the_operators_stack_is_declared(run: Run) -> None:
    monitor = run("lyon-site", site="lyon")
    assert "external" in {item.name for item in monitor.requests}


REFUSED = {
    "another name": ("lyon-globex", {"site": "lyon", "tenant": "acme"}, "`pulumi stack select lyon-acme`"),
    "the site's name": ("lyon-site", {"site": "lyon", "tenant": "acme"}, "or correct Pulumi.lyon-site.yaml"),
    "no such site": ("lion-site", {"site": "lion"}, "IN-020 there is no such site"),
    "no such tenant": ("lyon-acne", {"site": "lyon", "tenant": "acne"}, "did you mean `acme`?"),
    "no site": ("lyon-site", {}, "clusters:site"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_told_before_anything_is_declared(run: Run, case: str) -> None:
    stack, config, said = REFUSED[case]
    with pytest.raises(pulumi.RunError) as refused:
        run(stack, **config)
    assert said in str(refused.value)


def test_an_old_lock_stops_the_program(run: Run, lyon: Lyon) -> None:
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    with pytest.raises(pulumi.RunError, match="run `interlock lock acme`"):
        run("lyon-acme", site="lyon", tenant="acme")


def test_while_objects_are_changed_by_hand_their_stack_alone_is_not_applied(run: Run, interlock: Interlock) -> None:
    assert interlock("break-glass", "open", "acme", "--reason", "INC-1207").code == 0
    with pytest.raises(pulumi.RunError, match=r"(?s)break-glass 1 of lyon-acme is open: .*INC-1207"):
        run("lyon-acme", site="lyon", tenant="acme")
    assert run("lyon-site", site="lyon").requests


def test_what_is_not_proved_is_told_with_its_rule(run: Run, lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "    vlan_lists_enforced: true\n", "")
    interlock("lock")
    with pytest.raises(pulumi.RunError, match=r"(?s)not provable: .*vlan_lists_enforced.*exit code 3"):
        run("lyon-acme", site="lyon", tenant="acme")


def test_what_nothing_can_make_is_all_told_before_anything_is_registered(
    run: Run, lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lyon.replace(
        "tenants/acme.yaml",
        "    machines: 4 # or `ipus: 16`\n",
        "    machines: 4\n    partitions: {big: {ipus: 8}, jobs: {ipus: 4, reconfigurable: true}}\n",
    )
    lyon.replace("tenants/acme.yaml", "{versioning: true}", "{on_delete: snapshot}")
    locked = interlock("lock", "acme")
    assert locked.code == 0, locked.err
    heard: list[str] = []
    register = Monitor.RegisterResource

    def listening(self: Monitor, request: Any) -> Any:
        heard.append(request.type)
        return register(self, request)

    monkeypatch.setattr(Monitor, "RegisterResource", listening)
    with pytest.raises(pulumi.RunError) as refused:
        run("lyon-acme", site="lyon", tenant="acme")
    assert set(heard) <= {"pulumi:pulumi:Stack"}
    lines = str(refused.value).splitlines()
    assert lines[0].startswith("lyon-acme is proved, and 3 of its ")
    assert lines[0].endswith(" resources cannot be made yet: nothing has been touched")
    assert [line.partition(": ")[0] for line in lines if line.startswith("  ")] == [
        "  vpods.train.partitions.big",
        "  vpods.train.partitions.jobs",
        "  buckets.checkpoints.on_delete",
    ]
    assert lines[-1] == "next: take them out of the request, run `interlock lock acme`, then try again"


def test_of_a_tenant_that_is_to_go_nothing_is_declared(
    run: Run, lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lyon.replace("tenants/acme.yaml", "name: Acme Robotics\n", "name: Acme Robotics\nstate: gone\n")
    locked = interlock("lock", "acme")
    assert locked.code == 0, locked.err
    exported: dict[str, Any] = {}
    monkeypatch.setattr(pulumi, "export", exported.__setitem__)
    monitor = run("lyon-acme", site="lyon", tenant="acme")
    assert [item.type for item in monitor.requests] == ["pulumi:providers:interlock"]
    assert set(exported) == {"plan_hash", "not_wired"}


def test_the_demo_passphrase_stops_a_real_cloud(run: Run, lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "cloud: sandbox", "cloud: real")
    interlock("lock")
    with pytest.raises(pulumi.RunError, match="cloud real is not the sandbox"):
        run("lyon-acme", site="lyon", tenant="acme")


@pytest.mark.parametrize("cloud", ["sandbox", "six"])
def test_the_sandbox_takes_the_demo_passphrase(clouds: Path, cloud: str) -> None:
    refuse_demo_passphrase(cloud, DEMO)


def test_the_demo_passphrase_in_a_file_is_as_public(clouds: Path, tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    file.write_text(f"{DEMO_PASSPHRASE}\n")
    with pytest.raises(pulumi.RunError, match="passphrase is public"):
        refuse_demo_passphrase("real", {"PULUMI_CONFIG_PASSPHRASE_FILE": str(file)})


@pytest.mark.parametrize("environment", [{}, {"PULUMI_CONFIG_PASSPHRASE": "our own"}])
def test_other_secrets_are_the_users_own_affair(environment: dict[str, str]) -> None:
    refuse_demo_passphrase("real", environment)


def test_a_cloud_that_nobody_knows_is_named(clouds: Path) -> None:
    with pytest.raises(pulumi.RunError, match=r"no usable cloud nowhere: .*interlock sandbox up"):
        passphrase.is_sandbox("nowhere")
