"""Changes of a plan as text: what is created, deleted or updated, and the effect of each field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from infra.cli.colour import GREEN, RED, YELLOW, painted
from infra.reports.plan_tree import in_words
from interlock.planning.differences import Action, FieldChange, ResourceChange

#: Action -> its sign, its word in the summary, its colour.
SIGNS: dict[Action, tuple[str, str, str]] = {
    "create": ("+", "to create", GREEN),
    "update": ("~", "to change in place", YELLOW),
    "replace": ("±", "to replace", RED),
    "stay": ("=", "to stay as made (new ones only)", GREEN),
    "delete": ("-", "to delete", RED),
    "forbidden": ("!", "forbidden: `pulumi up` refuses", RED),
}
#: Longest value that is shown whole.
LONGEST = 60


def changes_text(against: str, changes: Sequence[ResourceChange], *, colour: bool = False) -> str:
    """A summary, then every changed resource with its fields."""
    if not changes:
        return f"changes against {against}: none"
    counts = Counter(item.action for item in changes)
    summary = ", ".join(f"{counts[action]} {word}" for action, (_, word, _) in SIGNS.items() if counts[action])
    lines = [f"changes against {against}: {summary}"]
    return "\n".join([*lines, *(line for item in changes for line in _lines(item, colour))])


def _lines(change: ResourceChange, colour: bool) -> Iterator[str]:
    sign, _, style = SIGNS[change.action]
    reason = f": cannot {change.reason}" if change.reason else ""
    yield f"  {painted(sign, style, colour)} {change.name}  {change.kind}{reason}"
    for field in change.fields:
        yield f"      {field.field}: {_field(field)}"


def _field(change: FieldChange) -> str:
    reason = f" ({change.reason})" if change.reason else ""
    if change.follows:
        return f"{change.follows} is recreated: {change.effect}"
    return f"{_shown(change.before)} → {_shown(change.after)}: {change.effect}{reason}"


def _shown(value: object) -> str:
    text = "nothing" if value in (None, "", [], {}) else in_words(value).replace("\n", "⏎")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
