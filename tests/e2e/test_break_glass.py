"""A night by hand on the real services: what `break-glass plan` prints is pasted, judged, closed, and set back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from openstack.connection import Connection

from sandbox.switches.keys import WRITER, user_key_file
from tests.conftest import Sandbox
from tests.e2e.identity import identity
from tests.e2e.project import Project
from tests.e2e.s3 import client, refusal
from tests.sandbox.switch_sessions import Client, clients
from tests.support.cloud.by_hand import paste

STACK, KEY, ROLE = "lyon-acme", "acme-train-s3-key", "acme-train-s3-role"
SHARE = "acme-datasets-access-train"
MEMBERS = ("acme-member-alice", "acme-member-anne")

Acts = dict[str, dict[str, Any]]


def plan(project: Project) -> Acts:
    """What is printed for the tenant, by act and first object."""
    printed = project.must(project.interlock("break-glass", "plan", "acme", "--json")).out
    return {f"{act['act']} {act['objects'][0]}": act for act in json.loads(printed)["acts"]}


def close(project: Project, *arguments: str) -> Any:
    looked = ("--looked", "vipu-admin list user: both are there")
    return project.interlock("break-glass", "close", "acme", *looked, *arguments)


def typed(sandbox: Sandbox, switch: str, lines: list[str]) -> None:
    """At the console of a switch, as who may change it."""
    writer = {"username": WRITER, "key_file": str(user_key_file(sandbox.dir / "state" / "switches", WRITER))}
    assert clients(sandbox.dir)[switch].answers("\n".join(lines), **writer) == [(0, "")]


def rules(cloud: Connection, share: str) -> Any:
    """Who may mount a share."""
    asked = {"X-OpenStack-Manila-API-Version": "2.74"}
    answer = cloud.shared_file_system.get(f"/share-access-rules?share_id={share}", headers=asked)
    return answer.json()["access_list"]


def is_up(switch: Client, port: str) -> bool:
    """True unless somebody shut it."""
    return bool(switch.show(f"interfaces {port} status")["interfaceStatuses"][port]["linkStatus"] != "disabled")


@contextmanager
def by_hand(sandbox: Sandbox, with_ids: Acts, by_names: Acts) -> Iterator[str]:
    """Five acts of a night, some of them without a state; yields the switch port that was shut."""
    for acts, name in (
        (with_ids, f"take-role {ROLE}"),
        (by_names, f"revoke-s3-key {KEY}"),
        (with_ids, f"take-role {MEMBERS[0]}"),
        (by_names, f"take-role {MEMBERS[1]}"),
        (with_ids, f"close-share {SHARE}"),
    ):
        paste(acts[name]["commands"], OS_CLOUD=sandbox.cloud)
    shut = next(
        act for name, act in with_ids.items() if name.startswith("shut-switch-port") and "tor-1" in act["where"]
    )
    typed(sandbox, "tor-1", shut["commands"])
    try:
        yield next(line.split()[1] for line in shut["commands"] if line.startswith("interface "))
    finally:
        typed(sandbox, "tor-1", shut["back"])


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A backend without stacks."""
    (tmp_path / ".pulumi" / "stacks" / "clusters").mkdir(parents=True)
    return tmp_path


def test_acts_are_pasted_judged_closed_and_set_back(
    applied: Project, cloud: Connection, sandbox: Sandbox, nowhere: Path
) -> None:
    own = applied.objects(STACK)
    project, told = own["acme-project"]["id"], applied.output(STACK, "--show-secrets")["vpods"]["acme-train"]
    key = client(cloud, told["s3_access_key"], told["s3_secret_key"])
    assert refusal(key.list_buckets) is None
    applied.must(applied.interlock("break-glass", "open", "acme", "--reason", "INC-1207: a key is on the internet"))
    acts = plan(applied)
    with by_hand(sandbox, acts, plan(applied.with_environment(PULUMI_BACKEND_URL=nowhere.as_uri()))) as port:
        assert refusal(key.list_buckets) is not None
        rights = identity(cloud).role_assignments(scope_project_id=project)
        assert {right.user["id"] for right in rights} & {
            own[name]["id"].split("/")[1] for name in (ROLE, *MEMBERS)
        } == set()
        assert rules(cloud, own["acme-datasets"]["id"]) == []
        assert not is_up(clients(sandbox.dir)["tor-1"], port)
        judged = close(applied, "--dry-run", "--json")
        assert judged.code == 1, judged.text
        found = {item["object"]: item for item in json.loads(judged.out)["differences"]}
        # A bucket stands on its key, and the port is told twice: by Neutron's driver nobody asks, by the switch.
        assert {name for name in found if "Bucket" not in name and "switch" not in name} == {
            f"S3Credential {KEY}", f"ShareAccess {SHARE}", *(f"RoleAssignment {name}" for name in (ROLE, *MEMBERS))
        }  # fmt: skip
        assert {item["verdict"] for item in found.values()} <= {"undo", "take over or undo"}
        assert [name for name in found if name.startswith("switch tor-1")] != []
        assert f"of {STACK} is open: " in applied.pulumi("preview", STACK).text
        closed = close(applied, "--undo", "all")
        assert closed.code == 0, closed.text
    # The key and its user's right first, as `close` said: with one of them gone, no refresh can ask for the bucket.
    first = re.findall(r"`(pulumi [^`]+)`", found[f"S3Credential {KEY}"]["undo"])
    assert len(first) == 2
    sure = applied.with_environment(PULUMI_SKIP_CONFIRMATIONS="true")
    applied.must(sure.run("sh", "-eu", "-c", "\n".join(first)))
    applied.must(applied.plain_up(STACK, "--refresh"))
    applied.must(applied.interlock("audit"))
    assert is_up(clients(sandbox.dir)["tor-1"], port)
    assert applied.interlock("break-glass", "list").code == 0
