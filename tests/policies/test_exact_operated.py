"""ISO-28: what rests on an assumption of the operator's, and what its former holder has back."""

from __future__ import annotations

import pytest

from interlock.vocabulary import nodes
from policies.rules.operated import ISO_28
from tests.policies.asking import answered, messages, told
from tests.policies.test_settled import cleaned, hosts, metal_site
from tests.policies.workspace import assumptions, full_site, pair


@pytest.mark.parametrize(
    ("value", "letter", "word", "missing"),
    [(False, "V", "false", []), (None, "N", "not known", ["  missing: assumptions.A19.consoles_closed"])],
)
def test_all_that_is_said_of_guests(value: bool | None, letter: str, word: str, missing: list[str]) -> None:
    """The first of what rests on it is shown, and how many more there are."""
    site = full_site(assumptions=assumptions(consoles_closed=value))
    acme, globex = pair(full_site())
    claim = "live migration and console proxies are closed to tenants"
    one = "acme-train-poplar-0"
    assert told(answered(ISO_28, site, acme.plan, globex)) == [
        f"{letter} 96: whether {claim} is {word}: {one} and 1 more of acme rests on it",
        f"  witness: {one} [acme] / migration and consoles of hypervisors / assumptions.A19.consoles_closed",
        *missing,
        "  about: acme",
    ]
    # globex has one server.
    assert messages(answered(ISO_28, site, globex.plan, acme)) == [
        f"{letter} whether {claim} is {word}: globex-train-poplar-0 of globex rests on it"
    ]


def test_a_host_that_its_former_holder_has_again_rests_on_nothing() -> None:
    """Whatever was left in it is the holder's own; of another's it is what A23 is about."""
    acme, globex = hosts()
    site = metal_site(firmware_restored=False)
    (own,) = acme.lock.allocation.vpods["train"].hosts[:1]
    again = cleaned(acme, str(nodes.HeldHost(site.host[own].serial)))
    assert messages(answered(ISO_28, site, acme.plan, again, globex)) == []
    assert [line[0] for line in messages(answered(ISO_28, site, globex.plan, acme))] == ["V"]
