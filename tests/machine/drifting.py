"""What somebody does to a tenant's objects past us: changes them, or deletes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.state import declared, recorded_target
from tests.machine.switch import TopOfRack
from tests.support.engine.stack import Stack

#: Kind -> (service, method, path, body) of a change that somebody makes by hand.
CHANGES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "Project": ("identity", "PATCH", "/projects/{id}", {"project": {"description": "by hand"}}),
    "Network": ("network", "PUT", "/networks/{id}", {"network": {"name": "by hand", "description": "by hand"}}),
    "Subnet": ("network", "PUT", "/subnets/{id}", {"subnet": {"dns_nameservers": ["8.8.8.8"]}}),
    "Router": ("network", "PUT", "/routers/{id}", {"router": {"name": "by hand"}}),
    "SecurityGroup": ("network", "PUT", "/security-groups/{id}", {"security_group": {"name": "by hand"}}),
    "Port": ("network", "PUT", "/ports/{id}", {"port": {"security_groups": []}}),
    "Server": ("compute", "PUT", "/servers/{id}", {"server": {"name": "by hand"}}),
    "Volume": ("block-storage", "PUT", "/volumes/{id}", {"volume": {"name": "by hand"}}),
    "Quota": ("network", "PUT", "/quotas/{id}", {"quota": {"network": 7}}),
}

#: Kinds of which somebody deletes one. Not those that everything of the tenant lies in, nor a tenant's bucket or user.
DELETED = (
    "RouterInterface", "Port", "SwitchPort", "Router", "Subnet", "Network", "SecurityGroup", "Keypair", "Volume",
    "RoleAssignment", "Server",
)  # fmt: skip


def change(cloud: Cloud, stack: Stack, name: str) -> bool:
    """Somebody changes it by hand; False if this kind has nothing to change, or it is gone already."""
    if stack.ever[name].KIND not in CHANGES:
        return False
    service, method, path, body = CHANGES[stack.ever[name].KIND]
    where = path.format(id=stack.state[name].id)
    return _done(lambda: cloud.api(service).request(method, where, json=body))


def change_on_the_switch(sandbox: Path, stack: Stack, name: str, pick: int) -> str:
    """Somebody sets a switch port at its switch; returns which. `pick`: to what."""
    port: str = stack.state[name].outputs["port_name"]
    TopOfRack(sandbox).set_by_hand(port, pick)
    return port


def delete(cloud: Cloud, stack: Stack, name: str) -> bool:
    """Somebody deletes it by hand; False if the cloud does not let go of it, or it is gone already."""
    kind, recorded = stack.ever[name].KIND, stack.state[name]
    if kind not in DELETED or name.endswith("-bucket-role") or _plugged(cloud, name, recorded.id):
        return False
    item = declared(kind, name, recorded.outputs)
    actuator, target = ACTUATORS[kind], recorded_target(item, recorded.outputs)
    if actuator.read(cloud, recorded.id, target) is None or not _done(
        lambda: actuator.delete(cloud, recorded.id, target)
    ):
        return False
    while actuator.read(cloud, recorded.id, target) is not None:
        pass
    return True


def _plugged(cloud: Cloud, name: str, ident: str) -> bool:
    """True of a port by which a server has a virtual function: deleted by hand, it would cost the host that function
    until the server goes (see `PortActuator.detach`), and no host has functions for all that happens here."""
    found = cloud.api("network").find(f"/ports/{ident}") if name.endswith("-function") else None
    return found is not None and bool(found["port"]["device_id"])


def _done(call: Callable[[], Any]) -> bool:
    try:
        call()
    except Failure:
        return False
    return True
