"""TOP-28 in random racks: the rule, what checks certificates, and what places vPODs say what the oracle says."""

from __future__ import annotations

from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import Any

from infra.verifying.answers import ANEW
from infra.verifying.inventory import Inventory
from interlock.planning.layout import SiteLayout
from interlock.planning.placing import left_in_pieces
from policies import Verdict
from policies.facts.kinds import VPodFact
from policies.facts.site import SiteFacts
from tests.policies.exact_answers import answer, drawn, plan_of, share
from tests.policies.workspace import full_site
from tests.support.sampling import Sampling

from .pieces import HEIGHT, Racks, racks, verdict

WORDS = {Verdict.PROVED: "P", Verdict.VIOLATED: "V", Verdict.NOT_PROVABLE: "N"}
USUAL, LONG = 150, 20_000


def _ruled(made: Racks) -> str:
    vpod = VPodFact("acme-train", made.vpod)
    return WORDS[answer("TOP-28", drawn(SiteFacts(made.site), plan_of(vpods=(vpod,)), share("acme"))).verdict]


def _checked(made: Racks) -> bool:
    """Whether the second derivation, from the site's JSON, finds something."""
    site: Any = made.site.model_dump(mode="json")
    plan: Any = SimpleNamespace(inventory=Inventory(site, SimpleNamespace()), vpods={"acme-train": made.vpod})  # type: ignore[arg-type]
    return bool(list(ANEW["TOP-28"](plan)))


def _has_all_chains(made: Racks) -> bool:
    """Placing takes neighbours for joined, as they are by design; where a cable lacks, TOP-03 has said so before."""
    chained = {
        (cable.a.device, cable.b.device)
        for cable in made.site.cables
        if cable.kind == "ipu-link" and int(cable.b.device[-1]) - int(cable.a.device[-1]) == 1
    }
    return len(chained) == len(made.vpod) // HEIGHT * (HEIGHT - 1)


def test_rule_checker_and_placing_see_the_holes_that_the_oracle_sees(sampling: Sampling, long: bool) -> None:
    rng, base, seen = Random(sampling.random("racks in pieces").random()), full_site(), Counter[str]()
    for _ in range(LONG if long else USUAL):
        made = racks(rng, base)
        said = verdict(made)
        seen[said] += 1
        assert _ruled(made) == said, made
        assert _checked(made) == (said != "P"), made
        if _has_all_chains(made):
            seen["placed"] += 1
            assert left_in_pieces(SiteLayout(made.site), made.vpod) == (said != "P"), made
    assert min(seen[word] for word in ("P", "V", "N", "placed")) > 0, seen
