"""Every word of V-IPU's commands that is used, once, and whether a public source has it.

An operator's release may spell one differently: `flags:` in `vipu.yaml` says how. An empty spelling leaves a flag out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class VipuWord:
    """A flag or verb. `name` is what `flags:` calls it, `usual` its spelling unless that says otherwise."""

    name: str
    usual: str
    help: str
    #: Where it was seen; empty: in no public source, so look it up at your release.
    source: str = ""


_ADMIN = "V-IPU admin guide"
_USER = "V-IPU user guide"
_SCRIPTS = "public scripts that call `vipu` and `vipu-admin`"
_POPTORCH = "graphcore/poptorch, which calls `vipu`"

WORDS: tuple[VipuWord, ...] = (
    VipuWord("config", "--config", "file of settings: where the controller is, and who asks", _USER),
    VipuWord("showjson", "--showjson", "the answer as JSON", _POPTORCH),
    VipuWord("server-version", "--server-version", "release of the controller, on the first line", _SCRIPTS),
    VipuWord("access-key", "--api-access-key", "key of who asks; read by it is whether a wrong one is refused",
             _USER),
    VipuWord("host", "--host", "`create agent`: address of the machine's gateway", _ADMIN),
    VipuWord("port", "--port", "`create agent`: its port", _ADMIN),
    VipuWord("agents", "--agents", "`create cluster`: agents in the order of their cables", _SCRIPTS),
    VipuWord("num-ipulinkdomains", "--num-ipulinkdomains", "`create cluster`: IPU-Link domains", _SCRIPTS),
    VipuWord("topology", "--topology", "`create cluster`: `mesh` or `torus`", _SCRIPTS),
    VipuWord("cluster-topology", "--cluster-topology", "`create cluster`: `looped`, if domains are joined", _SCRIPTS),
    VipuWord("of-cluster", "--cluster", "`create allocation`: the cluster whose agents it gets, all of them"),
    VipuWord("allocations", "--allocations", "`create user`, `update user`: allocations that it may use", _ADMIN),
    VipuWord("new-access-key", "--new-access-key", "`update user`: another key, and the old one counts no longer"),
    VipuWord("size", "--size", "`create partition`: IPUs", _USER),
    VipuWord("allocation", "--allocation", "`create partition`: where its IPUs come from", _USER),
    VipuWord("num-gcds", "--num-gcds", "`create partition`: graph compile domains", _USER),
    VipuWord("total-num-replicas", "--total-num-replicas", "`create partition`: replicas; "
             "`--gcd-sync-replicas` in older releases", _SCRIPTS),
    VipuWord("reconfigurable", "--reconfigurable", "`create partition`: subsets of the IPUs can be used", _USER),
    VipuWord("sync-type", "--sync-type", "`create partition`: how its IPUs synchronise", _USER),
    VipuWord("routing", "--routing", "`create partition`: `ringswnc`", _SCRIPTS),
    VipuWord("no-wait", "", "come back before it is done; without one a command is waited for"),
    VipuWord("remove", "remove", "the verb of deletions; `delete` in older releases", _SCRIPTS),
)  # fmt: skip

NAMES = frozenset(word.name for word in WORDS)
#: Without these a command says something else: it asks another controller, or opens all allocations to a user.
NEEDED = frozenset({
    "config", "showjson", "host", "agents", "of-cluster", "allocations", "new-access-key", "size", "allocation",
    "remove",
})  # fmt: skip


@dataclass(frozen=True)
class VipuSpelling:
    """How an operator's release spells them."""

    others: Mapping[str, str]

    def of(self, name: str) -> str:
        """The spelling of a word; empty if this release has none."""
        usual = next(word.usual for word in WORDS if word.name == name)
        return self.others.get(name, usual)

    def flag(self, name: str, value: str | None = None) -> tuple[str, ...]:
        """A flag, with its value if it takes one; nothing where this release has no such flag."""
        spelt = self.of(name)
        if not spelt:
            return ()
        return (spelt,) if value is None else (spelt, value)
