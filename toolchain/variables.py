"""The environment variables of every run, and how a shell takes them over."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from toolchain.layout import CheckoutLayout
from toolchain.pulumi_cli import Pulumi

DEMO_PASSPHRASE = "interlock-demo"
"""Protects nothing: it is public, belongs to the embedded cloud, and the provider refuses it on any other."""

_FIXED = {
    "PULUMI_SKIP_UPDATE_CHECK": "true",
    "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    "PULUMI_CREDENTIAL_STORE": "plaintext",
    "PULUMI_NEO": "false",
    # Some shells and containers set it. A `pulumi up` starts Python seven times: each would compile every module again.
    "PYTHONDONTWRITEBYTECODE": "",
}


def variables(layout: CheckoutLayout, inherited: Mapping[str, str], pulumi: Pulumi | None) -> dict[str, str]:
    """What a run sets on top of `inherited`. What the user has set already wins over our defaults."""
    defaults = {
        "PULUMI_BACKEND_URL": f"file://{layout.state}",
        "PULUMI_HOME": str(layout.pulumi_home),
        "OS_CLIENT_CONFIG_FILE": str(layout.sandbox_clouds),
    }
    chosen = {name: inherited.get(name) or value for name, value in defaults.items()}
    # An empty passphrase is one that a user may have chosen; the other variables mean nothing when empty.
    if "PULUMI_CONFIG_PASSPHRASE" not in inherited and not inherited.get("PULUMI_CONFIG_PASSPHRASE_FILE"):
        chosen["PULUMI_CONFIG_PASSPHRASE"] = DEMO_PASSPHRASE
    return {"PATH": search_path(layout, inherited, pulumi), **_FIXED, **chosen}


def search_path(layout: CheckoutLayout, inherited: Mapping[str, str], pulumi: Pulumi | None) -> str:
    """PATH with our folders in front, each once, however often it was prepared before."""
    environment, built = layout.venv / "bin", layout.built_pulumi / "bin"
    ours = [environment] if pulumi and pulumi.official else [environment, built]
    return os.pathsep.join([*map(str, ours), foreign_path(layout, inherited)])


def foreign_path(layout: CheckoutLayout, inherited: Mapping[str, str]) -> str:
    """PATH without what a prepared shell has put there."""
    entries = inherited.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if not Path(entry).is_relative_to(layout.made))


def export_lines(values: Mapping[str, str]) -> str:
    """Lines for `eval`, safe for any value."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(values.items()))
