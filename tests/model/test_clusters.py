"""GPU clusters of a request on a site that has nodes: what each key becomes, and what is refused with a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.hardware.gpu import OFFERED
from interlock.hardware.prices import PRICE_ITEMS
from interlock.model.load import InputErrors
from interlock.model.site.file import TenantDefaultsFile
from interlock.model.site.inventory import Site
from interlock.model.tenant.expansion import read_tenant
from interlock.model.tenant.reading import Offered
from interlock.model.tenant.request import Cluster, Roll, Tenant
from interlock.model.text.source import Source
from tests.builders.gpu_sites import gpu_site
from tests.builders.pod64 import ssh_key

HEAD = f"name: Acme\naccess: {{ssh_public_key: {ssh_key('acme')}}}\n"


def read(tmp_path: Path, text: str, site: Site | None = None) -> tuple[Tenant, dict[str, str]]:
    """The request, and its defaults by path."""
    file = tmp_path / "acme.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    offered = Offered.of(site or gpu_site(), TenantDefaultsFile())
    tenant, defaults = read_tenant("acme", Source.read(file, "acme.yaml"), offered)
    return tenant, {item.path: item.value for item in defaults}


def refused(tmp_path: Path, text: str, site: Site | None = None) -> list[str]:
    """The faults, without the name of the file."""
    with pytest.raises(InputErrors) as raised:
        read(tmp_path, text, site)
    return [str(error).removeprefix("acme.yaml:") for error in raised.value.errors]


def test_a_cluster_without_a_vpod(tmp_path: Path) -> None:
    tenant, defaults = read(tmp_path, "clusters:\n  train: {nodes: 4, type: dgx-h100, image: dgx-os}\n")
    assert tenant.vpods == ()
    assert tenant.clusters == (
        Cluster(name="train", nodes=4, node_type="dgx-h100", image="dgx-os", fabric="infiniband", scheduler="none"),
    )
    assert defaults["clusters.train.fabric"] == "infiniband"
    assert defaults["clusters.train.scheduler"] == "none"


def test_every_key_of_a_cluster(tmp_path: Path) -> None:
    text = (
        "clusters: {train: {gpus: 16, type: dgx-h100, image: dgx-os, fabric: none, scheduler: slurm, state: present, "
        "kind: bare-metal}}\n"
    )
    tenant, defaults = read(tmp_path, text + "pins: {train: {hosts: [su01-n03, su02-n01]}}\n")
    assert tenant.clusters == (
        Cluster(name="train", nodes=2, node_type="dgx-h100", image="dgx-os", fabric="none", scheduler="slurm"),
    )
    assert tenant.pins["train"].hosts == ("su01-n03", "su02-n01")
    # Without heads there are none; what they would be like has no default.
    assert [path for path in defaults if path.startswith("clusters")] == ["clusters.train.heads"]


def test_what_a_request_says_of_a_clusters_life(tmp_path: Path) -> None:
    life = 'without: ["su01-n0[1-2]"], roll: {image: other, drained: [su01-n03]}'
    tenant, defaults = read(
        tmp_path, f"clusters: {{train: {{nodes: 2, type: dgx-h100, image: dgx-os, {life}}}}}\n", two_images()
    )
    (found,) = tenant.clusters
    assert (found.without, found.roll) == (("su01-n01", "su01-n02"), Roll(image="other", drained=("su01-n03",)))
    assert (found.image_of("su01-n03"), found.image_of("su01-n04")) == ("other", "dgx-os")
    assert defaults["clusters.train.state"] == "present"
    text = "clusters: {train: {nodes: 2, type: dgx-h100, image: dgx-os, state: released}}\n"
    (away,) = read(tmp_path, text)[0].clusters
    assert (away.state, away.nodes, away.nodes_now) == ("released", 2, 0)


@pytest.mark.parametrize(
    ("life", "rest", "said"),
    [
        ("without: [su01-n9]", "", "`su01-n9` is not a GPU node of this site\n  hint: did you mean `su01-n04`?"),
        ("without: [su01-n01, su01-n01]", "", "IN-009 `su01-n01` is there twice"),
        (
            "without: [su01-n01]",
            "pins: {train: {hosts: [su01-n01]}}\n",
            "`su01-n01` is pinned, and the cluster is not ",
        ),
        ("roll: {image: dgx-os}", "", "`dgx-os` is the image that its nodes have already\n  hint: name the new image"),
        ("roll: {image: othr}", "", "`othr` is not an image of this site\n  hint: did you mean `other`?"),
        ("roll: {image: other}, kind: vm", "", "virtual servers on GPU nodes are not deployed anew node by node"),
        ("roll: {image: other}, state: released", "", "a cluster that is released has no nodes to roll\n  hint: take "),
        (
            "roll: {image: other, drained: [su01-n01]}, without: [su01-n01]",
            "",
            "`su01-n01` is to leave the cluster, so it gets no image there\n  hint: take it out of `drained`, or",
        ),
        ("roll: {image: other, drained: [lone]}", "", "`lone` is a gcore-l40s, and the cluster has dgx-h100 nodes"),
        ("state: gone", "", "IN-007 `gone` is not one of 'present' or 'released'"),
    ],
)
def test_what_cannot_be_said_of_a_clusters_life(tmp_path: Path, life: str, rest: str, said: str) -> None:
    text = f"clusters: {{train: {{nodes: 1, type: dgx-h100, image: dgx-os, {life}}}}}\n{rest}"
    (found,) = refused(tmp_path, text, two_images())
    assert said in found


def two_images() -> Site:
    """A second image, and a node of another type, called `lone`."""
    site = gpu_site()
    last = site.gpu_nodes[-1]
    nodes = (*site.gpu_nodes[:-1], last.model_copy(update={"name": "lone", "node_type": "gcore-l40s"}))
    images = (*site.images, site.images[-1].model_copy(update={"name": "other"}))
    fields = {name: getattr(site, name) for name in Site.model_fields}
    return Site(**fields | {"images": images, "gpu_nodes": nodes})


@pytest.mark.parametrize("name", OFFERED)
def test_the_fabric_is_what_the_type_has(tmp_path: Path, name: str) -> None:
    tenant, _ = read(
        tmp_path, f"clusters: {{c: {{nodes: 1, type: {name}, image: dgx-os}}}}\n", gpu_site(node_type=name)
    )
    assert tenant.clusters[0].fabric == ("none" if name in ("gcore-a100", "gcore-l40s") else "infiniband")


def test_too_many_nodes_are_told_with_how_many_there_are(tmp_path: Path) -> None:
    found = refused(tmp_path, "clusters: {train: {nodes: 9, type: dgx-h100, image: dgx-os}}\n")
    assert found == ["3:27: IN-008 9 dgx-h100 nodes in one hall: hall-1 has 8\n  hint: ask for 8 at most"]
    found = refused(tmp_path, "clusters: {train: {gpus: 72, type: dgx-h100, image: dgx-os}}\n")
    assert found == ["3:26: IN-008 9 dgx-h100 nodes in one hall: hall-1 has 8\n  hint: ask for 8 at most"]


def test_two_halls_are_no_larger_one(tmp_path: Path) -> None:
    site = gpu_site()
    nodes = tuple(
        node.model_copy(update={"hall": "hall-2"}) if node.name.endswith("4") else node for node in site.gpu_nodes
    )
    site = Site(**{name: getattr(site, name) for name in Site.model_fields} | {"gpu_nodes": nodes})
    found = refused(tmp_path, "clusters: {train: {nodes: 7, type: dgx-h100, image: dgx-os}}\n", site)
    said = "7 dgx-h100 nodes in one hall: hall-1 has 6, hall-2 has 2"
    assert found == [f"3:27: IN-008 {said}\n  hint: ask for 6 at most, or for several clusters"]


def test_a_type_that_the_site_lacks(tmp_path: Path) -> None:
    found = refused(tmp_path, "clusters: {train: {nodes: 1, type: dgx-a100, image: dgx-os}}\n")
    assert found == ["3:36: IN-008 this site has no dgx-a100\n  hint: it has dgx-h100"]


def test_pins_of_another_type_and_of_other_hosts(tmp_path: Path) -> None:
    site = gpu_site()
    nodes = (site.gpu_nodes[0].model_copy(update={"node_type": "dgx-h200"}), *site.gpu_nodes[1:])
    site = Site(**{name: getattr(site, name) for name in Site.model_fields} | {"gpu_nodes": nodes})
    text = (
        "clusters: {train: {nodes: 2, type: dgx-h100, image: dgx-os}}\npins: {train: {hosts: [su01-n01, poplar-1]}}\n"
    )
    found = refused(tmp_path, text, site)
    assert [line.split("\n")[0] for line in found] == [
        "4:24: IN-010 `su01-n01` is a dgx-h200, asked for is dgx-h100",
        "4:34: IN-008 `poplar-1` is not a GPU node of this site",
    ]


def test_each_offered_type_has_a_price() -> None:
    assert {f"gpu-{name}" for name in OFFERED} == {name for name in PRICE_ITEMS if name.startswith("gpu-")}
