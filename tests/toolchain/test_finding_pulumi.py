"""Which Pulumi is taken, and what is said where there is none. `go` and `pulumi` are scripts here."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.toolchain.conftest import Script
from toolchain import go
from toolchain.layout import CheckoutLayout
from toolchain.missing import MachineLacks
from toolchain.pulumi_cli import STAND_IN, ensure_pulumi, find_pulumi

GO = 'case "$1" in version) echo "go version go1.26.8 linux/amd64"; exit;; esac\n'
BUILD = 'for out do case "$last" in -o) break;; esac; last=$out; done\n'
BUILT = BUILD + 'mkdir -p "$out"; printf "#!/bin/sh\\necho v3.259.0\\n" > "$out/pulumi"; chmod +x "$out/pulumi"\n'
PATH = ":/usr/bin:/bin"


@pytest.fixture(autouse=True)
def _no_go_elsewhere(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    monkeypatch.setattr(go, "_GO_PLACES", (str(tools),))


def test_an_official_one_is_taken(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    cli = tool("pulumi", "echo v3.260.1")
    tool("pulumi-language-python", "exit 0")
    found = ensure_pulumi(checkout, str(tools))
    assert found.official
    assert found.executable == cli


@pytest.mark.parametrize(
    ("version", "host"),
    [("v3.258.9", "exit 0"), ("nonsense", "exit 0"), ("v3.260.0", f"# {STAND_IN}"), ("v3.260.0", None)],
    ids=["too old", "no version", "our own host", "no host"],
)
def test_one_that_does_not_serve_is_not_taken(
    checkout: CheckoutLayout, tool: Script, tools: Path, version: str, host: str | None
) -> None:
    tool("pulumi", f"echo {version}")
    if host:
        tool("pulumi-language-python", host)
    assert find_pulumi(checkout, str(tools)) is None


def test_the_version_is_asked_for_once(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    tool("pulumi", f'echo x >> "{tools}/asked"; echo v3.260.1')
    tool("pulumi-language-python", "exit 0")
    for _ in range(3):
        assert find_pulumi(checkout, str(tools) + PATH)
    assert (tools / "asked").read_text() == "x\n"


def test_without_pulumi_and_go_both_ways_out_are_named(checkout: CheckoutLayout, tools: Path) -> None:
    with pytest.raises(MachineLacks) as failure:
        ensure_pulumi(checkout, str(tools))
    for words in ("Pulumi is missing", "Go 1.26 or newer", "pulumi.com/docs/install", "go.dev/doc/install"):
        assert words in str(failure.value)


def test_an_old_go_is_named_with_its_version(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    tool("go", "echo go version go1.21.5 linux/amd64")
    with pytest.raises(MachineLacks, match=r"Go is too old here .* is 1\.21\.5"):
        ensure_pulumi(checkout, str(tools))


def test_a_build_stands_complete_with_our_host_beside(
    checkout: CheckoutLayout, tool: Script, tools: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tool("go", GO + BUILT)
    found = ensure_pulumi(checkout, str(tools) + PATH)
    assert not found.official
    assert STAND_IN in (found.executable.parent / "pulumi-language-python").read_text()
    told = capfd.readouterr()
    assert "building v3.259.0 from toolchain/pulumi/go.mod" in told.err
    assert told.out == ""
    assert find_pulumi(checkout, "") == found


def test_a_failed_build_shows_its_last_lines_and_leaves_nothing(
    checkout: CheckoutLayout, tool: Script, tools: Path
) -> None:
    tool("go", GO + BUILD + 'mkdir -p "$out"; echo half > "$out/pulumi"; echo "no such host" >&2; exit 1')
    with pytest.raises(MachineLacks, match="no such host"):
        ensure_pulumi(checkout, str(tools) + PATH)
    assert not list(checkout.made.glob("pulumi*"))


def test_a_build_of_another_version_is_refused(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    tool("go", GO + BUILT.replace("v3.259.0", "v3.258.0"))
    with pytest.raises(MachineLacks, match=r"'v3\.258\.0', not 'v3\.259\.0'"):
        ensure_pulumi(checkout, str(tools) + PATH)
    assert not list(checkout.made.glob("pulumi*"))


def build_elsewhere(checkout: CheckoutLayout, tools: Path) -> subprocess.Popen[str]:
    """`ensure_pulumi` in a process of its own, as `./run` does it."""
    code = (
        "import sys; from pathlib import Path\n"
        "from toolchain import go, making, layout, pulumi_cli\n"
        "making.stop_on_sigterm()\n"
        "go._GO_PLACES = (sys.argv[2],)\n"
        "pulumi_cli.ensure_pulumi(layout.CheckoutLayout(Path(sys.argv[1])), sys.argv[2] + sys.argv[3])\n"
    )
    command = [sys.executable, "-c", code, str(checkout.root), str(tools), PATH]
    return subprocess.Popen(command, cwd=checkout.root, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing(
    checkout: CheckoutLayout, tool: Script, tools: Path, number: signal.Signals
) -> None:
    tool("go", GO + BUILT + f'touch "{tools}/building"; exec sleep 60')
    running = build_elsewhere(checkout, tools)
    while not (tools / "building").exists():
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(number)
    running.communicate(timeout=30)
    assert running.returncode != 0
    assert not list(checkout.made.glob("pulumi*"))


def test_two_at_once_build_once(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    tool("go", GO + f'echo x >> "{tools}/builds"; sleep 1\n' + BUILT)
    both = [build_elsewhere(checkout, tools) for _ in range(2)]
    told = [running.communicate(timeout=30)[1] for running in both]
    assert [running.returncode for running in both] == [0, 0], told
    assert (tools / "builds").read_text() == "x\n"
    assert sum("another ./run is preparing" in text for text in told) == 1
