"""Stand-in for the ramdisk: deploys and cleans machines that are not there, with the network calls of a real deploy.

Ironic's `FakeDeploy` never calls the network interface, so a host would stay in quarantine whatever is attached to it.
Here it does what Ironic's agent deploy does, in its order (ironic.drivers.modules.agent and agent_base): power, service
network, tenant networks, with its steps `switch_to_tenant_network` and `erase_devices`. Neutron, its driver and the
switches are the real path. Not as with a ramdisk: nothing is waited for, so a node never is in `wait call-back` or
`clean wait`, and its lock is held from `deploying` to `active` and throughout `cleaning`.

A disk is a file, DIR/state/ironic/disks/<node>.json, with what the ramdisk would have written: image and config drive.
Cleaning erases it.

Fault switch of the sandbox: a node's `extra`, {"sandbox": {"deploy": "fail", "clean": "hold", "tear_down": 2.5}}. At
"fail" that part of the work fails; at "hold" it waits until DIR/state/ironic/release appears, which it removes, and no
longer than two minutes; at a number it takes so many seconds. Where deploy and clean stop so, the host is on its
service network.
"""

import json
import time
from pathlib import Path
from typing import Any

from ironic.common import exception, faults, states
from ironic.conductor import utils as conductor
from ironic.conf import CONF
from ironic.drivers import base
from ironic.drivers.modules import fake

SWITCH = "sandbox"
FAIL, HOLD = "fail", "hold"
HOLD_SECONDS = 120.0


class WholeHostDeploy(fake.FakeDeploy):
    """Ironic's deploy interface `fake`, on the network."""

    def prepare(self, task: Any) -> None:
        """Onto the service network; the conductor calls it at a takeover, too, where nothing is to be done."""
        if task.node.provision_state != states.DEPLOYING:
            return
        network = task.driver.network
        network.validate(task)
        conductor.node_power_action(task, states.POWER_OFF)
        network.unconfigure_tenant_networks(task)
        network.add_provisioning_network(task)
        conductor.node_power_action(task, states.REBOOT)

    @base.deploy_step(priority=100)
    def deploy(self, task: Any) -> None:
        """What the ramdisk does."""
        obey(task.node, "deploy")
        write(disk(task.node), task.node)

    @base.deploy_step(priority=30)
    def switch_to_tenant_network(self, task: Any) -> None:
        """From the service network onto those of the tenant."""
        conductor.node_power_action(task, states.POWER_OFF)
        task.driver.network.remove_provisioning_network(task)
        task.driver.network.configure_tenant_networks(task)

    @base.deploy_step(priority=20)
    def boot_instance(self, task: Any) -> None:
        """The tenant's system starts."""
        conductor.node_power_action(task, states.POWER_ON)

    def tear_down(self, task: Any) -> str:
        """Off the tenant's networks, and off the service network if a deploy had failed there."""
        conductor.node_power_action(task, states.POWER_OFF)
        obey(task.node, "tear_down")
        task.driver.network.unconfigure_tenant_networks(task)
        task.driver.network.remove_provisioning_network(task)
        return str(states.DELETED)

    def prepare_cleaning(self, task: Any) -> None:
        """Onto the service network."""
        task.driver.network.add_cleaning_network(task)
        conductor.node_power_action(task, states.REBOOT)

    @base.clean_step(priority=10)
    def erase_devices(self, task: Any) -> None:
        """What the ramdisk does."""
        obey(task.node, "clean")
        disk(task.node).unlink(missing_ok=True)

    def tear_down_cleaning(self, task: Any) -> None:
        """Off the service network. What failed is left running, to be looked at."""
        if task.node.fault != faults.CLEAN_FAILURE:
            conductor.node_power_action(task, states.POWER_OFF)
        task.driver.network.remove_cleaning_network(task)


def obey(node: Any, part: str) -> None:
    """Fail, wait or take time as the node's fault switch says."""
    said = node.extra.get(SWITCH, {}).get(part, 0)
    if said == FAIL:
        raise exception.IronicException(f"the sandbox's fault switch says that {part} fails")
    if said == HOLD:
        hold(Path(CONF.state_path) / "release")
    else:
        time.sleep(said)


def hold(release: Path) -> None:
    """Wait for a file, and remove it."""
    deadline = time.monotonic() + HOLD_SECONDS
    while time.monotonic() < deadline and not release.exists():
        time.sleep(0.05)
    release.unlink(missing_ok=True)


def disk(node: Any) -> Path:
    """The file that stands for a node's disk."""
    return Path(CONF.state_path) / "disks" / f"{node.uuid}.json"


def write(path: Path, node: Any) -> None:
    """Write what a ramdisk would; the config drive as it was asked for, not packed."""
    path.parent.mkdir(exist_ok=True)
    written = {name: node.instance_info.get(name) for name in ("image_source", "configdrive")}
    path.write_text(json.dumps(written), encoding="utf-8")


def install() -> None:
    """Put it where Ironic's entry point `fake` looks; before a conductor loads its drivers."""
    fake.FakeDeploy = WholeHostDeploy
