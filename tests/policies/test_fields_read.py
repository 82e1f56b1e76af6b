"""Nothing in a plan is overlooked: each field of each kind changes the facts, or stands below with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from interlock.model.tenant.request import Budget
from interlock.planning.plan import Component, Plan, Planned, UntestedDevice
from interlock.resources import KINDS, Refers, Resource
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.facts.readings import READINGS
from tests.builders.pod64 import tenant
from tests.policies.workspace import added, full_site, made, replaced

ROOT = Path(__file__).resolve().parents[2]
NAME = "how the cloud or its users call it: the proof goes by the plan's own name, and names join nobody"
SIZE = "how much of something its owner may have or has: whatever it is, nobody else meets it"
SPEED = "how it is stored or set up for its owner alone"
WIRED = "how a driver is told of a port that the number names; what the switch says when it is read is what counts"
TOLD = "what its own metadata say: who may mount a share, and so joins its owner, says the share's access alone"
ROOM = "CAP-02 counts what a server takes by the flavour of the site file that it names, of which the plan has a copy"
TELLS = "by whom and where a controller is told of it: what it is told is proved all the same"
LIFE = "what becomes of the data when it goes; the apply guards it, and until then it is its owner's"

#: Field -> why no fact is made of it.
UNREAD: dict[str, str] = {
    "Project.name": "the owner is the stack, and a reference names a project by its plan name",
    "Project.domain": "Keystone keeps ids, not names, apart; preflight compares the domain",
    "Project.description": NAME,
    "ServiceUser.name": NAME,
    "ServiceUser.domain": "whose user it is follows from the project; preflight looks it up by id",
    "Keypair.name": NAME,
    "S3Credential.opens": "what is made with its secret half; whoever holds it has the key, and the key is its owner's",
    "S3Credential.number": "which of a user's keys it is: each is of the user and the project that it names",
    "FloatingIp.uplink": "the interface that has to be there first; where an address leads says its port",
    "AddressScope.name": NAME,
    "SubnetPool.name": NAME,
    "SubnetPool.prefixes": "a subnet has the prefix that it states itself",
    "SubnetPool.default_prefix_length": "a subnet has the prefix that it states itself",
    "SegmentRange.name": NAME,
    "Network.name": NAME,
    "Subnet.name": NAME,
    "Subnet.dns": "an address that clients are told: it is reached by ways that others state, or not at all",
    "Router.name": NAME,
    "Router.snat": "a gateway counts as a way out in both, and what address leaves by it is the scope's guard",
    "SecurityGroup.name": NAME,
    "Port.name": NAME,
    "Trunk.name": NAME,
    "Flavor.name": NAME,
    "Flavor.vcpus": ROOM,
    "Flavor.ram_mib": ROOM,
    "Flavor.disk_gib": SIZE,
    "Image.name": NAME,
    "Image.disk_format": "the checksum is over the file, whatever its format",
    "Aggregate.name": NAME,
    "Server.name": NAME,
    "Server.shares": TOLD,
    "BareMetalServer.name": NAME,
    "BareMetalServer.shares": TOLD,
    "BareMetalServer.resource_class": "what Ironic looks the node up by; `node` says which it is",
    "BareMetalServer.legs": "where Ironic attaches; the switch ports of the plan say the same and are read",
    "VolumeType.name": NAME,
    "VolumeType.extra_specs": SPEED,
    "VolumeType.description": NAME,
    "VolumeType.public": "who may make volumes of it; each is its owner's all the same",
    "Volume.name": NAME,
    "Volume.size_gib": SIZE,
    "Volume.on_delete": LIFE,
    "VolumeAttachment.project": "server and volume say whose they are, each by its own project",
    "Share.name": NAME,
    "Share.size_gib": SIZE,
    "Share.share_type": SPEED,
    "Share.on_delete": LIFE,
    "ShareAccess.level": "reading is enough to meet in the data",
    "Bucket.name": NAME,
    "Bucket.versioning": SPEED,
    "Bucket.on_delete": LIFE,
    "Bucket.storage": "what may be asked of it; whose keys open it is the same of every kind (A11)",
    "Bucket.address": "where it answers; who may use what is there says its policy",
    "Bucket.lifecycle": LIFE,
    "Bucket.cors": "what browsers let pages do: each request has to be signed all the same, or the bucket be public",
    "Bucket.object_lock": LIFE,
    "Bucket.encryption": SPEED,
    "Bucket.public_access_block": "it only shuts what a policy opens, and the proof counts what policies open",
    "BucketPolicy.project": "the bucket says whose it is, by its own project",
    "BucketPolicy.enforced_by": "whether a policy is enforced is a guard of the site (A11)",
    "BucketPolicy.address": "where it answers; who may use what is there the statements say",
    "BucketPolicy.users": "how the object storage is told of those whom statements name",
    "BucketPolicy.keys": "how the object storage is told of those whom statements name",
    "StoredCredential.by": "each of these holds the key by an entry of its own",
    "StoredCredential.item": "under which name a server fetches it; what it opens the credential says",
    "SwitchPort.port_name": WIRED,
    "SwitchPort.switch_mac": WIRED,
    "SwitchPort.quarantine_vlan": "where the port was before and will be after it is the plan's; preflight compares",
    **{
        f"{kind}.{field}": why
        for kind in ("VipuAgent", "VipuCluster", "VipuAllocation", "VipuUser", "VipuPartition")
        for field, why in (("name", NAME), ("managed_by", TELLS), ("address", TELLS))
    },
    "VipuAgent.port": "how its controller asks it; which machine that is says the address",
    "VipuPartition.replaceable": "whether it may be recreated; who meets in it is the same",
    "PartitionKey.ip_over_ib": "a group for packets that members may exchange anyway",
    "NvlinkPartition.name": NAME,
}

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"

#: Two values, where others mean nothing to the proof: (kind and field) -> (before, after).
VALUES: dict[str, tuple[object, object]] = {
    "Keypair.public_key": (
        f"{KEY}HPmlZzAwz2mPiiR0Jmuq1gTFcDPcp8MZFGoIxeGBpFv demo",
        f"{KEY}GPmlZzAwz2mPiiR0Jmuq1gTFcDPcp8MZFGoIxeGBpFv demo",
    ),
    "RbacPolicy.target": ("cloud:Project/globex", "*"),
    "RoleAssignment.user": ("cloud:User/alice", "cloud:User/bob"),
}


def first(kind: str) -> str:
    """The plan name of the resource that is changed, and that others refer to."""
    return f"first-{kind}"


def second(kind: str) -> str:
    """And of another one that they may refer to."""
    return f"second-{kind}"


def values(kind: type[BaseModel], field: str) -> tuple[object, ...]:
    """A value of a field, and others that it may have."""
    info = kind.model_fields[field]
    where = f"{getattr(kind, 'KIND', '')}.{field}"
    if where in VALUES:
        return VALUES[where]
    refers = next((item for item in info.metadata if isinstance(item, Refers) and not item.inside), None)
    names = None if refers is None else references(refers)
    return tuple(_of_type(info.annotation, names))


def references(refers: Refers) -> tuple[str, str]:
    """Two objects that a field may name: of two owners, if they are projects."""
    kind = next(kind for kind in refers.kinds if kind in KINDS)
    return first(kind), "site:Project/elsewhere" if kind == "Project" else second(kind)


def _of_type(annotation: Any, names: tuple[str, str] | None) -> Iterator[object]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        plain = [item for item in arguments if item is not NoneType]
        yield from _of_type(plain[0], names)
        yield from [None] if NoneType in arguments else []
    elif origin is Literal:
        yield from arguments
    elif origin is tuple:
        yield from _tuples(arguments, names)
    elif origin is dict:
        yield from ({"one": "1"}, {"one": "2"}, {})
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from _models(annotation)
    else:
        yield from {bool: (True, False), int: (7, 8), str: names or ("one", "two")}[annotation]


def _tuples(arguments: tuple[Any, ...], names: tuple[str, str] | None) -> Iterator[object]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = list(_of_type(arguments[0], names))
        yield from ((item,) for item in inner)
        yield from ((), tuple(inner[:2]))
    else:
        firsts = tuple(next(iter(_of_type(item, names))) for item in arguments)
        yield firsts
        for place, item in enumerate(arguments):
            yield from ((*firsts[:place], other, *firsts[place + 1 :]) for other in list(_of_type(item, names))[1:])


def _models(kind: type[BaseModel]) -> Iterator[object]:
    """Each field changed by itself, the others as they are, unless both together are refused."""
    base = {name: values(kind, name)[0] for name in kind.model_fields}
    base |= {"remote_group": None} if "remote_group" in base else {}
    yield kind.model_validate(base)
    for name in kind.model_fields:
        for value in values(kind, name):
            if value != base[name]:
                clash = {"remote_prefix": None} if name == "remote_group" else {}
                yield kind.model_validate(base | clash | {name: value})


def resource(kind: str) -> Resource:
    """One of a kind, with the first value of every field."""
    return KINDS[kind].model_validate({name: values(KINDS[kind], name)[0] for name in KINDS[kind].model_fields})


def another(kind: str) -> Resource:
    """One with another value of every field that refers to nothing: who refers to it refers to something else."""
    plain = [name for name, info in KINDS[kind].model_fields.items() if not _refers(info.metadata)]
    changes = {name: values(KINDS[kind], name)[1] for name in plain if len(values(KINDS[kind], name)) > 1}
    return resource(kind).model_copy(update=changes)


def _refers(metadata: Iterable[object]) -> bool:
    return any(isinstance(item, Refers) for item in metadata)


@cache
def everything() -> Plan:
    """A tenant's plan with two resources of every kind more."""
    plan = made(full_site(), tenant("acme")).plan
    for kind in KINDS:
        plan = added(plan, first(kind), "acme", resource(kind))
        plan = added(plan, second(kind), "acme", another(kind))
    return plan


FIELDS = [(kind, field) for kind in KINDS for field in KINDS[kind].model_fields]
SILENT = {name for name, line in READINGS.items() if line.tells.startswith("nothing: ")}
"""Kinds of which no field is read; the table of readings says why."""


def overlooked(kind: str, field: str) -> list[object]:
    """The values of a field that leave the facts as they are."""
    before, *others = values(KINDS[kind], field)
    facts = told(everything())
    return [value for value in others if value != before and told(with_field(kind, field, value)) == facts]


def told(plan: Plan) -> PlanFacts:
    """The facts, but for that each reference to an object of the site is one that FACT-01 looks up."""
    return replace(plan_facts(plan), of_site=())


def with_field(kind: str, field: str, value: object) -> Plan:
    """The plan with one field of one resource changed."""
    item = everything().by_name[first(kind)]
    changed = item.resource.model_copy(update={field: value})
    return replaced(everything(), item.model_copy(update={"resource": changed}))


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_read_or_listed(kind: str) -> None:
    for field in KINDS[kind].model_fields:
        listed = kind in SILENT or f"{kind}.{field}" in UNREAD
        same = overlooked(kind, field)
        assert bool(same) == listed, f"{kind}.{field}: {same} leave the facts as they are" if same else "is read"


def test_the_list_is_of_fields_that_there_are() -> None:
    known = {f"{kind}.{field}" for kind, field in FIELDS if kind not in SILENT}
    assert set(UNREAD) <= known
    assert set(VALUES) <= known
    unchangeable = {f"{kind}.{field}" for kind, field in FIELDS if len(values(KINDS[kind], field)) == 1}
    assert unchangeable == {"Share.protocol"}


def test_where_a_resource_stands_is_read() -> None:
    """The plan says of each resource to which vPOD it belongs, and of networks what they are for."""
    facts, server = plan_facts(everything()), everything().by_name["acme-train-poplar-0"]
    network = everything().by_name["acme-train-ipu-data"]
    for item, change in ((server, {"vpod": None}), (network, {"vpod": None}), (network, {"role": None})):
        assert plan_facts(replaced(everything(), item.model_copy(update=change))) != facts


#: What a plan says besides the specifications of its resources, where no fact is made of it, and why.
BESIDE: dict[str, str] = {
    "Planned.after": "what is made first: the result is the same plan, and the proof covers every state between",
    "Plan.site": "the site is judged as it is handed over; the certificate names it",
    "Plan.stack": "what the engine calls it; whose it is says `tenant`",
    "Plan.owner": "what marks objects on the cloud: a random number, which joins nobody",
    "Plan.site_owner": "what marks objects on the cloud: a random number, which joins nobody",
    "Plan.site_hash": "whether a lock is older than its site is looked at before a plan is judged",
    "Plan.request_hash": "whether a lock is older than its request is looked at before a plan is judged",
}


def beside() -> Iterator[tuple[str, Plan]]:
    """(field, the plan with another value there) of all that a plan says besides specifications."""
    whole = made(full_site(), tenant("acme")).plan
    server, network = whole.by_name["acme-train-poplar-0"], whole.by_name["acme-train-ipu-data"]
    at = next(place for place, item in enumerate(whole.components) if item.type == "PoplarServer")
    host = whole.components[at]
    for item, change in (
        (server, {"name": "other"}), (server, {"component": "acme"}), (server, {"after": ("acme-project",)}),
        (server, {"vpod": None}), (network, {"role": None}), (server, {"resource": network.resource}),
    ):  # fmt: skip
        yield f"Planned.{next(iter(change))}", with_one(whole, item, item.model_copy(update=change))
    for change in ({"name": "other"}, {"type": "VirtualPod"}, {"parent": None}):
        items = (*whole.components[:at], host.model_copy(update=change), *whole.components[at + 1 :])
        yield f"Component.{next(iter(change))}", _plan_with(whole, components=items)
    for name, value in (
        ("site", "other"), ("stack", "other"), ("tenant", None), ("owner", "f" * 32), ("site_owner", "f" * 32),
        ("site_hash", "sha256:1"), ("request_hash", "sha256:1"), ("components", whole.components[:1]),
        ("resources", whole.resources[:-1]), ("public", ("acme-entry",)), ("separate", "no"),
        ("public_from", {"acme-train-poplar-0": ("192.0.2.0/24",)}),
        ("budget", Budget(per_month="1", currency="EUR")),
        ("untested", (UntestedDevice(vpod="train", device="ipum-01", serial="new", before="old"),)),
    ):  # fmt: skip
        yield f"Plan.{name}", _plan_with(whole, **{name: value})


def with_one(plan: Plan, old: Planned, new: Planned) -> Plan:
    """The plan with one resource in the place of another, whatever its name."""
    return _plan_with(plan, resources=tuple(new if item is old else item for item in plan.resources))


def _plan_with(plan: Plan, **fields: object) -> Plan:
    return Plan(**({name: getattr(plan, name) for name in Plan.model_fields} | fields))


def test_what_a_plan_says_besides_is_read_or_listed() -> None:
    facts, cases = plan_facts(made(full_site(), tenant("acme")).plan), dict(beside())
    there = {f"{model.__name__}.{name}" for model in (Planned, Component, Plan) for name in model.model_fields}
    assert set(cases) == there
    assert {field for field, plan in cases.items() if plan_facts(plan) == facts} == set(BESIDE)


def test_a_fact_that_is_made_is_read() -> None:
    """A field of a fact that no module of the prover ever looks at would hide one that is overlooked."""
    modules = (ROOT / "policies").rglob("*.py")
    loads = {name for path in modules for name in _looked_at(path)}
    named = [kind for name in FACTS for kind in vars(import_module(f"policies.facts.{name}")).values()]
    classes = {kind for kind in named if isinstance(kind, type) and is_dataclass(kind)}
    classes = {kind for kind in classes if kind.__module__.startswith("policies.facts.")}
    assert len(classes) > 30
    # The words of the table of readings are for readers of its page.
    unread = {f"{kind.__name__}.{item.name}" for kind in classes for item in fields(kind) if item.name not in loads}
    assert unread == {"KindReading.tells"}


FACTS = [path.stem for path in sorted((ROOT / "policies" / "facts").glob("[a-z]*.py"))]


def _looked_at(path: Path) -> Iterator[str]:
    """Names of attributes that a module reads of anything but the specification that a fact is made of."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node.value) != "spec":
            yield node.attr


def test_silent_kinds_are_those_without_a_fact() -> None:
    assert {line.kind for line in READINGS.values() if line.kind in SILENT and line.fact} == set()
    assert sorted(SILENT) == ["Claims", "Quota", "Role", "ShareQuota", "ShareType"]
