"""Auth and Expo: AUTH-01 the closed set of each owner, EXPO-01 and L3-08 the entries from outside."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.tenant.request import BucketRequest, Tenant
from interlock.planning import plan_site, plan_tenant
from interlock.planning.plan import Plan
from interlock.resources import (
    BucketPolicy,
    BucketStatement,
    FloatingIp,
    Image,
    RoleAssignment,
    StoredCredential,
    VipuAllocation,
    VolumeAttachment,
)
from policies import judge
from policies.authority.closure import everything, holdings
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import GraphFragment, Relation, premise
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.footprints.neighbours import Neighbours
from policies.judging import model_of
from tests.builders.pod64 import gone, locked, site_locked, tenant, vpod
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    text,
    verdicts,
    with_footprint,
)

SITE = full_site()


def share_of(plan: Plan) -> GraphFragment:
    """What a plan brings into the union."""
    return plan_fragment(SiteFacts(SITE), plan_facts(plan))


SERVER = "acme-train-poplar-0"
#: acme's controller, at a port on globex's control network.
HERE = ("obj:server/acme/acme-train-controller", "port:globex:globex-train-controller-control", "globex")


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def again(plan: Plan, of: Made) -> Made:
    """The lock of this plan as it was changed."""
    return with_footprint(SITE, plan, of.lock)


def policy_on(plan: Plan, *statements: BucketStatement) -> Plan:
    fields = {"project": "acme-project", "bucket": "acme-data", "credential": "acme-train-s3-key"}
    policy = BucketPolicy.model_validate(fields | {"statements": statements})
    return added(plan, "acme-data-policy", "acme-data", policy)


def reading(principal: str) -> BucketStatement:
    return BucketStatement(principals=(principal,), actions=("read",))


# The closed set.


def test_what_a_tenant_holds() -> None:
    acme, globex = clean()
    model = model_of(SITE, acme.plan, [globex.lock])
    held = holdings(model, "acme")
    assert held == tuple(sorted(held))
    assert "write obj:bucket/acme/acme-data" in held
    assert "write key:acme/acme-train-s3-key" in held
    assert "read obj:server/acme/acme-train-controller" in held
    assert "write obj:allocation/acme/acme-train-allocation" in held
    assert not [item for item in held if "globex" in item]


def test_two_tenants_hold_nothing_of_each_other() -> None:
    acme, globex = clean()
    for one, other in ((acme, globex), (globex, acme)):
        assert verdicts(judged(SITE, one.plan, other))["AUTH-01"] == P


def test_the_operators_stack_answers_for_all() -> None:
    acme, globex = clean()
    site = plan_site(SITE, site_locked(SITE))
    assert verdicts(judged(SITE, site, acme, globex))["AUTH-01"] == P
    leaky = again(policy_on(acme.plan, reading("globex-train-s3")), acme)
    found = [item for item in judged(SITE, site, leaky, globex).findings if item.rule == "AUTH-01"]
    assert [item.message for item in found] == ["globex can read bucket acme-data, which is acme's"]


def test_a_person_of_two_tenants_joins_nothing() -> None:
    """Both requests name alice; a token of hers counts in one project at a time."""
    acme, globex = clean()
    assert "acme-member-alice" in acme.plan.by_name
    assert "globex-member-alice" in globex.plan.by_name
    judgement = judged(SITE, policy_on(acme.plan, reading("cloud:User/alice")), globex)
    assert text(next(item for item in judgement.findings if item.rule == "AUTH-01")) == (
        "globex – acts as user alice (globex-member-alice) – reads bucket acme-data (acme-data-policy)"
    )


def test_a_role_on_the_controllers_project() -> None:
    acme, globex = clean()
    role = RoleAssignment(project="site:Project/controllers", user="cloud:User/bob", role="cloud:Role/member")
    judgement = judged(SITE, added(acme.plan, "acme-bob", "acme", role), globex)
    found = [text(item) for item in judgement.findings if item.rule == "AUTH-01"]
    assert "acme – acts as user bob (acme-bob) – acts as op (acme-bob)" in found


def test_an_admin_of_one_project_is_one_of_the_cloud() -> None:
    acme, globex = clean()
    role = RoleAssignment(project="acme-project", user="cloud:User/bob", role="cloud:Role/admin")
    found = first(judged(SITE, added(acme.plan, "acme-bob", "acme", role), globex))
    assert (found.rule, found.verdict) == ("AUTH-01", V)
    assert found.message == "acme can act as op"


def test_a_key_of_another_writes_the_bucket() -> None:
    acme, globex = clean()
    plan = edited(acme.plan, "acme-data", credential="globex-train-s3-key")
    found = [text(item) for item in judged(SITE, plan, globex).findings if item.rule == "AUTH-01"]
    assert found == ["globex – writes S3 key globex-train-s3-key (globex's own) – writes bucket acme-data (acme-data)"]
    alone = [item.message for item in judged(SITE, plan).findings if item.rule == "AUTH-01"]
    assert alone == ["foreign can write bucket acme-data, which is acme's"]


def test_a_volume_of_another_on_a_server() -> None:
    acme, globex = clean()
    item = VolumeAttachment(project="acme-project", server=SERVER, volume="globex-train-poplar-0-data")
    judgement = judged(SITE, added(acme.plan, "acme-stray", "acme", item), globex)
    found = [text(item) for item in judgement.findings if item.rule == "AUTH-01"]
    way = f"acme – writes server {SERVER} (acme's own) – controls volume globex-train-poplar-0-data (acme-stray)"
    assert way in found


def test_a_server_with_a_strangers_key() -> None:
    acme, globex = clean()
    judgement = judged(SITE, edited(acme.plan, SERVER, keypair="globex-key"), globex)
    found = [item.message for item in judgement.findings if item.rule == "AUTH-01"]
    assert f"foreign can control server {SERVER}, which is acme's" in found
    # Who has a key on it controls it, so their packets meet as well.
    assert verdicts(judgement)["ISO-02"] == V


@pytest.mark.parametrize("keypair", ["acme-key", "globex-key"])
def test_a_strangers_key_is_a_grant_of_its_own(keypair: str) -> None:
    """A lock names who logs in: another plan may say whose the key is. One of the tenant's own needs no grant."""
    share = share_of(edited(clean()[0].plan, SERVER, keypair=keypair))
    login, server = "login:?/globex-key", f"obj:server/acme/{SERVER}"
    grant = premise(Relation.GRANT, "writes", login, server, f"key pair of {SERVER}")
    foreign = keypair == "globex-key"
    assert (grant in share.premises) is foreign
    assert (premise(Relation.HOLDS, login, "foreign") in share.premises) is foreign
    assert any("key pair of" in item.tuple[-1] for item in share.premises) is foreign


@pytest.mark.parametrize(("value", "verdict"), [(None, N), (False, V), (True, P)])
def test_a_service_that_keeps_to_no_rules(value: bool | None, verdict: str) -> None:
    site = full_site(assumptions=assumptions(bucket_rules_enforced=value))
    plan = policy_on(clean()[0].plan, reading("acme-train-s3"))
    judgement = judged(site, plan, clean()[1])
    assert verdicts(judgement)["AUTH-01"] == verdict
    found = next((item for item in judgement.findings if item.rule == "AUTH-01"), None)
    assert (found is None) == (value is True)
    if value is None and found is not None:
        assert found.missing == ("assumptions.A11.bucket_rules_enforced",)


def without_buckets(plan: Plan) -> Plan:
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    kept = tuple(item for item in plan.resources if item.resource.KIND not in ("Bucket", "BucketPolicy"))
    return Plan(**fields | {"resources": kept})


@pytest.mark.parametrize(("value", "verdict"), [(None, N), (False, V), (True, P)])
@pytest.mark.parametrize("as_neighbours", [False, True])
def test_a_bucket_of_another_that_the_service_keeps_for_nobody(
    value: bool | None, verdict: str, as_neighbours: bool
) -> None:
    """Found by a random world: a tenant that has no bucket itself gets at that of another, which has no policy."""
    site = full_site(assumptions=assumptions(bucket_rules_enforced=value))
    acme, globex = clean()
    plan = without_buckets(acme.plan)
    locks = [with_footprint(site, globex.plan, globex.lock).lock, with_footprint(site, plan, acme.lock).lock]
    judgement = judge(site, plan, Neighbours.of(site, locks) if as_neighbours else locks)
    assert verdicts(judgement)["AUTH-01"] == verdict
    told = [item.message for item in judgement.findings if item.rule == "AUTH-01"]
    assert told == ([] if value else ["acme can write bucket globex-data, which is globex's"])


def test_the_closed_set_is_closed_under_every_grant() -> None:
    """What a checker does: nothing but the tuples, and the table of what each way asks for and gives."""
    acme, globex = clean()
    model = model_of(SITE, policy_on(acme.plan, reading("globex-train-s3")), [globex.lock])
    held = set(holdings(model, "globex"))
    takes = {"reads": ("write", "read"), "keeps": ("read", "write"), "serves": ("read", "write")}
    tables = (everything(model).stated.table, everything(model).met)
    for grant in (grant for table in tables for grants in table.leading_from.values() for grant in grants):
        needs, gives = takes.get(grant.way, ("write", "write"))
        if f"write {grant.source}" in held or f"{needs} {grant.source}" in held:
            assert f"{gives} {grant.target}" in held
    assert {"write prin:globex", "read obj:bucket/acme/acme-data"} <= held


# Example 50.


def stored(plan: Plan) -> Plan:
    item = StoredCredential(project="acme-project", credential="acme-train-s3-key", place="acme-data")
    return added(plan, "acme-left-behind", "acme-data", item)


def test_example_50_a_credential_in_a_bucket_of_ones_own() -> None:
    acme, globex = clean()
    assert verdicts(judged(SITE, stored(acme.plan), globex))["AUTH-01"] == P


def test_example_50_a_credential_in_a_bucket_that_globex_reads() -> None:
    acme, globex = clean()
    plan = policy_on(stored(acme.plan), reading("globex-train-s3"))
    judgement = judged(SITE, plan, globex)
    assert (judgement.exit_code, verdicts(judgement)["AUTH-01"]) == (1, V)
    assert holds_everything_of_acme(plan, globex)
    # The same seen by globex, from acme's lock.
    assert verdicts(judged(SITE, globex.plan, again(plan, acme)))["AUTH-01"] == V


def holds_everything_of_acme(plan: Plan, globex: Made) -> bool:
    held = holdings(model_of(SITE, plan, [globex.lock]), "globex")
    return {"write key:acme/acme-train-s3-key", "write prin:acme", f"write obj:server/acme/{SERVER}"} <= {*held}


def test_a_credential_in_a_public_bucket() -> None:
    """To publish a bucket is the tenant's decision; what lies in it leads further all the same."""
    plan = public_plan()
    assert verdicts(judged(SITE, plan))["AUTH-01"] == P
    found = first(judged(SITE, stored(plan)))
    assert (found.rule, found.verdict) == ("AUTH-01", V)
    assert "keeps S3 key acme-train-s3-key (acme-left-behind)" in text(found)


# Example 41: an image that others boot.


@pytest.mark.parametrize(("visibility", "verdict"), [("private", P), ("community", V), ("public", V)])
def test_example_41_an_image_of_a_tenant(visibility: str, verdict: str) -> None:
    acme, globex = clean()
    image = Image.model_validate({"name": "own", "file": "own.raw", "sha512": "0" * 128, "visibility": visibility})
    plan = edited(added(acme.plan, "acme-own", "acme", image), SERVER, image="acme-own")
    judgement = judged(SITE, plan, globex)
    assert (verdicts(judgement)["AUTH-01"], verdicts(judgement)["SEC-15"]) == (verdict, verdict)
    theirs = edited(globex.plan, "globex-train-poplar-0", image="acme-own")
    booted = judged(SITE, theirs, again(plan, acme))
    words = [text(item) for item in booted.findings if item.rule == "AUTH-01"]
    server = "globex-train-poplar-0"
    assert f"acme – writes image acme-own (acme's own) – controls server {server} (image of {server})" in words


def test_example_41_an_image_of_the_operator() -> None:
    site = plan_site(SITE, site_locked(SITE))
    assert verdicts(judged(SITE, site, *clean()))["AUTH-01"] == P


# Example 20: one controller for two.


def test_example_20_one_controller_on_the_networks_of_two() -> None:
    """acme's controller listens where globex's does: a copy of it on each control network, so packets stay apart."""
    acme, globex = clean()
    port = premise(Relation.LISTENS, *HERE)
    footprint = globex.lock.footprint
    lock = globex.lock.model_copy(
        update={"footprint": footprint.model_copy(update={"premises": (*footprint.premises, port)})}
    )
    judgement = judged(SITE, acme.plan, Made(globex.plan, lock.sealed()))
    assert (verdicts(judgement)["ISO-02"], verdicts(judgement)["AUTH-01"]) == (P, V)
    found = first(judgement)
    assert (found.rule, found.verdict) == ("SEC-03", V)
    assert text(found) == (
        "globex – reads server acme-train-controller (calls it where it listens) – "
        "serves V-IPU allocation acme-train-allocation (acme-train-allocation)"
    )


def test_example_20_the_allocation_of_another_on_a_controller() -> None:
    """globex's allocation stands on acme's controller: who calls that has it."""
    acme, globex = clean()
    allocation = globex.plan.by_name["globex-train-allocation"].resource
    assert isinstance(allocation, VipuAllocation)
    plan = edited(globex.plan, "globex-train-allocation", controller="acme-train-controller")
    judgement = judged(SITE, plan, acme)
    way = (
        "acme – reads server acme-train-controller (calls it where it listens) – "
        "serves V-IPU allocation globex-train-allocation (globex-train-allocation)"
    )
    assert [text(item) for item in judgement.findings if item.rule == "SEC-03"] == [way]
    assert verdicts(judged(SITE, acme.plan, again(plan, globex)))["SEC-03"] == V
    # No packet of the one comes to the other: the controller is split.
    assert verdicts(judgement)["ISO-02"] == P


# Entries from outside.


@cache
def public_plan() -> Plan:
    request = BucketRequest(name="data", versioning=True, on_delete="erase", public=True)
    return made(SITE, tenant("acme", vpods=(vpod(),), buckets=(request,))).plan


def test_a_plan_carries_what_its_request_declares() -> None:
    assert public_plan().public == ("acme-data",)
    assert verdicts(judged(SITE, public_plan()))["EXPO-01"] == P
    assert clean()[0].plan.public == ()


def test_a_tenant_that_goes_declares_nothing() -> None:
    request = tenant("acme", buckets=(BucketRequest(name="data", versioning=True, on_delete="erase", public=True),))
    leaving, lock = gone(locked(SITE, request), Tenant.model_validate(request))
    assert plan_tenant(SITE, site_locked(SITE), leaving, lock).public == ()


def undeclared(plan: Plan) -> Plan:
    return Plan(**({name: getattr(plan, name) for name in Plan.model_fields} | {"public": ()}))


def declared(plan: Plan, *names: str) -> Plan:
    """These are public, to the prefixes that ssh is open from anyhow."""
    said = {"public": names, "public_from": dict.fromkeys(names, ("203.0.113.0/24",))}
    return Plan(**({name: getattr(plan, name) for name in Plan.model_fields} | said))


def test_a_public_bucket_that_nobody_declares() -> None:
    judgement = judged(SITE, undeclared(public_plan()))
    assert (verdicts(judgement)["EXPO-01"], verdicts(judgement)["SEC-11"], verdicts(judgement)["AUTH-01"]) == (V, V, V)
    assert first(judgement).rule == "SEC-11"


def test_a_declaration_without_an_entry() -> None:
    found = first(judged(SITE, declared(clean()[0].plan, "acme-data")))
    assert (found.rule, found.verdict) == ("EXPO-01", V)


def floating(port: str, **changes: object) -> FloatingIp:
    fields: dict[str, object] = {
        "project": "acme-project", "external_network": "site:Network/external", "address": "192.0.2.77", "port": port,
    }  # fmt: skip
    return FloatingIp.model_validate(fields | changes)


def with_address(port: str, **changes: object) -> Plan:
    return added(clean()[0].plan, "acme-public", "acme", floating(port, **changes))


def test_example_16_a_floating_address() -> None:
    plan = with_address(f"{SERVER}-control")
    judgement = judged(SITE, declared(plan, "acme-public"), clean()[1])
    assert (verdicts(judgement)["EXPO-01"], verdicts(judgement)["L3-08"]) == (P, P)
    assert judgement.exit_code == 0
    found = first(judged(SITE, plan, clean()[1]))
    assert (found.rule, found.verdict) == ("EXPO-01", V)
    assert text(found) == f"outside – acme-public – 192.0.2.77 leads to {SERVER}"


@pytest.mark.parametrize(
    ("port", "changes", "words"),
    [
        ("acme-train-controller-control", {}, "the V-IPU controller acme-train-controller"),
        ("globex-train-poplar-0-control", {}, "no port of this plan"),
        ("acme-nobody", {}, "no port of this plan"),
        (f"{SERVER}-control", {"project": "site:Project/controllers"}, "in which op has a part"),
    ],
)
def test_example_16_a_floating_address_on_something_else(port: str, changes: dict[str, object], words: str) -> None:
    found = first(judged(SITE, declared(with_address(port, **changes), "acme-public"), clean()[1]))
    assert (found.rule, found.verdict, words in found.message) == ("L3-08", V, True)


def test_an_address_of_another_network() -> None:
    plan = with_address(f"{SERVER}-control", external_network="globex-train-control")
    judgement = judged(SITE, declared(plan, "acme-public"), clean()[1])
    assert verdicts(judgement)["EXPO-01"] == V


def test_without_entries_there_is_nothing_to_look_at() -> None:
    judgement = judged(SITE, clean()[0].plan)
    assert (verdicts(judgement)["EXPO-01"], verdicts(judgement)["L3-08"]) == (NA, NA)
