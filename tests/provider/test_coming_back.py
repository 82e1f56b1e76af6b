"""What is deleted is gone when services and switches say so: on paper, in all that they can say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from interlock.provider.actuators import ACTUATORS, Ids, Target
from interlock.provider.clouds import Cloud
from interlock.provider.state import declared, outputs, recorded_target
from interlock.provider.switch_readings import SwitchReadings
from interlock.resources import BareMetalServer
from interlock.switches.errors import SwitchUnread
from interlock.switches.loading import SwitchAccess, SwitchesRead
from interlock.switches.observed import ObservedPort, ObservedSwitch
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from tests.conftest import ROOT
from tests.support.world import whole
from tests.support.world.declared import switch_port

OWNER, PROJECT, UUID = OwnerId("313a00"), "p-mia", "7f2b"
DATA, NUMBER = 2140, 13
HOST = "mia-whole-1"
SPEC = whole.host("mia", "whole-1", NUMBER, DATA)[HOST]
assert isinstance(SPEC, BareMetalServer)
METAL = ACTUATORS["BareMetalServer"]
QUARANTINE, SHUT = "access 4000", "shut"


def port(name: str, setting: str) -> ObservedPort:
    """`setting`: `shut`, `trunk`, or `access VLAN`."""
    mode, _, vlan = setting.partition(" ")
    if mode == "access":
        return ObservedPort(name, admin_up=True, mode="access", access_vlan=int(vlan))
    return ObservedPort(name, admin_up=mode != "shut", mode="trunk")


@dataclass
class Paper:
    """Ironic with one node or none, Neutron without the tenant's ports, and switches."""

    node: dict[str, Any] | None
    ports: Mapping[str, str]
    unread: str = ""
    bound: list[dict[str, Any]] = field(default_factory=list)
    changes: list[tuple[str, Any]] = field(default_factory=list)

    def api(self, service: str) -> Paper:
        return self

    def find(self, path: str) -> Any:
        what, name = path.strip("/").split("/")
        if what != "nodes" or self.node is None:
            return None
        return self.node if name in (self.node["uuid"], self.node["name"]) else None

    def items(self, path: str, key: str, **params: Any) -> list[dict[str, Any]]:
        return self.bound

    def patch(self, path: str, body: Any) -> None:
        self.changes.append((path, body))

    @property
    def switches(self) -> SwitchReadings:
        named = {
            name: SwitchAccess(name, "eos", "127.0.0.1", 22, "x", None, None, "key", None, "switches.yaml:1:1")
            for name in ("tor-1", "mgmt-1")
        }

        def read(access: SwitchAccess, mac: str | None) -> ObservedSwitch | SwitchUnread:
            if access.name == self.unread:
                return SwitchUnread(access.name, f"{access.name} is out of reach", "look at it")
            of = "mgmt-1 " if access.name == "mgmt-1" else "tor-1 "
            ports = {key.removeprefix(of): said for key, said in self.ports.items() if key.startswith(of)}
            found = {name: port(name, said) for name, said in ports.items()}
            return ObservedSwitch(access.name, "SN", None, "x", found, frozenset(range(1, 4095)))

        return SwitchReadings(lambda: SwitchesRead(ROOT / "switches.yaml", named), read)


def cloud(paper: Paper) -> Cloud:
    return cast(Cloud, paper)


def node(**members: Any) -> dict[str, Any]:
    """Ours, as Ironic shows it when it is clean."""
    plain: dict[str, Any] = {
        "uuid": UUID, "name": "whole-1", "provision_state": "available", "instance_uuid": None, "lessee": PROJECT,
        "instance_info": {}, "maintenance": False, "maintenance_reason": None, "last_error": None,
    }  # fmt: skip
    return plain | members


def legs(data: str = QUARANTINE, control: str = QUARANTINE) -> dict[str, str]:
    return {"tor-1 Ethernet13/1": data, "mgmt-1 Ethernet13": control}


def target(recorded: bool = True) -> Target[BareMetalServer]:
    """`recorded`: False for a state of before nodes were recorded."""
    refs: dict[str, Ids] = {"project": PROJECT, "ports": ("vif-data", "vif-control")}
    assert isinstance(SPEC, BareMetalServer)
    return Target(HOST, OWNER, SPEC, refs, recorded={"node_uuid": UUID} if recorded else {})


GONE: dict[str, tuple[dict[str, Any] | None, dict[str, str]]] = {
    "clean, no lessee": (node(lessee=None), legs()),
    "another has it": (node(instance_uuid="other", lessee="p-other"), legs("access 1999", SHUT)),
    "another has its name": (node(uuid="new", lessee="p-other", instance_uuid="other"), legs("access 1999")),
    "withdrawn": (None, legs()),
}

#: What Ironic and the switches say -> what is said of it, whoever asks.
NOT_GONE: dict[str, tuple[dict[str, Any] | None, dict[str, str], str]] = {
    "cleaned, without a lessee": (node(lessee=None, provision_state="cleaning"), legs(), "node whole-1 is cleaning"),
    "not cleaned": (
        node(provision_state="clean failed", maintenance=True, maintenance_reason="disk", lessee=None), legs(),
        r"node whole-1 is in maintenance \(clean failed\): disk",
    ),
    "no lessee, and a leg in our VLAN": (
        node(lessee=None), legs(f"access {DATA}"), f"tor-1 Ethernet13/1 is still access {DATA}",
    ),
    "no lessee, and a leg elsewhere": (
        node(lessee=None), legs(control="access 3001"), "mgmt-1 Ethernet13 is access 3001, not at rest",
    ),
    "no lessee, and no such port": (
        node(lessee=None), {"mgmt-1 Ethernet13": SHUT, "tor-1 Ethernet13/2": f"access {DATA}"},
        "tor-1 Ethernet13/1 is set is not known: tor-1 has no such port .*renamed or broken out.*pulumi state delete",
    ),
    "lent to another": (node(lessee="p-other"), legs(), "node whole-1 is lent to project p-other, which is not of"),
    "another has it, and our VLAN": (
        node(instance_uuid="other", lessee="p-other"), legs("trunk"), "tor-1 Ethernet13/1 is still trunk",
    ),
    "withdrawn, with our VLAN": (None, legs(f"access {DATA}"), f"tor-1 Ethernet13/1 is still access {DATA}"),
}  # fmt: skip


@pytest.mark.parametrize("name", GONE)
def test_a_host_is_gone_when_its_node_and_its_legs_say_so(name: str) -> None:
    said, ports = GONE[name]
    paper = Paper(said, ports)
    assert METAL.read(cloud(paper), "allocation", target()) is None
    assert METAL.still_held(cloud(paper), target()) == ""
    assert METAL.left_behind(cloud(paper), target()) == ""
    assert paper.changes == [], "nothing of another's is touched"


@pytest.mark.parametrize("name", NOT_GONE)
def test_a_host_is_not_gone(name: str) -> None:
    said, ports, words = NOT_GONE[name]
    paper = Paper(said, ports)
    for ask in (METAL.still_held, METAL.left_behind):
        assert re.search(words, ask(cloud(paper), target()))
    assert paper.changes == []


def test_a_lessee_that_is_ours_is_taken_off_last() -> None:
    paper = Paper(node(instance_info={"display_name": HOST}), legs())
    assert METAL.still_held(cloud(paper), target()) == f"node whole-1 is still lent to project {PROJECT}"
    assert METAL.left_behind(cloud(paper), target()) == ""
    assert paper.changes == [
        (f"/nodes/{UUID}", [{"op": "add", "path": "/instance_info", "value": {}}, {"op": "remove", "path": "/lessee"}])
    ]


@pytest.mark.parametrize("lessee", [PROJECT, None])
def test_a_node_is_found_by_its_uuid_while_it_is_cleaned(lessee: str | None) -> None:
    """Renamed, and without its lessee."""
    paper = Paper(node(lessee=lessee, name="elsewhere", provision_state="cleaning"), legs())
    seen = METAL.read(cloud(paper), "allocation", target())
    assert seen is not None
    assert (seen.phase, seen.outputs) == ("pending", {"state": "cleaning", "node_uuid": UUID})
    assert (
        METAL.read(cloud(Paper(node(instance_uuid="other", provision_state="cleaning"), legs())), "a", target()) is None
    )


def test_a_switch_that_does_not_answer_leaves_a_host_without_a_lessee_in_the_state() -> None:
    paper = Paper(node(lessee=None), legs(), unread="tor-1")
    for ask in (METAL.still_held, METAL.left_behind):
        assert ask(cloud(paper), target()) == (
            "how tor-1 Ethernet13/1 is set is not known: tor-1 is out of reach (look at it)"
        )


def test_a_state_of_before_is_read_as_it_was() -> None:
    """By name and lessee; legs are looked at all the same, and nothing is done to a node that may be another's."""
    old = target(recorded=False)
    ours = Paper(node(provision_state="cleaning"), legs())
    assert METAL.read(cloud(ours), "allocation", old) is not None
    assert METAL.still_held(cloud(ours), old) == "node whole-1 is cleaning"
    nobodys = Paper(node(lessee=None, provision_state="cleaning"), legs("access 2140"))
    assert METAL.read(cloud(nobodys), "allocation", old) is None
    assert METAL.left_behind(cloud(nobodys), old) == "tor-1 Ethernet13/1 is still access 2140"
    assert nobodys.changes == []


def test_what_was_recorded_is_not_forgotten_by_a_look_that_failed() -> None:
    values = {
        **SPEC.canonical(), "owner": OWNER, "resolved": {"project": PROJECT}, "node_uuid": UUID, "state": "active",
    }  # fmt: skip
    item = declared("BareMetalServer", HOST, values)
    found = outputs(item, recorded_target(item, values), CloudFingerprint("x"), None)
    assert (found["node_uuid"], found["state"]) == (UUID, "active")
    assert outputs(item, recorded_target(item, {"resolved": {}}), CloudFingerprint("x"), None)["node_uuid"] is None


def test_a_switch_port_that_is_not_there_keeps_its_neutron_port_in_the_state() -> None:
    spec = switch_port("acme", 13, DATA, "10.5.2.1")
    planned = Target("acme-port", OWNER, spec, {"network": "n", "subnet": "s", "project": PROJECT})
    actuator = ACTUATORS["SwitchPort"]
    assert actuator.left_behind(cloud(Paper(None, {"tor-1 Ethernet13/1": QUARANTINE})), planned) == ""
    gone = Paper(None, {"tor-1 Ethernet13/2": f"access {DATA}"})
    assert actuator.left_behind(cloud(gone), planned).startswith(
        "how tor-1 Ethernet13/1 is set is not known: tor-1 has no such port (if it was renamed or broken out, "
    )
