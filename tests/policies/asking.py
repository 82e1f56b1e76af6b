"""One rule asked by itself: its whole answer as lines, in the form of `seen.finding_lines` without ids and hints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies.about import Subject
from policies.facts.site import SiteFacts
from policies.graph.naming import Names
from policies.judging import model_of
from policies.rules.rule import Cause, Rule, RuleAnswer
from tests.policies.workspace import Made


def answered(rule: Rule, site: Site | SiteFacts, plan: Plan, *others: Made) -> RuleAnswer:
    """What a rule says of a plan beside the locks of others."""
    model = model_of(site, plan, [other.lock for other in others])
    return rule.ask(model, Names(model))


def told(answer: RuleAnswer) -> list[str]:
    """`V 64: message` of what is violated, `N` of what is not known, each with witness, missing facts and subjects."""
    return [*_lines("V", answer.violated), *_lines("N", answer.unknown)]


def messages(answer: RuleAnswer) -> list[str]:
    """The messages alone: `V message` of what is violated, `N message` of what is not known."""
    return [f"V {item.message}" for item in answer.violated] + [f"N {item.message}" for item in answer.unknown]


def _lines(letter: str, causes: Iterable[Cause]) -> Iterator[str]:
    for item in causes:
        weight = f" {item.severity}" if item.severity else ""
        yield f"{letter}{weight} {item.specificity}: {item.message}"
        rows = {
            "witness": " / ".join(item.witness),
            "missing": ", ".join(map(str, item.missing)),
            "about": ", ".join(dict.fromkeys(map(_subject, item.about))),
        }
        yield from (f"  {name}: {text}" for name, text in rows.items() if text)


def _subject(item: Subject) -> str:
    return str(getattr(item, "name", item))
