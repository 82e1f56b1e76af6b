"""The site `lyon` with two of its Poplar hosts given out whole: locked, proved, checked again and listed for Ironic."""

from __future__ import annotations

import pytest

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
    ("        uplinks: disabled\n", "        uplinks: disabled\n        21-24: access # whole hosts\n"),
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
