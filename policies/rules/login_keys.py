"""SEC-05: an ssh key opens the servers of one tenant only, whatever it is called there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.vocabulary.nodes import HeldLoginKey, parse
from policies.about import Fact, SaidFact, Subject, components, resources
from policies.edges.shape import GraphFragment
from policies.facts import identities as ids
from policies.facts.access import KeypairFact
from policies.facts.authorities import authorities
from policies.facts.kinds import ServerFact
from policies.facts.user_data import fetches_keys
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .holders import Together, held_together, looked_at
from .rule import Cause, Polarity, Rule, RuleAnswer

_TWO_PAIRS = "make a new pair for one of them: `ssh-keygen -t ed25519`; a person with servers of two tenants has two"

#: `{}`: whose servers may have it.
_ENDED_BY = (
    "give the other one another key; or recreate the servers of {} that were made with it, apply, and run `interlock "
    "settle`, which sees whether one is left"
)


def _one_tenant_each(model: Model, _: Names) -> RuleAnswer:
    keys = looked_at(model, lambda node: isinstance(node, HeldLoginKey))
    shared = ((pair, key) for pair in held_together(model, keys) for key in sorted(pair.identities))
    violated = [_shared(model, pair, key) for pair, text in shared if isinstance(key := parse(text), HeldLoginKey)]
    violated += _on_operators_servers(model)
    unread = [_unread(pair) for pair in model.plan.keypairs if not pair.fingerprints]
    unread += [_fetched(server) for server in model.plan.servers if fetches_keys(server.user_data)]
    unread += [
        _trusts(server, file) for server in model.plan.servers for file in authorities(server.user_data).elsewhere
    ]
    missing = model.site.undeclared("logins", model.site.site.domain)
    unread += [_unlisted(owner, missing) for owner in _with_keys(model)] if missing else []
    violated.sort(key=lambda cause: cause.message)
    return RuleAnswer(len(keys) + len(unread), tuple(violated), tuple(unread))


def _places(model: Model, fingerprint: str) -> Iterator[str]:
    """What of the plan has a key, in words: nothing where only what is applied has it, or where it is two others'."""
    owner = model.plan.owner
    yield from (f"key pair {item.name} of {owner}" for item in model.plan.keypairs if fingerprint in item.fingerprints)
    yield from (f"user data of {item.name}" for item in model.plan.servers if fingerprint in item.login_keys)


def _shares(model: Model) -> Sequence[GraphFragment]:
    return (model.own, *model.others)


def _is_former(share: GraphFragment, key: HeldLoginKey) -> bool:
    """True if a lock notes the key. One that its plan names again, before it is locked, is in force as well."""
    return str(key) in share.former_keys


def _opened_by(model: Model, fingerprint: str) -> tuple[Subject, ...]:
    pairs = [item.name for item in model.plan.keypairs if fingerprint in item.fingerprints]
    servers = (item for item in model.plan.servers if item.keypair in pairs or fingerprint in item.login_keys)
    return resources(*pairs, *sorted(item.name for item in servers))


def _shared(model: Model, pair: Together, key: HeldLoginKey) -> Cause:
    holder, other = pair.holder, pair.other
    former = [share.owner for share in _shares(model) if share.owner in (holder, other) and _is_former(share, key)]
    signers = [item.name for item in model.plan.servers if key.fingerprint in authorities(item.user_data).fingerprints]
    if signers:
        return _one_authority(model, pair, key, signers)
    message = f"one ssh key is {holder}'s and {other}'s: whoever has it logs in to the servers of both"
    if former:
        message = (
            f"one ssh key is {holder}'s and {other}'s: servers of {' and '.join(former)} that were made with it may be "
            "there, though the request no longer names it"
        )
    return Cause(
        key=(other, key.fingerprint) if holder == model.plan.owner else (holder, other, key.fingerprint),
        message=message,
        witness=(
            *_places(model, key.fingerprint),
            *(f"a server of {owner} that was made earlier" for owner in former if owner == holder),
            f"ssh key {key.fingerprint}",
            f"a server of {other} that was made earlier" if other in former else f"a key of {other}",
        ),
        hint=_ENDED_BY.format(" and ".join(former)) if former else _TWO_PAIRS,
        specificity=91,
        about=(*_opened_by(model, key.fingerprint), *components(holder, other)),
    )


def _one_authority(model: Model, pair: Together, key: HeldLoginKey, servers: Sequence[str]) -> Cause:
    """The key signs certificates: what it lets in is not one person but whoever it is made to name."""
    holder, other = pair.holder, pair.other
    return Cause(
        key=(other, key.fingerprint) if holder == model.plan.owner else (holder, other, key.fingerprint),
        message=f"{servers[0]} trusts a certificate authority whose key {other} has too: "
        f"it can sign itself into the servers of {holder}",
        witness=(*_places(model, key.fingerprint), f"certificate authority {key.fingerprint}", f"a key of {other}"),
        hint="make one for each tenant: `interlock access ca`, and its line under `access:` of the request",
        specificity=92,
        about=(*_opened_by(model, key.fingerprint), *components(holder, other)),
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


def _on_operators_servers(model: Model) -> Iterator[Cause]:
    """A key of a tenant's that also opens a server of the operator's, such as a controller."""
    holders = [(share.owner, share.exclusive) for share in (model.own, *model.others)]
    for server in model.plan.servers:
        for found in server.login_keys if model.plan.owner not in server.labels else ():
            owners = [owner for owner, held in holders if ids.login_key_identity(found) in held]
            if owners:
                yield Cause(
                    key=(server.name, found),
                    message=f"one ssh key is {' and '.join(owners)}'s and opens {server.name} of the operator's",
                    witness=(*_places(model, found), f"ssh key {found}"),
                    hint=_TWO_PAIRS,
                    specificity=91,
                    about=(*_opened_by(model, found), *components(*owners)),
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


def _fetched(server: ServerFact) -> Cause:
    return Cause(
        key=(server.name, "fetched"),
        message=f"the user data of {server.name} fetches ssh keys or documents from elsewhere: which ones is unknown",
        witness=(f"server {server.name}", "user data: `ssh_import_id`, `#include` or a command"),
        hint="write the keys themselves under `ssh_authorized_keys`",
        missing=(SaidFact(f"the keys that {server.name} fetches"),),
        specificity=60,
        about=resources(server.name),
    )


def _trusts(server: ServerFact, file: str) -> Cause:
    return Cause(
        key=(server.name, file),
        message=f"{server.name} trusts the certificate authorities in {file}, and its user data does not say which",
        witness=(f"server {server.name}", f"user data: `TrustedUserCAKeys {file}`"),
        hint="write the file in the same user data, as plain text",
        missing=(SaidFact(f"the keys in {file} of {server.name}"),),
        specificity=60,
        about=resources(server.name),
    )


SEC_05 = Rule(
    id="SEC-05",
    title="an ssh key opens the servers of one tenant only",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a login has no project: one key in two requests is one person with a shell on both sides",
    source="docs/design/semantics.md §3: a server is labelled by everyone with a login or key on it; RFC 4251 §4.1",
    needs=("key pairs", "user data of servers", "locks of all tenants, with the keys that servers may still have"),
    ask=_one_tenant_each,
)
