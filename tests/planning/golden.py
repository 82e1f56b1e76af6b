"""The plans of small sites as files; `python -m tests.planning.golden` writes them again."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from interlock.model.site.bastion import Bastion
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import (
    Access,
    BucketRequest,
    PublicServers,
    ShareRequest,
    SlurmOptions,
    Tenant,
    VolumeRequest,
)
from interlock.planning import Plan, plan_site, plan_tenant
from tests.builders.gpu_heads import head_claims, headed, site_with_heads
from tests.builders.gpu_plans import claims, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, storing_gpu_site
from tests.builders.pod64 import (
    bare_metal_pod64,
    bare_metal_vpod,
    gone,
    ironic_pod64,
    locked,
    partition,
    pod64,
    site_locked,
    storing_pod64,
    tenant,
    vpod,
)

FOLDER = Path(__file__).parent / "golden_plans"
BASTION = Bastion(host="bastion.lyon.example", user="jump", prefixes=("192.0.2.10/32",))


def plans() -> dict[str, Plan]:
    """Two tenants of one site, the site, and one tenant for each thing that the two do not ask for."""
    return dict(_planned())


@cache
def _planned() -> dict[str, Plan]:
    """Once in a process: nothing changes a plan, and many tests look at all of them."""
    site = pod64()
    site_lock = site_locked(site)
    acme, globex = tenant("acme"), tenant("globex", machines=8, servers=1)
    acme_lock = locked(site, acme)
    globex_lock = locked(site, globex, [acme_lock])
    return {
        "site": plan_site(site, site_lock),
        "acme": plan_tenant(site, site_lock, acme, acme_lock),
        "globex": plan_tenant(site, site_lock, globex, globex_lock),
        "storing-site": plan_site(storing_pod64(), site_locked(storing_pod64())),
        "bare-metal": bare_metal(),
        "ironic-site": plan_site(ironic_pod64(), site_locked(ironic_pod64())),
        "ironic": bare_metal(ironic_pod64()),
        "data": data(),
        "partitions": partitions(),
        "gone": leaving(),
        "public": public(),
        "gpu-site": plan_site(gpu_site(), site_locked(gpu_site())),
        "cluster": clusters_planned(gpu_tenant("acme"), [claims(1, (1, 1), (1, 2))]),
        "clusters": two_clusters(),
        "cluster-data": cluster_data(),
        "heads-site": plan_site(site_with_heads(), site_locked(site_with_heads())),
        "cluster-heads": with_heads(),
        "cluster-keys": with_keys(),
        "cluster-beside": clusters_planned(gpu_tenant("globex"), [claims(4, (1, 3), (1, 4))]),
    }


def two_clusters() -> Plan:
    """A cluster with InfiniBand over two scalable units and a scheduler, and one without either."""
    request = gpu_tenant("acme", cluster("train", scheduler="slurm"), cluster("serve", nodes=1, fabric="none"))
    return clusters_planned(request, [claims(2, (1, 1), (2, 1)), claims(3, (2, 2), partition_keys={})])


def cluster_data_request() -> Tenant:
    """Two clusters and no vPOD: both mount a share, and a bucket of the first one's is read by the other."""
    share = ShareRequest(
        name="datasets", size_gib=1000, share_type="nfs", vpods=(), clusters=("train", "serve"), on_delete="keep"
    )
    bucket = BucketRequest(name="weights", versioning=True, on_delete="keep", readers=("serve",))
    pair = cluster("train", scheduler="slurm"), cluster("serve", nodes=1).model_copy(update={"s3_keys": (1, 2)})
    return gpu_tenant("acme", *pair, shares=(share,), buckets=(bucket,))


def cluster_data() -> Plan:
    """The plan of it, on a site with an appliance."""
    given = claims(1, (1, 1), (1, 2), storage_vip="10.60.1.2"), claims(3, (1, 3), storage_vip="10.60.3.2")
    return clusters_planned(cluster_data_request(), given, storing_gpu_site())


def with_heads() -> Plan:
    """Two nodes with two heads: a public one, a second controller, and accounting."""
    slurm = SlurmOptions(controllers=2, state="/srv/slurm", accounting=True)
    request = gpu_tenant("acme", headed(2, slurm=slurm))
    public = ({"vpod": "train", "servers": (0,), "ssh_from": ("198.51.100.0/24",)},)
    access = Access.model_validate(dict(request.access) | {"public": public})
    given = head_claims(1, (1, 1), (1, 2), heads=("head-1", "head-2"))
    return clusters_planned(request.model_copy(update={"access": access}), [given], site_with_heads())


def with_keys() -> Plan:
    """A head that fetches keys and gives them to a node in band; a bucket, so that there is an S3 key."""
    bucket = BucketRequest(name="weights", versioning=True, on_delete="keep")
    site = site_with_heads().model_copy(update={"channel": True})
    request = gpu_tenant("acme", headed(1, nodes=1, slurm=SlurmOptions(munge_key=2)), buckets=(bucket,))
    return clusters_planned(request, [head_claims(1, (1, 1))], site)


def bare_metal(site: Site | None = None) -> Plan:
    """Four machines with two whole hosts, on a site without Ironic if none is given."""
    site, request = site or bare_metal_pod64(), tenant("acme", vpods=(bare_metal_vpod(),))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def data_request() -> Tenant:
    """Two vPODs with volumes, a share that both mount, and a bucket that both and the world may read."""
    return tenant(
        "acme",
        vpods=(vpod("train", machines=2, servers=1), vpod("serve", machines=1, servers=1)),
        volumes=(
            VolumeRequest(
                name="scratch", size_gib=50, volume_type="ceph", vpod="train", server=0, on_delete="snapshot"
            ),
            VolumeRequest(name="archive", size_gib=500, volume_type="ceph", on_delete="keep"),
        ),
        shares=(
            ShareRequest(
                name="datasets",
                size_gib=1000,
                share_type="nfs",
                vpods=("train", "serve"),
                access="ro",
                on_delete="keep",
            ),
        ),
        buckets=(
            BucketRequest(
                name="models", versioning=True, on_delete="keep", readers=("serve",), writers=("train",), public=True
            ),
        ),
    )


def data() -> Plan:
    """The plan of it, on a site with an appliance."""
    site, request = storing_pod64(), data_request()
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def partitions() -> Plan:
    """A vPOD of 16 IPUs, cut in two: one for a single replica, one for jobs that bring their own shape."""
    site = pod64()
    cut = vpod(machines=4, servers=1).model_copy(
        update={
            "partitions": (partition("big", 8, gcds=2, replicas=2), partition("jobs", 4, reconfigurable=True)),
        }
    )
    request = tenant("acme", vpods=(cut,))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def public_request() -> Tenant:
    """Two servers, of which the first is reached from outside: from the office, and by way of the site's bastion."""
    request = tenant("acme")
    public = PublicServers(vpod="train", servers=(0,), ssh_from=("198.51.100.0/24",))
    return request.model_copy(update={"access": request.access.model_copy(update={"public": (public,)})})


def public() -> Plan:
    """The plan of it, on a site with a bastion."""
    site, request = pod64(bastion=BASTION), public_request()
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def leaving() -> Plan:
    """A tenant that is to go."""
    site, request = pod64(), tenant("acme")
    leaver, lock = gone(locked(site, request), request)
    return plan_tenant(site, site_locked(site), leaver, lock)


def text_of(plan: Plan) -> str:
    """The plan without the hashes of its inputs, which change with every field of the site."""
    content = plan.canonical()
    del content["site_hash"], content["request_hash"]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files again."""
    FOLDER.mkdir(exist_ok=True)
    for name, plan in plans().items():
        (FOLDER / f"{name}.json").write_text(text_of(plan), encoding="utf-8")


if __name__ == "__main__":
    main()
