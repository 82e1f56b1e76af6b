"""SEC-05: an ssh key opens the servers of one tenant only, whatever it is called there."""

from __future__ import annotations

from interlock.vocabulary.nodes import HeldLoginKey, parse
from policies.about import SaidFact, components, resources
from policies.facts.access import KeypairFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .holders import Together, held_together, looked_at
from .rule import Cause, Polarity, Rule, RuleAnswer


def _one_tenant_each(model: Model, _: Names) -> RuleAnswer:
    keys = looked_at(model, lambda node: isinstance(node, HeldLoginKey))
    shared = ((pair, key) for pair in held_together(model, keys) for key in sorted(pair.identities))
    violated = (_shared(model, pair, key) for pair, text in shared if isinstance(key := parse(text), HeldLoginKey))
    unread = tuple(_unread(pair) for pair in model.plan.keypairs if not pair.fingerprints)
    return RuleAnswer(len(keys) + len(unread), tuple(sorted(violated, key=lambda cause: cause.message)), unread)


def _shared(model: Model, pair: Together, key: HeldLoginKey) -> Cause:
    holder, other = pair.holder, pair.other
    # None of the plan's where only what is applied has it, or where it is two others'.
    named = tuple(pair.name for pair in model.plan.keypairs if key.fingerprint in pair.fingerprints)
    opens = sorted(item.name for item in model.plan.servers if item.keypair in named)
    return Cause(
        key=(other, key.fingerprint) if holder == model.plan.owner else (holder, other, key.fingerprint),
        message=f"one ssh key is {holder}'s and {other}'s: whoever has it logs in to the servers of both",
        witness=(
            *(f"key pair {name} of {holder}" for name in named),
            f"ssh key {key.fingerprint}",
            f"a key pair of {other}",
        ),
        hint="make a new pair for one of them: `ssh-keygen -t ed25519`; a person with servers of two tenants has two",
        specificity=91,
        about=(*resources(*named, *opens), *components(holder, other)),
    )


def _unread(pair: KeypairFact) -> Cause:
    return Cause(
        key=pair.name,
        message=f"no public ssh key can be read in key pair {pair.name}, so whose it is besides is unknown",
        witness=(f"key pair {pair.name}",),
        hint="give the one line of a file like id_ed25519.pub",
        missing=(SaidFact(f"the key in {pair.name}"),),
        specificity=60,
        about=resources(pair.name),
    )


SEC_05 = Rule(
    id="SEC-05",
    title="an ssh key opens the servers of one tenant only",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a login has no project: one key in two requests is one person with a shell on both sides",
    source="docs/design/semantics.md §3: a server is labelled by everyone with a login or key on it; RFC 4251 §4.1",
    needs=("key pairs", "locks of all tenants"),
    ask=_one_tenant_each,
)
