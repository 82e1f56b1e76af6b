"""Enrols whole hosts at this instance's Ironic, on Ironic's fake hardware: what an operator does with real ones.

Reads the file of `interlock nodes --json`, which is the one of `openstack baremetal create`. Of `driver_info` the two
service networks are kept: there is no BMC. A node that is enrolled already stays as it is, but for one that never got
as far as `available`: a run that was stopped may have left it without its ports, or amid a step, which Ironic goes on
with by itself. All are cleaned side by side.
"""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.services import process
from sandbox.services.seed import connect

DRIVER = "fake-hardware"
PATIENCE = 300.0
#: States of a node that somebody has, or could have.
ENROLLED = ("available", "active")
#: Step -> states in which Ironic takes it; in others it is on its way already.
FROM = {"manage": ("enroll", "clean failed", "inspect failed"), "provide": ("manageable",)}
#: States that `manageable` comes before.
CLEANED = ("cleaning", "clean wait", *ENROLLED)
#: Why a node of the file is not for deployment, as `interlock nodes` marks it.
INVENTORY_ONLY = "CUSTOM_INTERLOCK_INVENTORY_ONLY"


class NotEnrolled(Exception):
    """A node does not become available; says which, and what Ironic says."""


def on_fake_hardware(node: Mapping[str, Any]) -> dict[str, Any]:
    """What to create, without its ports and traits."""
    kept = {name: value for name, value in node["driver_info"].items() if name.endswith("_network")}
    words = {name: value for name, value in node.items() if name not in ("ports", "traits")}
    return words | {"driver": DRIVER, "driver_info": kept}


def create(bare: Any, node: Mapping[str, Any], owner: str) -> None:
    """A node in the state `enroll`, without its ports and traits."""
    bare.create_node(provision_state="enroll", owner=owner, **on_fake_hardware(node))


def complete(bare: Any, node: Mapping[str, Any]) -> None:
    """Its traits, and those of its ports that are not there."""
    made = bare.get_node(node["name"])
    bare.set_node_traits(made.id, list(node.get("traits", ())))
    there = {port.address.lower() for port in bare.ports(node=made.id)}
    for port in node["ports"]:
        if port["address"].lower() not in there:
            bare.create_port(node_uuid=made.id, **port)


def settle(bare: Any, names: list[str], verb: str, states: tuple[str, ...]) -> None:
    """Ask all for a step that are not on it, then wait until each is there. Raises NotEnrolled."""
    for name in names:
        if bare.get_node(name).provision_state in FROM[verb]:
            bare.set_node_provision_state(name, verb)
    deadline = time.monotonic() + PATIENCE
    waiting = list(names)
    while waiting:
        found = {name: bare.get_node(name) for name in waiting}
        for name, node in found.items():
            if "fail" in node.provision_state or time.monotonic() > deadline:
                raise NotEnrolled(f"{name} is {node.provision_state}, not {states[0]}: {node.last_error}")
        waiting = [name for name, node in found.items() if node.reservation or node.provision_state not in states]
        time.sleep(0.1 if waiting else 0)


def enrol(connection: Any, nodes: list[dict[str, Any]]) -> list[str]:
    """Names of the nodes that are available now and were not before."""
    bare, owner = connection.baremetal, connection.current_project_id
    wanted = [node for node in nodes if INVENTORY_ONLY not in node.get("traits", ())]
    there = {node.name: node.provision_state for node in bare.nodes(details=True)}
    for node in wanted:
        if node["name"] not in there:
            create(bare, node, owner)
    begun = [node for node in wanted if there.get(node["name"]) not in ENROLLED]
    for node in begun:
        # All have their ports before the first leaves this state.
        if there.get(node["name"], "enroll") == "enroll":
            complete(bare, node)
    new = [node["name"] for node in begun]
    settle(bare, new, "manage", ("manageable", *CLEANED))
    settle(bare, new, "provide", ENROLLED)
    return new


def main() -> int:
    """Enrol the nodes of the file named in the arguments."""
    instance = process.here()
    try:
        nodes = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["nodes"]
        new = enrol(connect(instance.url("keystone") + "/v3"), nodes)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{sys.argv[1]} is no list of nodes as `interlock nodes --json` prints it: {error}", file=sys.stderr)
        return 4
    except NotEnrolled as error:
        print(error, file=sys.stderr)
        return 4
    print(f"{len(new)} nodes enrolled, {len(nodes) - len(new)} as they were", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
