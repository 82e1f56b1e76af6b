"""Ways to alter a certificate and seal it again, as somebody would who wants it to say something else."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from interlock.resources import digest_of
from tests.certificate.truth import edges

Found = dict[str, Any]


def altered(known: Found, seed: int) -> Found:
    """One to three alterations, and every digest in it recreated."""
    chance = random.Random(seed)
    found: Found = json.loads(json.dumps(known))
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        chance.choice(ALTERATIONS)(found, chance)
    return sealed(found)


def sealed(found: Found) -> Found:
    """With digests that fit."""
    found["judgement"]["statement"] = digest_of(found["statement"])
    found["judgement"]["boundary"] = digest_of(found["boundary"])
    found.pop("digest", None)
    return found | {"digest": digest_of(found)}


def _edges(found: Found) -> list[tuple[str, str]]:
    return sorted(edges(found["statement"]))


def _other_way(found: Found, chance: random.Random) -> None:
    """Another neighbour towards the least node: often another tree of the same class."""
    node = chance.choice(sorted(found["classes"]))
    near = [a if b == node else b for a, b in _edges(found) if node in (a, b)]
    if near:
        found["classes"][node][1] = chance.choice(near)


def _grown_again(found: Found, chance: random.Random) -> None:
    """All trees again, each grown in a random order from its least node: as good as the first ones."""
    near: defaultdict[str, list[str]] = defaultdict(list)
    for a, b in _edges(found):
        near[a].append(b)
        near[b].append(a)
    waiting = [node for node, (least, _) in found["classes"].items() if node == least]
    towards = dict.fromkeys(waiting, "")
    while waiting:
        node = waiting.pop(chance.randrange(len(waiting)))
        fresh = [other for other in near[node] if other not in towards]
        towards |= dict.fromkeys(fresh, node)
        waiting += fresh
    found["classes"] = {node: [least, towards.get(node, "")] for node, (least, _) in found["classes"].items()}


def _holds_more(found: Found, chance: random.Random) -> None:
    """A larger set is a weaker claim, and true while it is closed and holds nobody else's."""
    node = chance.choice((*found["statement"]["owners"], "obj:bucket:nobody:empty", "prin:globex"))
    found["holds"].append(f"{chance.choice(('read', 'write'))} {node}")


def _holds_in_another_order(found: Found, chance: random.Random) -> None:
    chance.shuffle(found["holds"])


def _holds_less(found: Found, chance: random.Random) -> None:
    if found["holds"]:
        found["holds"].remove(chance.choice(found["holds"]))


def _no_fact(found: Found, chance: random.Random) -> None:
    rows = found["statement"]["facts"][chance.choice(sorted(found["statement"]["facts"]))]
    if rows:
        rows.remove(chance.choice(rows))


def _another_fact(found: Found, chance: random.Random) -> None:
    a, b = chance.choices(sorted(found["classes"]), k=2)
    found["statement"]["facts"].setdefault(chance.choice(("E4", "E6", "E7", "E9")), []).append([a, b])


def _kept_away(found: Found, chance: random.Random) -> None:
    """An edge is said to follow from a fact, so that guards keep it away."""
    facts, ground = found["statement"]["facts"], found["statement"]["ground"]
    row = chance.choice(sorted(row for row in facts if facts[row]))
    edge = facts[row].pop(chance.randrange(len(facts[row])))
    names = [item["name"] for item in found["statement"]["terminals"]]
    ground[chance.choice(("terminals", "members"))].append([*edge, *chance.sample(names, min(1, len(names)))])


def _guard(found: Found, chance: random.Random) -> None:
    guards = found["statement"]["guards"]
    guards[chance.choice(sorted(guards))] = chance.choice((True, False, None))


def _fewer_guards(found: Found, chance: random.Random) -> None:
    """The guards of a declaration are not asked any more, or those of all edges of a table."""
    ground = found["statement"]["ground"]
    rows = ground[chance.choice(sorted(table for table in ground if ground[table]))]
    row = chance.choice(rows)
    if row[-1] in {item["name"] for item in found["statement"]["terminals"]}:
        row.pop()
    else:
        rows.remove(row)


def _label(found: Found, chance: random.Random) -> None:
    labels = found["statement"]["labels"]
    labels[chance.choice(sorted(labels))] = chance.choice((["acme"], ["globex"], ["op"], ["acme", "globex"]))


def _no_label(found: Found, chance: random.Random) -> None:
    labels = found["statement"]["labels"]
    del labels[chance.choice(sorted(labels))]


def _identity(found: Found, chance: random.Random) -> None:
    identities = found["statement"]["exclusive"]
    identities[chance.choice(sorted(identities))] = chance.choice((["acme"], ["acme", "globex"], []))


def _no_node(found: Found, chance: random.Random) -> None:
    del found["classes"][chance.choice(sorted(found["classes"]))]


def _class(found: Found, chance: random.Random) -> None:
    found["classes"][chance.choice(sorted(found["classes"]))][0] = chance.choice(sorted(found["classes"]))


def _plan(found: Found, chance: random.Random) -> None:
    found["judgement"][chance.choice(("plan_hash", "footprints", "applied_state", "stack"))] = "sha256:another"


def _version(found: Found, chance: random.Random) -> None:
    found["boundary"][chance.choice(sorted(found["boundary"]))] = digest_of([chance.random()])


def _grant(found: Found, chance: random.Random) -> None:
    grants = found["statement"]["grants"]
    if grants and chance.random() < 0.5:
        grants.remove(chance.choice(grants))
    else:
        source = chance.choice(found["holds"] or ["write nobody"]).partition(" ")[2]
        grants.append(["writes", source, "obj:bucket:globex:data"])


def _result(found: Found, chance: random.Random) -> None:
    result = chance.choice(found["judgement"]["results"])
    result["verdict"] = chance.choice(("proved", "violated", "not applicable"))
    result["count"] += 1


#: What changes only how the answer is written stands more than once, so that both groups are large.
ALTERATIONS: tuple[Callable[[Found, random.Random], None], ...] = (
    _grown_again, _grown_again, _grown_again, _other_way, _holds_more, _holds_in_another_order, _holds_less,
    _no_fact, _another_fact, _kept_away, _guard, _fewer_guards, _label, _no_label, _identity, _no_node, _class, _plan,
    _version, _grant, _result,
)  # fmt: skip
