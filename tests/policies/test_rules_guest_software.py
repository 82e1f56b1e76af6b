"""SW-16 and SW-17: what the site says of images and flavours, compared with what servers are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import Site
from interlock.model.site.offers import ImageProperties
from policies.rules.guest_software import SW_16, SW_17
from tests.builders.pod64 import tenant
from tests.policies.asking import answered, messages, told
from tests.policies.workspace import NA, N, P, V, changed, first, full_site, judged, made, verdicts

SITE = full_site()
assert SITE.controller is not None
CONTROLLER = SITE.controller
SERVER = "acme-train-poplar-0"
STATED: dict[str, Any] = {"sdk": "3.0.0", "generations": ("ipu-m2000",), "vipu": "1.18.0", "disk_gib": 20}


def stating(poplar: dict[str, Any], controller: dict[str, Any] | None = None, **fields: Any) -> Site:
    """The site whose images say this."""
    says = {"poplar": poplar, CONTROLLER.image: controller or {}}
    images = tuple(
        image.model_copy(update={"properties": ImageProperties(**says.get(image.name, {}))}) for image in SITE.images
    )
    return changed(SITE, images=images, **fields)


def flavored(**fields: Any) -> Site:
    """The site whose Poplar flavours are altered; `extra_specs` are put beside those that there are."""
    specs = fields.pop("extra_specs", {})
    flavors = tuple(
        flavor.model_copy(update=fields | {"extra_specs": {**flavor.extra_specs, **specs}})
        if flavor.role == "poplar"
        else flavor
        for flavor in SITE.flavors
    )
    return stating(STATED, {"vipu": "1.18.3"}, flavors=flavors)


def found(site: Site) -> dict[str, Any]:
    return dict(verdicts(judged(site, made(site, tenant("acme")).plan)))


def test_what_suits_is_proved() -> None:
    verdict = found(stating(STATED, {"vipu": "1.18.3"}))
    assert (verdict["SW-16"], verdict["SW-17"]) == (P, P)


def test_what_nobody_states_is_not_compared() -> None:
    assert found(SITE)["SW-16"] == NA


def test_an_image_whose_vipu_is_another_than_the_controllers() -> None:
    site = stating(STATED, {"vipu": "1.17.3"})
    seen = first(judged(site, made(site, tenant("acme")).plan))
    assert (seen.rule, seen.verdict) == ("SW-16", V)
    assert seen.message == f"server {SERVER} has V-IPU 1.18.0 by its image poplar, and the controller's is 1.17.3"


@pytest.mark.parametrize(
    ("poplar", "controller", "lacks"),
    [(STATED, {}, CONTROLLER.image), ({}, {"vipu": "1.18.0"}, "poplar")],
)
def test_what_one_image_says_and_the_other_does_not_is_unknown(
    poplar: dict[str, Any], controller: dict[str, Any], lacks: str
) -> None:
    site = stating(poplar, controller)
    answer = answered(SW_16, site, made(site, tenant("acme")).plan)
    assert answer.violated == ()
    assert {str(fact) for cause in answer.unknown for fact in cause.missing} == {f"images.{lacks}.properties.vipu"}


def test_an_sdk_without_the_machines_of_the_vpod() -> None:
    site = stating(STATED | {"generations": ("bow-2000",)}, {"vipu": "1.18.0"})
    plan = made(site, tenant("acme")).plan
    assert told(answered(SW_16, site, plan))[0].startswith(
        f"V 33: server {SERVER} has Poplar SDK 3.0.0 for bow-2000, and its vPOD has ipu-m2000"
    )
    unsaid = stating(STATED | {"generations": ()}, {"vipu": "1.18.0"})
    answer = answered(SW_16, unsaid, plan)
    assert (answer.violated, found(unsaid)["SW-16"]) == ((), N)
    assert {str(fact) for cause in answer.unknown for fact in cause.missing} == {"images.poplar.properties.generations"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"extra_specs": {"hw:cpu_policy": "shared"}}, "gets no dedicated CPUs by its flavour poplar.half"),
        ({"extra_specs": {"hw:mem_page_size": "2MB"}}, "gets no pages of 1 GiB by its flavour poplar.half"),
        ({"disk_gib": 19}, "gets a root disk of 19 GiB, and its image poplar needs 20 GiB"),
    ],
)
def test_a_flavour_that_does_not_suit(fields: dict[str, Any], why: str) -> None:
    site = flavored(**fields)
    plan = made(site, tenant("acme")).plan
    assert messages(answered(SW_17, site, plan)) == [f"V server {SERVER} {why}", f"V server acme-train-poplar-1 {why}"]
    assert found(site)["SW-17"] == V


def test_a_seeded_defect_is_explained_by_its_rule() -> None:
    site = flavored(disk_gib=19)
    assert first(judged(site, made(site, tenant("acme")).plan)).rule == "SW-17"


@pytest.mark.parametrize("disk", [0, 20, 100])
def test_a_root_disk_that_is_large_enough(disk: int) -> None:
    assert found(flavored(disk_gib=disk))["SW-17"] == P


def test_pages_as_nova_writes_them() -> None:
    assert found(flavored(extra_specs={"hw:mem_page_size": "1048576"}))["SW-17"] == P


def test_secure_boot_of_an_image_that_boots_by_bios() -> None:
    site = flavored(extra_specs={"os:secure_boot": "required"})
    assert found(site)["SW-17"] == P
    bios = stating(STATED | {"boot": "bios"}, {"vipu": "1.18.0"}, flavors=site.flavors)
    why = "is to boot securely by its flavour poplar.half, and its image poplar boots by BIOS"
    assert messages(answered(SW_17, bios, made(bios, tenant("acme")).plan))[0] == f"V server {SERVER} {why}"
