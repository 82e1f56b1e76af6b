"""What an `up` refuses, a preview says: credential, domain, quotas, state; and what nobody could look at."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.preflight import preflight
from interlock.resources import Keypair, Network, Project, Resource
from tests.conftest import Sandbox
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import KEY, quota

OWNER, SITE_OWNER = "f00d01", "51e730"


def program(process: Process, folder: Path, resources: dict[str, Resource]) -> Stack:
    return Stack(process, "lyon-frank", OWNER, resources, SITE_OWNER, folder)


@pytest.fixture
def login(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a clouds.yaml in which the operator logs in otherwise."""

    def write(**auth: Any) -> None:
        text = yaml.safe_load(sandbox.clouds_yaml.read_text())
        entry = text["clouds"]["sandbox"]
        entry |= auth.pop("entry", {})
        kept = {} if auth.pop("alone", False) else entry["auth"]
        entry["auth"] = {key: value for key, value in (kept | auth).items() if value is not None}
        path = tmp_path / "clouds.yaml"
        path.write_text(yaml.safe_dump(text))
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))

    return write


@pytest.fixture
def application_credential(operator: Cloud) -> Iterator[dict[str, str]]:
    """Of the operator's own user, with all of its roles and nothing withheld."""
    path = f"/users/{operator.login.user}/application_credentials"
    body = {"name": f"x-{secrets.token_hex(3)}", "unrestricted": True}
    made = operator.api("identity").post(path, {"application_credential": body})["application_credential"]
    yield {"application_credential_id": made["id"], "application_credential_secret": made["secret"]}
    operator.api("identity").delete(f"{path}/{made['id']}")


def test_an_application_credential_is_told_before_it_stops_half_way(
    process: Process, folder: Path, operator: Cloud, application_credential: dict[str, str], login: Any
) -> None:
    auth_url = yaml.safe_load(Path(_config()).read_text())["clouds"]["sandbox"]["auth"]["auth_url"]
    services = next(operator.api("identity").items("/projects", "projects", name="service"))["id"]
    login(alone=True, auth_url=auth_url, entry={"auth_type": "v3applicationcredential"}, **application_credential)
    # It is an administrator, and makes projects; a server in one of them it cannot make.
    cloud = Cloud("sandbox")
    assert "admin" in cloud.login.roles
    with pytest.raises(Failure, match="logs in with an application credential"):
        cloud.api("compute", services).get("/servers")
    (fault,) = preflight(program(process, folder, {}).admission())
    assert fault.code == "credential"
    assert "logs in with an application credential, whose tokens are for one project only" in fault.message
    assert program(process, folder, {}).admit(preview=True) == [str(fault)]


def _config() -> str:
    import os

    return os.environ["OS_CLIENT_CONFIG_FILE"]


def test_a_login_without_a_project_is_told(process: Process, folder: Path, login: Any) -> None:
    login(project_name=None, project_domain_name=None, system_scope="all")
    faults = preflight(program(process, folder, {}).admission())
    assert [fault.message for fault in faults if fault.code == "credential"] == [
        "cloud 'sandbox' logs in without a project, and the operator's own objects need one"
    ]


def test_a_domain_that_is_not_there_is_told(process: Process, folder: Path, operator: Cloud) -> None:
    projects: dict[str, Resource] = {"f-project": Project(name="f", domain="nowhere")}
    assert [fault.message for fault in preflight(program(process, folder, projects).admission())] == [
        "Keystone has no domain nowhere"
    ]
    body = {"name": f"x-{secrets.token_hex(3)}", "enabled": False}
    domain = operator.api("identity").post("/domains", {"domain": body})["domain"]
    projects = {"f-project": Project(name="f", domain=domain["name"]), "f-other": Project(name="g", domain="Default")}
    (fault,) = preflight(program(process, folder, projects).admission())
    assert fault.message == f"the domain {domain['name']} is disabled: nobody can log in there"
    operator.api("identity").delete(f"/domains/{domain['id']}")


def test_the_operators_user_may_have_only_so_many_key_pairs(process: Process, folder: Path, operator: Cloud) -> None:
    """Nova's usual limit is 100, and each tenant's lie with the same user: the 101st tenant ended half-way."""
    api, project = operator.api("compute"), operator.login.project
    there = len(list(api.items("/os-keypairs", "keypairs")))
    pairs: dict[str, Resource] = {name: Keypair(name=name, public_key=KEY) for name in ("f-one", "f-two")}
    found = program(process, folder, pairs)
    try:
        api.put(f"/os-quota-sets/{project}", {"quota_set": {"key_pairs": there + 1}})
        (fault,) = preflight(found.admission())
        assert f"may have {there + 1} key pairs and has {there}: the plan needs 2 more" in fault.message
        assert found.admit(preview=True) == [str(fault)]
        api.put(f"/os-quota-sets/{project}", {"quota_set": {"key_pairs": there + 2}})
        later = program(Process(), folder, pairs)
        assert later.admit(preview=False) == []
        later.create("f-one")
        api.put(f"/os-quota-sets/{project}", {"quota_set": {"key_pairs": there + 1}})
        # Nova counts as the preflight does; what is there already is no obstacle.
        with pytest.raises(Refused, match=r"(?i)quota"):
            later.create("f-two")
        del later.resources["f-two"]
        assert preflight(later.admission()) == []
        later.delete_all()
        later.process.close()
    finally:
        api.delete(f"/os-quota-sets/{project}")


def test_a_quota_that_is_too_small_is_told_in_the_preview(process: Process, folder: Path, operator: Cloud) -> None:
    api, project = operator.api("network"), operator.login.project
    used = api.get(f"/quotas/{project}/details")["quota"]["network"]["used"]
    api.put(f"/quotas/{project}", {"quota": {"network": used}})
    nets: dict[str, Resource] = {"f-net": Network(name="f-net", network_type="vxlan", segmentation_id=880100)}
    try:
        (fault,) = program(process, folder, nets).admit(preview=True)
    finally:
        api.delete(f"/quotas/{project}")
    assert f"may have {used} networks: others use {used}, the plan needs 1" in fault


def test_a_state_of_another_cloud_is_told_in_the_preview(process: Process, folder: Path) -> None:
    """Every later request would be refused; the preview said that there is nothing to do."""
    found = program(process, folder, {"f-project": Project(name="f-project")})
    assert found.admit(preview=False) == []
    found.create("f-project")
    there = found.state["f-project"].outputs["cloud_id"]
    assert found.diff("f-project") == {}
    found.state["f-project"].outputs["cloud_id"] = "another"
    with pytest.raises(Refused, match="is on the cloud another"):
        found.diff("f-project")
    found.state["f-project"].outputs["cloud_id"] = there
    again = program(Process(), folder, found.resources)
    again.state = found.state
    assert again.admit(preview=False) == []
    again.delete_all()
    again.process.close()


def test_what_does_not_answer_is_not_looked_at_and_the_update_refuses(
    folder: Path, login: Any, operator: Cloud
) -> None:
    login(auth_url="http://127.0.0.1:9/v3")
    process = Process()
    found = program(process, folder, {"f-project": Project(name="f-project"), "f-quota": quota("f-project")})
    assert found.admit(preview=True) == []
    (note,) = process.notes
    assert note.startswith("not looked at: cloud 'sandbox': ")
    assert found.create("f-project", preview=True).id == ""
    (fault,) = process.admit(found.admission(), preview=False)
    assert "the connection was refused" in fault
    process.close()
