"""One vPOD's controller on which is killed: the sandbox's, behind the proxy, with a cloud on paper beside it."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.channel.tickets import TICKET, WAITING
from interlock.provider.markers import marker
from interlock.resources import (
    Project,
    Resource,
    Server,
    StoredCredential,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuPartition,
    VipuUser,
)
from interlock.vocabulary.owners import OwnerId
from sandbox.vipu.access import VipuAccess, caller_of
from tests.faults.proxy import Proxy
from tests.kills.inventory import Inventory
from tests.kills.victims import Victim, Zygote
from tests.support.engine.process import Recorded
from tests.support.engine.stack import Stack
from tests.support.paper.cloud import HOST, PaperCloud, paper_cloud, write_clouds
from tests.support.paper.vipu import PaperControllers, paper_controllers, write_vipu

OWNER, SITE_OWNER = "4b1dc0", "5172e0"
CONTROLLER, POPLAR, PROJECT = "kay-controller", "kay-poplar-0", "kay-project"
#: What is there before and after, and is nobody's to make here.
THERE = (PROJECT, CONTROLLER, POPLAR)
#: Listeners of the proxy.
PAPER, DOOR = "paper", "vipu"
_CONTROL = {CONTROLLER: "10.30.0.5", POPLAR: "10.30.0.6"}


@dataclass
class VipuGround:
    """What all points share."""

    proxy: Proxy
    zygote: Zygote
    cloud: PaperCloud
    controllers: PaperControllers
    #: Id of the controller's server.
    server: str
    folder: Path

    def victim(self) -> Victim:
        """A new provider process."""
        self.proxy.seen.clear()
        return self.zygote.victim()

    def look(self, services: Collection[str] = ()) -> Inventory:
        """Everything at the controller, and what waits for servers; there is nothing else."""
        del services
        found = Inventory()
        for noun, objects in self.controllers.census()[CONTROLLER].items():
            found.update((noun, name, repr(sorted(item.items()))) for name, item in objects.items())
        found.update((str(item["name"]), str(item["mode"])) for item in self.cloud.secrets.values())
        return found

    def left(self, stack: Stack, held: dict[str, Recorded]) -> dict[str, str]:
        """Nothing that `look` does not show."""
        del stack, held
        return {}

    def unharmed(self, stack: Stack) -> None:
        """Asserts that the key which waits for a server, if one does, is the one that counts, of its own user."""
        del stack
        waiting = [item for item in self.cloud.secrets.values() if str(item["name"]).startswith(WAITING)]
        tickets = [item for item in self.cloud.secrets.values() if str(item["name"]).startswith(TICKET)]
        assert len(waiting) == len(tickets) <= 1
        for item in waiting:
            settings = settings_in(item)
            state = self.controllers.state(self.server)
            access = VipuAccess("user", settings["api-user-id"], settings["api-access-key"])
            assert caller_of(state, access, secure=True).allocations == ("train",)

    def write(self, stack: Stack, name: str) -> None:
        raise AssertionError(f"{name} holds no data")

    def discard_backups(self) -> None:
        raise AssertionError("nothing here has copies")


def settings_in(secret: dict[str, Any]) -> dict[str, str]:
    """What a server will fetch, as `vipu` reads it."""
    text = base64.b64decode(secret["payload"]).decode()
    return {key: value.strip('"') for key, value in (line.split("=", 1) for line in text.splitlines())}


def resources(hosts: list[str], **partition: Any) -> dict[str, Resource]:
    """Plan name -> resource: what is there, then all that the controller is told, and the key of its user."""
    own: Any = {"controller": CONTROLLER, "managed_by": "interlock", "address": _CONTROL[CONTROLLER]}
    servers = {
        name: Server(name=name, project=PROJECT, flavor="f", image="i", host=HOST, ports=())
        for name in (CONTROLLER, POPLAR)
    }
    agents = {
        f"ag{at}": VipuAgent(name=f"ag{at}", machine=f"ipum-{at:02}", serial=f"LYN-{at:02}", host=host, **own)
        for at, host in enumerate(hosts, 1)
    }
    machines = tuple(item.machine for item in agents.values())
    return {
        PROJECT: Project(name="kay"),
        **servers,
        **agents,
        "cluster": VipuCluster(name="train", agents=tuple(agents), **own),
        "allocation": VipuAllocation(name="train", cluster="cluster", machines=machines, **own),
        "user": VipuUser(name="poplar-0", allocations=("allocation",), **own),
        "handed": StoredCredential(project=PROJECT, credential="user", place=POPLAR, item="vipu"),
        "p": VipuPartition(name="p", allocation="allocation", ipus=8, replaceable=True, **own).model_copy(
            update=partition
        ),
    }


def stack_on(ground: VipuGround, process: Any) -> Stack:
    """A tenant's stack that has its servers, and nothing else yet."""
    ids = {name: ident for ident, item in ground.cloud.servers.items() for name in [str(item["name"])]}
    ids[PROJECT] = next(iter(ground.cloud.projects))
    found = Stack(process, "lyon-kay", OWNER, {}, SITE_OWNER, ground.folder)
    found.declare(resources(ground.controllers.agent_hosts()))
    for name in THERE:
        found.state[name] = Recorded(ids[name], {}, {})
    return found


@contextmanager
def vipu_ground(folder: Path) -> Iterator[VipuGround]:
    """A controller that knows nobody, and a Poplar server; afterwards the controller knows nobody again."""
    instance = folder / "instance"
    instance.mkdir()
    with paper_cloud() as cloud, paper_controllers(instance) as controllers:
        cloud.project("kay", marker(OwnerId(OWNER), PROJECT))
        made = {
            name: cloud.server(name, marker(OwnerId(OWNER), name), {"control": _CONTROL[name]})
            for name in (CONTROLLER, POPLAR)
        }
        controllers.add(made[CONTROLLER], CONTROLLER)
        proxy = Proxy({PAPER: int(cloud.address.rpartition(":")[2]), DOOR: controllers.door})
        clouds = write_clouds(cloud, proxy.own(cloud.address), folder)
        write_vipu(int(proxy.own(f"127.0.0.1:{controllers.door}").rpartition(":")[2]), folder)
        zygote = Zygote(clouds, folder)
        try:
            found = VipuGround(proxy, zygote, cloud, controllers, made[CONTROLLER], folder)
            before = found.look()
            yield found
            assert found.look() == before, "left behind"
        finally:
            zygote.close()
            proxy.close()
