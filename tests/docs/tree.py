"""The component tree of a plan as text: each component with the resources directly below it, counted by kind."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.planning import Plan
from interlock.resources import Resource, VipuObject

#: Characters for the resources of a component; more go to a further line.
WIDTH = 70


@dataclass(frozen=True)
class Branch:
    """A component: its own line up to the resources, what stands below it on further lines, its resources."""

    head: str
    below: str
    made: str


def tree(plan: Plan) -> str:
    """The whole tree, a component or more of its resources a line."""
    root = next(item.name for item in plan.components if item.parent is None)
    branches = list(_branches(plan, root, "", ""))
    width = max(len(branch.head) for branch in branches)
    return "\n".join(line for branch in branches for line in _lines(branch, width))


def _branches(plan: Plan, name: str, first: str, rest: str) -> Iterator[Branch]:
    """A component and all below it; `first` is drawn before its own line, `rest` before those below."""
    component = next(item for item in plan.components if item.name == name)
    children = [item.name for item in plan.components if item.parent == name]
    yield Branch(f"{first}{component.type} {name}", rest + ("│" if children else ""), _made(plan, name))
    for child in children:
        last = child == children[-1]
        yield from _branches(plan, child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def _lines(branch: Branch, width: int) -> Iterator[str]:
    first, *more = textwrap.wrap(branch.made, WIDTH, break_on_hyphens=False)
    yield f"{branch.head:<{width}}  {first}"
    yield from (f"{branch.below:<{width}}  {line}" for line in more)


def _made(plan: Plan, name: str) -> str:
    counts = Counter(_kind(item.resource) for item in plan.of(name))
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in counts.items())


def _kind(resource: Resource) -> str:
    return resource.KIND if resource.HAS_ACTUATOR and not _by_hand(resource) else f"{resource.KIND} (planned only)"


def _by_hand(resource: Resource) -> bool:
    return isinstance(resource, VipuObject) and not resource.is_declared
