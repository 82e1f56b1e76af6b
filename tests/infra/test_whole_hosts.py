"""The site `lyon` with two of its Poplar hosts given out whole: locked, proved, checked again and listed for Ironic."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.audit.comparison import audit
from infra.program.gate import Gate
from tests.builders.paper import Paper
from tests.builders.paper_cloud import PaperCloud
from tests.infra.conftest import Interlock, Lyon

#: (what stands in the file, what stands there instead).
CHANGES = (
    (
        "      interfaces: {fabric100g: [ens161f0, ens161f1]}\n",
        """      interfaces: {fabric100g: [ens161f0, ens161f1]}
      bare_metal: {names: "poplar-[3-4]", interfaces: {fabric100g: [ens161f0, ens161f1], mgmt1g: [eno1]}}
      macs:
        {eno1: "02:00:00:00:04:[01-04]", ens161f0: "02:00:00:00:05:[01-04]", ens161f1: "02:00:00:00:06:[01-04]"}
""",
    ),
    ("        26-32: disabled\n", "        26-32: disabled\n        21-24: access # whole hosts\n"),
    (
        "        servers: access 20\n",
        "        servers: access 20\n        41,43: access # eno1 of whole hosts\n        42,44: disabled # and eno2\n",
    ),
    ("        49-50: trunk 110-199 #", "        49-50: trunk 110-199,3000-3099 #"),
    (
        "  # 1 is every switch's default",
        "  bare_metal_control: {physical_network: mgmt1g, vlans: 3000-3099}\n  # 1 is every switch's default",
    ),
    (
        "\n# What Neutron may give to networks that name no id.",
        """
ironic:
  conductor_group: lent
  networks:
    - {physical_network: mgmt1g, vlans: 3200-3203, subnets: {prefix: 10.128.0.0/24, each: 26}}

# What Neutron may give to networks that name no id.""",
    ),
    (
        "  A15: # Keystone gives",
        """  A13: {in_band_closed: true}
  A14:
    neutron_interface: true
    service_networks_closed: true
    ramdisk_endpoints_closed: true
    operator_owns_nodes: true
    consoles_disabled: true
  A23: {firmware_restored: true}
  A15: # Keystone gives""",
    ),
)


@pytest.fixture
def whole(unlocked: Lyon, interlock: Interlock) -> Lyon:
    """The site with its locks; globex has a whole host."""
    for old, new in CHANGES:
        unlocked.replace("site.yaml", old, new)
    unlocked.replace("tenants/globex.yaml", "poplar: {servers: 1}", "poplar: {servers: 1, kind: bare-metal}")
    done = interlock("lock")
    assert done.code == 0, done.err
    return unlocked


def test_it_is_proved_and_the_second_derivation_says_the_same(whole: Lyon, interlock: Interlock) -> None:
    file = str(whole.stacks / "{stack}.json")
    checked = interlock("check", "--certificate", file)
    assert checked.code == 0, checked.out
    verified = interlock("verify", file, "--site", "lyon")
    assert verified.code == 0, verified.out
    sound = [line for line in verified.out.splitlines() if line.startswith("sound")]
    assert [line.split(" is proved")[0] for line in sound] == [
        "sound: lyon-site", "sound: lyon-acme", "sound: lyon-globex",
    ]  # fmt: skip


def test_a_second_1g_interface_in_the_operators_vlan_is_found(whole: Lyon, interlock: Interlock) -> None:
    whole.replace("site.yaml", "        42,44: disabled # and eno2\n", "")
    assert interlock("lock").code == 0
    checked = interlock("check", "globex")
    assert checked.code == 1
    assert "ISO-02 violated: globex and op are joined" in checked.out
    assert "poplar-3 eno2 [globex]" in checked.out


def test_its_nodes_are_listed_with_all_ports(whole: Lyon, interlock: Interlock) -> None:
    assert whole.folder.exists()
    ended = interlock("nodes")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[:3] == [
        "poplar-3  dell-r6525  3 ports  deployed and cleaned on service-poplar-3",
        "poplar-4  dell-r6525  3 ports  deployed and cleaned on service-poplar-4",
        "ipum-01   ipu-m2000   3 ports  power and inventory only",
    ]


def test_without_ironic_the_request_is_refused_by_name_and_all_else_is_not(whole: Lyon, interlock: Interlock) -> None:
    text = whole.file("site.yaml").read_text()
    first, rest = text.split("ironic:\n")
    whole.file("site.yaml").write_text(first + rest.partition("\n\n")[2])
    assert interlock("lock", "--check").code == 0, "locks do not change with Ironic"
    told = interlock("check")
    assert told.code == 0, told.out
    lines = [line.strip() for line in (told.out + told.err).splitlines() if "BareMetalServer" in line]
    refused = "vpods.research.poplar.kind: BareMetalServer globex-research-poplar-0"
    assert lines == [f"{refused}: the site file has no `ironic`, so nothing deploys hosts"]


SERVER = "globex-research-poplar-0"


@pytest.fixture
def audited(whole: Lyon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Gate, Paper]:
    """All plans, and a cloud on paper that has what they say."""
    (tmp_path / "clouds.yaml").write_text("clouds: {}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    gate = whole.gate().with_applied()
    return gate, Paper.of(gate.plan(tenant) for tenant in gate.stacks())


def drift_of(gate: Gate, paper: Paper) -> list[str]:
    """Of globex, in words."""
    (globex,) = (one for one in audit(gate, PaperCloud(paper)).stacks if one.plan.stack == "lyon-globex")
    return [" ".join((item.name, *sorted(item.differs), *(() if item.ids else ("gone",)))) for item in globex.drift]


def test_an_audit_lists_whole_hosts(audited: tuple[Gate, Paper]) -> None:
    gate, paper = audited
    assert drift_of(gate, paper) == []
    (node,) = paper.lists["BareMetalNode"]
    port = next(one for one in paper.lists["BareMetalPort"] if one["node_uuid"] == node["id"])
    attached = port["internal_info"].pop("tenant_vif_port_id")
    assert drift_of(gate, paper) == [f"{SERVER} legs"]
    port["internal_info"]["tenant_vif_port_id"] = attached
    node["instance_info"]["display_name"] = "another"
    assert drift_of(gate, paper) == [f"{SERVER} name"]


def test_an_audit_finds_a_whole_host_that_is_gone_or_anothers(audited: tuple[Gate, Paper]) -> None:
    gate, paper = audited
    (node,) = paper.lists["BareMetalNode"]
    paper.lists["BareMetalServer"].clear()
    node["instance_uuid"] = "another"
    assert drift_of(gate, paper) == [f"{SERVER} gone"]
    found = audit(gate, PaperCloud(paper))
    assert [(item.kind, item.why) for item in found.unmanaged] == [
        ("BareMetalServer", f"it has host {node['name']} of the site")
    ]
