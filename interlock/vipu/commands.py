"""Command lines of V-IPU, as words. No secret ever stands on one: other users of a machine see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .flags import VipuSpelling

Noun = Literal["agent", "cluster", "allocation", "user", "partition"]
#: Of what no answer holds a key: words about them may be quoted. Of users nothing is, whatever is asked.
QUOTED: frozenset[Noun] = frozenset({"agent", "cluster", "allocation", "partition"})


@dataclass(frozen=True)
class VipuLine:
    """Verb, noun, id and flags. `tells_key`: its answer holds an access key."""

    words: tuple[str, ...]
    #: By `vipu`, not by `vipu-admin`.
    as_user: bool = False
    tells_key: bool = False

    @property
    def shown(self) -> str:
        """For messages: what it does to what."""
        return " ".join(self.words[:3] if self.words[0] != "list" else self.words[:2])

    @property
    def is_quoted(self) -> bool:
        """True if what a controller says to it may be shown."""
        return self.words[1] in QUOTED and not self.tells_key


@dataclass(frozen=True)
class VipuLines:
    """The lines, in the spelling of one controller's release."""

    spelling: VipuSpelling

    def listed(self, noun: Noun) -> VipuLine:
        """All objects of a kind, as JSON."""
        return VipuLine(("list", noun, *self.spelling.flag("showjson")))

    @property
    def release(self) -> VipuLine:
        """The release of the controller."""
        return VipuLine(self.spelling.flag("server-version"))

    def listed_by(self, noun: Noun, flag: str, key: str) -> VipuLine:
        """All objects of a kind, asked for with a key behind a flag; it is no secret, since nobody has it."""
        return VipuLine((*self.listed(noun).words, flag, key))

    def removed(self, noun: Noun, name: str) -> VipuLine:
        """One object goes."""
        waits = self.spelling.flag("no-wait") if noun in ("cluster", "partition") else ()
        return VipuLine((self.spelling.of("remove"), noun, name, *waits), as_user=noun == "partition")

    def agent(self, name: str, host: str, port: int) -> VipuLine:
        """A machine's agent is told of."""
        flag = self.spelling.flag
        return VipuLine(("create", "agent", name, *flag("host", host), *flag("port", str(port))))

    def cluster(
        self, name: str, agents: Sequence[str], link_domains: int, topology: str, cluster_topology: str
    ) -> VipuLine:
        """Agents become one cluster. What is usual is left out, since not every release may have a word for it."""
        flag = self.spelling.flag
        words = ["create", "cluster", name, *flag("agents", ",".join(agents))]
        words += flag("num-ipulinkdomains", str(link_domains)) if link_domains > 1 else ()
        words += flag("topology", topology)
        words += flag("cluster-topology", cluster_topology) if cluster_topology != "none" else ()
        return VipuLine((*words, *flag("no-wait")))

    def allocation(self, name: str, cluster: str) -> VipuLine:
        """All agents of a cluster, for some users."""
        return VipuLine(("create", "allocation", name, *self.spelling.flag("of-cluster", cluster)))

    def user(self, name: str, allocations: Sequence[str]) -> VipuLine:
        """A user of these allocations alone. The key that this tells is forgotten: who needs one asks for another."""
        words = ("create", "user", name, *self.spelling.flag("allocations", ",".join(allocations)))
        return VipuLine(words, tells_key=True)

    def user_of(self, name: str, allocations: Sequence[str]) -> VipuLine:
        """A user gets other allocations."""
        words = ("update", "user", name, *self.spelling.flag("allocations", ",".join(allocations)))
        return VipuLine(words, tells_key=True)

    def new_key(self, name: str) -> VipuLine:
        """A user gets another access key, which the answer tells once."""
        words = ("update", "user", name, *self.spelling.flag("new-access-key"), *self.spelling.flag("showjson"))
        return VipuLine(words, tells_key=True)

    def partition(
        self,
        name: str,
        *,
        allocation: str,
        ipus: int,
        gcds: int,
        replicas: int,
        reconfigurable: bool,
        sync_type: str,
        routing: str,
    ) -> VipuLine:
        """IPUs of an allocation become a partition."""
        flag = self.spelling.flag
        words = ["create", "partition", name, *flag("size", str(ipus)), *flag("allocation", allocation)]
        words += [*flag("num-gcds", str(gcds)), *flag("total-num-replicas", str(replicas))]
        words += flag("reconfigurable") if reconfigurable else ()
        words += flag("sync-type", sync_type)
        words += flag("routing", routing) if routing != "default" else ()
        return VipuLine((*words, *flag("no-wait")), as_user=True)
