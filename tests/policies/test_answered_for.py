"""Every class that a plan changes is asked about, whether or not a node of the plan's own is in it (semantics §9)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock.model.site.inventory import PhysicalNetwork, Site, SwitchPortConfig
from interlock.planning import plan_site
from interlock.resources import Image, Resource, RoleAssignment, SwitchPort, VolumeAttachment
from interlock.vocabulary import Reference
from policies import Verdict, judge
from policies.edges.reach import reached
from policies.edges.shape import GraphFragment, Relation, premise
from policies.facts.site import SiteFacts
from policies.footprints.neighbours import Neighbours
from policies.judging import operators_part
from tests.builders.pod64 import management_switch, site_locked, tenant, tor
from tests.policies.joining import site_with, switch, tagged
from tests.policies.workspace import Made, P, V, added, changed, edited, full_site, made, pair, verdicts, with_footprint

#: Data VLANs of acme and globex, which carol's plan joins.
ACME, GLOBEX = 1000, 1001


def two_leaves(*left: SwitchPortConfig, right: Sequence[SwitchPortConfig]) -> Site:
    """tor-1 with more ports, 25 of them cabled to port 1 of leaf-2."""
    near = tor().model_copy(update={"ports": (*tor().ports, *left)})
    switches = (near, management_switch(), switch("leaf-2", *right))
    return site_with(links=[("tor-1:25", "leaf-2:1")], switches=switches)


def tenants(site: Site) -> tuple[Made, Made, Made]:
    """acme with VLANs 1000 and 2000, globex with 1001 and 2001, carol with 1002 and 2002."""
    found: list[Made] = []
    for name in ("acme", "globex", "carol"):
        found.append(made(site, tenant(name, servers=1), [one.lock for one in found]))
    return found[0], found[1], found[2]


def setting(site: Site, one: Made, *ports: tuple[str, int, int]) -> Made:
    """The plan that sets these (switch, port, VLAN) besides, and its lock."""
    plan = one.plan
    for number, (name, where, vlan) in enumerate(ports):
        item = SwitchPort(switch=name, port=where, device="nobody", interface="rnic", vlan=vlan)
        plan = added(plan, f"{plan.tenant}-extra-{number}", plan.components[0].name, item)
    return with_footprint(site, plan, one.lock)


def apart(site: Site, one: Made, *others: Made) -> Verdict:
    """What ISO-02 says of a plan beside everybody; beside its neighbours the whole judgement is the same."""
    locks = [other.lock for other in others]
    judgement = judge(site, one.plan, locks)
    for known in (locks, [*locks, one.lock]):
        near = judge(site, one.plan, Neighbours.of(site, known))
        assert verdicts(near) == verdicts(judgement)
    return verdicts(judgement)["ISO-02"]


def test_one_port_with_the_vlans_of_two_neighbours() -> None:
    """E2: what leaves the port without a tag is one VLAN at the other end, whatever it was here."""
    site = two_leaves(tagged(25, 1), right=[tagged(1, 1, untagged=900, tag_native=False)])
    acme, globex, carol = tenants(site)
    joining = setting(site, carol, ("tor-1", 25, ACME), ("tor-1", 25, GLOBEX))
    assert apart(site, carol, acme, globex) == P
    assert apart(site, acme, globex, carol) == P
    assert apart(site, acme, globex, joining) == V
    assert apart(site, globex, acme, joining) == V
    assert apart(site, joining, acme, globex) == V


def test_both_ends_of_a_cable() -> None:
    """E2: the numbers differ, and the wire is one. globex has its VLAN on leaf-2 by a VLAN network there."""
    ground = two_leaves(tagged(25, 1), right=[tagged(1, 1)])
    names = ("tor-1", "leaf-2")
    site = changed(
        ground, physical_networks=(PhysicalNetwork(name="fabric100g", switches=names), *ground.physical_networks[1:])
    )
    acme, globex, carol = tenants(site)
    joining = setting(site, carol, ("tor-1", 25, ACME), ("leaf-2", 1, GLOBEX))
    assert apart(site, carol, acme, globex) == P
    assert apart(site, acme, globex, joining) == V
    assert apart(site, globex, acme, joining) == V
    assert apart(site, joining, acme, globex) == V


def test_a_name_that_decides_what_a_reference_of_another_means() -> None:
    """globex boots what the operator makes under a name; once acme makes one of that name, nobody knows which it is."""
    site = full_site()
    operators = plan_site(site, site_locked(site))
    name = next(item.name for item in operators.resources if isinstance(item.resource, Image))
    acme, globex = pair(site)
    globex = with_footprint(site, edited(globex.plan, "globex-train-poplar-0", image=name), globex.lock)
    image = Image.model_validate({"name": "own", "file": "own.raw", "sha512": "0" * 128, "visibility": "private"})
    naming = with_footprint(site, added(acme.plan, name, "acme", image), acme.lock)
    of_site = operators_part(site, operators)

    def by_calls(one: Made, other: Made) -> Verdict:
        return verdicts(judge(site, one.plan, [other.lock, of_site]))["AUTH-01"]

    assert (by_calls(globex, acme), by_calls(acme, globex)) == (P, P)
    assert (by_calls(globex, naming), by_calls(naming, globex)) == (V, V)


@pytest.mark.parametrize("kind", ["VolumeAttachment", "RoleAssignment"])
def test_what_a_plan_gives_by_names_of_two_others(kind: str) -> None:
    """carol's plan names a server of globex's and a volume of acme's, or a user and a project of acme's."""
    site = full_site()
    acme, globex, carol = tenants(site)
    given: dict[str, Resource] = {
        "VolumeAttachment": VolumeAttachment(
            project="globex-project", server="globex-train-poplar-0", volume="acme-train-poplar-0-data"
        ),
        "RoleAssignment": RoleAssignment(
            project="acme-project", user="acme-train-s3", role=Reference.site("Role", "s3_service")
        ),
    }
    giving = with_footprint(site, added(carol.plan, "carol-extra", "carol", given[kind]), carol.lock)

    def by_calls(one: Made, *others: Made) -> Verdict:
        locks = [other.lock for other in others]
        judgement = judge(site, one.plan, locks)
        assert verdicts(judge(site, one.plan, Neighbours.of(site, [*locks, one.lock]))) == verdicts(judgement)
        return verdicts(judgement)["AUTH-01"]

    assert by_calls(carol, acme, globex) == P
    assert by_calls(acme, globex, giving) == V
    assert by_calls(giving, acme, globex) == V


@pytest.mark.parametrize(("role", "group"), [("isolated", "port-30"), ("blue", "group-blue"), (None, None)])
def test_a_port_with_a_role_reaches_its_group(role: str | None, group: str | None) -> None:
    port_of_role = tagged(30, 1, private_vlan=role) if role else tagged(30, 1)
    site = SiteFacts(two_leaves(tagged(25, 1), port_of_role, right=[tagged(1, 1)]))
    asked = premise(Relation.UNTAGGED, "SN-tor-1", "30", "1500")
    found = set(reached(site, GraphFragment("carol", (), {}, (asked,))))
    whole = {"port:SN-tor-1/30", "L:SN-tor-1:1500"}
    assert found == whole | ({f"L:SN-tor-1~{group}:1500"} if group else set())
