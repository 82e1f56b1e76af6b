"""A site of two leaf groups that reuse VLAN ids, with two tenants: beside it the sandbox's rack `twoleaves`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = "twoleaves"
FOLDER = Path(__file__).with_name(SITE)
TENANTS = ("acme", "globex")

#: What a stack's configuration is besides the folder of its site and its tenant; the passphrase is the demo's.
_SALT = "encryptionsalt: v1:NzztQdMH26Q=:v1:rQ7IGUhSCeEZD2YG:FUiN/NUTtW2tlfKteoQoYr6Pk1yecQ==\n"

#: What lyon states of its storage appliance, which this site has not.
_OF_THE_APPLIANCE = (
    r"(?m)^# The embedded cloud's back end that makes.*\nshare_types:\n(?:  .*\n)+",
    r", share_type: nfs",
    r"(?m)^  filer:\n(?:    .*\n)+",
)


def site_text() -> str:
    """The site file: flavours, images, sharing, assumptions and so on are the demo's."""
    _, found, rest = (ROOT / "stacks" / "lyon" / "site.yaml").read_text().partition("\nflavors:\n")
    assert found
    for block in _OF_THE_APPLIANCE:
        rest, count = re.subn(block, "", rest)
        assert count == 1, block
    return (FOLDER / "site.yaml").read_text() + found + rest


def write_stacks(stacks: Path) -> None:
    """A folder of stacks with this site alone, without locks."""
    shutil.copytree(FOLDER, stacks / SITE)
    (stacks / SITE / "site.yaml").write_text(site_text())
    shutil.copytree(ROOT / "stacks" / "lyon" / "images", stacks / SITE / "images")
    (stacks / "fleet.yaml").write_text(f"name: packets\nsites: {{{SITE}: {{default: true}}}}\n")
    for tenant in (None, *TENANTS):
        of_tenant = f"  clusters:tenant: {tenant}\n" if tenant else ""
        text = f"config:\n  clusters:site: {SITE}\n{of_tenant}{_SALT}"
        (stacks / f"Pulumi.{SITE}-{tenant or 'site'}.yaml").write_text(text)
