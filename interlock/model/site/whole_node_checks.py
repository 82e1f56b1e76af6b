"""Flavours of the role `gpu`: they hand out a node whole, of a type that can be, and it fits each such node."""

from __future__ import annotations

from interlock.hardware.gpu.passing_through import passed_devices
from interlock.hardware.verdicts import PlacementVerdict
from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .inventory import Host
from .offers_file import FlavorFile, WholeNodeFile
from .places import Path
from .view import SiteView
from .whole_nodes import ALIAS, kinds_of


def check_whole_nodes(view: SiteView) -> None:
    """Adds faults of flavours of the role `gpu`, and of GPU nodes on which Nova runs servers."""
    seen = dict[str, str]()
    for name, flavor in view.file.flavors.items():
        path: Path = ("flavors", name)
        if flavor.role != "gpu":
            if flavor.whole_node is not None:
                message = f"`whole_node:` of a flavour of the role {flavor.role}"
                view.faults.add(Code.CONTRADICTION, (*path, "whole_node", KEY), message, "say `role: gpu`")
        elif flavor.whole_node is None:
            hint = "state its type and aliases: whoever gets a GPU node gets all of it"
            view.faults.add(Code.MISSING_KEY, path, "a flavour of the role gpu without `whole_node:`", hint)
        else:
            _check_flavor(view, path, flavor, flavor.whole_node)
            other = seen.setdefault(flavor.whole_node.type, name)
            if other != name:
                message = f"`{other}` is the flavour of {flavor.whole_node.type} nodes already"
                view.faults.add(Code.TWICE, (*path, "whole_node", "type"), message, "one type has one flavour")
    _check_nodes(view, seen)


def _check_flavor(view: SiteView, path: Path, flavor: FlavorFile, node: WholeNodeFile) -> None:
    if flavor.public and not view.faults.lost(*path, "public"):
        message = "a flavour that hands out a GPU node, and every project may use it"
        view.faults.add(Code.CONTRADICTION, path, message, "write `public: false`: tenants with such nodes may use it")
    if ALIAS in flavor.extra_specs:
        message = f"`{ALIAS}` of a flavour that hands out a GPU node"
        hint = "take it out: how many devices of each kind that is follows from `whole_node.type`"
        view.faults.add(Code.CONTRADICTION, (*path, "extra_specs", ALIAS, KEY), message, hint)
    found, below = passed_devices(node.type), (*path, "whole_node")
    if isinstance(found, PlacementVerdict):
        cut = max(found.reason.rfind("; "), found.reason.rfind(": "))
        view.faults.add(Code.CONTRADICTION, (*below, "type"), found.reason[:cut], found.reason[cut + 2 :])
        return
    kinds = kinds_of(node.type)
    for kind in kinds:
        if kind not in node.aliases and not view.faults.lost(*below, "aliases", kind):
            message = f"no alias of the kind {kind}, and a {node.type} has {dict(found.counts)[kind]} of these"
            view.faults.add(Code.MISSING_KEY, (*below, "aliases"), message, "add it: a node is handed out whole")
    for kind in node.aliases:
        if kind not in kinds:
            message = f"an alias of the kind {kind}, and a {node.type} hands out none of these"
            view.faults.add(Code.CONTRADICTION, (*below, "aliases", kind, KEY), message, "take it out")
    if len(set(node.aliases.values())) < len(node.aliases):
        message = "two kinds of devices have one alias: Nova could not tell which of them a server gets"
        view.faults.add(Code.TWICE, (*below, "aliases"), message, "give each kind an alias of its own")


def _check_nodes(view: SiteView, flavors: dict[str, str]) -> None:
    """GPU nodes that are hypervisors: there is a flavour for each, and it is no larger than the node."""
    for node in view.site.gpu_nodes:
        host = view.site.host.get(node.name)
        # A host of another role is told already.
        if host is None or not host.is_passed_on:
            continue
        path = view.hall_node_paths.get(node.name, ("hosts", node.name))
        name = flavors.get(node.node_type)
        if name is None:
            if not view.faults.short_of("flavors"):
                message = f"`{node.name}` is a hypervisor, and no flavour hands out a {node.node_type} whole"
                hint = f"add one with `role: gpu` and `whole_node: {{type: {node.node_type}, …}}`"
                view.faults.add(Code.MISSING_KEY, path, message, hint)
            continue
        _check_size(view, path, host, name)


def _check_size(view: SiteView, path: Path, host: Host, name: str) -> None:
    flavor = view.file.flavors[name]
    for what, asked, has in (
        ("dedicated CPUs", flavor.vcpus, host.dedicated_cpus),
        ("pages of 1 GiB", flavor.ram, host.huge_pages_gib),
    ):
        if asked > has:
            message = f"`{host.name}` has {has} {what}, and flavour `{name}` asks for {asked}"
            hint = "correct what the node has for servers, or make the flavour smaller"
            view.faults.add(Code.CONTRADICTION, path, message, hint)
