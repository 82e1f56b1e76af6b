"""The calls to one controller. They block, and raise `VipuError`.

Exit codes and wording decide nothing. After a command that failed, or whose answer was lost, the controller is asked
what is there: what was wanted is there (or gone) and all is well, or the command is sent once more, or it is an error.
Everything is read by lists, which answer with what there is: that an object is not there is no error of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from . import answers
from .answers import SaidAgent, SaidAllocation, SaidCluster, SaidPartition, SaidUser, VipuMisread
from .commands import Noun, VipuLine, VipuLines
from .errors import VipuError, VipuTrouble
from .flags import VipuSpelling
from .loading import ControllerAccess
from .transport import Ran, Runner

T = TypeVar("T")

#: How often a command is sent that failed with nothing done.
TIMES = 2
#: What objects say that are on their way out.
REMOVING = "REMOVING"
_SEE_LOG = "look into the log of the V-IPU controller, then run the command again: it looks first at what is there"
_SEE_FLAGS = f"{_SEE_LOG}; if it does not know a flag, say under `flags:` in vipu.yaml how this release spells it"


@dataclass(frozen=True)
class ControllerClient:
    """One controller, called by its plan name. `told`: hears of each access key before anybody else does."""

    name: str
    access: ControllerAccess
    runner: Runner
    told: Callable[[str], None] = lambda _: None

    @property
    def lines(self) -> VipuLines:
        """Command lines in the spelling of its release."""
        return VipuLines(VipuSpelling(self.access.flags))

    def agents(self) -> Mapping[str, SaidAgent]:
        """Id -> agent, of all."""
        return {item.id: item for item in self._listed("agent", answers.agent_of)}

    def clusters(self) -> Mapping[str, SaidCluster]:
        """Id -> cluster, of all."""
        return {item.id: item for item in self._listed("cluster", answers.cluster_of)}

    def allocations(self) -> Mapping[str, SaidAllocation]:
        """Id -> allocation, of all."""
        return {item.id: item for item in self._listed("allocation", answers.allocation_of)}

    def users(self) -> Mapping[str, SaidUser]:
        """Id -> user, of all."""
        return {item.id: item for item in self._listed("user", answers.user_of)}

    def partitions(self) -> Mapping[str, SaidPartition]:
        """Id -> partition, of all."""
        return {item.id: item for item in self._listed("partition", answers.partition_of)}

    def partitions_in(self, allocation: str) -> tuple[SaidPartition, ...]:
        """Those of an allocation. Where the release does not say whose one is, all of its cluster that may be."""
        partitions = tuple(self.partitions().values())
        whole = self.allocations().get(allocation) if any(item.allocation is None for item in partitions) else None
        cluster = None if whole is None else whole.cluster

        def is_in(item: SaidPartition) -> bool:
            return item.allocation == allocation or (item.allocation is None and cluster in (None, item.cluster))

        return tuple(item for item in partitions if is_in(item))

    def answered(self, line: VipuLine) -> Ran:
        """What came of a line that changes nothing. Raises `VipuError` where nobody knows."""
        return self._sent(line)

    def create_agent(self, name: str, host: str, port: int) -> None:
        """Tell the controller of a machine."""
        self._until(self.lines.agent(name, host, port), lambda: name in self.agents())

    def create_cluster(
        self, name: str, agents: Sequence[str], link_domains: int, topology: str, cluster_topology: str
    ) -> None:
        """Make agents a cluster."""
        line = self.lines.cluster(name, agents, link_domains, topology, cluster_topology)
        self._until(line, lambda: name in self.clusters())

    def create_allocation(self, name: str, cluster: str) -> None:
        """Give out all agents of a cluster."""
        self._until(self.lines.allocation(name, cluster), lambda: name in self.allocations())

    def create_user(self, name: str, allocations: Sequence[str]) -> None:
        """Make a user of these allocations alone; its key is forgotten."""
        self._until(self.lines.user(name, allocations), lambda: name in self.users())

    def restrict_user(self, name: str, allocations: Sequence[str]) -> None:
        """Give a user these allocations and no others."""
        wanted = frozenset(allocations)

        def is_done() -> bool:
            user = self.users().get(name)
            return user is not None and user.allocations is not None and frozenset(user.allocations) == wanted

        self._until(self.lines.user_of(name, allocations), is_done)

    def create_partition(self, line: VipuLine) -> None:
        """Make a partition; the line is one of `lines.partition`."""
        self._until(line, lambda: line.words[2] in self.partitions())

    def remove(self, noun: Noun, name: str) -> None:
        """Ask for an object to go. What is gone, or on its way out, counts as done."""
        present: Mapping[Noun, Callable[[], Mapping[str, object]]] = {
            "agent": self.agents, "cluster": self.clusters, "allocation": self.allocations, "user": self.users,
            "partition": self.partitions,
        }  # fmt: skip

        def is_done() -> bool:
            item = present[noun]().get(name)
            return item is None or getattr(item, "state", "") == REMOVING

        self._until(self.lines.removed(noun, name), is_done)

    def new_key(self, user: str) -> str:
        """Another access key of a user; the former one, whoever has it, counts no longer."""
        line = self.lines.new_key(user)
        failure: VipuError | None = None
        for _ in range(TIMES):
            try:
                ran = self._sent(line)
            except VipuError as error:
                if error.trouble is not VipuTrouble.LOST_ANSWER:
                    raise
                failure = error  # it may have made a key that nobody heard of: another one takes its place
                continue
            key = answers.key_in(ran.out) if ran.code == 0 else None
            if key is not None:
                self.told(key)
                return key
            failure = self._failed(line, ran)
        assert failure is not None  # each turn returns, raises or sets it
        raise failure

    def _until(self, line: VipuLine, is_done: Callable[[], bool]) -> None:
        """Send a line until that is done which it is for. Raises `VipuError`."""
        failure: VipuError | None = None
        for _ in range(TIMES):
            try:
                ran = self._sent(line)
            except VipuError as error:
                if error.trouble is not VipuTrouble.LOST_ANSWER:
                    raise
                failure = error
            else:
                if line.tells_key and (key := answers.key_in(ran.out)) is not None:
                    self.told(key)
                if ran.code == 0:
                    return
                failure = self._failed(line, ran)
            if is_done():
                return
        assert failure is not None  # each turn returns, raises or sets it
        raise failure

    def _listed(self, noun: Noun, read: Callable[[Mapping[str, object]], T]) -> tuple[T, ...]:
        line = self.lines.listed(noun)
        try:
            ran = self._sent(line)
        except VipuError as error:
            if error.trouble is not VipuTrouble.LOST_ANSWER:
                raise
            # A question changes nothing: nothing of it can be lost.
            raise VipuError(VipuTrouble.UNREACHABLE, self.name, error.what, error.hint) from error
        if ran.code != 0:
            raise self._failed(line, ran)
        try:
            return answers.each(ran.out, read)
        except VipuMisread as error:
            what = f"V-IPU controller {self.name}: the answer to `{line.shown}` is not understood: {error}"
            hint = "see whether `command` in vipu.yaml is V-IPU's, and whether this release writes another JSON"
            raise VipuError(VipuTrouble.SERVICE, self.name, what, hint) from None

    def _sent(self, line: VipuLine) -> Ran:
        before = self.access.user_command if line.as_user else self.access.command
        config = () if self.access.config is None else self.lines.spelling.flag("config", self.access.config)
        try:
            return self.runner.run((*before, *config, *line.words))
        except VipuError as error:
            what = f"V-IPU controller {self.name}, `{line.shown}`: {error.what}"
            raise VipuError(error.trouble, self.name, what, error.hint, is_final=error.is_final) from error

    def _failed(self, line: VipuLine, ran: Ran) -> VipuError:
        said = ran.said if line.is_quoted else "what it said is not shown, since a key may stand in it"
        what = f"V-IPU controller {self.name}: `{line.shown}` ended with {ran.code}: {said}"
        return VipuError(VipuTrouble.SERVICE, self.name, what, _SEE_FLAGS)
