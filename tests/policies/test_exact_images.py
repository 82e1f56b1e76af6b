"""SEC-15: whose images are booted and offered, and where their files come from."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Image
from policies.judging import model_of
from policies.rules.images import SEC_15
from tests.builders.pod64 import site_locked, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.workspace import added, edited, full_site, made

SITE = full_site()
SERVER = "acme-train-poplar-0"


@cache
def acme() -> Plan:
    return made(SITE, tenant("acme")).plan


def own_image(**changes: object) -> Plan:
    fields = {"name": "own", "file": "own.raw", "sha512": "0" * 128, "visibility": "private"}
    return added(acme(), "acme-own", "acme", Image.model_validate(fields | changes))


@pytest.mark.parametrize("visibility", ["public", "community"])
def test_all_that_is_said_of_an_image_that_a_tenant_offers(visibility: str) -> None:
    why = f"of acme is {visibility}: others boot what acme can write"
    assert told(answered(SEC_15, SITE, own_image(visibility=visibility))) == [
        f"V 79: image acme-own {why}",
        f"  witness: image acme-own / {why} / everybody boots it",
        "  about: acme-own",
    ]


def test_images_of_the_operator_are_for_everybody() -> None:
    plan = plan_site(SITE, site_locked(SITE))
    assert {image.visibility for image in model_of(SITE, plan, []).plan.images} == {"public"}
    assert messages(answered(SEC_15, SITE, plan)) == []


@pytest.mark.parametrize(
    ("image", "is_fine"),
    [("site:Image/poplar", True), ("acme-own", True), ("globex-own", False), ("cloud:Image/some", False)],
)
def test_whose_image_is_booted(image: str, is_fine: bool) -> None:
    why = f"boots {image}, which is neither the operator's nor its owner's"
    answer = answered(SEC_15, SITE, edited(own_image(), SERVER, image=image))
    assert told(answer) == ([] if is_fine else [
        f"V 79: server {SERVER} {why}",
        f"  witness: server {SERVER} / {why} / whoever can write an image runs what boots from it",
        f"  about: {SERVER}, {image}",
    ])  # fmt: skip
    # Three servers and the image.
    assert answer.count == 4


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sha512": "0123456789abcdef" * 8}, []),
        ({"file": "a/..b/own.raw"}, []),
        ({"sha512": ""}, [("has no SHA-512 checksum", "sha512 empty")]),
        ({"sha512": "0" * 127}, [("has no SHA-512 checksum", "sha512 " + "0" * 127)]),
        ({"sha512": "0" * 129}, [("has no SHA-512 checksum", "sha512 " + "0" * 129)]),
        ({"sha512": "G" * 128}, [("has no SHA-512 checksum", "sha512 " + "G" * 128)]),
        ({"file": "/etc/passwd"}, [("comes from /etc/passwd, not from the site's own folder", "/etc/passwd")]),
        ({"file": "a/../../b"}, [("comes from a/../../b, not from the site's own folder", "a/../../b")]),
        ({"file": "http://x/y"}, [("comes from http://x/y, not from the site's own folder", "http://x/y")]),
    ],
)
def test_where_an_image_comes_from(change: dict[str, str], expected: list[tuple[str, str]]) -> None:
    found = told(answered(SEC_15, SITE, own_image(**change)))
    lines = [
        (f"V 79: image acme-own {why}", f"  witness: image acme-own / {why} / {step}", "  about: acme-own")
        for why, step in expected
    ]
    assert found == [line for block in lines for line in block]
