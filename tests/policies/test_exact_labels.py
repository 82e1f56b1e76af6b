"""Labels that the site puts on what is its own, and what the cloud or a terminal's audience leaves open."""

from __future__ import annotations

import pytest

from interlock.model.site.inventory import Site
from policies.edges.shape import GraphFragment, Relation, Union, premise
from policies.edges.site_labels import site_labels
from policies.facts.site import SiteFacts
from tests.builders.pod64 import machines
from tests.policies.forgetting import undeclared
from tests.policies.joining import Row, access, declared, host, marked, row, small, switch, tagged, vlan
from tests.policies.workspace import full_site, sharing

OP, WORLD = frozenset({"op"}), frozenset({"world"})
AUDIENCE = "not in its audience"
RIGHTS, MEMBERS = "rights to a network", "members of a project"


def labels(site: Site, *facts: object, owner: str = "acme") -> dict[str, frozenset[str]]:
    """Every label that the site puts beside a share of these premises."""
    return site_labels(Union(SiteFacts(site), (GraphFragment(owner, (), {}, facts),)))  # type: ignore[arg-type]


# Labels.


def test_machines_and_hosts_without_a_cable_are_the_operators() -> None:
    found = labels(small(machines=machines()[:1], hosts=(host(),)))
    assert {node for node, who in found.items() if who == OP} >= {
        "dev:SN-ipum-01/rnic", "dev:SN-ipum-01/gw", "dev:SN-ipum-01/bmc", "dev:SN-h", "dev:SN-h/bmc",
    }  # fmt: skip
    assert {who for node, who in found.items() if node.startswith("dev:")} == {OP}


PLUGGED = (("h:e0", "a:1"), ("h:eno9", "a:2"), ("h:bmc", "a:3"))


@pytest.mark.parametrize(
    ("provisioning", "bmc", "unlabelled"),
    [
        ("hypervisor", "bmc", set()),
        ("hypervisor", None, set()),
        ("bare-metal", "bmc", set()),
        # Which of the two plugs that are in no list leads to the BMC, nobody stated.
        ("bare-metal", None, {"dev:SN-h/eno9", "dev:SN-h/bmc"}),
    ],
)
def test_a_plug_of_a_whole_host_that_may_be_its_bmc(provisioning: str, bmc: str | None, unlabelled: set[str]) -> None:
    """Neither the operator's label is known of it nor its borrower's; of any other plug the operator's is."""
    one = switch("a", access(1, 100), access(2, 100), access(3, 100))
    found = labels(small(one, links=PLUGGED, hosts=(host(provisioning=provisioning, bmc=bmc),)))
    plugs = {f"dev:SN-h/{name}" for name in ("e0", "eno9", "bmc")}
    assert plugs - set(found) == unlabelled
    assert {found[node] for node in plugs - unlabelled} == {OP}


COPY = premise(Relation.COPY, "dev:acme:srv", "vip:sandbox:10.0.0.5", "storage-appliance", "acme")
GATEWAY = premise(Relation.GATEWAY, "R:acme:r", "external", "filtered", "acme")
THROUGH = "X:external@R:acme:r"


def appliances(*audiences: str) -> Site:
    """One appliance for each audience, beside the usual declarations."""
    items = [
        declared(f"files-{number}", "storage-appliance", audience)[-1].model_copy(update={"name": f"files-{number}"})
        for number, audience in enumerate(audiences)
    ]
    return full_site(sharing=(*sharing(), *items))


@pytest.mark.parametrize(
    ("audiences", "is_welcome"),
    [((), True), (("acme",), True), (("globex",), False), (("acme", "*"), True), (("acme", "globex"), False)],
)
def test_of_several_appliances_nobody_can_tell_which_has_the_address(
    audiences: tuple[str, ...], is_welcome: bool
) -> None:
    found = labels(appliances(*audiences), COPY)
    assert found.get("vip:sandbox:10.0.0.5") == (None if is_welcome else OP)


@pytest.mark.parametrize(
    ("audiences", "is_welcome"), [(("acme",), True), (("globex",), False), (("globex", "acme"), True)]
)
def test_one_of_several_controllers_may_be_a_tenants(audiences: tuple[str, ...], is_welcome: bool) -> None:
    items = [
        declared(f"c{number}", "vipu-controller", audience)[-1].model_copy(update={"name": f"c{number}"})
        for number, audience in enumerate(audiences)
    ]
    copy = premise(Relation.COPY, "dev:op:ctl", "port:op:p", "vipu-controller", "acme")
    assert labels(full_site(sharing=tuple(items)), copy).get("port:op:p") == (None if is_welcome else OP)


@pytest.mark.parametrize(("audience", "expected"), [(None, None), ("acme", None), ("*", None), ("globex", WORLD)])
def test_a_gateway_of_who_is_not_in_the_audience_is_the_worlds(
    audience: str | None, expected: frozenset[str] | None
) -> None:
    """Where nothing is declared there is no audience: that the copy is no copy then, a guard says."""
    items = declared("external", "external-network", audience)[-1:] if audience else ()
    assert labels(full_site(sharing=items), GATEWAY).get(THROUGH) == expected


# Audiences.


def watched(*ports: object, audience: tuple[str, ...] = ("acme",)) -> Site:
    """A terminal at switch a, in VLAN 100, and switch b behind a cable; `ports` are the records of b."""
    one, other = switch("a", access(1, 100), tagged(2, 100)), switch("b", *ports)  # type: ignore[arg-type]
    return small(
        one, other, links=(("watch:e0", "a:1"), ("a:2", "b:1")), sharing=declared("watch", "monitoring", *audience)
    )


GLOBEX = marked(vlan("b", 100), owner="globex")
MET = ("dev:watch/e0@100", "dev:watch")


@pytest.mark.parametrize(
    ("site", "share", "expected"),
    [
        (watched(tagged(1, 100)), GLOBEX, {(*MET, ())}),
        # How the port is set is not stated: nobody knows whether globex is there.
        (watched(), GLOBEX, {(*MET, ("switches.b.ports.1",))}),
        (watched(tagged(1, 200)), GLOBEX, set()),
        (watched(tagged(1, 100), audience=("globex",)), GLOBEX, set()),
        (watched(tagged(1, 100), audience=("*",)), GLOBEX, set()),
        (watched(tagged(1, 100)), marked(vlan("b", 100), owner="op"), set()),
    ],
)
def test_who_is_not_in_the_audience_of_a_terminal(site: Site, share: GraphFragment, expected: Row) -> None:
    assert row(AUDIENCE, site, share) == expected


# What the cloud may hold besides.


def claims(*segments: str) -> GraphFragment:
    """A tenant's claims of these segments, and what it may plug in."""
    own = (premise(Relation.CLAIM, item, "acme", "n", "words", "held") for item in segments)
    return GraphFragment("acme", (), {}, (*own, premise(Relation.CAPABILITY, "cap:acme")))


@pytest.mark.parametrize(
    ("table", "of", "expected"),
    [
        ("networks", "vxlan", {"V:sandbox:vxlan:5000"}),
        ("networks", "fabric100g", {"L:SN-tor-1:1000"}),
        # Two physical networks reach that switch: a network of each may have any VLAN there.
        ("networks", "mgmt1g", {"L:SN-mgmt-1:110"}),
        ("networks", "external", {"L:SN-mgmt-1:110"}),
        ("rights", "Network", {"V:sandbox:vxlan:5000", "L:SN-tor-1:1000", "L:SN-mgmt-1:110"}),
        ("rights", "AddressScope", set()),
    ],
)
def test_networks_and_rights_that_no_plan_tells_of(table: str, of: str, expected: set[str]) -> None:
    site = undeclared(full_site(), table, of)  # type: ignore[arg-type]
    share = claims("V:sandbox:vxlan:5000", "L:SN-tor-1:1000", "L:SN-mgmt-1:110")
    assert row(RIGHTS, full_site(), share) == set()
    assert row(RIGHTS, site, share) == {(item, "foreign:sandbox", (f"complete.{table}.{of}",)) for item in expected}


def test_members_whom_no_plan_tells_of() -> None:
    site = undeclared(full_site(), "members", full_site().domain)
    assert row(MEMBERS, full_site(), claims()) == set()
    assert row(MEMBERS, site, claims()) == {
        ("cap:acme", "foreign:sandbox", (f"complete.members.{full_site().domain}",))
    }
