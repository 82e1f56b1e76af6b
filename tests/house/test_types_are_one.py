"""Types that say the same are one: of two classes with the same fields each pair has its reason here."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.house.test_house import ROOT

ROOMS = ("infra", "components", "policies", "interlock")
#: With fewer fields alike, classes have nothing in common but short words.
FEWEST = 3

_RAW = "the file has ranges, short forms and defaults that are still to be filled in"
_LISTS = "the file has lists as people write them, what is kept is frozen"
_FACT = "a fact that rules see: it names nodes and owners, where the resource has references"
#: Fields that two classes share -> why they are two.
TWO: dict[frozenset[str], str] = {
    frozenset({"host", "port", "username", "key_file", "known_hosts"}): "a host on the way as a file states it, whose "
    "keys may be left out, and a host as it is logged in to",
    frozenset({"command", "storage", "backup", "admin_port"}): _LISTS,
    frozenset({"name", "vlan", "physical_network", "network_type", "cidr", "gateway", "pool", "address_scope"}): _RAW,
    frozenset({"servers", "kind", "flavor", "image", "volume"}): _RAW,
    frozenset({"count", "flavor", "image"}): _RAW,
    frozenset({"controllers", "state", "accounting", "release", "munge_key"}): _RAW,
    frozenset({"physical_network", "vlans", "subnets"}): _RAW,
    frozenset({"members", "ssh_public_key", "ssh_from", "public", "ca", "accounts", "people"}): _LISTS,
    frozenset({"name", "keys", "since", "until", "accounts", "vpods", "clusters"}): _LISTS,
    frozenset({"host", "user", "prefixes"}): _LISTS,
    frozenset({"provider", "cipher", "key_size", "control_location"}): _RAW,
    frozenset({"kind", "endpoint", "keys"}): _RAW,
    frozenset({"access", "appliance", "key"}): _LISTS,
    frozenset({"origins", "methods", "headers", "expose", "max_age"}): _LISTS,
    frozenset({"device", "name", "interfaces", "mode"}): _LISTS,
    frozenset({"vlan", "vni", "underlay", "encapsulation"}): _LISTS,
    frozenset(
        {
            "os",
            "kernel",
            "driver",
            "open_kernel_module",
            "persistenced",
            "cuda",
            "nccl",
            "ofed",
            "ofed_kernels",
            "peermem",
            "dma_buf",
            "sharp",
            "sharp_firmware",
            "pfc_priority",
            "ecn",
            "secure_boot",
            "signed_modules",
            "mig",
            "mitigations",
            "lustre",
            "sysctls",
            "container_host",
        }
    ): _LISTS,
    frozenset({"level", "gpus", "tests"}): _LISTS,
    frozenset({"type", "aliases", "one_time_use"}): "the file refuses parts of a node by name, what is kept is frozen",
    frozenset({"hca", "gpu", "nvswitch"}): "of a node what was attested, of a site the versions that count",
    frozenset({"name", "domain", "partition", "gpus"}): _FACT,
    frozenset({"name", "hosts", "metadata"}): _FACT,
    frozenset({"bmc", "gw", "rnic"}): "one of a single machine, one of ranges over a rack",
    frozenset({"ipu_data", "storage", "management"}): "of a vPOD the networks, and where each of them reaches",
    frozenset({"model", "serial", "system_mac"}): "answers of two vendors, each with names of its own",
    frozenset({"project", "user", "role"}): "the resource, and the id by which the cloud knows it",
}


def fields() -> Iterator[tuple[frozenset[str], str]]:
    """(annotated fields, class) of every class of the product."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    yield frozenset(_fields(node)), f"{path.relative_to(ROOT).as_posix()}:{node.name}"


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if "ClassVar" not in ast.unparse(kind):
                yield name


def test_classes_with_the_same_fields_have_a_reason() -> None:
    found: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for names, where in fields():
        if len(names) >= FEWEST:
            found[names].append(where)
    twice = {names: places for names, places in found.items() if len(places) > 1}
    assert {tuple(sorted(names)): places for names, places in twice.items() if names not in TWO} == {}
    assert {tuple(sorted(names)) for names in TWO if names not in twice} == set()
