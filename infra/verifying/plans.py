"""One plan as JSON: its resources by kind and name, and what its references lead to."""

from __future__ import annotations

from functools import cached_property

from . import names, references
from .ground import EVERYBODY, OPERATOR, STRANGERS, Json
from .inventory import Inventory


class PlanOfStack:
    """One plan, as JSON, on a site."""

    def __init__(self, inventory: Inventory, plan: Json) -> None:
        self.inventory = inventory
        self.owner: str = plan["tenant"] or OPERATOR
        self.is_tenant = plan["tenant"] is not None
        self.of_kind: dict[str, dict[str, Json]] = {}
        for item in plan["resources"]:
            self.of_kind.setdefault(item["kind"], {})[item["name"]] = item["spec"]
        self.public: list[str] = plan.get("public", [])
        self.public_from: dict[str, list[str]] = plan.get("public_from", {})
        self.untested: list[Json] = [*plan.get("untested", ())]
        self._vpod = {item["name"]: item["vpod"] for item in plan["resources"]}
        self._role = {item["name"]: item["role"] for item in plan["resources"]}
        self._component = {item["name"]: item["component"] for item in plan["resources"]}
        self._type = {item["name"]: item["type"] for item in plan["components"]}

    def all(self, kind: str) -> dict[str, Json]:
        """Name -> fields of every resource of a kind."""
        return self.of_kind.get(kind, {})

    def kind_of(self, reference: str) -> str:
        """The kind of what a reference names, here or by its own word."""
        found = (kind for kind, items in self.of_kind.items() if reference in items)
        return next(found, references.stated_kind(reference))

    def node(self, kind: str, name: str) -> str:
        """An object of this plan's own."""
        return names.named(kind, self.owner, name)

    def port(self, name: str) -> str:
        """A port that the plan refers to: its own, or one that no file describes."""
        return self.node("port", name) if name in self.all("Port") else names.named("ref", name)

    def owner_of(self, project: str | None) -> str:
        """By the project that it lies in."""
        if project is None or references.is_sites_project(project):
            return OPERATOR
        return self.owner if project in self.all("Project") else STRANGERS

    def target_of(self, right: str) -> str:
        """Who gets a right: everybody, a tenant, the operator or a stranger."""
        if right == EVERYBODY or not right:
            return right or STRANGERS
        tenant = references.tenants_project(right)
        return self.owner_of(right) if tenant is None else tenant

    def vpod_of(self, name: str) -> str | None:
        """The vPOD or cluster that a resource is of."""
        found: str | None = self._vpod[name]
        return found

    def role_of(self, name: str) -> str | None:
        """What a network is for, as the plan states it."""
        found: str | None = self._role[name]
        return found

    @cached_property
    def servers(self) -> dict[str, Json]:
        """Virtual servers and whole hosts."""
        whole = {name: {**item, "host": item["node"]} for name, item in self.all("BareMetalServer").items()}
        return {**self.all("Server"), **whole}

    @cached_property
    def sub_ports(self) -> dict[str, list[str]]:
        """Parent port -> the sub-ports of its trunks."""
        found: dict[str, list[str]] = {}
        for item in self.all("Trunk").values():
            found.setdefault(item["port"], []).extend(sub["port"] for sub in item["sub_ports"])
        return found

    def ports_of(self, server: Json) -> list[str]:
        """The ports of a server, and what trunks put on their wire."""
        more = (sub for port in server["ports"] for sub in self.sub_ports.get(port, ()))
        return list(dict.fromkeys([*server["ports"], *more]))

    @cached_property
    def host_of(self) -> dict[str, str]:
        """Port -> the host under the server that has it."""
        return {port: item["host"] for item in self.servers.values() for port in self.ports_of(item)}

    def controllers_of(self, server: Json) -> set[str]:
        """All who control a server: its project's owner, and whoever's key, image or role is on it."""
        keypair, roles = server["keypair"], self.all("RoleAssignment").values()
        is_own = keypair in self.all("Keypair") or server["image"] in self.all("Image")
        is_own |= any(item["project"] == server["project"] and not references.is_runner(item["user"]) for item in roles)
        strange = {STRANGERS} if keypair is not None and keypair not in self.all("Keypair") else set()
        return {self.owner_of(server["project"])} | ({self.owner} if is_own else set()) | strange

    def is_controller(self, name: str) -> bool:
        """True for a server that the plan says is a V-IPU controller."""
        return name in self.all("Server") and self._type.get(self._component[name]) == "VipuController"

    def is_terminal(self, name: str) -> bool:
        """True for a controller that is the operator's alone, which a declared sharing may split."""
        return self.is_controller(name) and self.controllers_of(self.all("Server")[name]) == {OPERATOR}

    @cached_property
    def vpods(self) -> dict[str, list[str]]:
        """vPOD -> its machines: the devices whose switch ports it sets, without its whole hosts."""
        hosts = {item["node"] for item in self.all("BareMetalServer").values()}
        found: dict[str, dict[str, None]] = {name: {} for name, kind in self._type.items() if kind == "VirtualPod"}
        for name, item in self.all("SwitchPort").items():
            if self._vpod[name] in found and item["device"] not in hosts:
                found[self._vpod[name]][item["device"]] = None
        # Of one that is released volumes are left, and its user of buckets: it is none then.
        left = {name for kind in ("Volume", "ServiceUser", "RoleAssignment", "S3Credential") for name in self.all(kind)}
        kept = {self._vpod[name] for name in left} - {vpod for name, vpod in self._vpod.items() if name not in left}
        return {vpod: list(machines) for vpod, machines in found.items() if vpod not in kept}

    @cached_property
    def clusters(self) -> dict[str, list[str]]:
        """GPU cluster -> the hosts below its servers, or that are these; of heads only those on nodes."""
        found: dict[str, list[str]] = {name: [] for name, kind in self._type.items() if kind == "GpuCluster"}
        metal = self.all("BareMetalServer")
        for name, item in self.servers.items():
            is_head = name not in metal and self._type.get(self._component[name]) == "ClusterHead"
            if self._vpod[name] in found and (not is_head or self.inventory.is_lent(item["host"])):
                found[self._vpod[name]].append(item["host"])
        return found

    def keys_of(self, cluster: str) -> list[Json]:
        """The P_Keys of a cluster."""
        return [item for name, item in self.all("PartitionKey").items() if self._vpod[name] == cluster]

    def networks_of(self, part: str, role: str) -> dict[str, Json]:
        """Name -> fields of the networks of a vPOD or cluster that are stated to be for this."""
        networks = self.all("Network").items()
        return {name: item for name, item in networks if (self._vpod[name], self._role[name]) == (part, role)}

    @property
    def keys_outside(self) -> list[Json]:
        """The P_Keys of no cluster."""
        return [item for name, item in self.all("PartitionKey").items() if self._vpod[name] not in self.clusters]

    @cached_property
    def split(self) -> set[str]:
        """The ports of controllers that may be split."""
        found = (self.ports_of(self.servers[name]) for name in self.all("Server") if self.is_terminal(name))
        return {port for ports in found for port in ports}

    def wires(self, network: Json) -> list[str]:
        """What a network claims: its VLAN on every switch of its physical network, or its overlay."""
        kind, number = network["network_type"], network["segmentation_id"]
        if kind == "vxlan":
            return [names.overlay(self.inventory.site["cloud"], "vxlan", number or 0)]
        is_vlan = kind == "vlan" and number is not None
        return self.inventory.segments(network["physical_network"], number) if is_vlan else []

    def plug_points(self, network: Json) -> list[str]:
        """Where a right to plug in leads: what it claims; of a flat network, its wire at every host."""
        if network["network_type"] != "flat":
            return self.wires(network)
        hosts = self.inventory.hosts
        bridges = (item for host in hosts for item in self.inventory.bridges(host, network["physical_network"]))
        return [self.inventory.at_host(bridge, 0) for bridge in bridges]

    def hub(self, name: str) -> str:
        """The external network that a network of this plan is: the site's, or one that no file of the site tells of."""
        network, sites = self.all("Network")[name], self.inventory.site["external"]
        here = network["physical_network"], network["segmentation_id"]
        if here == (sites["physical_network"], sites["vlan"]):
            return self.inventory.hub
        return names.named("X", names.outside_of(self.owner, name))

    def rnic(self, machine: str) -> str:
        """The RNIC of a machine, which the site may not list."""
        if machine not in self.inventory.machines:
            return names.named("ref", machine)
        return names.part(self.inventory.serial[machine], "rnic")
