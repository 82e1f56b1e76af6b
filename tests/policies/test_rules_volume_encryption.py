"""SEC-10: volumes that are to be encrypted, and the types that they are of."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import VolumeRequest
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Volume, VolumeEncryption, VolumeType
from policies.rules.encryption import SEC_10
from tests.builders.pod64 import site_locked, tenant
from tests.policies.asking import answered, told
from tests.policies.workspace import NA, P, V, edited, first, full_site, judged, made, verdicts

LUKS = VolumeEncryption(provider="luks", cipher="aes-xts-plain64", key_size=256, control_location="front-end")
TYPES = ("ceph", "safe")


@cache
def site_with(*encrypted: str) -> Site:
    """A site with two volume types, of which these are encrypted."""
    return full_site(volume_types=TYPES, volume_encryption=dict.fromkeys(encrypted, LUKS))


def planned(site: Site, kind: str = "safe", *, asked: bool = True) -> Plan:
    """acme with a volume `papers` of this type; those of its servers are of `ceph`, and nobody asks for more."""
    papers = VolumeRequest(name="papers", size_gib=5, volume_type=kind, on_delete="erase", encrypted=asked)
    return made(site, tenant("acme", volumes=(papers,))).plan


def papers(plan: Plan) -> Volume:
    found = plan.by_name["acme-papers"].resource
    assert isinstance(found, Volume)
    return found


def of_site(site: Site) -> Plan:
    return plan_site(site, site_locked(site))


def test_nothing_is_to_be_encrypted() -> None:
    site = site_with()
    assert verdicts(judged(site, planned(site, asked=False)))["SEC-10"] == NA
    assert verdicts(judged(site, of_site(site)))["SEC-10"] == NA


@pytest.mark.parametrize(
    ("encrypted", "kind", "asked", "is_encrypted"),
    [("safe", "safe", True, True), ("safe", "safe", False, True), ("safe", "ceph", False, False)],
)
def test_what_a_volume_is_to_be_is_in_its_plan(encrypted: str, kind: str, asked: bool, is_encrypted: bool) -> None:
    """Where its type is encrypted, it is, asked or not: what Cinder says of it can be compared."""
    site = site_with(encrypted)
    plan = planned(site, kind, asked=asked)
    assert papers(plan).encrypted is is_encrypted
    assert verdicts(judged(site, plan))["SEC-10"] == (P if is_encrypted else NA)


@pytest.mark.parametrize(
    ("encrypted", "hint"), [((), "let the site have an encrypted type"), (("ceph",), "let it be of ceph")]
)
def test_a_volume_of_a_type_that_the_site_does_not_encrypt(encrypted: tuple[str, ...], hint: str) -> None:
    site = site_with(*encrypted)
    judgement = judged(site, planned(site))
    found = first(judgement)
    assert (found.rule, found.verdict, judgement.exit_code) == ("SEC-10", V, 1)
    assert found.message == "volume acme-papers is to be encrypted and is of type safe, which the site does not encrypt"
    assert found.hint.startswith(hint)


def test_all_that_is_said_of_a_volume_of_no_type_of_the_site() -> None:
    site = site_with("safe")
    plan = edited(planned(site), "acme-papers", volume_type="cloud:VolumeType/safe")
    assert told(answered(SEC_10, site, plan)) == [
        "V 38: volume acme-papers is to be encrypted and is of cloud:VolumeType/safe, no type of this site",
        "  witness: volume acme-papers / encrypted / cloud:VolumeType/safe",
        "  about: acme-papers",
    ]


def test_the_type_is_made_as_the_site_states_it() -> None:
    site = site_with("safe")
    plan = of_site(site)
    kinds = [plan.by_name[name].resource for name in TYPES]
    assert kinds == [VolumeType(name="ceph"), VolumeType(name="safe", encryption=LUKS)]
    assert verdicts(judged(site, plan))["SEC-10"] == P
    assert answered(SEC_10, site, plan).count == 1


@pytest.mark.parametrize("encryption", [None, LUKS.model_copy(update={"key_size": 128})])
def test_a_type_that_is_made_otherwise(encryption: VolumeEncryption | None) -> None:
    site = site_with("safe")
    found = first(judged(site, edited(of_site(site), "safe", encryption=encryption)))
    assert (found.rule, found.verdict) == ("SEC-10", V)
    assert found.message == "volume type safe is not made with the encryption that the site states of it"
