"""Deals out groups of tests to the processes of pytest-xdist.

As many processes as `PREFERRING` says look for tests on a cloud first, so that few clouds are made; the others look for
them last. Tests on a cloud mostly wait for its services, so there are more processes than cores.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

from tests.support.groups import group_of, on_cloud, place_of

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

#: Processes for each core.
PROCESSES = 2
#: Of so many processes one looks for tests without a cloud first.
PREFERRING = 4


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Whole groups, in the order of the table; each process takes the next one that suits it."""

    #: Group -> its tests -> whether they are done.
    workqueue: OrderedDict[str, dict[str, bool]]

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """The queue is put in this process's order first: the one that it takes stands at the front."""
        ordered = sorted(self.workqueue.items(), key=lambda item: self._wish(node, item[0]))
        self.workqueue = OrderedDict(ordered)
        super()._assign_work_unit(node)

    @staticmethod
    def _wish(node: WorkerController, group: str) -> tuple[bool, int]:
        return on_cloud(group) is not prefers_cloud(node.gateway.id), place_of(group)


def prefers_cloud(worker: str) -> bool:
    """True for most processes (`gw0` …): every fourth one begins with tests that compute."""
    return int(worker.removeprefix("gw")) % PREFERRING != PREFERRING - 1
