"""Auth: what each step of a closed set asks for, what of it is told to whom, and which references mean which things."""

from __future__ import annotations

from dataclasses import replace

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import VolumeAttachment
from policies.authority.closure import everything, holdings, mentioned
from policies.facts import principals as who
from policies.judging import model_of
from policies.rules.authority import AUTH_01
from tests.builders.pod64 import site_locked, tenant
from tests.policies.test_authority import (
    SITE,
    again,
    clean,
    policy_on,
    public_plan,
    reading,
    share_of,
    stored,
    undeclared,
)
from tests.policies.workspace import Made, added, assumptions, edited, full_site, judged, made, pair, sharing


def told(plan: Plan, *others: Made) -> list[str]:
    """What AUTH-01 says of a plan."""
    return [item.message for item in judged(SITE, plan, *others).findings if item.rule == AUTH_01.id]


def third() -> Made:
    """initech, beside acme and globex."""
    return made(SITE, tenant("initech", machines=1, servers=1), [item.lock for item in clean()])


def test_who_reads_a_controller_does_not_control_what_is_attached_to_it() -> None:
    acme, globex = clean()
    item = VolumeAttachment(
        project="site:Project/controllers", server="acme-train-controller", volume="globex-train-poplar-0-data"
    )
    plan = added(acme.plan, "acme-stray", "acme", item)
    held = holdings(model_of(SITE, plan, [globex.lock]), "acme")
    assert "read obj:server/acme/acme-train-controller" in held
    assert not [node for node in held if "volume" in node and "globex" in node]


def test_what_everybody_can_do_is_told_of_strangers_alone() -> None:
    """globex can read the bucket as well: a finding for each tenant would say nothing more."""
    assert told(undeclared(public_plan()), clean()[1]) == [
        "foreign can read bucket acme-data, which is acme's",
        "world can read bucket acme-data, which is acme's",
    ]


def test_what_lies_behind_the_first_leak_is_not_told_again() -> None:
    """The key that lies in the bucket, and all that acme has by it, are held: the bucket is what to mend."""
    acme, globex = clean()
    model = model_of(SITE, policy_on(stored(acme.plan), reading("globex-train-s3")), [globex.lock])
    assert "write prin:acme" in holdings(model, "globex")
    assert [leak.held.node for leak in everything(model).leaks("globex")] == ["obj:bucket/acme/acme-data"]


def test_what_two_others_have_of_each_other_is_for_their_own_judgements() -> None:
    acme, globex = clean()
    initech = third()
    theirs = edited(initech.plan, "initech-data", credential="globex-train-s3-key")
    plan = policy_on(acme.plan, reading("globex-train-s3"))
    found = told(plan, globex, again(theirs, initech))
    assert found == ["globex can read bucket acme-data, which is acme's"]
    assert told(theirs, globex, again(plan, acme)) == ["globex can write bucket initech-data, which is initech's"]


def test_holdings_are_what_may_be_held() -> None:
    """The certificate lists them: what rests on an unstated fact is among them."""
    site = full_site(assumptions=assumptions(secure_tls=None))
    held = holdings(model_of(site, clean()[0].plan, [clean()[1].lock]), "acme")
    assert "write obj:server/acme/acme-train-controller" in held
    assert "write obj:server/acme/acme-train-controller" not in holdings(model_of(SITE, clean()[0].plan, []), "acme")


def test_a_plan_speaks_of_its_owner_and_of_principals_and_objects() -> None:
    share = share_of(clean()[0].plan)
    assert mentioned(replace(share, premises=())) == {"prin:acme"}
    assert all(who.is_principal_or_object(node) for node in mentioned(share))
    site = replace(share_of(plan_site(SITE, site_locked(SITE))), premises=())
    assert mentioned(site) == frozenset()


# References that no plan of their own resolves.

SHARED_KEY = "shared-key"


def with_key(of: Made, tenant: str, name: str) -> Made:
    """The tenant makes a second S3 key, of this name."""
    return again(added(of.plan, name, tenant, of.plan.by_name[f"{tenant}-train-s3-key"].resource), of)


def test_a_name_that_two_plans_give_is_answered_for_by_both() -> None:
    """globex's bucket names a key that it does not make: with one such key it is that one, with two it is nobody's."""
    acme, globex = clean()
    open_one = again(edited(globex.plan, "globex-data", credential=SHARED_KEY), globex)
    mine, other = with_key(acme, "acme", SHARED_KEY), with_key(third(), "initech", SHARED_KEY)
    assert told(mine.plan, open_one) == ["acme can write bucket globex-data, which is globex's"]
    assert told(mine.plan, open_one, other) == ["foreign can write bucket globex-data, which is globex's"]
    # What nobody of this plan is called like is for the judgements of others.
    assert told(acme.plan, open_one) == []
    assert told(with_key(acme, "acme", "another-key").plan, open_one) == []


# Where packets may meet.


def test_what_is_called_over_a_doubtful_way_rests_on_its_facts() -> None:
    site = full_site(sharing=sharing(address_scope_closed=None))
    acme, globex = pair(site)
    met = everything(model_of(site, acme.plan, [globex.lock])).met.grants
    called = "obj:server/acme/acme-train-controller"
    ways = {tuple(map(str, grant.missing)) for grant in met if (grant.source, grant.target) == ("prin:globex", called)}
    assert ways == {("sharing.external.guards.address_scope_closed",)}
