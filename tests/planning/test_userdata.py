"""Documents of servers: valid by cloud-init's own schema, read back as they were meant, and without a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from interlock.planning.guest import (
    CloudConfig,
    GuestFile,
    Part,
    controller_user_data,
    poplar_user_data,
)
from interlock.planning.guest.disks import GuestVolume
from interlock.planning.guest.fabric import NETPLAN, FabricInterface
from interlock.planning.guest.kernel import kernel_parameters
from interlock.planning.guest.poplar import ENVIRONMENT, VipuApi
from interlock.planning.guest.shares import GuestShare
from interlock.resources import BareMetalServer, Server, VolumeAttachment
from interlock.resources.storage import device_tag
from policies.facts.user_data import contents, fetches_keys
from policies.rules.credentials import credentials_in
from tests.planning.golden import plans

HERE = Path(__file__).parent
FOLDER = HERE / "user_data"
SCHEMA = json.loads((HERE / "cloud_init" / "schema-cloud-config-v1.json").read_text(encoding="utf-8"))
#: What Nova takes, as base64 (its `user_data` column).
MOST_BYTES = 65535

API = VipuApi("10.18.0.5", 8090, "10.20.0.0/24")
SHARE = GuestShare("acme-datasets", "10.21.0.2:", "/mnt/datasets", "nfs", ("rw", "vers=4.1", "nofail", "_netdev"))
#: Name of the approved file -> the document.
APPROVED = {
    "poplar": poplar_user_data("acme-train-poplar-0", API),
    "partition": poplar_user_data("1e3", VipuApi("10.18.0.5", 65535, "10.20.0.0/24", partition="acme-p64")),
    "volumes": poplar_user_data("acme-train-poplar-1", API, volumes=(GuestVolume("il-0123456789abc", "/data"),)),
    "secrets": poplar_user_data("acme-train-poplar-2", API, secrets=("s3",)),
    "shares": poplar_user_data("acme-train-poplar-4", API, shares=(SHARE,)),
    "whole-host": poplar_user_data(
        "acme-train-poplar-3",
        API,
        fabric=(
            FabricInterface("ens161f0", "10.20.0.10", "10.20.0.0/24", "02:AB:00:00:00:01", 9000),
            FabricInterface("ens161f1", "10.21.0.10", "10.21.0.0/16"),
        ),
        shares=(SHARE,),
    ),
    "controller": controller_user_data("acme-train-vipu"),
}


def documents() -> Iterator[tuple[str, str]]:
    """(where, document) of every server of every golden plan, and of every approved one."""
    for plan_name, plan in plans().items():
        for item in plan.resources:
            if isinstance(item.resource, Server | BareMetalServer):
                yield f"{plan_name}/{item.name}", item.resource.user_data
    yield from APPROVED.items()


DOCUMENTS = dict(documents())
every_document = pytest.mark.parametrize("where", DOCUMENTS)


def faults(document: str) -> list[str]:
    """What cloud-init's schema says of a document."""
    return [error.message for error in jsonschema.Draft4Validator(SCHEMA).iter_errors(yaml.safe_load(document))]


def read(document: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(document)
    return found


def file_in(document: str, path: str) -> str:
    return next(str(file["content"]) for file in read(document)["write_files"] if file["path"] == path)


@every_document
def test_cloud_init_takes_every_document(where: str) -> None:
    assert DOCUMENTS[where].startswith("#cloud-config\n")
    assert faults(DOCUMENTS[where]) == []


def test_every_kind_of_server_is_among_them() -> None:
    assert {"acme/acme-train-poplar-0", "ironic/acme-train-poplar-0", "acme/acme-train-controller"} <= DOCUMENTS.keys()
    assert len(DOCUMENTS) > 15


@pytest.mark.parametrize(
    "wrong",
    [
        "#cloud-config\nhostname: 7\n",
        "#cloud-config\nwrite_files:\n  - {path: /x, permissions: 0644}\n",
        "#cloud-config\nmounts: [[a, b, c, d, e, f, g]]\n",
        "#cloud-config\nruncmd: [[1.5]]\n",
        "#cloud-config\nhostnam: x\n",
    ],
)
def test_the_schema_refuses_what_is_wrong(wrong: str) -> None:
    assert faults(wrong)


@every_document
def test_no_document_holds_a_secret_or_fetches_a_key(where: str) -> None:
    assert list(credentials_in(contents(DOCUMENTS[where]))) == []
    assert contents(DOCUMENTS[where]).closed == ()
    assert not fetches_keys(DOCUMENTS[where])


@every_document
def test_nova_takes_its_length(where: str) -> None:
    assert len(DOCUMENTS[where].encode()) * 4 / 3 < MOST_BYTES


@pytest.mark.parametrize("name", APPROVED)
def test_documents_are_as_approved(name: str) -> None:
    """`python -m tests.planning.approved_documents` writes them again."""
    assert APPROVED[name] == (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def test_every_file_of_the_folder_is_compared() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == APPROVED.keys()


@pytest.mark.parametrize("hostname", ["1e3", "0644", "no", "~", "acme-train-poplar-0"])
def test_a_hostname_that_yaml_would_take_for_something_else_stays_a_text(hostname: str) -> None:
    assert read(poplar_user_data(hostname, API))["hostname"] == hostname
    assert read(controller_user_data(hostname))["hostname"] == hostname


def test_files_are_read_back_byte_for_byte() -> None:
    content = "a: b\n\n  two spaces\n\ttab\n# end"
    part = Part(files=(GuestFile("/etc/x", content, 0o4750, "root:ipu"),))
    (file,) = read(CloudConfig("x", (part,)).text())["write_files"]
    assert file == {"path": "/etc/x", "owner": "root:ipu", "permissions": "4750", "content": content}


def test_two_parts_about_one_file_are_an_error() -> None:
    parts = (kernel_parameters("x", {"vm.swappiness": "1"}), kernel_parameters("x", {"vm.swappiness": "2"}))
    with pytest.raises(ValueError, match=r"/etc/sysctl\.d/90-x\.conf"):
        CloudConfig("x", parts).canonical()
    assert kernel_parameters("x", {}) == Part()


def test_what_says_nothing_is_left_out() -> None:
    assert CloudConfig("x", (Part(),)).text() == "#cloud-config\nhostname: x\n"


def test_a_whole_host_is_told_its_fabric_addresses() -> None:
    netplan = yaml.safe_load(file_in(APPROVED["whole-host"], NETPLAN))["network"]["ethernets"]
    assert netplan["ens161f0"]["match"] == {"macaddress": "02:ab:00:00:00:01"}
    assert (netplan["ens161f0"]["addresses"], netplan["ens161f0"]["mtu"]) == (["10.20.0.10/24"], 9000)
    assert "match" not in netplan["ens161f1"]
    assert netplan["ens161f1"]["addresses"] == ["10.21.0.10/16"]


def test_a_planned_whole_host_is_told_the_addresses_of_its_ports() -> None:
    plan = plans()["ironic"]
    host = next(item for item in plan.resources if isinstance(item.resource, BareMetalServer))
    assert isinstance(host.resource, BareMetalServer)
    told = yaml.safe_load(file_in(host.resource.user_data, NETPLAN))["network"]["ethernets"]
    planned = [getattr(plan.by_name[name].resource, "address", "") for name in host.resource.ports[:2]]
    assert [item["addresses"][0].partition("/")[0] for item in told.values()] == planned
    assert NETPLAN not in DOCUMENTS["acme/acme-train-poplar-0"]


def test_one_partition_is_named_and_several_are_nobodys_to_choose_from() -> None:
    assert "export IPUOF_VIPU_API_PARTITION_ID=acme-p64\n" in file_in(APPROVED["partition"], ENVIRONMENT)
    assert "PARTITION_ID" not in file_in(APPROVED["poplar"], ENVIRONMENT)


def test_volumes_of_a_plan_are_told_by_the_tag_of_their_attachment() -> None:
    plan = plans()["data"]
    for server in (item for item in plan.resources if isinstance(item.resource, Server)):
        attached = [
            item.resource.device_tag
            for item in plan.resources
            if isinstance(item.resource, VolumeAttachment) and item.resource.server == server.name
        ]
        text = getattr(server.resource, "user_data", "")
        told = [] if not attached else json.loads(file_in(text, "/etc/interlock/volumes.json"))
        assert [item["tag"] for item in told] == attached
    assert device_tag("acme-scratch") != device_tag("acme-archive")
    assert len(device_tag("acme-scratch")) == 16
