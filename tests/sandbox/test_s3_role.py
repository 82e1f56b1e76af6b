"""A role that only Swift knows: what a service user with nothing else may do, and who can give it a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.sandbox.cloud import ALLOWED, Cloud, Tenant, outcome

ROLE = "s3_service"


@dataclass(frozen=True)
class Service:
    """A tenant's S3 service user, its bucket and its connection to everything else."""

    tenant: Tenant
    user: Any
    s3: Any
    bucket: str
    cloud: Any


def service(cloud: Cloud, name: str) -> Service:
    tenant = cloud.tenant(name)
    user = cloud.user(f"s3-{name}", tenant, ROLE)
    key = cloud.ec2(cloud.admin.session, user.id, tenant).json()["credential"]
    bucket = f"{name}-{cloud.tag}"
    s3 = cloud.s3(key)
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="weights", Body=name.encode())
    return Service(tenant, user, s3, bucket, cloud.login(user.name, tenant.id))


@pytest.fixture(scope="module")
def acme(cloud: Cloud) -> Service:
    return service(cloud, "acme")


@pytest.fixture(scope="module")
def globex(cloud: Cloud) -> Service:
    return service(cloud, "globex")


def test_own_bucket_with_versioning(acme: Service) -> None:
    acme.s3.put_bucket_versioning(Bucket=acme.bucket, VersioningConfiguration={"Status": "Enabled"})
    assert acme.s3.get_bucket_versioning(Bucket=acme.bucket)["Status"] == "Enabled"
    for body in (b"1", b"2"):
        acme.s3.put_object(Bucket=acme.bucket, Key="model", Body=body)
    versions = acme.s3.list_object_versions(Bucket=acme.bucket, Prefix="model")["Versions"]
    assert len(versions) == 2


def test_buckets_of_another_project_are_not_there(acme: Service, globex: Service) -> None:
    """Bucket names belong to a project's account: another's bucket is not refused but not found."""
    other = {"Bucket": globex.bucket}
    assert outcome(lambda: acme.s3.list_objects_v2(**other)) == "NoSuchBucket"
    assert outcome(lambda: acme.s3.get_object(**other, Key="weights")) == "NoSuchBucket"
    assert outcome(lambda: acme.s3.put_object(**other, Key="weights", Body=b"mine")) == "NoSuchBucket"
    assert outcome(lambda: acme.s3.delete_bucket(**other)) == "NoSuchBucket"
    assert globex.s3.get_object(**other, Key="weights")["Body"].read() == b"globex"


def test_the_account_of_another_project_is_refused(cloud: Cloud, acme: Service, globex: Service) -> None:
    url = f"{cloud.swift}/v1/AUTH_{globex.tenant.id}"
    assert acme.cloud.session.get(url, raise_exc=False).status_code == 403


def test_no_other_service_lets_it_make_anything(acme: Service, cloud: Cloud) -> None:
    network = cloud.admin.network.create_network(name=f"own-{cloud.tag}", project_id=acme.tenant.id)
    flavor = cloud.admin.compute.create_flavor(name=f"s3-{cloud.tag}", ram=128, vcpus=1, disk=1)
    own = acme.cloud
    server = {"name": "x", "flavorRef": flavor.id, "imageRef": "", "networks": [{"uuid": network.id}]}
    answers = {
        "network": outcome(lambda: own.network.create_network(name="x")),
        "port": outcome(lambda: own.network.create_port(network_id=network.id)),
        "router": outcome(lambda: own.network.create_router(name="x")),
        "server": own.compute.post("/servers", json={"server": server}).status_code,
        "volume": outcome(lambda: own.block_storage.create_volume(size=1)),
        "list servers": outcome(lambda: list(own.compute.servers())),
        "list images": outcome(lambda: list(own.image.images())),
    }
    visible = [list(own.network.networks()), list(own.network.ports()), list(own.network.subnets())]
    cloud.admin.network.delete_network(network)
    cloud.admin.compute.delete_flavor(flavor)
    assert set(answers.values()) == {403}, answers
    assert visible == [[], [], []]  # Neutron does not refuse the question; it shows nothing


def test_who_may_make_a_key_for_the_service_user(cloud: Cloud, acme: Service, globex: Service) -> None:
    admin_here, member = cloud.as_role(acme.tenant, "admin"), cloud.as_role(acme.tenant, "member")
    answers = {
        "cloud admin": cloud.ec2(cloud.admin.session, acme.user.id, acme.tenant).status_code,
        "admin of the project": cloud.ec2(admin_here.session, acme.user.id, acme.tenant).status_code,
        # Keystone's admin role knows no project: it reaches every user
        "admin of another project": cloud.ec2(admin_here.session, globex.user.id, globex.tenant).status_code,
        "member": cloud.ec2(member.session, acme.user.id, acme.tenant).status_code,
        "itself": cloud.ec2(acme.cloud.session, acme.user.id, acme.tenant).status_code,
    }
    assert answers == {
        "cloud admin": 201,
        "admin of the project": 201,
        "admin of another project": 201,
        "member": 403,
        "itself": 403,
    }


def test_a_key_can_be_read_and_revoked_by_the_cloud_admin(cloud: Cloud, acme: Service) -> None:
    session = cloud.admin.session
    key = cloud.ec2(session, acme.user.id, acme.tenant).json()["credential"]
    url = f"{cloud.keystone}/users/{acme.user.id}/credentials/OS-EC2"
    client = cloud.s3(key)
    assert outcome(client.list_buckets) == ALLOWED
    assert key["access"] in [one["access"] for one in session.get(url).json()["credentials"]]
    assert session.delete(f"{url}/{key['access']}").status_code == 204
    assert session.get(f"{url}/{key['access']}", raise_exc=False).status_code == 404
    assert outcome(client.list_buckets) == "SignatureDoesNotMatch"
