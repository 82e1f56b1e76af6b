"""Words of the report of a tenant that leaves: groups of things, names of identities, and who does which step."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.model.evidence.steps import ACCEPTANCE, SeenStep
from interlock.model.site.inventory import Site
from interlock.vocabulary import nodes

from .handing_over import Demand, Lacking, entry_of
from .leaving_document import WaitingFor

#: Groups of things, in the order of the report.
GROUPS = ("machines", "hosts", "GPUs", "ports", "VLANs", "VNIs", "P_Keys", "NVLink partitions", "addresses", "networks",
          "servers", "volumes", "shares", "buckets", "keys", "users", "rights", "projects", "others")  # fmt: skip
_OF_NODE: Mapping[type[nodes.Node], str] = {
    nodes.HeldMachine: "machines",
    nodes.HeldHost: "hosts",
    nodes.GpuNode: "GPUs",
    nodes.HeldSwitchPort: "ports",
    nodes.InfinibandPortNode: "ports",
    nodes.PartitionKeyNode: "P_Keys",
    nodes.NvlinkPartitionNode: "NVLink partitions",
    nodes.ShareAddressNode: "addresses",
    nodes.MacAddress: "addresses",
    nodes.HeldLoginKey: "keys",
}
OF_KIND: Mapping[str, str] = {
    "Project": "projects",
    "ServiceUser": "users",
    "RoleAssignment": "rights",
    "FlavorAccess": "rights",
    "ShareAccess": "rights",
    "Keypair": "keys",
    "S3Credential": "keys",
    "StoredCredential": "keys",
    "Volume": "volumes",
    "Share": "shares",
    "Bucket": "buckets",
    "FloatingIp": "addresses",
    "Network": "networks",
    "Subnet": "networks",
    "Router": "networks",
    "RouterInterface": "networks",
    "Server": "servers",
    "BareMetalServer": "servers",
    "PartitionKey": "P_Keys",
    "SwitchPort": "ports",
    "Port": "ports",
}
#: Who can say that a step was done.
WHO: Mapping[SeenStep, str] = {
    SeenStep.DEREGISTERED: "a person, at the V-IPU controller",
    SeenStep.UNWIRED: "`interlock settle`, where it can read the switches; else a person",
    SeenStep.POWER_CYCLED: "a person",
    SeenStep.WIPED: "Ironic, of a whole host that it cleans; else a person",
    SeenStep.SELF_TESTED: "a person",
    **dict.fromkeys(ACCEPTANCE, "whoever runs the acceptance of GPU nodes"),
}


def group_of(identity: str) -> str:
    node = nodes.parse(identity)
    if isinstance(node, nodes.HeldSegment):
        return "VNIs" if isinstance(nodes.parse(node.segment), nodes.OverlayNode) else "VLANs"
    return _OF_NODE.get(type(node), "others")


def group_of_entry(demand: Demand) -> str:
    return "machines" if "machine" in demand.entry else "hosts"


def name_of(site: Site, identity: str) -> str:
    node = nodes.parse(identity)
    if isinstance(node, nodes.MacAddress):
        return f"MAC address {nodes.last_part(node)}"
    if isinstance(node, nodes.HeldLoginKey):
        return f"ssh key {nodes.last_part(node)}"
    try:
        return words_of(entry_of(site, identity))
    except TypeError:
        return identity


def words_of(entry: Mapping[str, str | int]) -> str:
    """As a demand is told."""
    return str(Demand("", entry, None, ()))


def waiting_for(one: Lacking) -> WaitingFor:
    if one.refuted or one.missing:
        facts = ", ".join(one.refuted or one.missing)
        why = f"{facts} is {'false' if one.refuted else 'not stated'}"
        return WaitingFor(what=str(one.step), who="whoever answers for the site file", why=why)
    return WaitingFor(what=str(one.step), who=WHO[one.step], why="; ".join(one.because))
