"""SW-19: two images in one cluster, as a roll makes them. One thing differs at a time, and beside it the twin."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import HeadServers, Roll
from policies import Judgement, Severity, Verdict
from tests.builders.completeness import declared_complete
from tests.builders.gpu_heads import FLAVOR, head_claims, headed, site_with_heads
from tests.builders.gpu_plans import claims, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_image, gpu_site, gpu_tenant, node_name
from tests.policies.workspace import NA, N, P, V, assumptions, changed, judged, sharing, verdicts

NEXT = "dgx-os-next"
SLIP = "keep jobs on nodes of one image until all have it"


def site(hall: Site | None = None, before: dict[str, Any] | None = None, **after: Any) -> Site:
    """A hall with a second image, which states the same as the first one, but for `after`."""
    base = declared_complete(hall or gpu_site(sharing=sharing(), assumptions=assumptions()))
    first = gpu_image()
    assert first.software is not None
    old = first.model_copy(update={"software": first.software.model_copy(update=before or {})})
    new = first.model_copy(update={"name": NEXT, "software": first.software.model_copy(update=after)})
    return changed(base, images=(*(old if item.name == old.name else item for item in base.images), new))


def rolled(*drained: tuple[int, int], before: dict[str, Any] | None = None, **after: Any) -> Judgement:
    """A cluster of three nodes, the first of them (or `drained`) with the second image, beside one without a roll."""
    known = site(before=before, **after)
    roll = Roll(image=NEXT, drained=tuple(node_name(*node) for node in drained or ((1, 1),)))
    request = gpu_tenant("acme", cluster("train", 3, roll=roll), cluster("serve", 1))
    given = [claims(1, (1, 1), (1, 2), (1, 3)), claims(2, (2, 1))]
    return judged(known, clusters_planned(request, given, known))


def said(judgement: Judgement) -> list[str]:
    return [item.message for item in judgement.findings if item.rule == "SW-19"]


def test_one_image_is_not_asked_and_two_alike_are_proved() -> None:
    known = site()
    request = gpu_tenant("acme", cluster("train", 2))
    plain = judged(known, clusters_planned(request, [claims(1, (1, 1), (1, 2))], known))
    assert verdicts(plain)["SW-19"] == NA
    assert verdicts(rolled())["SW-19"] == P
    # At the end of a roll all have the new image: nothing is beside each other any more.
    assert verdicts(rolled((1, 1), (1, 2), (1, 3), nccl="2.22.3"))["SW-19"] == NA


def test_a_tag_of_nccl_is_its_version() -> None:
    assert verdicts(rolled(nccl="v2.21.5-1"))["SW-19"] == P


def test_heads_have_an_image_of_their_own_and_are_no_nodes() -> None:
    known = site(site_with_heads(sharing=sharing(), assumptions=assumptions()), nccl="2.22.3")
    roll = Roll(image=NEXT, drained=(node_name(1, 1),))
    heads = HeadServers(count=1, flavor=FLAVOR, image=NEXT)
    cases: tuple[tuple[dict[str, Any], Verdict], ...] = (({"roll": roll}, V), ({}, NA))
    for given, verdict in cases:
        request = gpu_tenant("acme", headed(heads=heads, **given))
        judgement = judged(known, clusters_planned(request, [head_claims(1, (1, 1), (1, 2))], known))
        assert verdicts(judgement)["SW-19"] == verdict


@pytest.mark.parametrize(
    ("after", "ends"),
    [
        ({"nccl": "2.22.3"}, "which have NCCL 2.22.3 and 2.21.5: NCCL ends with an error where "),
        ({"nccl": "2.21.6"}, "which have NCCL 2.21.6 and 2.21.5: NCCL ends with an error where "),
        ({"nccl": "v2.22.3-1"}, "which have NCCL v2.22.3-1 and 2.21.5: NCCL ends with an error where "),
        ({"cuda": "13.0", "driver": "580.65.06"}, "which have CUDA 13.0 and 12.4: programs and libraries mix within "),
    ],
)
def test_what_one_job_cannot_run_over_is_a_warning(after: dict[str, Any], ends: str) -> None:
    judgement = rolled(**after)
    (message,) = said(judgement)
    assert message.startswith(f"nodes of acme-train boot the images {NEXT} and dgx-os, {ends}")
    (found,) = [item for item in judgement.findings if item.rule == "SW-19"]
    assert (found.verdict, found.severity) == (V, Severity.WARN)
    assert found.hint.startswith(SLIP)
    assert judgement.exit_code == 0


@pytest.mark.parametrize("after", [{"nccl": "2.21.5-1"}, {"cuda": "12.6"}, {"driver": "550.144.03"}])
def test_what_one_job_may_run_over_is_none(after: dict[str, Any]) -> None:
    """Of NCCL a rebuilt package, of CUDA another minor release. Of two drivers no source says that jobs need one."""
    assert verdicts(rolled(**after))["SW-19"] == P


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ({}, {"nccl": None}, f"images.{NEXT}.software.nccl"),
        ({"nccl": None}, {}, "images.dgx-os.software.nccl"),
        ({}, {"nccl": "2.21"}, f"images.{NEXT}.software.nccl"),
        ({"cuda": None}, {}, "images.dgx-os.software.cuda"),
    ],
)
def test_what_is_not_stated_is_not_provable(before: dict[str, Any], after: dict[str, Any], place: str) -> None:
    judgement = rolled(before=before, **after)
    assert verdicts(judgement)["SW-19"] == N
    (found,) = [item for item in judgement.findings if item.rule == "SW-19"]
    assert [item.name for item in found.about] == [place]


def test_a_release_that_differs_is_told_however_short_it_is_stated() -> None:
    (message,) = said(rolled(nccl="2.22"))
    assert "which have NCCL 2.22 and 2.21.5" in message
