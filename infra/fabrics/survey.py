"""Asks the UFM of each InfiniBand subnet of a site how its subnet manager is set. Changes nothing there."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from infra.program.gate import Gate
from interlock.model.evidence.fabric_file import FabricEvidenceFile, ManagerKeys
from interlock.model.evidence.fabric_reading import limited_guids
from interlock.model.evidence.sealed_files import FORMAT, UNSEALED
from interlock.model.site.inventory import Site
from interlock.model.site.networks import InfinibandSubnet
from interlock.model.site.rests import BY_EVIDENCE
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.validation import nearest
from interlock.provider.redaction import REDACTOR
from interlock.retry import RetryPolicy
from interlock.ufm.client import UfmClient
from interlock.ufm.errors import UfmError, UfmTrouble
from interlock.ufm.loading import FabricsRead, fabrics_file, load_fabrics
from interlock.ufm.settings import NAMES, ManagerSaid
from interlock.ufm.transport import UfmTransport

#: Subnets that are asked at a time.
_AT_ONCE = 8
_RELEASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


@dataclass(frozen=True)
class ManagerFinding:
    """A guard of A6, and what one UFM says of it."""

    infiniband: str
    guard: str
    #: None: UFM does not say it.
    value: bool | None
    #: What is not set, or not said; empty where the guard holds.
    why: str

    def __str__(self) -> str:
        said = {True: "so", False: "not so", None: "not known"}[self.value]
        return f"{self.infiniband}: A6.{self.guard} is {said}" + (f": {self.why}" if self.why else "")


@dataclass(frozen=True)
class AskedManager:
    """One subnet whose UFM answered."""

    said: ManagerSaid
    release: str
    at: datetime.datetime
    findings: tuple[ManagerFinding, ...]


@dataclass(frozen=True)
class ManagerSurvey:
    """The subnets that were asked for."""

    site: str
    subnets: Mapping[str, AskedManager]
    unread: Mapping[str, UfmError]

    @property
    def findings(self) -> tuple[ManagerFinding, ...]:
        """Those of all subnets."""
        return tuple(finding for item in self.subnets.values() for finding in item.findings)


def survey_managers(gate: Gate, names: Iterable[str], retries: RetryPolicy | None = None) -> ManagerSurvey:
    """Ask about these subnets, or about all. Raises `InputErrors` for names and `fabrics.yaml`."""
    site = gate.workspace.site
    subnets = {item.name: item for item in site.infiniband}
    wanted = tuple(dict.fromkeys(names))
    if wrong := [name for name in wanted if name not in subnets]:
        at, what = gate.workspace.position("infiniband"), "is not an InfiniBand subnet of this site"
        raise InputErrors(InputError(Code.NO_SUCH, at, f"`{name}` {what}", nearest(name, subnets)) for name in wrong)
    asked = [subnets[name] for name in wanted or subnets]
    return _asked(site, asked, load_fabrics(), retries or RetryPolicy()) if asked else ManagerSurvey(site.name, {}, {})


def managers_of_audit(gate: Gate, retries: RetryPolicy | None = None) -> ManagerSurvey:
    """Ask what an audit looks at: each subnet that `fabrics.yaml` knows. Raises `InputErrors` for that file."""
    site = gate.workspace.site
    if not site.infiniband or not fabrics_file().exists():
        return ManagerSurvey(site.name, {}, {})
    known = load_fabrics()
    asked = [item for item in site.infiniband if item.name in known.fabrics]
    return _asked(site, asked, known, retries or RetryPolicy())


def _asked(site: Site, asked: list[InfinibandSubnet], known: FabricsRead, retries: RetryPolicy) -> ManagerSurvey:
    found, unread = dict[str, AskedManager](), dict[str, UfmError]()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(lambda subnet: _of_one(site, subnet, known, retries), asked)
        for subnet, answer in zip(asked, answers, strict=True):
            if isinstance(answer, UfmError):
                unread[subnet.name] = answer
            else:
                found[subnet.name] = answer
    return ManagerSurvey(site.name, found, unread)


def _of_one(site: Site, subnet: InfinibandSubnet, known: FabricsRead, retries: RetryPolicy) -> AskedManager | UfmError:
    access = known.fabrics.get(subnet.name)
    if access is None:
        what = f"{known.file} does not say where the UFM of {subnet.name} is"
        return UfmError(UfmTrouble.INVALID, subnet.name, what, f"add `{subnet.name}` under `fabrics:` there")
    client, at = UfmClient(UfmTransport(access, retries, REDACTOR.add)), datetime.datetime.now(datetime.UTC)
    try:
        said, release = client.settings(), client.version()
    except UfmError as error:
        return error
    if said.prefix != subnet.prefix:
        what = f"the UFM of {subnet.name} manages {said.prefix}, and the site file states {subnet.prefix}"
        hint = "correct `url` in fabrics.yaml, or `prefix` of this subnet in the site file"
        return UfmError(UfmTrouble.INVALID, subnet.name, what, hint)
    release = release if _RELEASE.fullmatch(release) else "not said"
    read = AskedManager(said, release, at, ())
    return replace(read, findings=tuple(_findings(site, subnet.name, read)))


def evidence_of_manager(site: Site, name: str, item: AskedManager, by: str) -> FabricEvidenceFile:
    """What is to be written of one subnet."""
    full = item.said.full_in_default
    return FabricEvidenceFile(
        format=FORMAT,
        site=site.name,
        infiniband=name,
        prefix=item.said.prefix,
        release=item.release,
        read=item.at.replace(microsecond=0),
        by=by,
        keys=ManagerKeys(**item.said.keys),
        default_limited=item.said.default_limited,
        full_in_default=None if full is None else sorted(full),
        digest=UNSEALED,
    ).sealed()


def _findings(site: Site, name: str, item: AskedManager) -> Iterator[ManagerFinding]:
    """The guards by the same code that reads them from evidence."""
    guids = limited_guids(site, name)
    file = evidence_of_manager(site, name, item, "whoever asks")
    words: dict[str, Callable[[], str]] = {
        "subnet_manager_keys_set": lambda: _keys_in_words(item.said),
        "default_partition_limited": lambda: _default_in_words(item.said, guids),
    }
    for guard in BY_EVIDENCE["A6"]:
        value = file.said(guard, guids)
        yield ManagerFinding(name, guard, value, "" if value else words[guard]())


def _keys_in_words(said: ManagerSaid) -> str:
    unset = [NAMES[key] for key, value in said.keys.items() if value is False]
    unsaid = [NAMES[key] for key, value in said.keys.items() if value is None]
    parts = [f"{', '.join(unset)} not set"] if unset else []
    return "; ".join([*parts, f"UFM does not say {', '.join(unsaid)}"] if unsaid else parts)


def _default_in_words(said: ManagerSaid, guids: frozenset[str | None]) -> str:
    if said.default_limited is False:
        return "ports are full members of the default partition unless told otherwise"
    if full := sorted((said.full_in_default or frozenset()) & guids):
        return f"full members of the default partition: {', '.join(full)}"
    if said.full_in_default is None:
        return "UFM does not say who is in the default partition"
    if said.default_limited is not None:
        listed = ", ".join(sorted(said.full_in_default))
        return f"full members of the default partition, any of which may be a port whose GUID is not stated: {listed}"
    return "UFM does not say how ports are members of the default partition (releases from 6.19 on do)"
