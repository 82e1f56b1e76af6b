"""What others made at a stack, said in the words of its plan and judged by the same rules. On a cloud on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.audit.comparison import Audit, Live, StackAudit, audit
from infra.audit.report import as_json, as_table
from infra.program.gate import Gate
from interlock.channel.tickets import TICKET
from tests.builders.paper import Paper, ident
from tests.builders.paper_cloud import PaperCloud
from tests.infra.conftest import Lyon

ACME, GLOBEX = "lyon-acme", "lyon-globex"
CONTROL, CONTROL_SUBNET = ident(ACME, "acme-train-control"), ident(ACME, "acme-train-control-subnet")
OURS, THEIRS = ident(ACME, "acme-project"), ident(GLOBEX, "globex-project")
SERVER = "acme-train-poplar-0"


@pytest.fixture
def gate(lyon: Lyon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """The site with both tenants, and an empty claims store."""
    (tmp_path / "clouds.yaml").write_text("clouds: {}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    return lyon.gate().with_applied()


@pytest.fixture
def paper(gate: Gate) -> Paper:
    """Everything as it was planned."""
    return Paper.of(gate.plan(tenant) for tenant in gate.stacks())


def port(ident: str = "x", **other: Any) -> dict[str, Any]:
    """One on acme's control network, as Neutron lists it."""
    listed: dict[str, Any] = {
        "id": ident, "name": "", "description": "", "project_id": THEIRS, "network_id": CONTROL, "mac_address": "",
        "fixed_ips": [{"subnet_id": CONTROL_SUBNET, "ip_address": "10.64.0.77"}], "binding:vnic_type": "normal",
        "port_security_enabled": True, "security_groups": [], "allowed_address_pairs": [], "device_id": "",
        "device_owner": "",
    }  # fmt: skip
    return listed | other


def right(target: str) -> dict[str, Any]:
    listed = {"id": "x", "project_id": OURS, "object_type": "network", "object_id": CONTROL}
    return listed | {"target_tenant": target, "action": "access_as_shared"}


def floating_ip() -> dict[str, Any]:
    network = ident("lyon-site", "external")
    listed = {"id": "x", "project_id": OURS, "floating_network_id": network, "floating_ip_address": "192.0.2.77"}
    return listed | {"port_id": ident(ACME, f"{SERVER}-control"), "router_id": None}


def role(user: str) -> dict[str, Any]:
    return {"user": {"id": user}, "role": {"id": "admin"}, "scope": {"project": {"id": OURS}}}


def stack(found: Audit, name: str = ACME) -> StackAudit:
    return next(item for item in found.stacks if item.plan.stack == name)


def observed_plan(gate: Gate, paper: Paper, **made: Any) -> Live:
    """What the rules say once somebody made these, kind -> object."""
    for kind, item in made.items():
        paper.lists[kind].append(item)
    live = stack(audit(gate, PaperCloud(paper))).live
    assert live is not None
    return live


def rules(live: Live) -> set[str]:
    return {finding.rule for finding in live.judgement.findings}


def volume(kind: str, project: str = OURS) -> dict[str, Any]:
    listed = {"id": "x", "name": "x", "size": 7, "volume_type": kind, "metadata": {}, "attachments": []}
    return listed | {"os-vol-tenant-attr:tenant_id": project, "status": "available"}


def network(kind: str, segment: int, **other: Any) -> dict[str, Any]:
    """One of somebody else in acme's project."""
    listed = {
        "id": "n", "name": "n", "description": "", "project_id": OURS, "provider:network_type": kind,
        "provider:physical_network": "fabric100g" if kind == "vlan" else None, "provider:segmentation_id": segment,
        "router:external": False, "shared": False, "port_security_enabled": True, "mtu": 1500,
    }  # fmt: skip
    return listed | other


def subnet(of: str) -> dict[str, Any]:
    return {
        "id": "u", "name": "u", "description": "", "project_id": OURS, "network_id": of, "cidr": "10.64.0.0/24",
        "gateway_ip": None, "enable_dhcp": False, "allocation_pools": [], "dns_nameservers": [], "subnetpool_id": None,
    }  # fmt: skip


SEGMENTS = [
    {"provider:network_type": "vlan", "provider:physical_network": "fabric100g", "provider:segmentation_id": number}
    for number in (2001, 2002)
]


def server(host: str, image: Any = None) -> dict[str, Any]:
    """One of somebody else in acme's project."""
    return {
        "id": "s", "name": "s", "tenant_id": OURS, "metadata": {}, "OS-EXT-SRV-ATTR:host": host, "status": "ACTIVE",
        "flavor": {"id": ident("lyon-site", "poplar.half")}, "key_name": None,
        "image": {"id": ident("lyon-site", "poplar")} if image is None else image,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "item", "rule"),
    [
        ("RbacPolicy", right(THEIRS), "ISO-25"),
        ("RbacPolicy", right("nobody-we-know"), "ISO-25"),
        ("Port", port(), "L3-02"),
        ("FloatingIp", floating_ip(), "EXPO-01"),
    ],
    ids=["right-of-a-tenant", "right-of-a-stranger", "port", "floating-ip"],
)
def test_what_lets_others_in_is_a_leak_by_the_rules(
    gate: Gate, paper: Paper, kind: str, item: dict[str, Any], rule: str
) -> None:
    live = observed_plan(gate, paper, **{kind: item})
    assert live.judgement.exit_code == 1
    assert rule in rules(live)
    assert live.not_expressible == ()


def test_a_strangers_router_on_our_subnet_joins_both(gate: Gate, paper: Paper) -> None:
    """It is said once, with its interface; a second one on the same subnet is one of the same router."""
    router = {"id": "r", "name": "r", "description": "", "project_id": THEIRS, "external_gateway_info": None}
    for number in range(2):
        paper.lists["Port"].append(port(f"p{number}", device_owner="network:router_interface", device_id="r"))
    live = observed_plan(gate, paper, Router=router)
    assert {"ISO-01", "ISO-02", "L3-01", "L3-02"} <= rules(live)
    assert "FACT-01" not in rules(live), "nothing is said twice"
    assert "facts E10 R:acme:found-r V:sandbox:vxlan:10000" in live.new


def trunk(parent: str, *inside: str, project: str = THEIRS) -> dict[str, Any]:
    subs = [{"port_id": port, "segmentation_id": 7, "segmentation_type": "vlan"} for port in inside]
    return {"id": "t", "name": "t", "description": "", "project_id": project, "port_id": parent, "sub_ports": subs}


OUR_PORTS = tuple(ident(ACME, f"{SERVER}-{end}") for end in ("control", "ipu-data"))


def test_a_trunk_over_two_of_our_ports_is_said(gate: Gate, paper: Paper) -> None:
    live = observed_plan(gate, paper, Trunk=trunk(*OUR_PORTS, project=OURS))
    assert live.not_expressible == ()
    ends = (f"port:acme:{SERVER}-control", f"port:acme:{SERVER}-ipu-data")
    assert live.new == (f"facts E8 {ends[0]} {ends[1]}",)
    assert live.judgement.exit_code == 0, "within one tenant nobody is joined to another"


def test_a_trunk_on_a_strangers_port_is_said_with_that_port(gate: Gate, paper: Paper) -> None:
    paper.lists["Port"].append(port("p"))
    live = observed_plan(gate, paper, Trunk=trunk("p", OUR_PORTS[1]))
    assert live.not_expressible == ()
    assert {"ISO-01", "ISO-02", "L3-02"} <= rules(live)
    assert f"facts E8 port:acme:found-p port:acme:{SERVER}-ipu-data" in live.new


def test_a_port_of_ours_inside_a_trunk_of_elsewhere_is_told(gate: Gate, paper: Paper) -> None:
    """What hangs on its other ports nobody can say."""
    live = observed_plan(gate, paper, Trunk=trunk("y", OUR_PORTS[0]))
    assert live.not_expressible == ("Trunk t (t)",)


def group(ident: str, remote: str) -> dict[str, Any]:
    """Neutron's default group of a project: its members are let in."""
    rule: dict[str, Any] = {"direction": "ingress", "ethertype": "IPv4", "protocol": None, "remote_ip_prefix": None}
    rule |= {"port_range_min": None, "port_range_max": None, "remote_group_id": remote}
    listed = {"id": ident, "name": "default", "description": "", "project_id": THEIRS}
    return listed | {"security_group_rules": [rule]}


def test_the_default_group_of_a_strangers_port_is_said_with_it(gate: Gate, paper: Paper) -> None:
    paper.lists["SecurityGroup"].append(group("g", "g"))
    live = observed_plan(gate, paper, Port=port(security_groups=["g"]))
    assert live.not_expressible == ()
    assert "L3-02" in rules(live)


def test_a_group_that_lets_in_who_knows_whom_is_not_said(gate: Gate, paper: Paper) -> None:
    paper.lists["SecurityGroup"].append(group("g", "h"))
    live = observed_plan(gate, paper, Port=port(security_groups=["g"]))
    assert len(live.not_expressible) == 1


def test_a_port_that_joins_nobody_is_told_and_proves(gate: Gate, paper: Paper) -> None:
    live = observed_plan(gate, paper, Port=port(project_id=OURS))
    assert live.judgement.exit_code == 0
    assert live.new


def test_a_second_interface_of_a_server_is_said_with_its_port(gate: Gate, paper: Paper) -> None:
    """The server is another one than was planned, and what it is joined to counts."""
    server = ident(ACME, SERVER)
    live = observed_plan(gate, paper, Port=port(project_id=OURS, device_id=server, device_owner="compute:nova"))
    found = stack(audit(gate, PaperCloud(paper)))
    assert [item.name for item in found.drift] == [SERVER]
    assert found.drift[0].differs["ports"][1][-1] == "cloud-id:x"
    assert any("found-x" in fact for fact in live.new)


def test_a_strangers_access_to_our_share_is_judged(gate: Gate, paper: Paper) -> None:
    """As SEC-14 judges a planned one: a share opens to the storage subnet of its tenant's vPOD, and to nobody else."""
    (share,) = paper.lists["Share"]
    rule = {"id": "x", "access_type": "ip", "access_to": "0.0.0.0/0", "access_level": "ro", "state": "active"}
    paper.share_access[share["id"]].append(rule)
    live = stack(audit(gate, PaperCloud(paper)), "lyon-acme").live
    assert live is not None
    assert "SEC-14" in rules(live)


def test_access_to_a_share_by_a_user_name_is_told_and_no_plan_can_say_it(gate: Gate, paper: Paper) -> None:
    (share,) = paper.lists["Share"]
    rule = {"id": "x", "access_type": "user", "access_to": "eve", "access_level": "rw", "state": "active"}
    paper.share_access[share["id"]].append(rule)
    found = audit(gate, PaperCloud(paper))
    (told,) = found.unmanaged
    assert (told.kind, told.stack, told.why) == (
        "ShareAccess",
        "lyon-acme",
        "user eve may mount share acme-datasets (rw)",
    )
    live = stack(found, "lyon-acme").live
    assert live is not None
    assert live.not_expressible == ("ShareAccess (x)",)


def ticket(paper: Paper, key: str) -> dict[str, Any]:
    """What a killed run of acme's left for its server, and its plan has it no more."""
    owner = next(item["description"] for item in paper.lists["Project"] if item["id"] == OURS).split(":")[1]
    user = paper.one("S3Credential", key)["user_id"]
    written = {"item": "s3", "secret": "y", "expires": "2026-01-01T00:00:00+00:00", "credential": f"{user}/{key}"}
    name, mark = f"{TICKET}{ident(ACME, SERVER)}", f"interlock:{owner}:acme-old"
    return {"id": "x", "secret_ref": "http://paper/v1/secrets/x", "name": name, "mode": mark, "metadata": written}


def test_a_ticket_that_no_plan_has_any_more_is_judged_by_the_key_that_it_hands_over(gate: Gate, paper: Paper) -> None:
    live = observed_plan(gate, paper, StoredCredential=ticket(paper, ident(ACME, "acme-train-s3-key")))
    assert live.not_expressible == ()
    assert live.judgement.exit_code == 0


def test_a_ticket_with_a_key_of_another_tenant_is_told(gate: Gate, paper: Paper) -> None:
    key = {"id": "theirs", "user_id": "eve", "project_id": THEIRS, "blob": '{"access": "theirs", "secret": "s"}'}
    paper.lists["S3Credential"].append(key)
    live = observed_plan(gate, paper, StoredCredential=ticket(paper, "theirs"))
    assert live.not_expressible == ("StoredCredential acme-old (x)",)


def test_a_share_of_others_in_our_project_is_told(gate: Gate, paper: Paper) -> None:
    (share,) = paper.lists["Share"]
    paper.lists["Share"].append(share | {"id": "x", "name": "x", "metadata": {}, "user_id": "eve"})
    (told,) = audit(gate, PaperCloud(paper)).unmanaged
    assert (told.kind, told.id, told.stack) == ("Share", "x", "lyon-acme")


def test_a_strangers_project_on_the_list_of_a_flavour(gate: Gate, paper: Paper) -> None:
    """Of the site's own stack. That the flavour is private is a difference, and a plan can say it."""
    flavor = next(item for item in paper.lists["Flavor"] if item["name"].startswith("poplar"))
    assert stack(audit(gate, PaperCloud(paper)), "lyon-site").live is None
    flavor["os-flavor-access:is_public"] = False
    paper.flavor_access[flavor["id"]] = ["nobody-we-know"]
    live = stack(audit(gate, PaperCloud(paper)), "lyon-site").live
    assert live is not None
    assert "SEC-09" in rules(live)


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        ("RoleAssignment", role("eve")),
        ("Volume", volume("of-nobody")),
        ("Network", network("vlan", 2001, segments=SEGMENTS)),
        ("Server", server("poplar-1", image="")),
        ("Port", port(fixed_ips=[])),
        ("Port", port(fixed_ips=[{"subnet_id": CONTROL_SUBNET, "ip_address": f"10.64.0.{last}"} for last in (77, 78)])),
        ("FloatingIp", floating_ip() | {"floating_network_id": "y"}),
    ],
    ids=[
        "role-of-nobodys-member",
        "volume-of-a-type-that-nobody-planned",
        "network-of-two-segments",
        "server-without-an-image",
        "port-without-address",
        "port-with-two",
        "address-of-a-network-that-nobody-planned",
    ],
)
def test_what_no_plan_says_is_named_and_not_judged(gate: Gate, paper: Paper, kind: str, item: dict[str, Any]) -> None:
    found = audit(gate, PaperCloud(_with(paper, kind, item)))
    live = stack(found).live
    assert live is not None
    assert live.not_expressible == tuple(map(str, stack(found).unmanaged))
    assert (live.new, live.gone) == ((), ())
    said = as_table(found, gate)
    assert f"    not judged, because a plan cannot express it: {live.not_expressible[0]}" in said
    assert "and 1 unmanaged that its certificate does not cover" in said
    assert as_json(found, gate)["verdict"] == "drift"


def test_a_role_that_a_user_of_the_plan_was_given_besides_is_said(gate: Gate, paper: Paper) -> None:
    user = next(item.name for item in gate.plan("acme").resources if item.resource.KIND == "ServiceUser")
    live = observed_plan(gate, paper, RoleAssignment=role(ident(ACME, user)))
    assert live.not_expressible == ()


def _with(paper: Paper, kind: str, item: dict[str, Any]) -> Paper:
    paper.lists[kind].append(item)
    return paper


def test_a_volume_of_others_on_a_type_of_the_site_is_judged(gate: Gate, paper: Paper) -> None:
    live = observed_plan(gate, paper, Volume=volume(paper.lists["VolumeType"][0]["name"]))
    assert live.not_expressible == ()
    assert live.judgement.exit_code == 0
    assert "grants writes prin:acme obj:volume/acme/found-x" in live.new


THEIR_DATA = ident(GLOBEX, "globex-research-ipu-data")
THEIR_VLAN = 1001


def test_a_network_of_others_on_a_segment_of_another_tenant_joins_both(gate: Gate, paper: Paper) -> None:
    live = observed_plan(gate, paper, Network=network("vlan", THEIR_VLAN))
    assert live.not_expressible == ()
    assert {"ISO-01", "ISO-02", "ISO-12"} <= rules(live)


def test_a_subnet_of_others_comes_with_its_network(gate: Gate, paper: Paper) -> None:
    paper.lists["Network"].append(network("vxlan", 77))
    live = observed_plan(gate, paper, Subnet=subnet("n"))
    assert live.not_expressible == ()
    assert "exclusive segment:V:sandbox:vxlan:77 acme" in live.new


def at(where: str) -> dict[str, Any]:
    """The port of that server on a network."""
    subnet = {CONTROL: CONTROL_SUBNET, THEIR_DATA: ident(GLOBEX, "globex-research-ipu-data-subnet")}.get(where, "u")
    address = [{"subnet_id": subnet, "ip_address": "10.64.0.77"}]
    return port("p", project_id=OURS, network_id=where, device_id="s", device_owner="compute:nova", fixed_ips=address)


def test_a_server_of_others_is_judged_with_its_ports(gate: Gate, paper: Paper) -> None:
    paper.lists["Port"].append(at(CONTROL))
    live = observed_plan(gate, paper, Server=server("poplar-1"))
    assert live.not_expressible == ()
    assert live.judgement.exit_code == 0, "within one tenant nobody is joined to another"
    assert "facts E9 dev:acme:found-s port:acme:found-p" in live.new


def test_a_server_of_others_brings_the_networks_of_its_ports(gate: Gate, paper: Paper) -> None:
    """A network of somebody else on the segment of another tenant: the server is in both."""
    paper.lists["Network"].append(network("vlan", THEIR_VLAN, project_id="nobody-we-know"))
    paper.lists["Subnet"].append(subnet("n"))
    paper.lists["Port"].append(at("n"))
    live = observed_plan(gate, paper, Server=server("poplar-1"))
    assert live.not_expressible == ()
    assert "ISO-01" in rules(live)


def test_a_server_of_others_on_anothers_network_is_judged_where_that_is_planned(gate: Gate, paper: Paper) -> None:
    paper.lists["Port"].append(at(THEIR_DATA))
    paper.lists["Server"].append(server("poplar-1"))
    found = audit(gate, PaperCloud(paper))
    ours, theirs = stack(found).live, stack(found, GLOBEX).live
    assert ours is not None
    assert theirs is not None
    assert ours.not_expressible == ("Server s (s)",)
    assert "L3-02" in rules(theirs)
