"""The committed stacks are made once, by however many `./run` at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.toolchain.conftest import Script
from toolchain.layout import CheckoutLayout
from toolchain.missing import MachineLacks
from toolchain.pulumi_cli import Pulumi
from toolchain.stacks import ensure_stacks

#: As the engine's local backend: slow to write, and a stack that is there is refused.
INIT = """\
file="{state}/.pulumi/stacks/clusters/$3.json"
if [ -e "$file" ]; then echo "error: stack '$3' already exists" >&2; exit 255; fi
/bin/sleep 0.1
/bin/mkdir -p "{state}/.pulumi/stacks/clusters"
set -C
: > "$file"
"""


def with_stacks(checkout: CheckoutLayout, *names: str) -> dict[str, str]:
    """The checkout with these committed stacks and none made; what selects its default backend."""
    (checkout.root / "stacks").mkdir()
    for name in names:
        (checkout.root / "stacks" / f"Pulumi.{name}.yaml").touch()
    return {"PULUMI_BACKEND_URL": f"file://{checkout.state}"}


def test_several_at_once_make_each_stack_once(checkout: CheckoutLayout, tool: Script) -> None:
    """On a new clone two shells, or two tests, come here at the same time: the second waits and finds them made."""
    values = with_stacks(checkout, "lyon-acme", "lyon-site")
    pulumi = Pulumi(tool("pulumi", INIT.format(state=checkout.state)), official=False)
    together = Barrier(4)

    def one(_number: int) -> list[str]:
        together.wait()
        return ensure_stacks(checkout, pulumi, values)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(one, range(4)))
    assert sorted(made) == [[], [], [], ["lyon-acme", "lyon-site"]]


def test_another_backend_is_the_users(checkout: CheckoutLayout, tool: Script) -> None:
    with_stacks(checkout, "lyon-acme")
    pulumi = Pulumi(tool("pulumi", "exit 1"), official=False)
    assert ensure_stacks(checkout, pulumi, {"PULUMI_BACKEND_URL": "s3://mine"}) == []


def test_what_pulumi_says_is_told(checkout: CheckoutLayout, tool: Script) -> None:
    values = with_stacks(checkout, "lyon-acme")
    pulumi = Pulumi(tool("pulumi", "echo no space left >&2; exit 1"), official=False)
    with pytest.raises(MachineLacks, match="stack lyon-acme could not be made: no space left"):
        ensure_stacks(checkout, pulumi, values)
