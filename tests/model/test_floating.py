"""`access.public` and `bastion`: short forms and defaults filled in, and what a lock of before goes on to hold."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interlock.model.load import Workspace, load_workspace
from interlock.model.site.bastion import Bastion
from interlock.model.tenant.request import PublicServers, Tenant
from interlock.planning import request_hash
from interlock.planning.hashes import SiteHashes
from tests.builders.pod64 import ssh_key

BASE = Path(__file__).parents[1] / "errors/base"
KEY = ssh_key("acme")
BASTION = "bastion: {host: bastion.yard.example, prefixes: [192.0.2.10/32]}\n"


def yard(folder: Path, access: str, site: str = "") -> Workspace:
    """The yard, with this under `access:` of acme and this in front of the site file."""
    stacks = folder / "stacks"
    shutil.copytree(BASE, stacks)
    vpods = "{train: {machines: 4, poplar: {servers: 3}}}"
    text = f"name: Acme\naccess: {{ssh_public_key: {KEY}{access}}}\nvpods: {vpods}\n"
    (stacks / "yard/tenants/acme.yaml").write_text(text, encoding="utf-8")
    file = stacks / "yard/site.yaml"
    file.write_text(site + file.read_text(encoding="utf-8"), encoding="utf-8")
    return load_workspace(stacks, "yard")


def acme(folder: Path, access: str, site: str = "") -> Tenant:
    return yard(folder, access, site).tenants["acme"]


@pytest.mark.parametrize(
    ("access", "servers", "prefixes"),
    [
        (", public: {train: {servers: [2, 0], ssh_from: [192.0.2.0/28]}}", (0, 2), ("192.0.2.0/28",)),
        (", ssh_from: [198.51.100.0/24], public: {train: }", (0, 1, 2), ("198.51.100.0/24",)),
        (", ssh_from: [198.51.100.0/24], public: {train: {servers: all}}", (0, 1, 2), ("198.51.100.0/24",)),
        (", ssh_from: [198.51.100.0/24], public: {train: {ssh_from: [192.0.2.0/28]}}", (0, 1, 2), ("192.0.2.0/28",)),
    ],
)
def test_public_servers_in_full_form(
    access: str, servers: tuple[int, ...], prefixes: tuple[str, ...], tmp_path: Path
) -> None:
    assert acme(tmp_path, access).access.public == (
        PublicServers(vpod="train", servers=servers, ssh_from=prefixes),
    )  # fmt: skip


def test_with_a_bastion_no_prefix_of_ones_own_is_needed(tmp_path: Path) -> None:
    found = acme(tmp_path, ", public: {train: {servers: [0]}}", BASTION)
    assert found.access.public == (PublicServers(vpod="train", servers=(0,), ssh_from=()),)


def test_the_bastion_in_full_form(tmp_path: Path) -> None:
    site = yard(tmp_path, "", BASTION).site
    assert site.bastion == Bastion(host="bastion.yard.example", prefixes=("192.0.2.10/32",))


def test_what_is_left_to_defaults_is_noted(tmp_path: Path) -> None:
    noted = yard(tmp_path, ", ssh_from: [198.51.100.0/24], public: {train: }").defaults["acme"]
    about = {item.path: (item.value, item.origin) for item in noted if item.path.startswith("access.public")}
    assert about == {
        "access.public.train.servers": ("all", "interlock"),
        "access.public.train.ssh_from": ("198.51.100.0/24", "the tenant"),
    }


def test_a_request_that_makes_something_public_is_another(tmp_path: Path) -> None:
    plain = acme(tmp_path / "a", "")
    public = acme(tmp_path / "b", ", public: {train: {ssh_from: [192.0.2.0/28]}}")
    assert request_hash(public) != request_hash(plain)


def test_no_lock_rests_on_the_bastion(tmp_path: Path) -> None:
    """It takes no claim, so a site that gets one needs no new locks."""
    without, with_one = (SiteHashes(yard(tmp_path / name, "", text).site) for name, text in (("a", ""), ("b", BASTION)))
    assert without.whole == with_one.whole
