"""V-IPU controllers of planned vPODs, each a served controller of the simulator, told what its plan says."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from interlock.planning import Plan
from interlock.provider.errors import refused
from interlock.provider.vipu import Controllers
from interlock.resources import VipuAgent, VipuAllocation, VipuCluster, VipuObject, VipuPartition, VipuUser
from interlock.retry import RetryPolicy
from interlock.vipu.client import ControllerClient
from interlock.vipu.transport import Ran, Runner
from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.racks import AGENT_PORT, IpuMachine, Racks
from sandbox.vipu.serving import Serving
from tests.builders.paper import ident
from tests.vipu.desk import AT_ONCE, Desk
from tests.vipu_driving.stand import Stand

#: Commands of the simulator change folder and streams of this process, and an audit asks several controllers at once.
_ONE = threading.Lock()


@dataclass(frozen=True)
class Saying:
    """Runs a command when no other one runs; `old` in an answer becomes `new`, which a simulator would not say."""

    inner: Runner
    old: str = ""
    new: str = ""

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it."""
        with _ONE:
            ran = self.inner.run(words)
        return Ran(ran.code, ran.out.replace(self.old, self.new) if self.old else ran.out, ran.err)


@dataclass
class StandingControllers(Controllers):
    """Uuid of a server -> the controller in it. Tests may put another client in the place of one."""

    clients: dict[str, ControllerClient] = field(default_factory=dict)
    stands: dict[str, Stand] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(RetryPolicy())

    def of(self, server: str, name: str = "", address: str = "") -> ControllerClient:
        """A client, as `vipu.yaml` would have said."""
        if server not in self.clients:
            raise refused(f"vipu.yaml does not say how V-IPU controller {name} is reached", "add `default` there")
        return self.clients[server]

    def answers(self, name: str, runner: Runner) -> None:
        """From now on this answers for a controller."""
        server = next(uuid for uuid, client in self.clients.items() if client.name == name)
        self.clients[server] = replace(self.clients[server], runner=runner)

    def says(self, name: str, old: str, new: str) -> None:
        """From now on a controller says this in place of that."""
        self.answers(name, Saying(self.stands[name].controller().runner, old, new))

    def desk(self, name: str) -> Desk:
        """A controller by its plan name, to be told something by somebody else."""
        return self.stands[name].desk


@contextmanager
def standing_controllers(folder: Path, *plans: Plan) -> Iterator[StandingControllers]:
    """A controller for each vPOD, as an `up` of its plan leaves it."""
    found = StandingControllers()
    with ExitStack() as stack:
        for plan in plans:
            for name in dict.fromkeys(item.controller for item in _objects(plan)):
                own = folder / name
                desk = Desk(own / "controller", _racks(plan, name), ControllerSettings(durations=AT_ONCE))
                stand = Stand(desk, stack.enter_context(Serving(desk.controller).running()), own)
                client = stand.controller()
                client = replace(client, name=name, runner=Saying(client.runner))
                found.stands[name] = stand
                found.clients[ident(plan.stack, name)] = client
                _tell(plan, name, client)
        yield found


def _objects(plan: Plan) -> list[VipuObject]:
    return [item.resource for item in plan.resources if isinstance(item.resource, VipuObject)]


def _racks(plan: Plan, controller: str) -> Racks:
    agents = [one for one in _objects(plan) if isinstance(one, VipuAgent) and one.controller == controller]
    return Racks(tuple(
        IpuMachine(one.host, AGENT_PORT, 1, position, one.serial, f"10.5.1.{position}")
        for position, one in enumerate(agents, start=1)
    ))  # fmt: skip


def _tell(plan: Plan, controller: str, client: ControllerClient) -> None:
    own = {item.name: item.resource for item in plan.resources if isinstance(item.resource, VipuObject)}
    at = {name: item.name for name, item in own.items()}
    for item in own.values():
        if item.controller != controller:
            continue
        if isinstance(item, VipuAgent):
            client.create_agent(item.name, item.host, item.port)
        elif isinstance(item, VipuCluster):
            agents = [at[one] for one in item.agents]
            client.create_cluster(item.name, agents, item.link_domains, item.topology, item.cluster_topology)
        elif isinstance(item, VipuAllocation):
            client.create_allocation(item.name, at[item.cluster])
        elif isinstance(item, VipuUser):
            client.create_user(item.name, [at[one] for one in item.allocations])
        elif isinstance(item, VipuPartition):
            client.create_partition(client.lines.partition(
                item.name, allocation=at[item.allocation], ipus=item.ipus, gcds=item.gcds, replicas=item.replicas,
                reconfigurable=item.reconfigurable, sync_type=item.sync_type, routing=item.routing,
            ))  # fmt: skip
