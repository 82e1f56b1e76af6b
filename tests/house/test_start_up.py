"""What the processes that every `pulumi up` waits for may not import before they have something to do.

A test of how long they take would fail on a busy machine and pass on a quick one. What they load is what costs: each of
these modules takes from a tenth of a second to half a second.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "policies" / "pack" / "__main__.py"
HOST = ROOT / "toolchain" / "language_host.py"

#: The parts of Pulumi's SDK that the stubs of its protocol bring with them unless told otherwise.
SDK = ("pulumi.resource", "pulumi.automation", "pulumi.runtime.stack", "opentelemetry")
#: All that openstacksdk knows of services.
SERVICES = ("openstack.connection", "openstack.compute", "openstack.cloud")
#: What a few commands need.
HEAVY = ("networkx", "scipy", "boto3", "jsonschema", "netaddr", "netutils", "moto")
#: What only people at a terminal need.
TERMINAL = ("typer", "click", "rich")

#: How a process starts -> what runs up to where it waits for its first call.
ENTRIES: Mapping[str, str] = {
    "language host": f"import runpy; runpy.run_path({str(HOST)!r}, run_name='started')",
    "provider": "import runpy; runpy.run_module('interlock.provider', run_name='started')",
    "provider with clouds.yaml": (
        "import runpy; runpy.run_module('interlock.provider', run_name='started')\n"
        "from interlock.provider.clouds import Cloud\n"
        "assert Cloud('somewhere').region == ''"
    ),
    "policy pack": (  # which serves as soon as it is made
        "import runpy, pulumi_policy\n"
        "pulumi_policy.PolicyPack = lambda **pack: None\n"
        f"runpy.run_path({str(PACK)!r}, run_name='started')"
    ),
    "program": "import infra.__main__",
    "program with the demo's passphrase": (
        "import infra.__main__\nfrom infra.program.passphrase import is_sandbox\nassert is_sandbox('somewhere')"
    ),
}

#: The same -> what must not be loaded then.
KEPT_OUT: Mapping[str, tuple[str, ...]] = {
    "language host": (*SDK, *SERVICES, *HEAVY, *TERMINAL, "pydantic", "openstack", "interlock.resources"),
    "provider": (*SDK, *SERVICES, *HEAVY, *TERMINAL, "openstack", "interlock.planning", "interlock.model.site"),
    "provider with clouds.yaml": (*SDK, *SERVICES, *HEAVY, *TERMINAL),
    "policy pack": (*SERVICES, *HEAVY, *TERMINAL, "openstack", "policies.rules", "policies.graph", "interlock.model"),
    "program": (*SERVICES, *HEAVY, *TERMINAL, "openstack"),
    "program with the demo's passphrase": (*SERVICES, *HEAVY, *TERMINAL),
}

CLOUDS = """\
clouds:
  somewhere:
    auth: {auth_url: "http://127.0.0.1:9/v3", username: operator, password: nobody-knows, project_name: operator}
"""

LIST = "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"


def loaded(code: str, folder: Path) -> list[str]:
    """The modules of a new process after this code."""
    (folder / "clouds.yaml").write_text(CLOUDS)
    environment = {**os.environ, "OS_CLIENT_CONFIG_FILE": str(folder / "clouds.yaml")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code + LIST], cwd=folder, env=environment, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules: list[str] = json.loads(done.stdout.splitlines()[-1])
    return modules


def among(modules: Iterable[str], packages: Iterable[str]) -> list[str]:
    """The modules that are one of these or lie in one of them."""
    return sorted(name for name in modules if any(name == one or name.startswith(one + ".") for one in packages))


@pytest.mark.parametrize("entry", ENTRIES)
def test_start_up_loads_only_what_it_needs(entry: str, tmp_path: Path) -> None:
    assert among(loaded(ENTRIES[entry], tmp_path), KEPT_OUT[entry]) == []


def test_the_table_would_see_what_is_loaded(tmp_path: Path) -> None:
    found = loaded("import pulumi, openstack", tmp_path)
    for name in (*SDK, "openstack.connection", "openstack.compute"):
        assert among(found, [name]), name


DEFERRED = """\
from interlock.deferred_imports import defer
defer("policies", "pulumi", "pulumi.runtime", "pulumi.runtime.proto", "openstack", "json", "no_such_package")
import sys
from pulumi.runtime.proto import language_pb2
assert language_pb2.RunRequest is not None
assert "pulumi.resource" not in sys.modules
import openstack.config
assert "openstack.connection" not in sys.modules
# From here on somebody uses the packages themselves.
import pulumi, openstack, policies
assert pulumi.CustomResource is not None
assert "pulumi.resource" in sys.modules
assert pulumi.runtime.set_mocks is not None
assert pulumi.runtime.proto is not None
assert openstack.connect is not None
assert openstack.config.OpenStackConfig is not None
from policies import RULES, prove
assert RULES
import json
assert json.loads("[]") == []
try:
    pulumi.no_such_name
except AttributeError:
    pass
else:
    raise AssertionError("a name that is not there was found")
"""


def test_a_deferred_package_is_whole_once_it_is_used(tmp_path: Path) -> None:
    assert loaded(DEFERRED, tmp_path)
