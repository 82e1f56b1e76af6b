"""Asks the V-IPU controllers of a site's plans how they are set. Changes nothing there."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_network

from infra.program.gate import Gate
from interlock.hardware.vipu_software import minor_of
from interlock.model.evidence.controller_file import ControllerEvidenceFile
from interlock.model.evidence.sealed_files import FORMAT, UNSEALED
from interlock.model.site.controller_readings import open_within
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.validation import nearest
from interlock.planning.plan import Plan
from interlock.provider.redaction import REDACTOR
from interlock.resources import Port, Server, Subnet
from interlock.retry import RetryPolicy
from interlock.vipu.client import ControllerClient
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vipu.loading import ControllerAccess, VipuRead, load_vipu
from interlock.vipu.reading import AdminApiSaid, ControllerSaid, read_controller
from interlock.vipu.transport import LocalRunner, Runner, SshRunner
from interlock.vocabulary import NetworkRole

#: Controllers that are asked at a time.
_AT_ONCE = 8
#: How a controller is reached -> what runs its commands.
Runners = Callable[[str, ControllerAccess], Runner]
#: What, whether it is so, words where it is not.
Told = tuple[str, bool | None, str]


@dataclass(frozen=True)
class PlannedController:
    """A controller of a plan; `address` and `prefixes`: of it and its vPOD's servers, on the control network."""

    name: str
    tenant: str
    address: str
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ControllerFinding:
    """What is not as it should be, or not said: `value` False or None."""

    controller: str
    about: str
    value: bool | None
    why: str

    def __str__(self) -> str:
        return f"{self.controller}: {self.about}: {self.why}"


@dataclass(frozen=True)
class AskedController:
    """One controller that answered."""

    planned: PlannedController
    said: ControllerSaid
    findings: tuple[ControllerFinding, ...]


@dataclass(frozen=True)
class ControllerSurvey:
    """The controllers that were asked for, by plan name."""

    site: str
    controllers: Mapping[str, AskedController]
    unread: Mapping[str, VipuError]

    @property
    def findings(self) -> tuple[ControllerFinding, ...]:
        """Those of all controllers."""
        return tuple(finding for item in self.controllers.values() for finding in item.findings)


def planned_controllers(gate: Gate) -> dict[str, PlannedController]:
    """Those of all tenants' plans. Raises as `Gate.plan` does."""
    plans = (gate.plan(tenant) for tenant in gate.stacks() if tenant is not None)
    return {item.name: item for plan in plans for item in _of_plan(plan)}


def _of_plan(plan: Plan) -> Iterator[PlannedController]:
    kinds = {item.name: item.type for item in plan.components}
    for item in plan.resources:
        if isinstance(item.resource, Server) and kinds.get(item.component) == "VipuController":
            yield _planned(plan, item.name, item.resource)


def _planned(plan: Plan, name: str, server: Server) -> PlannedController:
    """With its address on the control network; without one if it has none there."""
    control = {item.name for item in plan.resources if item.role is NetworkRole.CONTROL}
    resources = (plan.by_name[port].resource for port in server.ports if port in plan.by_name)
    ports = [port for port in resources if isinstance(port, Port) and port.network in control]
    there = {port.network for port in ports}
    subnets = (item.resource for item in plan.resources if isinstance(item.resource, Subnet))
    prefixes = tuple(subnet.cidr for subnet in subnets if subnet.network in there)
    return PlannedController(name, plan.tenant or "", next((port.address for port in ports), None) or "", prefixes)


def runner_of(name: str, access: ControllerAccess) -> Runner:
    """Here, or over ssh."""
    retries = RetryPolicy()
    return SshRunner(name, access.hops, retries) if access.hops else LocalRunner(name, retries)


def survey_controllers(gate: Gate, names: Iterable[str], runners: Runners = runner_of) -> ControllerSurvey:
    """Ask these controllers, or all. Raises `InputErrors` for names and `vipu.yaml`, and as `Gate.plan` does."""
    known, wanted = planned_controllers(gate), tuple(dict.fromkeys(names))
    site = gate.workspace.site.name
    if wrong := [name for name in wanted if name not in known]:
        at, what = gate.workspace.position("controller"), "is no V-IPU controller of a plan of this site"
        raise InputErrors(InputError(Code.NO_SUCH, at, f"`{name}` {what}", nearest(name, known)) for name in wrong)
    asked = [known[name] for name in wanted or known]
    if not asked:
        return ControllerSurvey(site, {}, {})
    file, found, unread = load_vipu(), dict[str, AskedController](), dict[str, VipuError]()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(lambda item: _of_one(item, file, runners), asked)
        for item, answer in zip(asked, answers, strict=True):
            if isinstance(answer, VipuError):
                unread[item.name] = answer
            else:
                found[item.name] = answer
    return ControllerSurvey(site, found, unread)


def _of_one(item: PlannedController, file: VipuRead, runners: Runners) -> AskedController | VipuError:
    entry = file.of(item.name)
    if entry is None:
        what = f"{file.file} does not say how V-IPU controller {item.name} is reached"
        return VipuError(VipuTrouble.REFUSED, item.name, what, f"add `{item.name}` or `default` under `controllers:`")
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    try:
        access = entry.of("", item.name, item.address)
        client = ControllerClient(item.name, access, runners(item.name, access), REDACTOR.add)
        said = read_controller(client, now)
    except VipuError as error:
        return error
    return AskedController(item, said, tuple(_findings(item, said)))


def _findings(item: PlannedController, said: ControllerSaid) -> Iterator[ControllerFinding]:
    """What the rules would say of this reading alone; images and the age of backups are looked at in the proof."""
    found = (*_all(said), _admin_api(item, said.admin_api), _user_data(said.user_data_clean))
    yield from (ControllerFinding(item.name, about, value, why) for about, value, why in found if value is not True)


def _admin_api(item: PlannedController, said: AdminApiSaid | None) -> Told:
    if said is None or not said.addresses:
        why = "not read" if said is None else f"nothing listens at tcp {said.port}: say in vipu.yaml which port it is"
        return "admin API", None, why
    found = open_within(said.addresses, [ip_network(prefix, strict=False) for prefix in item.prefixes])
    where = f"tcp {said.port} listens at {', '.join(found)}, where servers of its vPOD reach it but for filters"
    return "admin API", not found, where


def _user_data(clean: bool | None) -> Told:
    return "user data", clean, _either(clean, "a key stands in the user data on its machine", "not read")


def _all(said: ControllerSaid) -> Iterator[Told]:
    yield "keys", said.keys.asked, _either(said.keys.asked, "a call with a wrong key was answered", said.keys.why)
    no_tls = "there are no certificates, so that it cannot take calls over TLS"
    yield "certificates", said.certificates, _either(said.certificates, no_tls, "not read")
    for family, value in said.forwarding_off.items():
        yield f"forwarding {family}", value, _either(value, "its machine forwards packets", "not read")
    releases = {release for release in said.agents.values() if release is not None}
    minors = {minor_of(release) for release in (*releases, said.release or "")}
    is_known = said.release is not None and bool(said.agents) and None not in said.agents.values()
    alike = len(releases) <= 1 and len(minors) == 1
    differ = f"controller {said.release}, agents {', '.join(sorted(releases))}"
    yield "releases", alike if is_known else None, _either(alike if is_known else None, differ, "not all are said")
    if said.backup is None:
        yield "backup", None, "nobody looked, or it could not be read"
    else:
        lacks = "vipu-server.json" if said.backup.state is None else "vipu-certs"
        is_whole = said.backup.state is not None and said.backup.certificates
        yield "backup", is_whole, f"there is no copy of {lacks}"


def _either(value: bool | None, wrong: str, unknown: str) -> str:
    return unknown if value is None else wrong


def evidence_of_controller(site: str, item: AskedController, by: str) -> ControllerEvidenceFile:
    """What is to be written of one controller."""
    said, backup, admin = item.said, item.said.backup, item.said.admin_api
    document = {
        "format": FORMAT, "site": site, "controller": item.planned.name, "tenant": item.planned.tenant,
        "read": said.at, "by": by, "release": said.release,
        "agents": [{"agent": name, "release": release} for name, release in said.agents.items()],
        "keys_asked": said.keys.asked, "certificates": said.certificates, "forwarding_off": dict(said.forwarding_off),
        "backup": None if backup is None else {"state": backup.state, "certificates": backup.certificates},
        "admin_api": None if admin is None else {"port": admin.port, "addresses": list(admin.addresses)},
        "user_data_clean": said.user_data_clean, "digest": UNSEALED,
    }  # fmt: skip
    return ControllerEvidenceFile.model_validate(document).sealed()
