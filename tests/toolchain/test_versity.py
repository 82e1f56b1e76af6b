"""The Versity gateway, the S3 server of tests of buckets: pinned, built once, and said to be missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolchain.conftest import ROOT, Script
from toolchain import go
from toolchain.layout import CheckoutLayout
from toolchain.missing import MachineLacks
from toolchain.versity import RELEASE, ensure_versity

GO = 'case "$1" in version) echo "go version go1.26.8 linux/amd64"; exit;; esac\n'
BUILT = (
    GO + 'for out do case "$last" in -o) break;; esac; last=$out; done\nmkdir -p "$out"\n'
    f'printf "#!/bin/sh\\necho Version  : {RELEASE}\\n" > "$out/versitygw"; chmod +x "$out/versitygw"\n'
)
PATH = ":/usr/bin:/bin"


@pytest.fixture(autouse=True)
def _no_go_elsewhere(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    monkeypatch.setattr(go, "_GO_PLACES", (str(tools),))


def test_bucket_server_is_of_the_release_that_the_module_pins() -> None:
    assert f"github.com/versity/versitygw {RELEASE}" in (ROOT.versity_module / "go.mod").read_text()


def test_bucket_server_without_go_is_named_with_the_way_out(checkout: CheckoutLayout, tools: Path) -> None:
    with pytest.raises(MachineLacks) as failure:
        ensure_versity(checkout, str(tools))
    for words in ("Versity gateway", "Go 1.26 or newer", "go.dev/doc/install", "Do this"):
        assert words in str(failure.value)


def test_bucket_server_is_built_once(
    checkout: CheckoutLayout, tool: Script, tools: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tool("go", BUILT + f'echo x >> "{tools}/builds"')
    first = ensure_versity(checkout, str(tools) + PATH)
    assert ensure_versity(checkout, str(tools)) == first
    assert (tools / "builds").read_text() == "x\n"
    assert f"building the Versity gateway {RELEASE}" in capfd.readouterr().err


def test_a_bucket_server_of_another_release_is_refused(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    tool("go", BUILT.replace(RELEASE, "v1.7.9"))
    with pytest.raises(MachineLacks, match=r"'v1\.7\.9', not 'v1\.8\.0'"):
        ensure_versity(checkout, str(tools) + PATH)
    assert not list(checkout.made.glob("versity"))
