"""A vPOD on paper: the sandbox's V-IPU controller behind a proxy, a cloud on paper, and the stack of its tenant."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator
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
from tests.support.engine.process import Recorded
from tests.support.engine.stack import Stack

from .cloud import HOST, PaperCloud, paper_cloud, write_clouds
from .vipu import PaperControllers, paper_controllers, write_vipu

OWNER, SITE_OWNER = "4b1dc0", "5172e0"
CONTROLLER, POPLAR, PROJECT = "kay-controller", "kay-poplar-0", "kay-project"
#: What is there before and after, and is nobody's to make here.
THERE = (PROJECT, CONTROLLER, POPLAR)
#: Listeners of the proxy.
PAPER, DOOR = "paper", "vipu"
_CONTROL = {CONTROLLER: "10.30.0.5", POPLAR: "10.30.0.6"}


@dataclass
class PaperVpod:
    """A controller, a Poplar server, and what is seen of them past the proxy."""

    proxy: Proxy
    cloud: PaperCloud
    controllers: PaperControllers
    #: Id of the controller's server.
    server: str
    folder: Path

    @property
    def clouds_yaml(self) -> Path:
        """Beside `vipu.yaml`."""
        return self.folder / "clouds.yaml"

    def everything(self) -> Counter[tuple[str, ...]]:
        """All objects at the controller, and what waits for servers; there is nothing else."""
        found = Counter[tuple[str, ...]]()
        for noun, objects in self.controllers.census()[CONTROLLER].items():
            found.update((noun, name, repr(sorted(item.items()))) for name, item in objects.items())
        found.update((str(item["name"]), str(item["mode"])) for item in self.cloud.secrets.values())
        return found

    def check_key(self) -> None:
        """Asserts that the key which waits for a server, if one does, is the one that counts, of its own user."""
        waiting = [item for item in self.cloud.secrets.values() if str(item["name"]).startswith(WAITING)]
        tickets = [item for item in self.cloud.secrets.values() if str(item["name"]).startswith(TICKET)]
        assert len(waiting) == len(tickets) <= 1
        for item in waiting:
            settings = settings_in(item)
            state = self.controllers.state(self.server)
            access = VipuAccess("user", settings["api-user-id"], settings["api-access-key"])
            assert caller_of(state, access, secure=True).allocations == ("train",)


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


def stack_on(vpod: PaperVpod, process: Any) -> Stack:
    """A tenant's stack of two machines that has its servers, and nothing else yet."""
    ids = {name: ident for ident, item in vpod.cloud.servers.items() for name in [str(item["name"])]}
    ids[PROJECT] = next(iter(vpod.cloud.projects))
    found = Stack(process, "lyon-kay", OWNER, {}, SITE_OWNER, vpod.folder)
    found.declare(resources(vpod.controllers.agent_hosts()[:2]))
    for name in THERE:
        found.state[name] = Recorded(ids[name], {}, {})
    return found


@contextmanager
def paper_vpod(folder: Path) -> Iterator[PaperVpod]:
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
        write_clouds(cloud, proxy.own(cloud.address), folder)
        write_vipu(int(proxy.own(f"127.0.0.1:{controllers.door}").rpartition(":")[2]), folder)
        try:
            found = PaperVpod(proxy, cloud, controllers, made[CONTROLLER], folder)
            before = found.everything()
            yield found
            assert found.everything() == before, "left behind"
        finally:
            proxy.close()
