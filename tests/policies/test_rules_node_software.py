"""SW-01 to SW-15 and SW-18: what runs on a GPU node fits together. One thing wrong at a time, and beside it the twin.

Three tables: what is violated, what is unknown where a fact is left out, and what is judged by facts not to be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from interlock.hardware.gpu import NODE_TYPES
from interlock.model.site.inventory import Site
from policies import RULES, Judgement, Severity, Verdict
from tests.builders.fitting_software import FITTING
from tests.builders.gpu_software import (
    FIRST,
    NOTHING,
    PROFILE,
    hypervisor_site,
    nodes_plan,
    partition,
    roce_site,
    software_site,
)
from tests.builders.pod64 import tenant
from tests.policies.workspace import NA, N, P, V, added, full_site, judged, made, verdicts

#: All of these rules.
SOFTWARE = tuple(f"SW-{number:02}" for number in (*range(1, 16), 18))


@dataclass(frozen=True)
class Flaw:
    """One thing wrong on nodes that use InfiniBand, and how the rule's finding ends."""

    rule: str
    says: str
    software: dict[str, Any] = field(default_factory=dict)
    node_type: str = "dgx-h100"
    severity: Severity | None = None

    @property
    def site(self) -> Site:
        """The site with it."""
        return software_site(node_type=self.node_type, **self.software)


VIOLATED = (
    Flaw("SW-01", "which has driver 515.105.01, and CUDA 12.4 needs 525 or later", {"driver": "515.105.01"}),
    Flaw("SW-01", "which has driver 570.86.10, and CUDA 13.0 needs 580 or later",
         {"driver": "570.86.10", "cuda": "13.0"}),
    Flaw("SW-02", "whose driver 580.65.06 runs CUDA 12.4 as an older program: its own release ends below 580",
         {"driver": "580.65.06"}),
    Flaw("SW-03", "whose rocky-9.4 is used with driver 525 or later, and it has 470.82.01",
         {"os": "rocky-9.4", "driver": "470.82.01", "cuda": "11.8"}),
    Flaw("SW-03", "whose ubuntu-24.04 is used with driver 550 or later, and it has 535.183.01",
         {"os": "ubuntu-24.04", "driver": "535.183.01", "cuda": "12.5"}, severity=Severity.WARN),
    Flaw("SW-03", "whose ubuntu-22.04 is used with CUDA from 12, before 13, and it has 13.0",
         {"driver": "580.65.06", "cuda": "13.0"}, severity=Severity.WARN),
    Flaw("SW-03", "whose flatcar-4081.2.0 is for containers only, and the site says that it is no container host",
         {"os": "flatcar-4081.2.0", "lustre": "none"}),
    Flaw("SW-03", "which states a Lustre client 2.15.4, and bottlerocket has none",
         {"os": "bottlerocket", "container_host": True}),
    Flaw("SW-04", "whose debian-12 is none that DGX run in production: dgx-os, ubuntu-22.04, ubuntu-24.04, rhel-8, "
         "rhel-9, rocky-8, rocky-9", {"os": "debian-12"}),
    Flaw("SW-05", "whose OFED 24.10-1.1.4.0 is built for 5.15, and it has kernel 6.8.0-1021-nvidia",
         {"kernel": "6.8.0-1021-nvidia"}),
    Flaw("SW-06", "which has neither `nvidia-peermem` nor DMA-BUF, and these nodes use a fabric", {"peermem": False}),
    Flaw("SW-07", "which uses SHARP with the kernel's own drivers: it states no OFED that firmware of switches is "
         "paired with", {"ofed": "inbox"}),
    Flaw("SW-09", "which boots with Secure Boot, and whose modules are signed by no key that the firmware trusts",
         {"signed_modules": False}),
    Flaw("SW-10", "which does not run `nvidia-persistenced`", {"persistenced": False}),
    Flaw("SW-11", "which sets MIG mode with driver 550.54.15, and that of a h200 needs 550.90.07 or later",
         {"mig": True, "driver": "550.54.15"}, node_type="dgx-h200"),
    Flaw("SW-11", "which sets MIG mode, and a l40s has no MIG", {"mig": True}, node_type="gcore-l40s"),
    Flaw("SW-12", "whose driver has closed kernel modules, and a b200 works with open ones alone",
         {"open_kernel_module": False}, node_type="dgx-b200"),
    Flaw("SW-14", "which has Lustre client 2.14.0, and the servers are 2.15.4", {"lustre": "2.14.0"}),
    Flaw("SW-15", "which sets kernel.sched_min_granularity_ns, and kernel 5.15.0-1063-nvidia has no such key",
         {"sysctls": ("vm.swappiness", "kernel.sched_min_granularity_ns")}),
    Flaw("SW-18", "which states no more than a major release of cuda and nccl: it is not pinned",
         {"cuda": "12", "nccl": "2"}),
)  # fmt: skip


def on_infiniband(site: Site) -> Judgement:
    return judged(site, nodes_plan(site))


@cache
def clean() -> Judgement:
    return on_infiniband(software_site())


def test_what_fits_is_proved() -> None:
    assert clean().findings == ()
    seen = verdicts(clean())
    apart = {"SW-08": NA, "SW-12": NA}
    assert {rule: seen[rule] for rule in SOFTWARE} == dict.fromkeys(SOFTWARE, P) | apart


@pytest.mark.parametrize("flaw", VIOLATED, ids=lambda flaw: f"{flaw.rule} {flaw.says[:40]}")
def test_a_flaw_is_found_by_its_rule(flaw: Flaw) -> None:
    site = flaw.site
    judgement = on_infiniband(site)
    found = [item for item in judgement.findings if item.rule == flaw.rule and item.message.endswith(flaw.says)]
    assert [item.verdict for item in found] == [V], [item.message for item in judgement.findings]
    severity = flaw.severity or next(rule.severity for rule in RULES if rule.id == flaw.rule)
    assert found[0].severity == severity
    assert found[0].message.startswith(f"{FIRST} and 1 more on {flaw.node_type} boot image poplar, ")
    others = {item.rule for item in judgement.findings if item.severity in (Severity.BLOCK, Severity.ERROR)}
    assert others <= {flaw.rule, *ALSO.get(flaw.says, ())}


#: What a second rule says of the same, on purpose.
ALSO = {
    "whose rocky-9.4 is used with driver 525 or later, and it has 470.82.01": (),
    "which has driver 515.105.01, and CUDA 12.4 needs 525 or later": ("SW-03",),
}


def test_each_rule_has_a_flaw() -> None:
    assert {flaw.rule for flaw in VIOLATED} | {"SW-08", "SW-13"} == set(SOFTWARE)


#: Rule -> the keys that it cannot do without, each by itself, on nodes that use InfiniBand.
UNSTATED = {
    "SW-01": ("driver", "cuda"), "SW-02": ("driver", "cuda"), "SW-03": ("os", "driver", "cuda"), "SW-04": ("os",),
    "SW-05": ("ofed", "kernel", "ofed_kernels"), "SW-06": ("peermem",), "SW-07": ("ofed", "sharp_firmware"),
    "SW-09": ("secure_boot", "signed_modules"), "SW-10": ("persistenced",), "SW-11": ("mig",), "SW-14": ("lustre",),
    "SW-15": ("sysctls",), "SW-18": ("cuda", "nccl", "ofed"),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "key"), [(rule, key) for rule, keys in UNSTATED.items() for key in keys])
def test_what_is_left_out_is_unknown(rule: str, key: str) -> None:
    # Modules that are signed, or a firmware that is stated, settle the question by themselves.
    besides = {"secure_boot": {"signed_modules": None}}.get(key, {})
    software: dict[str, Any] = {key: None} | besides
    judgement = on_infiniband(software_site(**software))
    seen = next(result for result in judgement.results if result.rule == rule)
    assert seen.verdict == N
    assert {item for finding in seen.findings for item in finding.missing} == {f"images.poplar.software.{key}"}
    assert all("which does not state " in finding.message for finding in seen.findings)


def test_an_image_that_states_nothing_passes_no_rule() -> None:
    site = software_site(**NOTHING)
    seen = verdicts(on_infiniband(site))
    # Nothing else than closed modules is refused by an H100, and whole hosts leave their processor to nobody.
    settled = {"SW-08": NA, "SW-12": NA, "SW-13": P}
    assert {rule: seen[rule] for rule in SOFTWARE} == dict.fromkeys(SOFTWARE, N) | settled


def test_an_image_that_the_site_does_not_list_is_unknown() -> None:
    site = software_site()
    judgement = judged(site, nodes_plan(site, image="cloud-id:5f0d"))
    missing = {fact for item in judgement.findings if item.rule == "SW-01" for fact in item.missing}
    assert missing == {f"what runs in image cloud-id:5f0d: {key}" for key in ("driver", "cuda")}


@pytest.mark.parametrize("key", ["os", "kernel"])
def test_system_and_kernel_of_the_images_properties_count(key: str) -> None:
    unsaid: dict[str, Any] = {key: None}
    site = software_site(**unsaid)
    said = tuple(
        image.model_copy(update={"properties": image.properties.model_copy(update={key: FITTING[key]})})
        for image in site.images
    )
    assert on_infiniband(Site.model_validate(dict(site) | {"images": said})).findings == ()


@pytest.mark.parametrize(
    ("cuda", "driver", "verdict", "band"),
    [("12.5", "535", P, P), ("13.0", "570", V, P), ("12.4", "580", P, V), ("12.0", "515", V, P), ("14.0", "999", N, N)],
)
def test_golden_vectors_of_cuda(cuda: str, driver: str, verdict: Verdict, band: Verdict) -> None:
    seen = verdicts(on_infiniband(software_site(cuda=cuda, driver=driver)))
    assert (seen["SW-01"], seen["SW-02"]) == (verdict, band)


# By node.


@pytest.mark.parametrize(
    ("node_type", "software", "rule", "verdict"),
    [
        ("dgx-h100", {"os": "dgx-os-6.2"}, "SW-03", P),
        ("dgx-h100", {"os": "dgx-os-6.2", "driver": "515.1"}, "SW-03", V),
        ("dgx-h100", {"os": "dgx-os-7", "cuda": "12.5"}, "SW-03", P),
        ("dgx-h100", {"os": "rhel-8.10"}, "SW-03", N),
        ("dgx-h100", {"os": "rhel-8.10"}, "SW-04", P),
        ("dgx-h100", {"os": "flatcar-4081", "container_host": True, "lustre": "none"}, "SW-03", V),
        ("gcore-l40s", {"os": "flatcar-4081", "container_host": None, "lustre": "none"}, "SW-03", V),
        ("dgx-b200", {}, "SW-12", P),
        ("dgx-b200", {"open_kernel_module": None}, "SW-12", N),
        ("dgx-h100", {"open_kernel_module": False}, "SW-12", NA),
        ("gcore-l40s", {"os": "debian-12"}, "SW-04", NA),
        ("gcore-l40s", {"open_kernel_module": None}, "SW-12", NA),
        ("dgx-h100", {"mig": True}, "SW-11", P),
        ("mi300x", dict.fromkeys(("driver", "cuda", "nccl")), "SW-01", NA),
        ("mi300x", dict.fromkeys(("driver", "cuda", "nccl")), "SW-18", NA),
        ("mi300x", {"signed_modules": False}, "SW-09", V),
        ("dgx-x900", {"mig": True}, "SW-11", N),
        ("dgx-x900", {"open_kernel_module": False}, "SW-12", N),
    ],
)
def test_which_rules_are_about_a_node(node_type: str, software: dict[str, Any], rule: str, verdict: Verdict) -> None:
    assert verdicts(on_infiniband(software_site(node_type=node_type, **software)))[rule] == verdict


def test_types_of_nodes_are_those_of_the_catalogue() -> None:
    assert {"dgx-b200", "dgx-h100", "dgx-h200", "gcore-l40s", "mi300x"} <= set(NODE_TYPES)
    assert "dgx-x900" not in NODE_TYPES


@pytest.mark.parametrize(
    ("software", "rule", "verdict"),
    [
        ({"ofed": None}, "SW-05", NA),
        ({"ofed": "inbox", "sharp": False}, "SW-05", NA),
        ({"peermem": False}, "SW-06", NA),
        ({"ofed": None}, "SW-18", P),
        ({"ofed": None, "sharp": False}, "SW-07", P),
    ],
)
def test_nodes_that_use_no_fabric_need_less(software: dict[str, Any], rule: str, verdict: Verdict) -> None:
    site = software_site(**software)
    assert verdicts(judged(site, nodes_plan(site, infiniband=False)))[rule] == verdict


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, V),
        ({"capitals": True}, V),
        # Nobody can leave the default partition: who is a limited member of it alone uses no fabric.
        ({"key": 0x7FFF, "membership": "limited"}, NA),
        ({"ports": "storage"}, NA),
    ],
)
def test_who_uses_infiniband(fields: dict[str, Any], verdict: Verdict) -> None:
    site = software_site(peermem=False)
    if fields.pop("ports", None):
        ports = tuple(
            node.model_copy(update={"ports": tuple(port.model_copy(update={"use": "storage"}) for port in node.ports)})
            for node in site.gpu_nodes
        )
        site = software_site(site={"gpu_nodes": ports}, peermem=False)
    plan = nodes_plan(site, infiniband=False)
    assert verdicts(judged(site, added(plan, "acme-partition", "acme", partition(**fields))))["SW-06"] == verdict


def test_what_settles_sharp_and_lustre() -> None:
    for software, rule, verdict in (
        ({"sharp": None}, "SW-07", P),
        ({"sharp": None, "sharp_firmware": None}, "SW-07", N),
        ({"sharp": False, "ofed": "inbox"}, "SW-07", P),
        ({"lustre": "none"}, "SW-14", NA),
    ):
        assert verdicts(on_infiniband(software_site(**software)))[rule] == verdict, software
    nobody = software_site(site={"lustre_server": None})
    found = [item for item in on_infiniband(nobody).findings if item.rule == "SW-14"]
    assert [(item.verdict, item.missing) for item in found] == [(N, ("lustre_server",))]
    assert verdicts(on_infiniband(software_site(site={"lustre_server": None}, lustre=None)))["SW-14"] == NA


def test_sharp_on_ethernet_is_refused() -> None:
    without = tuple(node.model_copy(update={"ports": ()}) for node in software_site().gpu_nodes)
    for software, verdict in (({"sharp": True}, V), ({"sharp": None}, N), ({"sharp": False}, P)):
        site = software_site(site={"gpu_nodes": without}, **software)
        assert verdicts(judged(site, nodes_plan(site, infiniband=False)))["SW-07"] == verdict


# RoCE.


def roce(site: Site) -> Judgement:
    return judged(site, nodes_plan(site, infiniband=False))


def test_roce_that_fits_is_proved() -> None:
    assert roce(roce_site()).findings == ()
    assert verdicts(roce(roce_site()))["SW-08"] == P
    assert verdicts(roce(software_site()))["SW-08"] == NA


@pytest.mark.parametrize(
    ("site", "says"),
    [
        (lambda: roce_site(pfc_priority=4),
         "poplar, which pauses class 4, and the switches of profile roce pause 3"),
        (lambda: roce_site(ecn=False), "which does not react to congestion marks, and is on a network for RoCE"),
        (lambda: roce_site(profile=PROFILE.model_copy(update={"ecn": False})),
         "on a network for RoCE whose switches mark no congestion by profile roce"),
    ],
)  # fmt: skip
def test_roce_that_loses_packets(site: Any, says: str) -> None:
    judgement = roce(site())
    assert {item.rule for item in judgement.findings} == {"SW-08"}
    assert [(item.verdict, item.message.endswith(says)) for item in judgement.findings] == [(V, True)]


def test_roce_of_which_nobody_states_the_settings() -> None:
    missing = {fact for item in roce(roce_site(pfc_priority=None, ecn=None)).findings for fact in item.missing}
    assert missing == {f"images.poplar.software.{key}" for key in ("pfc_priority", "ecn")}
    found = [item for item in roce(roce_site(profile=None)).findings if item.rule == "SW-08"]
    assert [(item.verdict, item.missing) for item in found] == [(N, ("fabric_profiles.roce",))]


# Servers that share a host.


@pytest.mark.parametrize(("said", "verdict"), [(True, P), (False, V), (None, N)])
def test_mitigations_of_servers_on_a_hypervisor(said: bool | None, verdict: Verdict) -> None:
    site = hypervisor_site(mitigations=said)
    judgement = judged(site, nodes_plan(site, infiniband=False))
    assert verdicts(judgement)["SW-13"] == verdict
    assert {item.rule for item in judgement.findings} <= {"SW-13"}


@pytest.mark.parametrize("said", [True, False, None])
def test_whole_hosts_may_go_without_mitigations(said: bool | None) -> None:
    assert verdicts(on_infiniband(software_site(mitigations=said)))["SW-13"] == P


# Sites without GPU nodes.


def test_a_site_without_gpu_nodes_has_no_such_question() -> None:
    site = full_site()
    judgement = judged(site, made(site, tenant("acme")).plan)
    assert {verdicts(judgement)[rule] for rule in SOFTWARE} == {NA}
    assert [result.count for result in judgement.results if result.rule in SOFTWARE] == [0] * len(SOFTWARE)
