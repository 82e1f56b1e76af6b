"""What servers are told of certificates, and which: those of tenants with an authority, virtual or whole hosts."""

from __future__ import annotations

import pytest
import yaml

from interlock.model.tenant.request import Access, KeyHolder, Tenant
from interlock.planning import plan_tenant
from interlock.planning.guest import poplar_user_data
from interlock.planning.guest.files import GuestFile
from interlock.planning.guest.login import login_files, principals
from interlock.planning.guest.poplar import VipuApi
from interlock.planning.plan import Plan
from interlock.resources import BareMetalServer, Keypair, Server
from interlock.vocabulary import StackName
from tests.builders.gpu_heads import head_claims, headed, site_with_heads
from tests.builders.gpu_plans import clusters_planned
from tests.builders.gpu_sites import gpu_tenant
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, locked, pod64, site_locked, ssh_key, tenant

CA = ssh_key("authority")
CERTIFIED = Access(members=(), ssh_public_key=None, ssh_from=(), ca=CA, accounts=("ubuntu", "root"))
ANNE = KeyHolder(name="anne", keys=(ssh_key("anne"),), accounts=("ubuntu",))


def planned(access: Access, *, whole: bool = False) -> Plan:
    site, vpods = (bare_metal_pod64(), (bare_metal_vpod(),)) if whole else (pod64(), tenant("acme").vpods)
    request: Tenant = tenant("acme", access=access, vpods=vpods)
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def test_the_files_of_a_server() -> None:
    found = {file.path: file.content for file in login_files(StackName("lyon", "acme"), "train", CERTIFIED)}
    assert found == {
        "/etc/ssh/sshd_config.d/20-certificates.conf": (
            "TrustedUserCAKeys /etc/ssh/interlock/ca.pub\n"
            "AuthorizedPrincipalsFile /etc/ssh/interlock/principals/%u\n"
            "RevokedKeys /etc/ssh/interlock/revoked\n"
        ),
        "/etc/ssh/interlock/ca.pub": f"{CA}\n",
        "/etc/ssh/interlock/revoked": "# nothing is revoked yet\n",
        "/etc/ssh/interlock/principals/ubuntu": "lyon-acme:ubuntu\nlyon-acme/train:ubuntu\n",
        "/etc/ssh/interlock/principals/root": "lyon-acme:root\nlyon-acme/train:root\n",
    }


def test_without_an_authority_there_are_none() -> None:
    assert login_files(StackName("lyon", "acme"), "train", tenant("acme").access) == ()


@pytest.mark.parametrize("whole", [False, True], ids=["virtual", "whole hosts"])
def test_poplar_servers_get_them_and_controllers_do_not(whole: bool) -> None:
    servers = {
        item.name: item.resource
        for item in planned(CERTIFIED, whole=whole).resources
        if isinstance(item.resource, (Server, BareMetalServer))
    }
    told = {name: "TrustedUserCAKeys" in server.user_data for name, server in servers.items()}
    assert told == {"acme-train-poplar-0": True, "acme-train-poplar-1": True, "acme-train-controller": False}
    written = yaml.safe_load(servers["acme-train-poplar-0"].user_data)["write_files"]
    assert {item["permissions"] for item in written if item["path"].startswith("/etc/ssh/")} == {"0644"}


@pytest.mark.parametrize("whole", [False, True], ids=["virtual", "whole hosts"])
def test_a_key_pair_is_there_where_the_request_has_a_key(whole: bool) -> None:
    both = CERTIFIED.model_copy(update={"ssh_public_key": ssh_key("acme")})
    for access, name in ((CERTIFIED, None), (both, "acme-key")):
        plan = planned(access, whole=whole)
        servers = [plan.by_name[f"acme-train-poplar-{index}"].resource for index in (0, 1)]
        assert {server.keypair for server in servers if isinstance(server, (Server, BareMetalServer))} == {name}
        assert [item.name for item in plan.resources if isinstance(item.resource, Keypair)] == ([name] if name else [])


def test_nothing_of_a_plan_rests_on_people() -> None:
    """Neither the plan nor its hash: whoever comes or goes replaces no server."""
    before, after = planned(CERTIFIED), planned(CERTIFIED.model_copy(update={"people": (ANNE,)}))
    assert after == before
    assert "anne" not in str(after.canonical())


def test_principals_of_a_certificate() -> None:
    stack = StackName("lyon", "acme")
    assert principals(stack, None, ("ubuntu", "root")) == ("lyon-acme:ubuntu", "lyon-acme:root")
    assert principals(stack, ("a", "b"), ("ubuntu",)) == ("lyon-acme/a:ubuntu", "lyon-acme/b:ubuntu")


@pytest.mark.parametrize(
    ("named", "opened"),
    [
        ({}, {"train", "lab", "serve"}),
        ({"clusters": ("train",)}, {"train"}),
        ({"vpods": ("serve",)}, {"serve"}),
        ({"vpods": ("serve",), "clusters": ("lab",)}, {"serve", "lab"}),
    ],
)
def test_whoever_is_limited_opens_what_is_named_and_nothing_of_the_other_kind(
    named: dict[str, tuple[str, ...]], opened: set[str]
) -> None:
    """By the files of the servers: what a certificate says is held against what each of them lists."""
    stack, holder = StackName("hall", "acme"), ANNE.model_copy(update=named)
    has = set(principals(stack, holder.parts, holder.accounts))
    listed = {
        part: {line for file in login_files(stack, part, CERTIFIED) for line in file.content.splitlines()}
        for part in ("train", "lab", "serve")
    }
    assert {part for part, lines in listed.items() if lines & has} == opened


def test_heads_and_nodes_of_a_cluster_list_its_principal() -> None:
    request = gpu_tenant("acme", headed(1), access=CERTIFIED)
    plan = clusters_planned(request, [head_claims(1, (1, 1), (1, 2))], site_with_heads())
    servers = [item.resource for item in plan.resources if isinstance(item.resource, (Server, BareMetalServer))]
    assert [type(server) for server in servers] == [Server, BareMetalServer, BareMetalServer]
    for server in servers:
        written = {item["path"]: item["content"] for item in yaml.safe_load(server.user_data)["write_files"]}
        site = plan.stack.partition("-")[0]
        assert written["/etc/ssh/interlock/principals/ubuntu"] == f"{site}-acme:ubuntu\n{site}-acme/train:ubuntu\n"


def test_another_mode_and_another_owner_are_told_to_cloud_init() -> None:
    document = poplar_user_data(
        "a", VipuApi("10.0.0.1", 8090, "10.1.0.0/24"), login=(GuestFile("/srv/a", "x\n", 0o600, "anne:anne"),)
    )
    assert yaml.safe_load(document)["write_files"][-1] == {
        "path": "/srv/a", "permissions": "0600", "content": "x\n", "owner": "anne:anne"
    }  # fmt: skip
