"""`interlock settle`: frees what a tenant released, once nothing holds it and evidence says that it is clean."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.commands.options import OneTenant, Site
from infra.locking.making import keep, settled, settled_site_lock
from infra.program.gate import Gate
from infra.reports.settling_report import ENDS, Findings, document, refuse
from infra.stack.acceptance import unattested
from infra.stack.engine import Engine
from infra.stack.former_keys import FormerKeys, former_keys, keys_of_runs
from infra.stack.giving_back import given_back, in_use, passed_nodes
from infra.stack.handing_over import Handover, demands, file_of
from infra.stack.ironic_evidence import ironic_said
from infra.stack.kept_evidence import settlement_of
from infra.stack.recorded_evidence import file_of_readings, keep_readings, to_record
from infra.stack.self_tests import noted, tests
from infra.stack.settling import LookedAt, freed, of_owner, only_of, others
from infra.stack.signatures import signatures_of
from infra.switches import survey
from interlock.model.evidence.values import moment_text
from interlock.model.lock.record import Lock, SiteLock
from interlock.provider.census import census
from interlock.provider.cleaned_hosts import CleanedHost, cleaned_hosts
from interlock.provider.clouds import Cloud
from interlock.provider.made_with import made_with
from interlock.store.history import History
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import StackRecord
from interlock.vocabulary import Claimant


def settle(
    tenant: OneTenant,
    site: Site = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Read only; change nothing.")] = False,
    form: Annotated[Format, format_option("settle")] = Format.TEXT,
) -> None:
    """Settle what a tenant released, once it was seen to be clean.

    A released claim stays reserved until this command has checked three places: the engine's state
    (PULUMI_BACKEND_URL), the claims store and the cloud (every object with the tenant's owner id). Switches that
    `switches.yaml` knows are asked: a port or a VLAN that is still set is in the way, and one that is not was seen
    unwired. That of a machine or whole host is kept in `evidence/<tenant>-read.yaml`, since its power cycle has to
    come after it. Ironic is asked about whole hosts: one that is available again was wiped when its cleaning ended,
    and one that it has lent is in the way. What cannot be asked wants evidence: files in the site's `evidence/`
    that say who saw which step, and when; where the site lists who may sign (`evidence.signers`), signed by them. A
    GPU node is accepted besides, after its cleaning: firmware, diagnostics, all-reduce and fabric counters as
    measured, and enough for its type. Devices of one that was below a virtual server are in the way while they are
    in use, and given back to Nova at the end. If nothing holds the claim, and every step that it needs was seen after
    it was last in use, it is removed from the lock and the store. Otherwise everything that is in the way is named,
    with what to write, and the lock stays as it is.

    A machine or whole host that stands where another stood (another serial) is noted as tested, once there is
    evidence of its self-test; until then the plan that has it is not provable (LIF-13).

    A login key that the request no longer names stays the tenant's while a server that was made with it may be there
    (SEC-05): its user data say so, or it is not younger than its key pair. What such a key still opens is named, and
    the key stays in the lock, when all else is settled.

    The same is done for what a killed run claimed and no later run knows of, because the request was edited
    meanwhile: its footprint is removed from the store when nothing of it can exist; for that
    `pulumi preview --refresh` is run as well.

    \b
    Exit code:
      0  settled, or there was nothing to settle
      1  something still holds what was released, a server may still have a former key, or A9 is false
      2  the input is wrong: a file, or a lock that is missing or old
      3  evidence is missing or does not count, or a fact that it rests on is not stated
      4  a place could not be read: backend, store or cloud

    \b
    Examples:
      interlock settle acme --dry-run
      interlock settle acme
      interlock settle acme --dry-run --format json
    """
    gate = Gate.open(site)
    _asked(gate, gate.tenant(tenant).id, dry_run=dry_run, form=form)


def _asked(gate: Gate, name: str, *, dry_run: bool, form: Format) -> None:
    """Notes tests, looks at all that is in the way, tells it, and settles if nothing is."""
    plan, lock = gate.plan(name), gate.held[name]
    untested = tests(gate, lock)
    if gate.workspace.evidence and _signers(gate) == "" and (lock.released or lock.replaced):
        print("note: nobody has to sign evidence: the site file states no `evidence.signers`", file=sys.stderr)
    lock, operators = noted(gate, lock, untested, dry_run=dry_run)
    record = _ledger(gate).stack(plan.stack)
    noted_there = lock.released or lock.former_keys
    found = _look(gate, name, lock, record) if noted_there or others(record, plan, lock) else None
    if found is None or not (noted_there or found.leftover):
        findings = Findings(plan.stack, (), untested.lacking(), _file(gate, name), signers=_signers(gate))
        if form is Format.JSON:
            print_json(document(findings, None, None))
        if findings.lacking:
            refuse(findings)
        print(f"{name}: nothing to settle", file=sys.stderr)
        return
    keys = _keys(gate, found)
    handover, findings = _judged(gate, found, untested, keys, dry_run=dry_run)
    if form is Format.JSON:
        print_json(document(findings, found, keys))
    if findings.exit_code is not Exit.PROVED:
        refuse(findings)
    if form is Format.TEXT:
        _tell(found, keys)
    if not dry_run:
        _settle(gate, found, handover, keys, operators)
    if keys.held:
        _say_held(found, keys)


def _keys(gate: Gate, found: LookedAt) -> FormerKeys:
    """Former login keys, and which servers they open; the cloud is asked where there are any."""
    if not (found.lock.former_keys or keys_of_runs(found)):
        return former_keys(found, ())
    return former_keys(found, tuple(made_with(_cloud(gate), found.lock.owner)))


def _judged(
    gate: Gate, found: LookedAt, untested: Handover, keys: FormerKeys, *, dry_run: bool
) -> tuple[Handover, Findings]:
    """What is handed over with all that was seen of it, and what stands in the way.

    A key of the lock that a server has stands in nobody's way: it stays there alone. It is said with what does.
    """
    handover = _handover(gate, found)
    said, ironic = survey.read_back_of(gate, handover), ironic_said(handover, lambda names: _cleaned(gate, names))
    for note in (*ironic.notes, *unattested(gate.workspace.site, (one.identity for one in handover.demands))):
        print(f"note: {note}", file=sys.stderr)
    obstacles = found.obstacles()
    nothing_else = keys.held and not (keys.free or found.lock.released or found.leftover)
    of_keys = keys.of_held() if obstacles or nothing_else else ()
    held = (*obstacles, *_disagreement(found), *keys.in_the_way(), *of_keys, *ironic.held, *_in_use(gate, handover))
    recorded = () if held else to_record(handover, said.seen)
    if recorded and not dry_run:
        keep_readings(gate.workspace.folder / file_of_readings(found.lock.id), handover, recorded)
    handover = replace(handover, seen=(*handover.seen, *said.seen, *ironic.seen), now=datetime.now(UTC))
    lacking = (*handover.lacking(), *untested.lacking())
    file = _file(gate, found.lock.id)
    findings = Findings(found.plan.stack, (*held, *said.still_set), lacking, file, signers=_signers(gate))
    if recorded and not dry_run:
        findings = replace(
            findings, recorded=gate.workspace.shown(gate.workspace.folder / file_of_readings(found.lock.id))
        )
    return handover, findings


def _in_use(gate: Gate, handover: Handover) -> tuple[str, ...]:
    """Devices of GPU nodes that some server has; the cloud is asked where there are such nodes."""
    hosts = passed_nodes(handover)
    return in_use(_cloud(gate), hosts) if hosts else ()


def _cloud(gate: Gate) -> Cloud:
    site = gate.workspace.site
    return Cloud(site.cloud, site_region=site.region)


def _cleaned(gate: Gate, hosts: Mapping[str, str]) -> Iterable[CleanedHost]:
    return cleaned_hosts(_cloud(gate), hosts)


def _file(gate: Gate, tenant: str) -> str:
    return gate.workspace.shown(gate.workspace.folder / file_of(tenant))


def _signers(gate: Gate) -> str:
    return gate.workspace.signers.name if gate.workspace.signers else ""


def _look(gate: Gate, tenant: str, lock: Lock, record: StackRecord | None) -> LookedAt:
    plan, cloud = gate.plan(tenant), _cloud(gate)
    # In another region nothing of the tenant is to be found, and everything would be freed.
    login = cloud.login
    _ledger(gate).check_cloud(login.fingerprint, recorded_only=len(login.catalogue.choices) > 1)
    return LookedAt(
        plan=plan,
        lock=lock,
        deployment=_deployment(plan.stack),
        record=record,
        objects=of_owner(census(cloud), lock.owner),
        running=_running(plan.stack),
    )


def _handover(gate: Gate, found: LookedAt) -> Handover:
    """Everything that is handed out: by the lock, and by footprints of interrupted runs."""
    workspace, lock, now = gate.workspace, found.lock, datetime.now(UTC)
    new = settled(gate, lock)
    stay = [entry for entry in found.record.entries if entry not in found.leftover] if found.record else []
    left = (name for entry in found.leftover for name in only_of(entry, stay))
    wanted = demands(
        workspace.site, lock.released, (*freed(lock, new), *left), set(new.footprint.exclusive), found.let_go
    )
    return Handover(workspace.site, lock.id, wanted, workspace.evidence, now, signatures_of(workspace))


def _deployment(stack: str) -> dict[str, object] | None:
    engine = Engine.here()
    if not engine.has(stack):
        return None
    found: dict[str, object] = json.loads(engine.ask("stack", "export", "--stack", stack))["deployment"]
    return found


def _running(stack: str) -> tuple[str, ...]:
    """Whose locks lie on the state; none are seen on a backend that is no folder."""
    engine = Engine.here()
    if not engine.environment.get("PULUMI_BACKEND_URL", "").startswith("file:"):
        return ()
    return tuple(f"process {lock.pid} on {lock.host}" for lock in engine.backend.locks(stack))


def _disagreement(found: LookedAt) -> list[str]:
    """What a killed run changed in place has the names of the plan: only the whole of it tells."""
    if not found.leftover or found.is_empty or not found.is_applied or _agrees(found.plan.stack):
        return []
    return ["cloud: `pulumi preview --refresh --expect-no-changes` finds something that is not as planned"]


def _agrees(stack: str) -> bool:
    return Engine.here().agrees(stack)


def _tell(found: LookedAt, keys: FormerKeys) -> None:
    lock, leftover = found.lock, found.leftover
    for given_up in lock.released:
        print(f"{Claimant(lock.id, given_up.vpod)}: {given_up.claim} {given_up.value}")
    for key in keys.free:
        print(f"{lock.id}: ssh key {key.fingerprint}, given up {key.since}")
    stay = [entry for entry in found.record.entries if entry not in leftover] if found.record else []
    for entry in leftover:
        print(f"{lock.id}: footprint {entry.digest} of an interrupted run", *only_of(entry, stay))


def _say_held(found: LookedAt, keys: FormerKeys) -> None:
    """All else is settled. Raises typer.Exit(1)."""
    said = "\n".join(f"  - {line}" for line in keys.of_held())
    print(f"{found.plan.stack}: {len(keys.held)} ssh key(s) stay claimed:\n{said}\n{ENDS}", file=sys.stderr)
    raise typer.Exit(Exit.VIOLATED)


def _settle(gate: Gate, found: LookedAt, handover: Handover, keys: FormerKeys, operators: SiteLock | None) -> None:
    """The store first: if this ends in between, the lock still says what is to be settled.

    `operators`: their lock as it is now, after tests were noted there.
    """
    lock, ledger = found.lock, _ledger(gate)
    if hosts := passed_nodes(handover):
        # Before the claim goes: if this ends in between, nobody else may have the node yet.
        for line in given_back(_cloud(gate), hosts):
            print(line, file=sys.stderr)
    cleaned = handover.cleaned()
    new = settled(gate, lock, cleaned, keys.held)
    # Kept before anything is freed, for the report: until the lock is written, the lock says that it is not settled.
    past = History(ledger.store)
    if found.record and found.is_empty and found.leftover == found.record.entries:
        past.left(found.record, moment_text(handover.now))
    past.settled(found.plan.stack, lock.id, lock.owner, settlement_of(found, handover, freed(lock, new)))
    if found.record and found.leftover:
        ledger.forget(found.record, [entry.digest for entry in found.leftover])
    if not (lock.released or cleaned or keys.free):
        print(f"{lock.id}: settled in the store; the lock stays as it is", file=sys.stderr)
        return
    ledger.release(found.plan.stack, freed(lock, new))
    _settle_site_lock(gate, operators, lock.id, keys)
    keep(gate, lock, new)
    print(f"{lock.id}: settled, lock serial {new.serial}; commit it", file=sys.stderr)


def _settle_site_lock(gate: Gate, noted: SiteLock | None, tenant: str, keys: FormerKeys) -> None:
    """Before the tenant's: a note that its lock has not would keep everybody from being judged."""
    if noted is not None and (kept := settled_site_lock(noted, tenant, keys.free)) != noted:
        keep(gate, noted, kept)
        print(f"site: lock serial {kept.serial}; commit it", file=sys.stderr)


def _ledger(gate: Gate) -> Ledger:
    site = gate.workspace.site
    return Ledger(open_store(site.claims, site.name, site.region))
