"""A vPOD's controller of which everything is made, and of each kind one spare object that tests make and delete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from interlock.provider.retry import RetryPolicy
from interlock.resources import Resource, StoredCredential
from interlock.vipu import transport
from tests.faults.vipu_table import HANGING
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.paper.vpod import THERE, PaperVpod, paper_vpod, stack_on

#: Kind -> how the command begins that makes the spare object of it.
MAKES = {
    "VipuAgent": "/create/agent/spare", "VipuCluster": "/create/cluster/spare",
    "VipuAllocation": "/create/allocation/spare", "VipuUser": "/create/user/spare",
    "VipuPartition": "/create/partition/spare", "StoredCredential": "/update/user/poplar-0",
}  # fmt: skip


@dataclass
class VipuWorld:
    """What tests of faults of V-IPU share."""

    vpod: PaperVpod
    stack: Stack
    retry_policy: RetryPolicy

    def ours(self, kind: str) -> int:
        """How many spare objects of a kind there are, as the controller itself has it."""
        if kind == StoredCredential.KIND:
            self.vpod.check_key()
            return len(self.vpod.cloud.secrets) // 2
        noun = MAKES[kind].split("/")[2]
        return sum(what[:2] == (f"{noun}s", "spare") for what in self.vpod.everything())

    @contextmanager
    def impatient(self) -> Iterator[Stack]:
        """The same stack and state in a provider process of its own, which waits for no command that hangs."""
        limits = transport.VipuLimits(command=HANGING)
        with mock.patch.object(transport, "LocalRunner", partial(transport.LocalRunner, limits=limits)):
            process, before = Process(retry_policy=self.retry_policy), self.stack.process
            self.stack.process = process
            try:
                assert self.stack.admit(preview=False) == []
                yield self.stack
            finally:
                self.stack.process = before
                process.close()


def spare(kind: str) -> str:
    """Plan name of the spare object."""
    return f"spare-{kind.lower()}"


def _standing(stack: Stack, hosts: list[str]) -> dict[str, Resource]:
    """Two machines more, and a cluster of one of them, beside what the stack has."""
    whole = stack.resources
    more = {f"ag{at}": whole["ag1"].model_copy(update={"name": f"ag{at}", "host": hosts[at - 1]}) for at in (3, 4)}
    kept = {name: item for name, item in whole.items() if name != "handed"}
    smaller = {"p": whole["p"].model_copy(update={"ipus": 4})}
    return kept | smaller | more | {"more": whole["cluster"].model_copy(update={"name": "more", "agents": ("ag4",)})}


def _spares(stack: Stack, hosts: list[str]) -> dict[str, Resource]:
    whole = stack.resources
    changes: dict[str, dict[str, Any]] = {
        "ag1": {"host": hosts[4]}, "cluster": {"agents": ("ag3",)},
        "allocation": {"cluster": "more", "machines": ("ipum-04",)}, "user": {}, "p": {"ipus": 4},
    }  # fmt: skip
    named = [whole[like].model_copy(update={"name": "spare", **update}) for like, update in changes.items()]
    return {spare(item.KIND): item for item in (*named, whole["handed"])}


@contextmanager
def vipu_world(folder: Path, retry_policy: RetryPolicy) -> Iterator[VipuWorld]:
    """Everything made, without a fault; nothing is left."""
    with paper_vpod(folder) as vpod, mock.patch.dict(os.environ, {"OS_CLIENT_CONFIG_FILE": str(vpod.clouds_yaml)}):
        process = Process(retry_policy=retry_policy)
        stack, hosts = stack_on(vpod, process), vpod.controllers.agent_hosts()
        spares = _spares(stack, hosts)
        stack.declare(_standing(stack, hosts))
        assert stack.admit(preview=False) == []
        for name in [name for name in stack.resources if name not in THERE]:
            stack.create(name)
        stack.declare(stack.resources | spares)
        assert stack.admit(preview=False) == []
        try:
            yield VipuWorld(vpod, stack, retry_policy)
            for name in [name for name in reversed(stack.state) if name not in THERE]:
                stack.delete(name)
        finally:
            process.close()
