"""The V-IPU objects of one vPOD as an `up` makes them: the provider's lifecycle in this process, and its state."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interlock.provider.admitted import AdmissionGate
from interlock.provider.clouds import Cloud, Login
from interlock.provider.lifecycle import Lifecycle, Partial
from interlock.provider.pools import ThreadPools
from interlock.provider.preview_token import PreviewTokens
from interlock.provider.state import Declared
from interlock.provider.vipu import Controllers
from interlock.resources import (
    ID_OF,
    KINDS,
    Admission,
    Admitted,
    Resource,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuPartition,
    VipuUser,
)
from interlock.retry import RetryBudget
from interlock.vipu.client import ControllerClient
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import VipuId
from tests.faults.clock import Clock
from tests.ufm.conftest import AT_ONCE

from .stand import SERVER, Stand

OWNER, CONTROLLER = OwnerId("0ac3e0"), "acme-train-controller"
NOUNS = {"VipuAgent": "agent", "VipuCluster": "cluster", "VipuAllocation": "allocation", "VipuUser": "user",
         "VipuPartition": "partition"}  # fmt: skip
_OWN: Any = {"controller": CONTROLLER, "managed_by": "interlock", "address": "10.30.0.5"}


def planned(machines: int = 2, **partition: Any) -> dict[str, Resource]:
    """Plan name -> resource, in the order in which they are made."""
    agents = [
        VipuAgent(name=f"ag{at}", machine=f"ipum-{at:02}", serial=f"LYN-{at:02}", host=f"10.2.1.{at}", **_OWN)
        for at in range(1, machines + 1)
    ]
    names = tuple(item.name for item in agents)
    return {
        **{item.name: item for item in agents},
        "cluster": VipuCluster(name="train", agents=names, **_OWN),
        "allocation": VipuAllocation(
            name="train", cluster="cluster", machines=tuple(item.machine for item in agents), **_OWN
        ),
        "user": VipuUser(name="poplar-0", allocations=("allocation",), **_OWN),
        "p": VipuPartition(name="p", allocation="allocation", ipus=8, **_OWN).model_copy(update=partition),
    }


class Nova:
    """Servers with their markers, as far as this is asked."""

    def __init__(self, servers: dict[str, str]) -> None:
        self.servers = servers

    def find(self, path: str, **_: Any) -> Any:
        """A server by its path."""
        uuid = path.removeprefix("/servers/")
        return {"server": {"id": uuid}} if uuid in self.servers else None


@dataclass
class Vpod:
    """A stack of these objects. Each operation is a provider process of its own."""

    stand: Stand
    state: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=lambda: {SERVER: f"interlock:{OWNER}:{CONTROLLER}"})
    #: How commands are run; by default as the stand does.
    controller: ControllerClient | None = None

    def cloud(self) -> Cloud:
        """A cloud that nobody logs in to, with controllers that are there."""
        cloud, stand = Cloud("paper", Clock().retry_policy()), self.stand
        cloud.__dict__["login"] = Login(CloudFingerprint("keystone", ""), "u", "p", ())
        cloud.api = lambda *_, **__: Nova(self.servers)  # type: ignore[assignment,method-assign]
        cloud.markers.update({("Server", uuid): mark for uuid, mark in self.servers.items()})
        way = self.controller or stand.controller()

        class Here(Controllers):
            def of(self, server: str, name: str = "", address: str = "") -> ControllerClient:
                assert server == SERVER, (name, address)
                return replace(way, name=CONTROLLER)

        cloud.controllers = Here(AT_ONCE, starting=RetryBudget(attempts=2, total=1.0, first=0.0))
        return cloud

    def admission(self, plan: dict[str, Resource]) -> Admission:
        """The proof of a plan."""
        admitted = tuple(Admitted(name=name, kind=item.KIND, spec=item.canonical()) for name, item in plan.items())
        return Admission(
            stack="lyon-acme", cloud="paper", owner=OWNER, site_owner=OwnerId("5172e0"), plan_hash="plan",
            proof_hash="proof", site_folder=str(self.stand.folder),
            resources=(*admitted, Admitted(name=CONTROLLER, kind="Server", spec={})),
        )  # fmt: skip

    def up(self, plan: dict[str, Resource], *names: str) -> None:
        """Create or update these, or all. Raises `Failure`; what a failed run hands over is in the state."""
        for name in names or plan:
            item = self.declared(plan, name)
            life = self._life(plan)
            try:
                if name in self.state:
                    ident, olds = self.state[name]
                    self.state[name] = (ident, asyncio.run(life.update(item, ident, olds, preview=False)))
                else:
                    self.state[name] = asyncio.run(life.create(item, preview=False))
            except Partial as partial:
                self.state[name] = (partial.ident, partial.values)
                raise partial.failure from partial

    def refresh(self, name: str) -> dict[str, Any] | None:
        """The specification as it is seen; None: it is gone."""
        ident, olds = self.state[name]
        found = asyncio.run(self._life(None).read(recorded(name, olds), ident, olds))
        if found is None:
            del self.state[name]
            return None
        self.state[name] = (ident, found[1])
        return found[0]

    def destroy(self, *names: str) -> None:
        """As `pulumi destroy`: what stands on others first, and without a proof."""
        for name in names or [*reversed(self.state)]:
            ident, olds = self.state[name]
            asyncio.run(self._life(None).delete(recorded(name, olds), ident, olds, "lyon-acme"))
            del self.state[name]

    def declared(self, plan: dict[str, Resource], name: str) -> Declared:
        """A resource with the ids that it refers to, which are known beforehand."""
        item = plan[name]
        given: dict[str, Any] = {ID_OF + "controller": SERVER}
        for where, reference in item.references():
            if where != "controller":
                other = plan[reference]
                ident = str(VipuId(SERVER, NOUNS[other.KIND], other.canonical()["name"]))
                many = isinstance(getattr(item, where), tuple)
                given[ID_OF + where] = [*given.get(ID_OF + where, []), ident] if many else ident
        return Declared(item.KIND, name, item, OWNER, given)

    def _life(self, plan: dict[str, Resource] | None) -> Lifecycle:
        gate = AdmissionGate()
        if plan is not None:
            gate.admit(self.admission(plan), PreviewTokens(Path(self.stand.folder)), preview=True)
        return Lifecycle(self.cloud(), gate, ThreadPools())


def recorded(name: str, olds: dict[str, Any]) -> Declared:
    """A resource as the state has it."""
    kind = next(kind for kind, cls in KINDS.items() if kind in NOUNS and {*cls.model_fields} <= {*olds})
    fields = {key: olds[key] for key in KINDS[kind].model_fields}
    given = {key: value for key, value in olds.items() if key.startswith(ID_OF)}
    return Declared(kind, name, KINDS[kind].model_validate(fields), OWNER, given)
