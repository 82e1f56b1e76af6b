"""A plan as a tree for people: every component and resource with its ids, addresses, hosts and machines.

A value that the request did not state is marked with who chose it; a resource that nothing can make, with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from infra.cli.colour import BOLD, DIM, YELLOW, painted
from infra.reports.plan_buckets import bucket_details
from infra.reports.wiring_words import MARKS, wiring_words
from interlock.model.site.inventory import Endpoint
from interlock.model.tenant.request import Default
from interlock.planning import Component, Plan, Planned, not_makeable
from interlock.planning.origins import request_path
from interlock.resources import Bucket, SwitchPort, VipuAgent, VipuPartition
from interlock.vocabulary import Reference

#: Pieces of a line: the field that a text is about, and the text.
Details = list[tuple[str, str]]


def _segment(spec: Mapping[str, Any]) -> Details:
    word = {"vlan": "VLAN", "vxlan": "VNI"}.get(spec["network_type"], spec["network_type"])
    number = "" if spec["segmentation_id"] is None else f" {spec['segmentation_id']}"
    on = f" on {spec['physical_network']}" if spec["physical_network"] else ""
    return [("segmentation_id", f"{word}{number}{on}")]


def _range(spec: Mapping[str, Any]) -> Details:
    on = f" on {spec['physical_network']}" if spec["physical_network"] else ""
    return [("minimum", f"{spec['network_type']} {spec['minimum']}-{spec['maximum']}{on}")]


def _switch_port(spec: Mapping[str, Any]) -> Details:
    end = Endpoint(device=spec["device"], interface=spec["interface"])
    return [("device", f"{spec['switch']} port {spec['port']} – {end}"), ("vlan", f"VLAN {spec['vlan']}")]


def _rules(spec: Mapping[str, Any]) -> Details:
    count = len(spec["rules"])
    groups = sorted({rule["remote_group"] for rule in spec["rules"]} - {None})
    by_group = f", from group {', '.join(groups)}" if groups else ""
    return [("rules", f"{count} rule{'' if count == 1 else 's'}{by_group}")]


def _trunk(spec: Mapping[str, Any]) -> Details:
    subs = [("sub_ports", f"{item['port']} with tag {item['vlan']}") for item in spec["sub_ports"]]
    return [("port", f"on {spec['port']}"), *subs]


def _pairs(spec: Mapping[str, Any]) -> Details:
    shown = [("address", spec["address"]), ("vnic_type", spec["vnic_type"])]
    return shown + [("allowed_address_pairs", f"may send from {prefix}") for prefix in spec["allowed_address_pairs"]]


def _quota(spec: Mapping[str, Any]) -> Details:
    shown = ("instances", "cores", "ram_mib", "networks", "ports", "volumes", "volume_gib")
    return [(field, f"{field} {spec[field]}") for field in shown]


def _statements(spec: Mapping[str, Any]) -> Details:
    return [
        ("statements", f"{' and '.join(item['actions'])} for {', '.join(item['principals'])}")
        for item in spec["statements"]
    ]


def _volume(spec: Mapping[str, Any]) -> Details:
    told = [("size_gib", f"{spec['size_gib']} GiB"), ("volume_type", f"type {in_words(spec['volume_type'])}")]
    told += [("encrypted", "encrypted")] if spec["encrypted"] else []
    return [*told, ("on_delete", f"on delete {spec['on_delete']}")]


def _volume_type(spec: Mapping[str, Any]) -> Details:
    how = spec["encryption"]
    if how is None:
        return []
    return [("encryption", "encrypted: {provider}, {cipher}, {key_size} bits, {control_location}".format(**how))]


def _partition_key(spec: Mapping[str, Any]) -> Details:
    full = sum(member["membership"] == "full" for member in spec["members"])
    limited = len(spec["members"]) - full
    counts = [f"{count} {how}" for count, how in ((full, "full"), (limited, "limited")) if count]
    return [("key", f"P_Key {spec['key']:#06x} on {spec['infiniband']}"), ("members", f"members: {', '.join(counts)}")]


#: Kinds that need more than words around single values.
WRITTEN: Mapping[str, Callable[[Mapping[str, Any]], Details]] = {
    "Network": _segment,
    "SegmentRange": _range,
    "SwitchPort": _switch_port,
    "SecurityGroup": _rules,
    "Port": _pairs,
    "Trunk": _trunk,
    "PartitionKey": _partition_key,
    "Quota": _quota,
    "VolumeType": _volume_type,
    "Volume": _volume,
    "Bucket": lambda spec: bucket_details(Bucket.model_validate(spec)),
    "BucketPolicy": _statements,
}

#: For all others: (field, the words around its value).
WORDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Project": (("name", "{}"),),
    "ShareQuota": (("shares", "shares {}"), ("share_gib", "share_gib {}")),
    "Role": (("name", "{}"),),
    "RoleAssignment": (("role", "{}"), ("user", "for {}")),
    "Subnet": (("cidr", "{}"), ("gateway", "gateway {}")),
    "SubnetPool": (("prefixes", "{}"),),
    "Router": (("external_network", "to {}"),),
    "RouterInterface": (("subnet", "into {}"), ("router", "of {}")),
    "FloatingIp": (("address", "{}"), ("port", "to {}")),
    "RbacPolicy": (("action", "{}"), ("object", "to {}"), ("target", "for {}")),
    "StoredCredential": (("credential", "{}"), ("place", "in {}"), ("item", "fetched as {}"), ("by", "from {}")),
    "Flavor": (("vcpus", "{} CPUs"), ("ram_mib", "{} MiB of RAM"), ("disk_gib", "{} GiB of disk")),
    "FlavorAccess": (("flavor", "to {}"),),
    "Image": (("file", "{}"),),
    "Aggregate": (("hosts", "{}"),),
    "Server": (("host", "on {}"), ("flavor", "flavour {}"), ("image", "image {}")),
    "BareMetalServer": (("node", "on {}"), ("image", "image {}")),
    "VolumeAttachment": (("volume", "{}"), ("server", "at {}")),
    "ShareType": (("extra_specs", "{}"),),
    "Share": (("size_gib", "{} GiB"), ("share_type", "type {}"), ("protocol", "{}"), ("on_delete", "on delete {}")),
    "ShareAccess": (("prefix", "for {}"), ("network", "on {}"), ("vip", "at {}"), ("level", "{}")),
    "VipuAgent": (("machine", "of {}"), ("host", "at {}")),
    "VipuCluster": (
        ("topology", "{}"), ("link_domains", "IPU-Link domains {}"),
        ("cluster_topology", "GW-Links {}"),
    ),
    "VipuAllocation": (("machines", "{}"), ("topology", "{}")),
    "VipuUser": (("name", "{}"), ("allocations", "of {}")),
    "VipuPartition": (
        ("ipus", "{} IPUs"), ("gcds", "{} GCDs"), ("replicas", "{} replicas"), ("sync_type", "sync {}"),
        ("reconfigurable", "reconfigurable {}"), ("routing", "routing {}"),
        ("replaceable", "replaceable {}"),
    ),
}  # fmt: skip


def tree(plan: Plan, defaults: Sequence[Default] = (), *, colour: bool = False, site: str = "") -> str:
    """The tree of a plan, one line each; a plan with nothing in it is one line.

    `site`: the folder that commands in it name, if not the usual one.
    """
    return _Tree(plan, defaults, colour, site).text()


class _Tree:
    def __init__(self, plan: Plan, defaults: Sequence[Default], colour: bool, site: str) -> None:
        self.plan = plan
        self.origin = {item.path: item.origin for item in defaults}
        self.missing = {(item.kind, item.name) for item in not_makeable(plan)}
        self.colour = colour
        self.site = site

    def text(self) -> str:
        head = f"{self.plan.stack}: {len(self.plan.resources)} resources in {len(self.plan.components)} components"
        if not self.plan.resources:
            return f"{head}: `pulumi up` deletes every object of the stack"
        head = "; ".join([head, *wiring_words(self.plan, self.site)])
        roots = (item for item in self.plan.components if item.parent is None)
        return "\n".join([head, *(line for root in roots for line in self._component(root, "", ""))])

    def _component(self, component: Component, first: str, rest: str) -> Iterator[str]:
        """The line of a component after `first`, and what lies below it, each line after `rest`."""
        name = painted(component.name, BOLD, self.colour)
        yield f"{first}{name}  {painted(component.type, DIM, self.colour)}"
        below: list[Planned | Component] = [*self.plan.of(component.name), *self._children(component)]
        for index, item in enumerate(below):
            last = index == len(below) - 1
            branch, deeper = rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")
            if isinstance(item, Component):
                yield from self._component(item, branch, deeper)
            else:
                yield branch + self._resource(item)

    def _children(self, component: Component) -> Iterator[Component]:
        return (item for item in self.plan.components if item.parent == component.name)

    def _resource(self, item: Planned) -> str:
        kind = painted(item.resource.KIND, DIM, self.colour)
        details = ", ".join(self._detail(item, field, text) for field, text in details_of(item))
        marks = painted(self._mark(item), YELLOW, self.colour)
        return "  ".join(part for part in (item.name, kind, details, marks) if part)

    def _detail(self, item: Planned, field: str, text: str) -> str:
        origin = self.origin.get(request_path(self.plan, item, field) or "")
        return f"{text} {painted(f'(default of {origin})', DIM, self.colour)}" if origin else text

    def _mark(self, item: Planned) -> str:
        if (item.resource.KIND, item.name) in self.missing:
            return "[nothing can make it yet]"
        if item.resource.is_declared:
            return ""
        if isinstance(item.resource, SwitchPort):
            return MARKS[item.resource.wired_by]
        return "[in band]" if item.resource.comes_with_another else "[not wired]"


def details_of(item: Planned) -> Details:
    """What the line of a resource tells, field by field."""
    spec, kind = item.resource.canonical(), item.resource.KIND
    if kind in WRITTEN:
        return WRITTEN[kind](spec)
    shown = ((field, words, spec[field]) for field, words in WORDS.get(kind, ()))
    found = [(field, words.format(in_words(value))) for field, words, value in shown if value not in (None, "", [])]
    # The id of a name that is too long for one.
    is_cut = isinstance(item.resource, VipuAgent | VipuPartition) and spec["name"] != item.name
    return [*found, ("name", f"{spec['name']} at V-IPU")] if is_cut else found


def in_words(value: Any) -> str:
    """A canonical value as people write it: references by their last part, lists with spaces, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(in_words(item) for item in value)
    if isinstance(value, dict):
        return " ".join(f"{key}={in_words(item)}" for key, item in sorted(value.items()))
    text = str(value)
    return Reference.parse(text).name if Reference.scheme_of(text) else text
