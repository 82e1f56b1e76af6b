"""Random tenants on one cloud: their runs, step by step, and what must hold after every step."""

from __future__ import annotations

import contextlib
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from interlock.provider.clouds import Cloud
from interlock.provider.markers import marker
from interlock.resources import SwitchPort
from interlock.vocabulary.owners import OwnerId
from tests.machine.dying import Death, dying
from tests.machine.looking import Snapshot
from tests.machine.switch import MACHINES_PORTS, TopOfRack, is_at_rest, is_open_to
from tests.machine.wishes import Wish, everything, part_of, resources, vlans
from tests.nova_book import functions_taken
from tests.support.engine.runs import Engine, Stopped
from tests.support.engine.stack import Stack

SITE_OWNER, STRANGER = "5172ea", "5742a7"

#: Where in a volume the tenant has written, and what. The bytes lie in files of Cinder's stand-in.
PLACE, WRITTEN = 4096, b"what the tenant wrote"

#: What the engine asks for, and the plan name of what it asks it for.
Operation = tuple[str, str]


@dataclass
class Tenant:
    """One tenant: what it wants, what the engine knows, and what may be otherwise than the engine knows."""

    wish: Wish
    engine: Engine
    #: Plan names of what may be on the cloud although the state does not hold it: a run was cut off or stopped.
    maybe: set[str] = field(default_factory=set)
    #: Plan names of what may be otherwise than the state says: somebody changed it, or a run was cut off.
    unsure: set[str] = field(default_factory=set)
    #: Ids of volumes whose data are to be kept -> plan name.
    precious: dict[str, str] = field(default_factory=dict)
    #: Ids of routers that somebody made in the tenant's project, with names of the tenant's.
    guests: list[str] = field(default_factory=list)

    @property
    def stack(self) -> Stack:
        return self.engine.stack

    def want(self, wish: Wish) -> None:
        """The request is edited; nothing is done yet."""
        self.wish = wish
        self.stack.resources = dict(resources(wish))

    def along(self, name: str) -> set[str]:
        """Plan names of what is not as the state says once that is gone: a network's subnet, a port's server."""
        return {
            other
            for other, found in self.stack.state.items()
            if (name in found.outputs["ports"] if part_of(other) == "server" else other == f"{name}-subnet")
        }

    def kept(self) -> set[str]:
        """Plan names of data that the state says to keep."""
        return {name for name, found in self.stack.state.items() if found.outputs.get("on_delete") == "keep"}

    def switch_ports(self) -> Iterator[tuple[str, int]]:
        """(port of the switch, VLAN of ours) of all switch ports that are there, or that a crash may have left."""
        for name, found in self.stack.state.items():
            # What a refresh found is recorded: a VLAN that somebody set by hand, or none.
            if part_of(name) == "rnic" and found.outputs.get("vlan") in vlans(self.wish):
                yield found.outputs["port_name"], int(found.outputs["vlan"])
        for spec in (self.stack.resources.get(name) for name in self.maybe):
            if isinstance(spec, SwitchPort) and spec.port_name is not None:
                yield spec.port_name, spec.vlan

    def may_stop(self, operation: str) -> bool:
        """True if a run has a reason not to come to its end."""
        wanted = set() if operation == "destroy" else self.stack.resources.keys()
        guests = operation == "destroy" and bool(self.guests)
        return bool(self.maybe or self.unsure or self.kept() - wanted or guests)

    def parts(self) -> set[str]:
        """The parts that are, or may be, there."""
        return {part_of(name) for name in (*self.stack.state, *self.maybe)} - {""}


@dataclass
class Run:
    """One `up`, `refresh` or `destroy` on its way. `pending` is done next; None: there is nothing more to do."""

    tenant: Tenant
    command: str
    operations: Iterator[Operation]
    may_stop: bool
    pending: Operation | None = None


@dataclass
class Ground:
    """The cloud, by the operator's hands, and what was done on it."""

    cloud: Cloud
    #: Where the embedded cloud lies.
    sandbox: Path
    folder: Path
    #: What the operator has, as `existing:` of a site file says it.
    existing: dict[str, str]
    tenants: list[Tenant] = field(default_factory=list)
    #: What was done -> how often; after each of these everything was looked at.
    steps: Counter[str] = field(default_factory=Counter)
    #: (list, id) -> what a stranger has, as it was.
    strangers: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    #: What was done since the last tenants went.
    diary: list[str] = field(default_factory=list)
    #: Tenants that there ever were.
    number: int = 0
    #: Virtual functions that were lost before anything was done here.
    lost_before: int = 0
    #: Plan name -> its port of the switch, which somebody set past us, and nobody made or deleted since.
    set_by_hand: dict[str, str] = field(default_factory=dict)
    #: False from the moment in which something did not hold.
    sound: bool = True

    # --- runs ---------------------------------------------------------------------------------------------

    def join(self, wish: Wish) -> Tenant:
        """A tenant that has nothing yet, and strangers that have something by the same names."""
        objects: Any = {
            "site_owner": SITE_OWNER, "folder": self.folder, "existing": self.existing,
            "ever": everything(wish.number),
        }  # fmt: skip
        stack = Stack(cast("Any", None), f"lyon-{wish.tenant}", secrets.token_hex(6), {}, **objects)
        tenant = Tenant(wish, Engine(stack))
        tenant.want(wish)
        self.tenants.append(tenant)
        for place, body in _twins(wish).items():
            self.strange(place, body)
        self.look("join")
        return tenant

    def begin(self, tenant: Tenant, command: str) -> Run | None:
        """A run up to its first operation; None if it stopped before."""
        run = Run(tenant, command, getattr(tenant.engine, command)(), tenant.may_stop(command))
        try:
            run.pending = next(run.operations, None)
        except Stopped as stopped:
            self._stop(run, stopped)
            return None
        return run

    def whole(self, tenant: Tenant, command: str, death: tuple[int, Death] | None = None) -> bool:
        """A run to its end; True if it got there. `death`: in which of its operations it is killed, and how."""
        run, number = self.begin(tenant, command), 0
        while run is not None and run.pending is not None:
            dies = death is not None and death[0] == number
            if not self.step(run, death[1] if dies and death else None):
                return False
            number += 1
        if run is not None and command == "refresh":
            self.look("refresh")
        return run is not None

    def step(self, run: Run, death: Death | None = None) -> bool:
        """Does what is pending; False if the run ends with it, stopped or killed."""
        assert run.pending is not None
        (operation, name), tenant = run.pending, run.tenant
        before = tenant.stack.state.get(name)
        try:
            with dying(death) if death else contextlib.nullcontext():
                run.pending = next(run.operations, None)
        except Stopped as stopped:
            if (stopped.operation, stopped.name) != (operation, name):
                self._done(tenant, operation, name)
            if death is not None and death.happened:
                self._cut_off(run, stopped.operation, stopped.name)
            else:
                self._stop(run, stopped)
            return False
        if death is not None and not death.happened:
            # The provider has done all of it, and the engine is gone before it hears of that.
            _put_back(tenant.stack, name, before)
            self._cut_off(run, operation, name)
            return False
        self._done(tenant, operation, name)
        # A refresh changes nothing on the cloud: as a whole it is one step.
        if operation != "read":
            self.look(operation)
        return True

    def _done(self, tenant: Tenant, operation: str, name: str) -> None:
        tenant.unsure.discard(name)
        if operation in ("create", "delete"):
            self.set_by_hand.pop(name, None)
        if operation in ("create", "delete"):
            tenant.maybe.discard(name)
        if operation == "delete":
            # Its server is to take up another in a moment, or was told before that it has none.
            tenant.unsure |= tenant.along(name)

    def _cut_off(self, run: Run, operation: str, name: str) -> None:
        """The engine's state holds what it held before the operation."""
        tenant = run.tenant
        run.operations.close()  # type: ignore[attr-defined]
        tenant.engine.end()
        if operation == "create":
            tenant.maybe.add(name)
        if operation in ("update", "delete"):
            tenant.unsure |= {name, *tenant.along(name)}
        self.look(f"{operation}, killed" if operation in ("create", "update", "delete") else "killed between")

    def _stop(self, run: Run, stopped: Stopped) -> None:
        """A stop is clean, has a reason, and says what to do next."""
        tenant, words = run.tenant, stopped.words
        tenant.engine.end()
        if "Traceback" in words or "fault in the provider" in words or "next: " not in words or not run.may_stop:
            self.sound = False
            raise AssertionError(f"{tenant.wish.tenant}, {run.command}, {stopped}")
        if stopped.operation == "create" and stopped.name not in tenant.stack.state:
            tenant.maybe.add(stopped.name)
        elif stopped.operation in ("create", "update", "delete"):
            tenant.unsure |= {stopped.name, *tenant.along(stopped.name)}
        self.look(f"{stopped.operation}, stopped")

    # --- what others do -----------------------------------------------------------------------------------

    def strange(self, place: tuple[str, str], body: dict[str, Any]) -> str:
        """Somebody else makes something, with no marker or another's."""
        service, key = place
        api, one = self.cloud.api(service), key.removesuffix("s")
        ident = str(api.post(f"/{key}", {one: body})[one]["id"])
        while key == "volumes" and api.get(f"/volumes/{ident}")["volume"]["status"] == "creating":
            pass
        snapshot = Snapshot(self.cloud)
        snapshot.objects()
        self.strangers[service, key, ident] = snapshot.strange(service, key, ident)
        return ident

    def estrange(self, place: tuple[str, str, str]) -> None:
        """The stranger's goes again."""
        service, key, ident = place
        del self.strangers[place]
        api = self.cloud.api(service)
        api.delete(f"/{key}/{ident}")
        while key == "volumes" and api.find(f"/volumes/{ident}") is not None:
            pass

    # --- what must hold -----------------------------------------------------------------------------------

    def look(self, step: str) -> None:
        """After each step: everything that must hold of the whole cloud."""
        assert self.sound, "something did not hold before"
        self.sound = False
        snapshot = Snapshot(self.cloud)
        found = snapshot.objects()
        for tenant in self.tenants:
            ours = [item for item in found if item.owner == tenant.stack.owner]
            twice = [name for name, count in Counter((item.kind, item.name) for item in ours).items() if count > 1]
            assert twice == [], f"{step}: several objects carry one marker: {twice}"
            for item in ours:
                held = tenant.stack.state.get(item.name)
                known = (held is not None and held.id == item.id) or item.name in tenant.maybe
                assert known, f"{step}: {item} is an orphan: the state has {held and held.id}, no crash left it"
            self._holds(snapshot, tenant, step)
        for (service, key, ident), was in self.strangers.items():
            now = snapshot.strange(service, key, ident)
            assert now == was, f"{step}: a stranger's {key} {ident} was {was} and is {now}"
        self._switch_is_right(step)
        self.steps[step] += 1
        self.diary.append(f"    {step}")
        self.sound = True

    def _switch_is_right(self, step: str) -> None:
        """A port is at rest, or in the VLAN of the tenant whose machine is behind it; of no other, and of no former."""
        wanted: dict[str, set[int]] = {}
        for tenant in self.tenants:
            for port_name, vlan in tenant.switch_ports():
                wanted.setdefault(port_name, set()).add(vlan)
        assert wanted.keys() <= MACHINES_PORTS
        ports = TopOfRack(self.sandbox).ports()
        for name in MACHINES_PORTS - {*self.set_by_hand.values()}:
            port, open_to = ports[name], wanted.get(name, set())
            right = is_at_rest(port) or any(is_open_to(port, vlan) for vlan in open_to)
            assert right, f"{step}: {name} of the switch is {port}, and may be in {open_to or 'no VLAN'}"

    def functions_lost(self) -> int:
        """Virtual functions that Nova counts as in use, and no port at a server has."""
        ports = self.cloud.api("network").items("/ports", "ports", fields=["binding:vnic_type", "device_id"])
        plugged = sum(port["binding:vnic_type"] == "direct" and port["device_id"] != "" for port in ports)
        lost: int = functions_taken(self.sandbox) - plugged - self.lost_before
        return lost

    def left(self, tenant: Tenant, project: str) -> list[str]:
        """What is left of a tenant after its destruction, by its owner id or by its project."""
        snapshot = Snapshot(self.cloud)
        marked = [str(item) for item in snapshot.objects() if item.owner == tenant.stack.owner]
        return marked + snapshot.in_project(project)

    def _holds(self, snapshot: Snapshot, tenant: Tenant, step: str) -> None:
        """What the state says and nobody disputes is so; what is to be kept is there, with what is written in it."""
        for name in tenant.stack.state.keys() - tenant.unsure:
            wrong = snapshot.differs(tenant.stack, name)
            assert not wrong, f"{step}: {name} ({tenant.stack.state[name].id}) is not as the state says: {wrong}"
        kept = {tenant.stack.state[name].id: name for name in tenant.kept() if part_of(name) != "bucket"}
        erased = {item.id for item in tenant.stack.state.values()} - kept.keys()
        for ident in kept.keys() - tenant.precious.keys() - self._unsure_ids(tenant):
            self._write(ident)
            tenant.precious[ident] = kept[ident]
        tenant.precious = {ident: name for ident, name in tenant.precious.items() if ident not in erased}
        for ident, name in tenant.precious.items():
            assert self._read(ident) == WRITTEN, f"{step}: what was written in {name} ({ident}) is lost"

    @property
    def _volumes(self) -> Path:
        """Where the bytes of volumes are."""
        return self.sandbox / "state" / "cinder" / "volumes"

    def _unsure_ids(self, tenant: Tenant) -> set[str]:
        return {tenant.stack.state[name].id for name in tenant.unsure if name in tenant.stack.state}

    def _write(self, volume: str) -> None:
        """As a guest would; in the embedded cloud no guest can."""
        with (self._volumes / volume).open("r+b") as file:
            file.seek(PLACE)
            file.write(WRITTEN)

    def _read(self, volume: str) -> bytes:
        path = self._volumes / volume
        if not path.exists():
            return b""
        with path.open("rb") as file:
            file.seek(PLACE)
            return file.read(len(WRITTEN))


def _put_back(stack: Stack, name: str, before: Any) -> None:
    stack.state.pop(name, None)
    if before is not None:
        stack.state[name] = before


def _twins(wish: Wish) -> dict[tuple[str, str], dict[str, Any]]:
    """What strangers have by a tenant's names, in a project of theirs."""
    tenant, theirs = wish.tenant, marker(OwnerId(STRANGER), f"{wish.tenant}-net")
    segment = {"provider:network_type": "vxlan", "provider:segmentation_id": 320_000 + wish.number}
    return {
        ("network", "networks"): {"name": f"{tenant}-net", "description": theirs, **segment},
        ("network", "routers"): {"name": f"{tenant}-router", "description": ""},
        ("block-storage", "volumes"): {"name": f"{tenant}-volume", "size": 1, "metadata": {"interlock": theirs}},
    }
