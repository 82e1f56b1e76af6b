"""SEC-05: an ssh key opens the servers of one tenant only, whatever it is called there."""

from __future__ import annotations

from interlock.vocabulary.nodes import HeldLoginKey, parse
from policies.about import Fact, SaidFact, components, resources
from policies.facts.access import KeypairFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer


def _one_tenant_each(model: Model, _: Names) -> RuleAnswer:
    pairs = model.plan.keypairs
    own = {item for item in model.own.exclusive if isinstance(parse(item), HeldLoginKey)}
    held = ((item, share.owner) for share in model.others for item in own & share.exclusive)
    violated = (_shared(model, key, other) for item, other in held if isinstance(key := parse(item), HeldLoginKey))
    unread = tuple(_unread(pair) for pair in pairs if not pair.fingerprints)
    missing = model.site.undeclared("logins", model.site.site.domain)
    unlisted = tuple(_unlisted(owner, missing) for owner in _with_keys(model)) if missing else ()
    violations = tuple(sorted(violated, key=lambda cause: cause.message))
    return RuleAnswer(len(own) + len(unread), violations, unread + unlisted)


def _shared(model: Model, key: HeldLoginKey, other: str) -> Cause:
    owner = model.plan.owner
    # None of the plan's where only what is applied has it.
    named = tuple(pair.name for pair in model.plan.keypairs if key.fingerprint in pair.fingerprints)
    opens = sorted(item.name for item in model.plan.servers if item.keypair in named)
    return Cause(
        key=(other, key.fingerprint),
        message=f"one ssh key is {owner}'s and {other}'s: whoever has it logs in to the servers of both",
        witness=(
            *(f"key pair {name} of {owner}" for name in named),
            f"ssh key {key.fingerprint}",
            f"a key pair of {other}",
        ),
        hint="make a new pair for one of them: `ssh-keygen -t ed25519`; a person with servers of two tenants has two",
        specificity=91,
        about=(*resources(*named, *opens), *components(owner, other)),
    )


def _with_keys(model: Model) -> tuple[str, ...]:
    """The owner of the plan if it has keys; the operator's plan answers for all."""
    shares = (model.own,) if model.plan.is_tenant else (model.own, *model.others)
    with_keys = (share for share in shares if any(isinstance(parse(item), HeldLoginKey) for item in share.exclusive))
    return tuple(share.owner for share in with_keys)


def _unlisted(owner: str, missing: tuple[Fact, ...]) -> Cause:
    return Cause(
        key=("unlisted", owner),
        message=f"nobody says that all ssh keys on the cloud are listed: one of {owner} may be a stranger's as well",
        witness=(f"key pairs of {owner}", "a login that no file tells of", *map(str, missing)),
        hint="look through the key pairs of all projects, and declare `logins` under `complete`",
        missing=missing,
        specificity=20,
        about=components(owner),
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
