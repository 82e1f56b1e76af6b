"""What a judgement rests on, as plain tuples: the part of G_may that a plan answers for, and its owner's grants.

Its digest is in the judgement, and so in the proof. The certificate carries all of it for a checker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final

from interlock.model.evidence.values import age_text
from interlock.model.site.inventory import Site
from interlock.resources import Frozen, digest_of
from policies.edges.plan_fragment import volume_holders

from .authority.closure import everything, held_by
from .authority.grants import NOBODYS
from .edges.shape import Edge, GraphFragment
from .facts import identities as ids
from .facts import principals as who
from .graph.model import Model
from .ground_facts import Tables, is_ground, tables_of
from .wired_facts import Wired

#: Row of the table of edges -> the two ends of each edge, sorted.
Rows = dict[str, tuple[tuple[str, ...], ...]]


class Terminal(Frozen):
    """A declared sharing: split while its guards hold, for its audience only."""

    name: str
    kind: str
    node: str
    audience: tuple[str, ...]
    rule: str


#: Version of docs/design/semantics.md. It grows where a rule, an edge, a guard or a label comes to mean something else.
SEMANTICS: Final = 7


class Statement(Frozen):
    """Every fact about packets, identities and calls that decides whether the owner stays apart."""

    #: Which version of the semantics gives these facts their meaning.
    semantics: int = SEMANTICS
    #: The label of everything in the stack's own project.
    owner: str
    #: Edges of G_may by their row in the table of edges, but for those that follow from `ground`.
    facts: Rows
    #: Facts from which edges follow, by table: which of them are there and which are kept away, guards decide.
    ground: Tables
    #: Fact that nobody stated -> the edges that are there because of it, as `<row> <end> <end>`.
    unknown: dict[str, tuple[str, ...]]
    #: Guard -> whether it holds; None: nobody stated it.
    guards: dict[str, bool | None]
    #: Guard that rests on evidence -> of each switch of the site: its name, the file, when it was read, how old that
    #: may be, and the digest of what it was compared with. Whether the guard holds says `guards`.
    evidence: dict[str, tuple[tuple[str, ...], ...]]
    #: Node -> who owns or controls it.
    labels: dict[str, tuple[str, ...]]
    terminals: tuple[Terminal, ...]
    #: Exclusive identity -> who has it.
    exclusive: dict[str, tuple[str, ...]]
    #: (way, from, to), where the owner holds what they lead from.
    grants: tuple[tuple[str, str, str], ...]
    #: Principal, object or credential that the owner holds -> whose it is.
    owners: dict[str, tuple[str, ...]]
    #: What requests declare open to everybody.
    public: tuple[str, ...]

    @property
    def digest(self) -> str:
        """`sha256:` of the canonical form."""
        return digest_of(self.model_dump(mode="json"))


def statement(model: Model) -> Statement:
    """What the judgement of this model's plan rests on."""
    here = set(model.may)
    edges = [edge for edge in model.edges if edge.a in here]
    held = [edge for edge in model.held if edge.a in here or edge.b in here]
    grants, owners, public = _authority(model)
    wired = Wired(model.union, here)
    follow = {*map(frozenset, wired.edges())}
    return Statement(
        owner=model.plan.owner,
        facts=_rows(edge for edge in edges if not (is_ground(edge) or {edge.a, edge.b} in follow)),
        ground=tables_of(filter(is_ground, (*edges, *held)), model.site.site, wired),
        unknown=_unknown(edges),
        guards=_guards(model.site.site),
        evidence=_evidence(model.site.site),
        labels={node: tuple(sorted(model.label(node))) for node in sorted(here) if model.label(node)},
        terminals=tuple(
            Terminal(name=item.name, kind=item.kind, node=item.node, audience=item.audience, rule=item.rule)
            for item in model.site.site.sharing
        ),
        exclusive=_exclusive(model),
        grants=grants,
        owners=owners,
        public=public,
    )


def _rows(edges: Iterable[Edge]) -> Rows:
    found: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for edge in edges:
        found[edge.rule].add((edge.a, edge.b))
    return {relation: tuple(sorted(rows)) for relation, rows in sorted(found.items())}


def _unknown(edges: Iterable[Edge]) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for edge in edges:
        for fact in edge.missing:
            found[str(fact)].add(f"{edge.rule} {edge.a} {edge.b}")
    return {fact: tuple(sorted(words)) for fact, words in sorted(found.items())}


def _guards(site: Site) -> dict[str, bool | None]:
    """Everything that a site file states of guards, by the names that edges use."""
    stated = [(f"assumptions.{item.id}", item.guards) for item in site.assumptions]
    stated += [(f"sharing.{item.name}.guards", item.guards) for item in site.sharing]
    found: dict[str, bool | None] = {
        f"{head}.{name}": value for head, guards in stated for name, value in guards.items()
    }
    found["external.address_scope"] = site.external.address_scope is not None
    return dict(sorted(found.items()))


def _evidence(site: Site) -> dict[str, tuple[tuple[str, ...], ...]]:
    """What guards rest on that nobody states by hand; of a device without evidence all but the age is empty."""
    return {
        f"assumptions.{item.id}.{guard}": tuple(
            (seen.device, seen.file, seen.read, age_text(rests.max_age_h), seen.configuration) for seen in rests.devices
        )
        for item in site.assumptions
        for guard, rests in item.evidence.items()
    }


def _exclusive(model: Model) -> dict[str, tuple[str, ...]]:
    """The plan's own exclusive identities with everybody who has one of them; of the operator's plan also what two
    others have.
    """
    held: defaultdict[str, set[str]] = defaultdict(set)
    for share in (model.own, *model.others):
        for identity in share.exclusive & model.own.exclusive if model.plan.is_tenant else share.exclusive:
            held[identity].update(_holders(share, identity))
    held.update((volume, set(labels)) for volume, labels in volume_holders(model.plan).items())
    own = model.own.exclusive | volume_holders(model.plan).keys()
    return {item: tuple(sorted(owners)) for item, owners in sorted(held.items()) if item in own or len(owners) > 1}


def _holders(share: GraphFragment, identity: str) -> Collection[str]:
    """Who has an identity of a share: of a segment, whose network it is, which may be the operator's."""
    return share.labels.get(ids.claimed_segment(identity) or "", (share.owner,))


def _authority(model: Model) -> tuple[tuple[tuple[str, str, str], ...], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Grants out of what the plan's owner holds, whose these things are, and what is public of them.

    Not out of the operator or strangers: who holds those holds what any plan may say of them, whoever is looked at.
    """
    authority = everything(model)
    nodes = sorted({held.node for held in held_by(model, model.plan.owner)})
    tables = (authority.stated.table, authority.met)
    itself = who.principal(model.plan.owner)
    known = [node for node in nodes if node == itself or node not in NOBODYS]
    grants = {grant for table in tables for node in known for grant in table.leading_from.get(node, ())}
    return (
        tuple(sorted({(str(grant.way), grant.source, grant.target) for grant in grants})),
        {node: tuple(sorted(authority.of(node))) for node in nodes if authority.of(node)},
        tuple(node for node in nodes if node in authority.stated.public),
    )
