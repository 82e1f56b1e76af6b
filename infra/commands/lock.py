"""`interlock lock`: give every tenant what it asks for, and write it down."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import Progress, print_text
from infra.commands.options import Site, Tenants
from infra.locking.changes import document, lines
from infra.locking.check import check_locks, text
from infra.locking.index import held
from infra.locking.making import Made, Making, keep
from infra.locking.upgrade import UpgradingReader, upgraded
from infra.program.gate import Gate
from infra.program.places import stacks
from interlock.model.fleet import fleet_folder, site_folders
from interlock.model.load import InputError, InputErrors
from interlock.model.lock.record import Lock, SiteLock
from interlock.planning.replacements import WORDS
from interlock.planning.site_devices import told

#: With more tenants than this a terminal is shown how far the run is, and unchanged ones are only counted.
MANY = 50


def lock(
    tenants: Tenants = None,
    site: Site = "",
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; derive every lock again and say what differs.")
    ] = False,
    fleet: Annotated[bool, typer.Option("--fleet", help="With --check: all sites of the site's fleet.")] = False,
    move: Annotated[
        bool,
        typer.Option("--move", help="Allow a vPOD or cluster to move if its request cannot be fulfilled in its place."),
    ] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Write locks of an earlier format again; no claim changes.")
    ] = False,
    form: Annotated[Format, format_option("lock")] = Format.TEXT,
) -> None:
    """Write the locks of a site and its tenants: what each is given.

    Machines, hosts, VLANs, VNIs, subnets, and what others could collide with. A tenant that does not change
    keeps every claim, and nobody else's lock changes by a byte. Claims given up count until they are settled.
    What failed or is in maintenance is given to nobody new; who has it keeps it and is warned.
    A vPOD or cluster that returns has again what it had, if nothing of its release was applied: the claims store is
    asked.
    Locks are not judged here: `interlock check` and `pulumi up` do.

    With --check nothing is written: hashes, claims and footprints of every tenant are derived again, and
    claims that two locks hold are named. This finds what two people locked on two branches and merged.

    \b
    Exit code:
      0  written or unchanged; with --check: all as it should be
      1  with --check: a lock differs, or a claim is held twice
      2  the input is wrong, the site has no room, or a vPOD or cluster would have to move; then nothing is written
      4  the claims store decides what a vPOD that returns has, and cannot be read; then nothing is written

    \b
    Examples:
      interlock lock
      interlock lock acme
      interlock lock acme --move
      interlock lock --check --fleet
      interlock lock --upgrade
    """
    _require_possible(tenants, check=check, fleet=fleet, move=move, upgrade=upgrade)
    if check:
        _check(site, form, fleet=fleet)
    elif upgrade:
        _upgrade(site, form)
    else:
        _lock(site, tenants or [], form, move=move)


def _require_possible(tenants: list[str] | None, *, check: bool, fleet: bool, move: bool, upgrade: bool) -> None:
    if check + move + upgrade > 1:
        raise typer.BadParameter("use only one of --check, --move and --upgrade")
    if fleet and not check:
        raise typer.BadParameter("--fleet needs --check")
    if tenants and (check or upgrade):
        raise typer.BadParameter("--check and --upgrade look at all locks of the site: name no tenant")


def _lock(site: str, tenants: list[str], form: Format, *, move: bool) -> None:
    gate = Gate.indexed(site)
    names = sorted(set(tenants or gate.workspace.tenants))
    _require_requests(gate, names)
    making = Making(gate, held(gate.workspace.locks), move=move)
    made = [making.make(name) for name in _counted(names, "locked")]
    site_lock = making.site_lock_after(made)
    # Only now that all can have what they ask for is anything written.
    _write(gate, site_lock, made)
    if form is Format.JSON:
        print_json({"tenants": [document(item) for item in made]})
    else:
        _tell(gate.workspace.site_lock, site_lock, made)


def _write(gate: Gate, site_lock: SiteLock, made: Iterable[Made]) -> None:
    keep(gate, gate.workspace.site_lock, site_lock)
    for item in made:
        keep(gate, item.old, item.new)


def _tell(old: SiteLock | None, new: SiteLock, made: list[Made]) -> None:
    _say(f"site: {'unchanged' if new == old else 'written'}, serial {new.serial}")
    if new != old:
        # Who has one is told with its lock; these are told once.
        had = {(one.claim, one.serial) for item in made for one in item.new.replaced}
        before = old.untested if old else ()
        for one in (one for one in new.untested if one not in before and (one.claim, one.serial) not in had):
            _say(f"  warning: {WORDS[one.claim]} {one.device}: {told(one)}, untested")
    for item in made:
        if item.is_changed or item.out_of_service or len(made) <= MANY:
            _say("\n".join(lines(item)))
    unchanged = sum(not item.is_changed for item in made)
    if len(made) > MANY:
        _say(f"{len(made)} tenants: {len(made) - unchanged} written, {unchanged} unchanged")


def _check(site: str, form: Format, *, fleet: bool) -> None:
    sites = _fleet_of(site) if fleet else [site]
    progress = Progress("checked")
    reports = [check_locks(Gate.open(name), progress) for name in sites]
    progress.end()
    if form is Format.JSON:
        print_json({"sites": [report.document() for report in reports]})
    else:
        print_text(text(reports))
    raise typer.Exit(max(report.exit_code for report in reports))


def _fleet_of(site: str) -> list[str]:
    """Every site of the fleet that a site belongs to; itself alone if it is not there, which opening it tells."""
    fleet = fleet_folder(stacks() / site, stacks())
    folders = site_folders(fleet) if fleet else ()
    return [folder.relative_to(stacks()).as_posix() for folder in folders] or [site]


def _upgrade(site: str, form: Format) -> None:
    reader = UpgradingReader()
    gate = Gate.open(site, reader)
    done = upgraded(gate, reader.upgraded)
    locks: list[SiteLock | Lock] = [*([done.site] if done.site else []), *done.tenants]
    for lock in locks:
        keep(gate, None, lock)
    if form is Format.JSON:
        told = [{"id": lock.id, "serial": lock.serial, "stale": lock.id in done.stale} for lock in locks]
        print_json({"upgraded": told})
        return
    for lock in locks:
        again = f"; its request asks for something else by now: run `interlock lock {lock.id}`"
        _say(f"{lock.id}: upgraded, serial {lock.serial}{again if lock.id in done.stale else ''}")
    if not locks:
        _say("nothing to upgrade: every lock is of the present format")


def _require_requests(gate: Gate, names: list[str]) -> None:
    """Raise one InputErrors for all unknown names."""
    faults: list[InputError] = []
    for name in names:
        try:
            gate.tenant(name)
        except InputErrors as error:
            faults += error.errors
    if faults:
        raise InputErrors(faults)


def _counted(names: list[str], word: str) -> Iterable[str]:
    """The names; of many a terminal is shown how far they are."""
    progress = Progress(word)
    for name in names:
        if len(names) > MANY:
            progress(name)
        yield name
    progress.end()


def _say(line: str) -> None:
    print(line, file=sys.stderr)
