"""`interlock plan`: everything that a stack will be, without cloud and without Pulumi."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import typer

from infra.cli import colour
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import Site, Tenant
from infra.program.gate import Gate
from infra.program.refusal import note
from infra.reports.plan_by_hand import KeyByHand, UnmountedVolume, keys_by_hand, unmounted_volumes
from infra.reports.plan_changes import changes_text
from infra.reports.plan_cost import cost_text, defaults_text
from infra.reports.plan_earlier import Earlier, NoEarlierPlan, earlier_plan
from infra.reports.plan_former_keys import former_key_lines
from infra.reports.plan_keys import key_lines
from infra.reports.plan_mounts import mount_lines
from infra.reports.plan_nodes import node_lines, roll_lines
from infra.reports.plan_removal import removal_text
from infra.reports.plan_tree import tree
from infra.reports.plan_ways_in import ways_lines
from interlock.model.lock.record import FormerKey, Lock
from interlock.model.tenant.request import Default
from interlock.planning import Plan, not_makeable
from interlock.planning.cluster_guest import texts_of_cluster
from interlock.planning.cluster_life import NodeStep, node_steps
from interlock.planning.cluster_spans import ClusterSpan, cluster_span
from interlock.planning.costs import Cost, cost_of
from interlock.planning.devices import serials_of
from interlock.planning.differences import ResourceChange, changes_between
from interlock.planning.out_of_service import HeldOutOfService, held_out_of_service
from interlock.planning.released_vpods import PaidData, paid_data
from interlock.planning.removal import removal_of
from interlock.planning.replacements import Replacement, changes_of_devices, replacements
from interlock.planning.resizes import Resize, resizes_between
from interlock.planning.returning import waiting_devices
from interlock.planning.returning_words import WaitingDevices
from interlock.planning.rolling import RollState, rolls
from interlock.planning.scope import ClusterScope
from interlock.planning.share_mounts import ShareMount, share_mounts
from interlock.planning.ways_in import WaysIn, ways_in


@dataclass(frozen=True)
class Shown:
    """A plan with all that follows from it. `cost` is None for the operator's stack, `changes` without --against."""

    plan: Plan
    defaults: Sequence[Default]
    cost: Cost | None
    changes: Sequence[ResourceChange] | None
    #: What of its machines and hosts failed or is in maintenance.
    out_of_service: Sequence[HeldOutOfService] = ()
    #: The folder that commands in a text name, if not the usual one.
    site: str = ""
    #: What of its machines and hosts stands where another device stood.
    replaced: Sequence[Replacement] = ()
    #: Name -> serial of the site's machines and hosts: a later plan is compared with them.
    devices: Mapping[str, str] = field(default_factory=dict)
    #: How people get in to its servers; None for the operator's stack.
    ways_in: WaysIn | None = None
    #: vPOD -> what its servers mount of the tenant's shares.
    mounts: Mapping[str, Sequence[ShareMount]] = field(default_factory=dict)
    #: Login keys that the request no longer names, and that servers may still have.
    former_keys: Sequence[FormerKey] = ()
    #: How far apart the nodes of its clusters are.
    clusters: Sequence[ClusterSpan] = ()
    #: Cluster -> path -> text of what its scheduler reads.
    scheduler: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: What becomes of their nodes; None without --against.
    nodes: Sequence[NodeStep] | None = None
    #: How far its clusters are on the way to another image.
    rolls: Sequence[RollState] = ()
    #: What becomes of its vPODs; None without --against.
    resizes: Sequence[Resize] | None = None
    #: Its servers whose key at V-IPU a person brings.
    keys: Sequence[KeyByHand] = ()
    #: What is attached to servers that are there and do not mount it; None without --against.
    unmounted: Sequence[UnmountedVolume] | None = None
    #: What stays of its vPODs that are released.
    paid: Sequence[PaidData] = ()
    #: What its vPODs and clusters had before and what nobody gets before it was seen clean.
    waiting: Sequence[WaitingDevices] = ()

    def document(self) -> dict[str, Any]:
        """The JSON form. Amounts are decimal text; `plan` is what `--against` takes."""
        return {
            "plan": self.plan.canonical(),
            "defaults": [item.model_dump(mode="json") for item in self.defaults],
            "cost": None if self.cost is None else self.cost.model_dump(mode="json"),
            "changes": None if self.changes is None else [item.model_dump(mode="json") for item in self.changes],
            "not_makeable": [item.model_dump(mode="json") for item in not_makeable(self.plan)],
            "out_of_service": [asdict(item) for item in self.out_of_service],
            "replaced": [asdict(item) for item in self.replaced],
            "devices": dict(self.devices),
            "ways_in": None if self.ways_in is None else self.ways_in.model_dump(mode="json"),
            "former_keys": [item.model_dump(mode="json") for item in self.former_keys],
            "mounts": {vpod: [item.model_dump(mode="json") for item in found] for vpod, found in self.mounts.items()},
            "clusters": [asdict(item) for item in self.clusters],
            "scheduler": {cluster: dict(texts) for cluster, texts in self.scheduler.items()},
            "nodes": None if self.nodes is None else [asdict(item) for item in self.nodes],
            "rolls": [asdict(item) for item in self.rolls],
            "resizes": None if self.resizes is None else [item.model_dump(mode="json") for item in self.resizes],
            "paid": [item.document() for item in self.paid],
            "keys_by_hand": [asdict(item) for item in self.keys],
            "unmounted": None if self.unmounted is None else [asdict(item) for item in self.unmounted],
            "waiting": [item.document() for item in self.waiting],
        }


def plan(
    tenant: Tenant = None,
    site: Site = "",
    form: Annotated[Format, format_option("plan")] = Format.TEXT,
    against: Annotated[
        str | None,
        typer.Option("--against", "-a", metavar="REF", help="Show changes against a plan file or a git revision."),
    ] = None,
    destroy: Annotated[
        bool, typer.Option("--destroy", help="Show what `pulumi destroy` deletes, in which order, and what refuses.")
    ] = False,
) -> None:
    """Show what a stack will be: ids, addresses, hosts, cost.

    A tree of every component and resource. It marks what the request does not state, and what nothing can
    make yet. Machines and hosts of the plan that failed or are in maintenance have a line each, and so has what stands
    where a device of another serial stood: it is another machine. Each GPU cluster has a line that says how near its
    nodes are. It says who gets in to servers from outside, or that nobody does, gives the line of /etc/fstab of each
    share, and says who brings munge's key to servers with Slurm, and to which Poplar servers a person brings the key of
    their V-IPU user. It names ssh keys that the request no longer names, which servers they may still open, and what
    ends that.

    With --against it shows what each change does: in place, restart, replace, or forbidden; of each vPOD which machines
    come and go, what restarts, is replaced, goes and is lost, by name; and of each GPU node that
    leaves, moves, comes or is deployed anew what happens to it in which order, what is lost, and what to do first. It
    names servers that stay and never ask for the key that a V-IPU controller gives out for them from now on, and
    volumes that are attached to servers which stay and do not mount them. Of a
    cluster that is on its way to another image (`roll`) it shows how far it is, and the next step, command by command.
    Nothing is judged here: `interlock check` does.

    With --destroy it shows the end of a tenant's stack instead: what holds data and refuses, with the line of the
    request that says so, the steps of the deletion, and what is nobody's afterwards until it is seen clean.

    The JSON form is one object: `version`, `plan`, `defaults`, `cost`, `changes`, `not_makeable`,
    `out_of_service`, `replaced`, `devices`, `ways_in`, `mounts`, `former_keys`, `clusters`, `scheduler`, the files of
    each cluster by path, `nodes`, `rolls`, `resizes`, `paid`, `keys_by_hand`, `unmounted`, `waiting`;
    with --destroy: `version`, `stack`, `refused`, `steps`, `left`, `released`.

    \b
    Exit code: 0 planned; 1 `pulumi destroy` would be refused (--destroy);
    2 the input is wrong: a file, a lock that is missing or old, or REF.

    \b
    Examples:
      interlock plan acme
      interlock plan acme --against HEAD~1
      interlock plan globex --format json
      interlock plan acme --destroy
    """
    if destroy:
        _destroy(tenant, site, form, against)
        return
    shown = _shown(Gate.indexed(site), tenant, site, against)
    if form is Format.JSON:
        print_json(shown.document())
    else:
        print_text(_text(shown, against))
    if said := note(shown.plan, proved=False):
        print(said, file=sys.stderr)


def _destroy(tenant: str | None, site: str, form: Format, against: str | None) -> None:
    """Print the end of a tenant's stack. Raises typer.Exit(1) if its deletion would be refused."""
    if tenant is None:
        raise typer.BadParameter("name the tenant whose stack is to go", param_hint="--destroy")
    if against is not None:
        raise typer.BadParameter("compares nothing with --destroy: leave one of both out", param_hint="--against")
    removal = removal_of(Gate.indexed(site).plan(tenant))
    if form is Format.JSON:
        print_json(removal.model_dump(mode="json"))
    else:
        print_text(removal_text(removal, colour=colour.wanted()))
    if removal.refused:
        raise typer.Exit(1)


def _shown(gate: Gate, tenant: str | None, site: str, against: str | None) -> Shown:
    planned = gate.plan(tenant)
    budget = gate.tenant(tenant).budget if tenant else None
    lock = gate.workspace.locks.get(tenant or "")
    earlier = None if against is None else _earlier(against, site, tenant)
    changes = None if earlier is None else _changes(gate, planned, earlier, lock)
    nodes = None if earlier is None else node_steps(earlier.plan, planned)
    cost = cost_of(gate.workspace.site, planned, budget) if tenant else None
    defaults = gate.workspace.defaults[tenant] if tenant else ()
    idle = held_out_of_service(gate.workspace.site, lock.allocation) if lock else ()
    there = gate.workspace.site
    replaced = replacements(there, lock) if lock else ()
    ways = ways_in(there, planned) if tenant else None
    mounts = _mounts(gate, tenant, lock) if tenant and lock else {}
    former = lock.former_keys if lock else ()
    devices = serials_of(there)
    clusters = sorted(lock.allocation.clusters.items()) if lock else ()
    return Shown(
        planned, defaults, cost, changes, idle, gate.explained_by, replaced, devices, ways, mounts, former,
        [cluster_span(there, *item) for item in clusters], _scheduler(gate, tenant, lock) if tenant and lock else {},
        nodes, rolls(there, gate.tenant(tenant), lock) if tenant and lock else (),
        None if earlier is None else resizes_between(earlier.plan, planned) if earlier.plan else (),
        tuple(keys_by_hand(planned, None if earlier is None else earlier.plan, changes or ())),
        None if earlier is None else tuple(unmounted_volumes(planned, earlier.plan, changes or ())),
        tuple(paid_data(there, gate.tenant(tenant), planned)) if tenant else (),
        waiting_devices(lock) if lock else (),
    )  # fmt: skip


def _mounts(gate: Gate, tenant: str, lock: Lock) -> dict[str, tuple[ShareMount, ...]]:
    request = gate.tenant(tenant)
    every = {
        vpod: share_mounts(gate.workspace.site, request, vpod, claims) for vpod, claims in lock.allocation.parts.items()
    }
    return {vpod: found for vpod, found in every.items() if found}


def _scheduler(gate: Gate, tenant: str, lock: Lock) -> dict[str, dict[str, str]]:
    request, given = gate.tenant(tenant), lock.allocation.clusters
    scopes = [
        ClusterScope(site=gate.workspace.site, tenant=request, cluster=item, claims=given[item.name])
        for item in (request.clusters if request.state == "present" else ())
    ]
    # Of a cluster that is released no server reads anything.
    return {scope.part: texts_of_cluster(scope) for scope in scopes if scope.claims.hosts}


def _changes(gate: Gate, planned: Plan, before: Earlier, lock: Lock | None) -> Sequence[ResourceChange]:
    """Of the plan's resources, then of the devices below them."""
    devices = changes_of_devices(gate.workspace.site, before.devices, lock) if before.plan else ()
    return (*changes_between(before.plan, planned), *devices)


def _earlier(against: str, site: str, tenant: str | None) -> Earlier:
    try:
        return earlier_plan(against, site, tenant)
    except NoEarlierPlan as error:
        raise typer.BadParameter(str(error), param_hint="--against") from None


def _text(shown: Shown, against: str | None) -> str:
    paint = colour.wanted()
    parts = [tree(shown.plan, shown.defaults, colour=paint, site=shown.site)]
    parts += ["\n".join([title, *lines]) for title, lines in _sections(shown).items() if lines]
    if shown.defaults:
        parts.append(defaults_text(shown.defaults))
    if shown.cost is not None:
        parts.append(cost_text(shown.cost))
    if shown.changes is not None:
        parts.append(changes_text(against or "", shown.changes, colour=paint))
    return "\n\n".join(parts)


def _sections(shown: Shown) -> dict[str, list[str]]:
    """Title -> lines, in their order; those without lines are not shown."""
    return {
        "out of service": [_idle(item) for item in shown.out_of_service],
        "released": [
            *(f"  {item.vpod} is {item}" for item in shown.paid),
            *(f"  {item.name} {item.told(shown.plan.tenant or '')}" for item in shown.waiting),
        ],
        "clusters": [f"  {item.cluster}: {item}" for item in shown.clusters],
        "vPODs": [line for item in shown.resizes or () for line in (f"  {item.name} {item.head()}", *_touched(item))],
        "roll": list(roll_lines(shown.rolls)),
        "nodes": list(node_lines(shown.nodes or ())),
        "replaced": [f"  {item.vpod}: {item}" for item in shown.replaced],
        "way in": list(ways_lines(shown.ways_in)) if shown.ways_in is not None else [],
        "former keys": list(former_key_lines(shown.plan, shown.former_keys)) if shown.former_keys else [],
        "mounts": list(mount_lines(shown.mounts)) if shown.mounts else [],
        "not mounted": [f"  {item}" for item in shown.unmounted or ()],
        "keys of V-IPU": [f"  {item}" for item in shown.keys],
        "munge's key": list(key_lines(shown.plan, shown.scheduler)),
    }


def _touched(resize: Resize) -> list[str]:
    return [f"    {line}" for line in resize.lines()]


def _idle(item: HeldOutOfService) -> str:
    return f"  {item.vpod}: {item.kind} {item.device} {item.why}"
