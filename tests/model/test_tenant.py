"""A request in full form: what every key becomes, and which values it did not state."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.model.load import InputErrors, Workspace, load_workspace
from interlock.model.tenant.expansion import read_tenant
from interlock.model.tenant.partitions import Partition
from interlock.model.tenant.reading import Offered
from interlock.model.tenant.request import Budget, Pins, ShareRequest, VolumeRequest, Volumes
from interlock.model.text.source import Source
from interlock.model.waivers import Waiver
from interlock.vocabulary import Person
from tests.model.small_site import changed, small_fleet

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK5LwnoymeFtwg6PSrWsUi6uqNZWKXtREdKhjcgSHCzs"

#: Ten lines: the shortest that is useful.
TEN_LINES = f"""\
# What Acme asks for.

name: Acme

access:
  ssh_public_key: {KEY}

vpods:
  train:
    machines: 4
"""

EVERYTHING = f"""\
name: Acme
state: present
separate: no
on_delete: snapshot
encrypted: true
access: {{members: [alice], ssh_public_key: {KEY}, ssh_from: [198.51.100.0/24]}}
vpods:
  train:
    ipus: 16
    generation: ipu-m2000
    poplar: {{servers: 2, kind: vm, flavor: poplar.half, image: poplar, volume: {{size: 100GiB, type: fast}}}}
    partitions:
      one: {{ipus: 8, gcds: 2, reconfigurable: true}}
      two: {{ipus: 4, gcds: 1, replicas: 4, sync_type: pod-native-default}}
  serve:
    machines: 2
    poplar: {{kind: bare-metal}}
volumes:
  scratch: {{size: 2TiB, type: fast, vpod: train, server: 1, on_delete: erase, encrypted: false}}
  spare: {{size: 1TiB, type: fast}}
buckets:
  checkpoints: {{versioning: false, readers: [serve], writers: [train], on_delete: keep}}
  papers: {{public: true}}
budget: 5000 EUR per month
waivers:
  ISO-07: {{owner: Anne, reason: The reference design shares it., expires: 2027-01-31}}
  CAP-02: {{owner: Anne, reason: One week only., expires: "2026-12-01"}}
pins:
  train:
    machines: ipum-0[1-4]
    hosts: [poplar-1, poplar-1]
    controller_host: infra-1
    storage_vlan: 2000
    control_vni: 10000
  serve: {{control_vlan: 160}}
"""


def workspace(folder: Path, text: str) -> Workspace:
    """The short site with this request of acme."""
    stacks = small_fleet(folder)
    (stacks / "yard/tenants/acme.yaml").write_text(text, encoding="utf-8")
    return load_workspace(stacks, "yard")


def test_ten_lines_make_a_vpod_with_one_server(tmp_path: Path) -> None:
    assert len(TEN_LINES.splitlines()) == 10
    acme = workspace(tmp_path, TEN_LINES).tenants["acme"]
    (train,) = acme.vpods
    assert (train.machines, train.generation, train.partitions) == (4, None, ())
    assert (train.poplar.servers, train.poplar.kind) == (1, "vm")
    assert (train.poplar.flavor, train.poplar.image, train.poplar.volume) == ("poplar.half", "poplar", None)
    assert (acme.state, acme.separate, acme.budget, acme.waivers) == ("present", "vpods", None, ())


@pytest.mark.parametrize(
    ("domain", "members", "read"),
    [
        ("default", "[alice, bob@ops, carol@Default]", ("alice", "bob@ops", "carol")),
        ("ops", "[alice, bob@default]", ("alice@ops", "bob")),
        ("default", "[anne@acme.example@ops, anne@acme.example@default]",
         ("anne@acme.example@ops", "anne@acme.example@default")),
    ],
)  # fmt: skip
def test_a_member_is_a_user_of_one_domain(tmp_path: Path, domain: str, members: str, read: tuple[str, ...]) -> None:
    """A name alone is of the site's domain; one person has one text."""
    found = in_domain(tmp_path, domain, members).tenants["acme"].access.members
    assert found == read
    assert tuple(str(Person.parse(member)) for member in found) == read


def test_one_member_under_two_texts_is_there_twice(tmp_path: Path) -> None:
    with pytest.raises(InputErrors, match="`alice@ops` is there twice"):
        in_domain(tmp_path, "ops", "[alice, alice@ops]")


def in_domain(folder: Path, domain: str, members: str) -> Workspace:
    """The short site in a Keystone domain, with these members of acme."""
    stacks = small_fleet(folder)
    site = stacks / "yard/site.yaml"
    site.write_text(f"domain: {domain}\n{site.read_text(encoding='utf-8')}", encoding="utf-8")
    text = TEN_LINES.replace("access:\n", f"access:\n  members: {members}\n")
    assert members in text
    (stacks / "yard/tenants/acme.yaml").write_text(text, encoding="utf-8")
    return load_workspace(stacks, "yard")


def test_every_default_is_noted_with_its_origin(tmp_path: Path) -> None:
    defaults = workspace(tmp_path, TEN_LINES).defaults["acme"]
    assert [(item.path, item.value, item.origin) for item in defaults] == [
        ("state", "present", "interlock"),
        ("separate", "vpods", "interlock"),
        ("on_delete", "keep", "interlock"),
        ("encrypted", "false", "interlock"),
        ("access.members", "none", "interlock"),
        ("access.ssh_from", "none", "interlock"),
        ("access.public", "none", "interlock"),
        ("vpods.train.generation", "any", "interlock"),
        ("vpods.train.poplar.servers", "1", "interlock"),
        ("vpods.train.poplar.kind", "vm", "interlock"),
        ("vpods.train.poplar.image", "poplar", "the site"),
        ("vpods.train.poplar.flavor", "poplar.half", "the site"),
        ("vpods.train.poplar.volume", "none", "interlock"),
        ("budget", "no limit", "interlock"),
    ]


def test_every_key_has_its_place_in_the_full_form(tmp_path: Path) -> None:
    acme = workspace(tmp_path, EVERYTHING).tenants["acme"]
    train, serve = acme.vpods
    assert (acme.state, acme.separate) == ("present", "no")
    assert (train.machines, train.generation) == (4, "ipu-m2000")
    assert train.poplar.volume == Volumes(size_gib=100, volume_type="fast", on_delete="snapshot", encrypted=True)
    assert train.partitions == (
        Partition(name="one", ipus=8, gcds=2, replicas=2, reconfigurable=True),
        Partition(name="two", ipus=4, replicas=4, sync_type="pod-native-default"),
    )
    assert (serve.poplar.kind, serve.poplar.flavor, serve.poplar.volume) == ("bare-metal", "", None)
    assert acme.volumes == (
        VolumeRequest(name="scratch", size_gib=2048, volume_type="fast", vpod="train", server=1, on_delete="erase"),
        VolumeRequest(name="spare", size_gib=1024, volume_type="fast", on_delete="snapshot", encrypted=True),
    )
    assert acme.budget == Budget(per_month="5000", currency="EUR")
    assert acme.pins["train"] == Pins(
        machines=("ipum-01", "ipum-02", "ipum-03", "ipum-04"), hosts=("poplar-1", "poplar-1"),
        controller_host="infra-1", storage_vlan=2000, control_vni=10000,
    )  # fmt: skip
    assert acme.pins["serve"] == Pins(control_vlan=160)


def test_buckets_and_waivers(tmp_path: Path) -> None:
    acme = workspace(tmp_path, EVERYTHING).tenants["acme"]
    checkpoints, papers = acme.buckets
    assert (checkpoints.readers, checkpoints.writers, checkpoints.public) == (("serve",), ("train",), False)
    assert (papers.versioning, papers.public, papers.on_delete) == (True, True, "snapshot")
    assert acme.waivers == (
        Waiver(rule="CAP-02", owner="Anne", reason="One week only.", expires="2026-12-01"),
        Waiver(rule="ISO-07", owner="Anne", reason="The reference design shares it.", expires="2027-01-31"),
    )


def test_the_tenants_own_word_is_the_origin_of_what_follows_from_it(tmp_path: Path) -> None:
    defaults = workspace(tmp_path, EVERYTHING).defaults["acme"]
    kept = [item.path for item in defaults if item.path.endswith("on_delete")]
    assert kept == [
        "vpods.train.poplar.volume.on_delete", "volumes.spare.on_delete", "buckets.papers.on_delete"
    ]  # fmt: skip
    assert {item.origin for item in defaults if item.path in kept} == {"the tenant"}
    assert ("vpods.train.partitions.one.replicas", "2") in {(item.path, item.value) for item in defaults}


def test_a_default_that_is_written_out_changes_nothing_but_the_note(tmp_path: Path) -> None:
    short = workspace(tmp_path / "a", TEN_LINES)
    stated = TEN_LINES + "    poplar: {servers: 1, kind: vm, flavor: poplar.half, image: poplar}\nseparate: vpods\n"
    long = workspace(tmp_path / "b", stated)
    assert short.tenants["acme"] == long.tenants["acme"]
    left = {item.path for item in short.defaults["acme"]} - {item.path for item in long.defaults["acme"]}
    assert left == {"separate"} | {f"vpods.train.poplar.{key}" for key in ("servers", "kind", "flavor", "image")}


def test_who_is_gone_may_have_no_vpod_any_more(tmp_path: Path) -> None:
    gone = TEN_LINES.replace("vpods:\n  train:\n    machines: 4\n", "vpods: {}\nstate: gone\n")
    acme = workspace(tmp_path / "a", gone).tenants["acme"]
    assert (acme.state, acme.vpods) == ("gone", ())
    restored = workspace(tmp_path / "b", f"{TEN_LINES}state: gone\n").tenants["acme"]
    assert (restored.state, len(restored.vpods)) == ("gone", 1)


def test_a_share_needs_a_share_type_of_the_site(tmp_path: Path) -> None:
    with pytest.raises(InputErrors, match="IN-002 `type` is missing, and the site has no default"):
        workspace(tmp_path, f"{TEN_LINES}shares: {{datasets: 20TiB}}\n")


def test_shares(tmp_path: Path) -> None:
    site = workspace(tmp_path, TEN_LINES)
    offered = replace(Offered.of(site.site, site.loaded.defaults), share_types={"nfs"})
    text = f"{TEN_LINES}  serve: {{ipus: 4}}\nshares:\n  a: {{size: 20TiB, type: nfs}}\n"
    text += "  b: {size: 1TiB, type: nfs, vpods: [serve], access: ro, on_delete: erase, mount: /data/b}\n"
    text += "  c: {size: 1TiB, type: nfs, vpods: [serve], mount: /mnt/c}\n"
    tenant, defaults = read_tenant("acme", Source(tmp_path / "acme.yaml", "acme.yaml", text), offered)
    assert tenant.shares == (
        ShareRequest(name="a", size_gib=20480, share_type="nfs", vpods=("train", "serve"), on_delete="keep"),
        ShareRequest(
            name="b", size_gib=1024, share_type="nfs", vpods=("serve",), access="ro", on_delete="erase", mount="/data/b"
        ),
        ShareRequest(name="c", size_gib=1024, share_type="nfs", vpods=("serve",), on_delete="keep"),
    )
    assert [item.mount_point for item in tenant.shares] == ["/mnt/a", "/data/b", "/mnt/c"]
    noted = {item.path: item.value for item in defaults if item.path.startswith("shares.a")}
    assert noted == {
        "shares.a.vpods": "train, serve", "shares.a.access": "rw", "shares.a.mount": "/mnt/a",
        "shares.a.on_delete": "keep",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("mount: data", "IN-007 `data` is no place to mount at"),
        ("mount: /data/../etc", "is no place to mount at"),
        ("mount: /etc/keys", "at /etc/keys a share would hide what servers keep there"),
        ("mount: /mnt", "at /mnt a share would hide what servers keep there"),
        ("mount: /mnt/a", "IN-009 `a` is mounted at /mnt/a of `train` already"),
    ],
)
def test_share_mounts_are_places_of_their_own(tmp_path: Path, entry: str, told: str) -> None:
    site = workspace(tmp_path, TEN_LINES)
    offered = replace(Offered.of(site.site, site.loaded.defaults), share_types={"nfs"})
    text = f"{TEN_LINES}shares:\n  a: {{size: 1TiB, type: nfs}}\n  b: {{size: 1TiB, type: nfs, {entry}}}\n"
    with pytest.raises(InputErrors) as raised:
        read_tenant("acme", Source(tmp_path / "acme.yaml", "acme.yaml", text), offered)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("mount", "told"),
    [
        ("/data", "IN-009 the servers' own volume is mounted at /data of `train` already"),
        ("/volumes/scratch", "IN-009 `scratch` is mounted at /volumes/scratch of `train` already"),
    ],
)
def test_a_share_hides_no_volume(tmp_path: Path, mount: str, told: str) -> None:
    site = workspace(tmp_path, TEN_LINES)
    offered = replace(Offered.of(site.site, site.loaded.defaults), share_types={"nfs"}, volume_types={"ssd"})
    text = TEN_LINES.replace("    machines: 4\n", "    machines: 4\n    poplar: {volume: {size: 1TiB, type: ssd}}\n")
    text += "volumes:\n  scratch: {size: 1TiB, type: ssd, vpod: train, server: 0}\n"
    text += f"shares:\n  a: {{size: 1TiB, type: nfs, mount: {mount}}}\n"
    with pytest.raises(InputErrors, match=re.escape(told)):
        read_tenant("acme", Source(tmp_path / "acme.yaml", "acme.yaml", text), offered)
    beside = text.replace(mount, f"{mount}-of-all")
    assert read_tenant("acme", Source(tmp_path / "acme.yaml", "acme.yaml", beside), offered)[0].shares


def test_rings_and_currency_are_those_of_the_site(tmp_path: Path) -> None:
    site = workspace(tmp_path, TEN_LINES)
    offered = replace(Offered.of(site.site, site.loaded.defaults), torus=True, currency="CHF")
    ring = TEN_LINES.replace("machines: 4", "{machines: 16, partitions: {all: {ipus: 64, routing: ringswnc}}}")
    ring = ring.replace("train:\n    {", "train: {")
    tenant, _ = read_tenant("acme", Source(tmp_path / "acme.yaml", "acme.yaml", ring), offered)
    assert tenant.vpods[0].partitions[0].routing == "ringswnc"
    budget = Source(tmp_path / "acme.yaml", "acme.yaml", f"{ring}budget: 10 EUR per month\n")
    with pytest.raises(InputErrors, match="IN-010 a budget in EUR: the site has its prices in CHF"):
        read_tenant("acme", budget, offered)


def test_names_of_volumes_count_between_tenants_too(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    tenants = stacks / "yard/tenants"
    (tenants / "acme.yaml").write_text(f"{TEN_LINES}volumes: {{x-y: {{size: 1TiB, type: fast}}}}\n", encoding="utf-8")
    (tenants / "acme-x.yaml").write_text(TEN_LINES.replace("train", "y"), encoding="utf-8")
    with pytest.raises(InputErrors, match="IN-009 on the cloud `acme-x-y` would be a name of tenant `acme-x` too"):
        load_workspace(stacks, "yard")


@pytest.mark.parametrize(
    ("budget", "amount"),
    [
        ("5000 EUR per month", "5000"),
        ("4999.90 EUR  per month", "4999.90"),
        ("{per_month: 5000, currency: EUR}", "5000"),
        ('{per_month: "4999.9", currency: EUR}', "4999.90"),
        ('{per_month: "0100.00", currency: EUR}', "100"),
    ],
)
def test_budgets_are_decimal(tmp_path: Path, budget: str, amount: str) -> None:
    acme = workspace(tmp_path, f"{TEN_LINES}budget: {budget}\n").tenants["acme"]
    assert acme.budget == Budget(per_month=amount, currency="EUR")


def test_a_request_that_is_refused_has_no_claims_to_look_at(tmp_path: Path) -> None:
    """One faulty request among good ones: the good ones are told nothing of."""
    stacks = small_fleet(tmp_path)
    tenants = stacks / "yard/tenants"
    (tenants / "globex.yaml").write_text(TEN_LINES, encoding="utf-8")
    changed(tenants / "acme.yaml", "machines: 4", "machines: 12")
    with pytest.raises(InputErrors) as raised:
        load_workspace(stacks, "yard")
    assert [error.position for error in raised.value.errors] == ["stacks/yard/tenants/acme.yaml:5:15"]
