"""What plans say of calls: whose each principal and object is, and every grant (docs/design/semantics.md §6, Auth)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from . import names, references
from .ground import EVERYBODY, OPERATOR, STRANGERS
from .names import UNRESOLVED
from .plans import PlanOfStack

#: (way, from, to).
Grant = tuple[str, str, str]
#: Owner of whom the cloud knows as persons.
_CLOUD = "cloud"
#: Where a credential may lie, beside servers.
_PLACES = ("bucket", "share", "volume")
_EVERYBODY = names.principal(EVERYBODY)


@dataclass
class PlannedCalls:
    """All plans together; `resolve` once they are read."""

    owners: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    grants: set[Grant] = field(default_factory=set)
    public: set[str] = field(default_factory=set)
    #: (controller, port node, tenant) and (share, address node, tenant): whoever meets the node may call it.
    listens: set[tuple[str, str, str]] = field(default_factory=set)
    mounts: set[tuple[str, str, str]] = field(default_factory=set)
    #: Buckets and shares: that each is its owner's is a rule of its service, with or without rules of access.
    ruled: set[str] = field(default_factory=set)
    #: (kind, name) of each node that a plan makes, and of each reference that its own plan cannot resolve.
    made: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    opened: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, plan: PlanOfStack) -> None:
        """One plan."""
        reading = _CallsOfPlan(self, plan)
        for kind in ("Bucket", "Share", "Volume"):
            for name, item in plan.all(kind).items():
                reading.own(kind.lower(), name, plan.owner_of(item["project"]))
        for kind in ("Image", "VipuAllocation"):
            for name in plan.all(kind):
                reading.own("image" if kind == "Image" else "allocation", name, plan.owner)
        for kind, word in (("ServiceUser", "user"), ("S3Credential", "key")):
            for name, item in plan.all(kind).items():
                reading.own(word, name, plan.owner_of(item["project"]))
        for name in plan.all("VipuUser"):
            reading.own("user", name, plan.owner)
        reading.users()
        reading.servers()
        reading.vipu_users()
        reading.data()

    def resolve(self) -> None:
        """A reference that its plan cannot resolve is what exactly one other plan makes under that name."""
        alike = {node: min(self.made[key]) for node, key in self.opened.items() if len(self.made.get(key, ())) == 1}
        self.grants = {(way, alike.get(a, a), alike.get(b, b)) for way, a, b in self.grants}
        for node in alike:
            self.owners.pop(node, None)
        for node, owners in self.owners.items():
            self.grants |= {("writes", names.principal(owner), node) for owner in owners}


class _CallsOfPlan:
    """One plan, while it is read."""

    def __init__(self, calls: PlannedCalls, plan: PlanOfStack) -> None:
        self.calls = calls
        self.plan = plan
        self._kinds = {
            "bucket": "Bucket", "share": "Share", "volume": "Volume", "image": "Image", "allocation": "VipuAllocation",
            "user": "ServiceUser", "key": "S3Credential",
        }  # fmt: skip

    def own(self, kind: str, name: str, owner: str) -> None:
        """Something of this plan's, and whose it is."""
        node = self._named(kind, name)
        self.calls.owners[node].add(owner)
        self.calls.made[kind, name].add(node)
        if kind in ("bucket", "share"):
            self.calls.ruled.add(node)

    def _named(self, kind: str, reference: str) -> str:
        known = self.plan.servers if kind == "server" else self.plan.all(self._kinds.get(kind, ""))
        of_vipu = kind == "user" and reference in self.plan.all("VipuUser")
        owner = self.plan.owner if reference in known or of_vipu else UNRESOLVED
        account = kind in ("user", "key", "login")
        node = names.account(kind, owner, reference) if account else names.thing(kind, owner, reference)
        if owner == UNRESOLVED:
            self.calls.opened[node] = (kind, reference)
            self.calls.owners[node].add(STRANGERS)
        return node

    def _user(self, reference: str) -> str:
        found = references.person(reference)
        return self._named("user", reference) if found is None else names.account("user", _CLOUD, found)

    def _grant(self, way: str, source: str, target: str) -> None:
        self.calls.grants.add((way, source, target))

    def users(self) -> None:
        """Who acts as whom. A token counts in one project, so a person with roles in two projects joins nobody."""
        for name, item in self.plan.all("S3Credential").items():
            self._grant("acts as", self._named("key", name), self._user(item["user"]))
        for item in self.plan.all("RoleAssignment").values():
            if references.is_runner(item["user"]):
                continue
            user, owner = self._user(item["user"]), self.plan.owner_of(item["project"])
            is_person = references.person(item["user"]) is not None
            if is_person:
                self._grant("acts as", names.principal(self.plan.owner), user)
            if item["role"] == references.ADMIN:
                self._grant("acts as", user, names.principal(OPERATOR))
            if owner != self.plan.owner or not is_person:
                self._grant("acts as", user, names.principal(owner))

    def servers(self) -> None:
        """Servers, who has a key to them, what they boot, the volumes on them, and controllers with allocations."""
        plan = self.plan
        for name, server in plan.servers.items():
            node, keypair = self._named("server", name), server["keypair"]
            self.calls.made["server", name].add(node)
            self.calls.owners[node] |= plan.controllers_of(server)
            if keypair is not None and keypair not in plan.all("Keypair"):
                self._grant("writes", self._named("login", keypair), node)
            if not references.is_sites_image(server["image"]):
                self._grant("controls", self._named("image", server["image"]), node)
        for name, image in plan.all("Image").items():
            if image["visibility"] != "private":
                self._grant("reads", _EVERYBODY, self._named("image", name))
        for item in plan.all("VolumeAttachment").values():
            self._grant("controls", self._named("server", item["server"]), self._named("volume", item["volume"]))
        for name, item in plan.all("VipuAllocation").items():
            controller = self._named("server", item["controller"])
            self._grant("serves", controller, self._named("allocation", name))
            called = plan.servers.get(item["controller"])
            for port in plan.ports_of(called) if called is not None else ():
                self.calls.listens.add((controller, plan.node("port", port), plan.owner))

    def vipu_users(self) -> None:
        """Whoever has a user's key has the allocations that the user is given."""
        for name, item in self.plan.all("VipuUser").items():
            for allocation in item["allocations"]:
                self._grant("writes", self._named("user", name), self._named("allocation", allocation))

    def data(self) -> None:
        """Buckets with their keys and policies, shares with their addresses, and credentials that lie in them."""
        plan = self.plan
        for name, item in plan.all("Bucket").items():
            self._grant("writes", self._named("key", item["credential"]), self._named("bucket", name))
            if name in plan.public:
                self.calls.public.add(self._named("bucket", name))
        for item in plan.all("BucketPolicy").values():
            bucket = self._named("bucket", item["bucket"])
            self.calls.ruled.add(bucket)
            self._grant("writes", self._named("key", item["credential"]), bucket)
            for statement in item["statements"]:
                for named in statement["principals"]:
                    principal = _EVERYBODY if named == EVERYBODY else self._user(named)
                    self._grant("writes" if "write" in statement["actions"] else "reads", principal, bucket)
        for item in plan.all("ShareAccess").values():
            share = self._named("share", item["share"])
            self.calls.ruled.add(share)
            address = names.named("vip", plan.inventory.site["cloud"], item["vip"])
            self.calls.mounts.add((share, address, plan.owner))
        for item in plan.all("StoredCredential").values():
            places = {"server": plan.servers, **{kind: plan.all(self._kinds[kind]) for kind in _PLACES}}
            kind = next((kind for kind, named in places.items() if item["place"] in named), "bucket")
            known = item["credential"] in plan.all("VipuUser") or item["credential"] in plan.all("ServiceUser")
            held = self._named("user" if known else "key", item["credential"])
            self._grant("keeps", self._named(kind, item["place"]), held)


def calls_of(plans: Iterable[PlanOfStack]) -> PlannedCalls:
    """What all plans say."""
    found = PlannedCalls()
    for plan in plans:
        found.read(plan)
    found.resolve()
    return found


def leading_from(grants: Iterable[Grant]) -> dict[str, list[Grant]]:
    """Principal or object -> the grants out of it."""
    found: defaultdict[str, list[Grant]] = defaultdict(list)
    for grant in grants:
        found[grant[1]].append(grant)
    return found


def everybody_is(owners: Iterable[str]) -> Iterator[Grant]:
    """Each owner is one of everybody."""
    yield from (("acts as", names.principal(owner), _EVERYBODY) for owner in owners)


def to_everybody(nodes: Iterable[str]) -> Iterator[Grant]:
    """What a service that keeps to no rules gives."""
    yield from (("writes", _EVERYBODY, node) for node in nodes)
