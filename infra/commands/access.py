"""`interlock access`: who of a tenant's people logs in to its servers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.access.authority import CertificateAuthority, authority_in
from infra.access.people import MOST_HOURS, USUAL_HOURS, standing, wanted_for
from infra.access.pushing import PUSHER, push
from infra.access.register import IssuedCertificate, IssuedCertificates
from infra.cli.exits import EnvironmentFailed
from infra.cli.formats import print_json
from infra.cli.terminal import print_text
from infra.commands.options import OneTenant, Site
from infra.program.places import stacks
from interlock.model.load import InputErrors, Workspace, load_workspace
from interlock.model.tenant.request import Tenant
from interlock.model.text.errors import Code, InputError
from interlock.model.text.validation import nearest
from interlock.vocabulary import StackName
from interlock.vocabulary.ssh_keys import fingerprints

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Keys = Annotated[
    Path,
    typer.Option("--keys", metavar="FOLDER", envvar="INTERLOCK_CA", help="Where authorities' keys are kept."),
]
Agent = Annotated[bool, typer.Option("--agent", help="The private key is in the ssh-agent, not in the folder.")]
Person = Annotated[str, typer.Argument(metavar="PERSON", help="A name under `access.people` of the request.")]


@app.callback()
def access() -> None:
    """Sign, revoke and list what a tenant's people log in with.

    Servers trust a tenant's certificate authority (`access.ca` of its request), and it signs a certificate of some
    hours for each key of a person under `access.people`. So a person or a key more or less changes no server.

    The authority's private key lies in a folder outside the repository that only its owner can look into, or in the
    ssh-agent. It is in no plan, no state, no log and on no server.

    \b
    Examples:
      interlock access ca acme --keys ~/.interlock-ca
      interlock access sign acme anne > ~/.ssh/id_ed25519-cert.pub
      interlock access revoke acme anne
    """


@app.command()
def ca(
    tenant: OneTenant,
    keys: Keys,
    site: Site = "",
    passphrase: Annotated[bool, typer.Option("--passphrase", help="Ask for a passphrase of the new key.")] = False,
) -> None:
    """Make a tenant's certificate authority.

    It prints the line that belongs under `access:` of the tenant's file. Where there is an authority already, its line
    is printed. A key that is in an ssh-agent or in hardware needs no folder: put its .pub line into the file, and sign
    with --agent.

    \b
    Exit code:
      0  there is one
      2  the input is wrong
      4  the folder cannot be used, or ssh-keygen failed

    \b
    Examples:
      interlock access ca acme --keys ~/.interlock-ca
      INTERLOCK_CA=~/.interlock-ca interlock access ca acme
    """
    workspace, found = _request(site, tenant)
    line = _authority(workspace, found, keys).made(ask=passphrase)
    print(f"ca: {line}")


@app.command()
def sign(
    tenant: OneTenant,
    person: Person,
    keys: Keys,
    site: Site = "",
    hours: Annotated[int, typer.Option("--hours", min=1, max=MOST_HOURS, help="How long it is good.")] = USUAL_HOURS,
    key: Annotated[int | None, typer.Option("--key", metavar="N", help="Only the N-th of the person's keys.")] = None,
    agent: Agent = False,
) -> None:
    """Sign a certificate for each key of a person, and print it.

    It opens the person's accounts on the servers of the tenant, or of the person's vPODs, from now on and for the hours
    that are asked for, never beyond the person's last day. Saved beside the private key as `id_ed25519-cert.pub`,
    ssh takes it by itself. Who is not in the request, or not yet or no longer let in, gets none.

    \b
    Exit code:
      0  signed
      2  the input is wrong, or the person is not let in today
      4  the authority cannot be used

    \b
    Examples:
      interlock access sign acme anne > ~/.ssh/id_ed25519-cert.pub
      interlock access sign acme anne --key 2 --hours 2
    """
    workspace, found = _request(site, tenant)
    authority = _trusted(workspace, found, keys, agent)
    wanted = wanted_for(workspace, found, person, datetime.now(UTC), hours, key)
    for line in authority.signed(wanted):
        print(line)
    for item in wanted:
        say = (
            f"{person}, {fingerprints(item.key)[0]}: {', '.join(item.principals)}, up to {item.ends:%Y-%m-%d %H:%M} UTC"
        )
        print(say, file=sys.stderr)


@app.command()
def revoke(
    tenant: OneTenant,
    keys: Keys,
    person: Annotated[
        str | None, typer.Argument(metavar="PERSON", help="Whose certificates; all that are good.")
    ] = None,
    site: Site = "",
    serial: Annotated[list[int] | None, typer.Option("--serial", metavar="N", help="Only this certificate.")] = None,
) -> None:
    """Revoke certificates, and write the revocation list.

    Take the person, or the key, out of the request besides, or it gets a new certificate. Servers know nothing of it
    until `interlock access push` has taken the list to them; without that a certificate ends by itself, at the
    time that is printed. Sessions that are open stay open.

    \b
    Exit code:
      0  revoked, or there was nothing to revoke
      2  the input is wrong
      4  the authority cannot be used

    \b
    Examples:
      interlock access revoke acme anne
      interlock access revoke acme --serial 17
    """
    if (person is None) == (not serial):
        raise typer.BadParameter("give a person, or --serial", param_hint="PERSON")
    workspace, found = _request(site, tenant)
    authority = _trusted(workspace, found, keys, in_agent=False)
    gone = authority.revoked(person=person, serials=serial or (), now=datetime.now(UTC))
    for item in gone:
        print(f"revoked {item.serial}, {item.person}, which ends {_moment(item.ends)}")
    if not gone:
        print("there was nothing to revoke")
    print(f"next: interlock access push {tenant} HOST..., with {authority.revocations}", file=sys.stderr)


@app.command(name="push")
def push_list(
    tenant: OneTenant,
    hosts: Annotated[list[str], typer.Argument(metavar="HOST", help="Servers, as ssh is told to reach them.")],
    keys: Keys,
    site: Site = "",
    account: Annotated[
        str, typer.Option("--account", metavar="NAME", help="Root, or one that has sudo; else the request's first.")
    ] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="WORD", help="Option of ssh, as in -o Port=2222.")
    ] = None,
    agent: Agent = False,
) -> None:
    """Take the revocation list to servers that run.

    By ssh, with a certificate of five minutes for the account. Jump hosts and host keys are those of your own
    `~/.ssh/config`. A server that was not reached keeps its old list; new servers begin with an empty one.

    \b
    Exit code:
      0  every server has the list
      2  the input is wrong
      4  a server was not reached

    \b
    Examples:
      interlock access push acme 10.0.3.10 10.0.3.11
      interlock access push acme acme-train-poplar-0 -o ProxyJump=bastion.example
    """
    workspace, found = _request(site, tenant)
    authority = _trusted(workspace, found, keys, agent)
    chosen = account or found.access.accounts[0]
    if chosen not in found.access.accounts:
        raise typer.BadParameter(nearest(chosen, found.access.accounts), param_hint="--account")
    options = [word for item in option or () for word in ("-o", item)]
    results = push(authority, chosen, hosts, options, datetime.now(UTC))
    for host, failed in zip(hosts, results, strict=True):
        print(f"{host}: {'the list is there' if failed is None else failed.what}")
    if any(results):
        missed = sum(failed is not None for failed in results)
        hint = "run it again for these; until then they take what is revoked, up to its end"
        raise EnvironmentFailed(f"{missed} of {len(results)} servers have not got the list", hint)


@app.command(name="list")
def list_people(
    tenant: OneTenant,
    site: Site = "",
    keys: Annotated[
        Path | None,
        typer.Option("--keys", metavar="FOLDER", envvar="INTERLOCK_CA", help="Show what was signed as well."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List people, their keys and their certificates.

    \b
    Exit code:
      0  listed
      2  the input is wrong
      4  the folder cannot be read

    \b
    Examples:
      interlock access list acme
      interlock access list acme --json
    """
    workspace, found = _request(site, tenant)
    now = datetime.now(UTC)
    register = _authority(workspace, found, keys).register() if keys is not None else IssuedCertificates()
    alive = [item for item in register.issued if item.is_alive(now) and item.person != PUSHER]
    if as_json:
        print_json(_document(found, alive, now))
    else:
        print_text("\n".join(_lines(found, alive, now)))


def _document(tenant: Tenant, alive: Iterable[IssuedCertificate], now: datetime) -> dict[str, Any]:
    return {
        "tenant": tenant.id,
        "ca": next(iter(fingerprints(tenant.access.ca or "")), None),
        "people": [
            holder.model_dump(mode="json")
            | {"fingerprints": [fingerprints(line)[0] for line in holder.keys], "standing": standing(holder, now)}
            for holder in tenant.access.people
        ],
        "certificates": [item.model_dump(mode="json") for item in alive],
    }


def _lines(tenant: Tenant, alive: Iterable[IssuedCertificate], now: datetime) -> Iterable[str]:
    if not tenant.access.people:
        yield f"{tenant.id}: nobody under `access.people`"
    for holder in tenant.access.people:
        where = "all servers" if holder.parts is None else ", ".join(holder.parts) or "no server now"
        yield f"{holder.name}: {standing(holder, now)}; {', '.join(holder.accounts)} on {where}"
        yield from (f"  key {fingerprints(line)[0]}" for line in holder.keys)
    people = {holder.name for holder in tenant.access.people}
    for item in alive:
        # Out of the request is not out of the servers before this ends.
        left = (
            ""
            if item.person in people
            else f"; not in the request: `interlock access revoke {tenant.id} {item.person}`"
        )
        yield f"certificate {item.serial}, {item.person}: ends {_moment(item.ends)}{left}"


def _request(site: str, tenant: str) -> tuple[Workspace, Tenant]:
    workspace = load_workspace(stacks(), site)
    found = workspace.tenants.get(tenant)
    if found is None:
        message, hint = f"there is no tenant `{tenant}`", nearest(tenant, workspace.tenants)
        raise InputErrors([InputError(Code.NO_SUCH, workspace.position(), message, hint)])
    return workspace, found


def _authority(workspace: Workspace, tenant: Tenant, keys: Path, *, in_agent: bool = False) -> CertificateAuthority:
    return authority_in(keys, StackName(workspace.site.name, tenant.id), in_agent=in_agent)


def _trusted(workspace: Workspace, tenant: Tenant, keys: Path, in_agent: bool) -> CertificateAuthority:
    """The authority that the tenant's servers trust, or some that were made before it was another one.

    Raises InputErrors if the request states none or another, and the lock does not note this one as a former key.
    """
    stated, lock = tenant.access.ca, workspace.locks.get(tenant.id)
    former = frozenset(key.fingerprint for key in lock.former_keys) if lock else frozenset[str]()
    if stated is None and not former:
        message, hint = (
            f"`{tenant.id}` has no `ca`",
            f"`interlock access ca {tenant.id}` prints the line for its request",
        )
        raise InputErrors([InputError(Code.MISSING_KEY, workspace.position("access", tenant=tenant.id), message, hint)])
    place = workspace.position("access", "ca", tenant=tenant.id)
    found = _authority(workspace, tenant, keys, in_agent=in_agent).matching(stated, place, former)
    if former.intersection(fingerprints(found.line())) - {*fingerprints(stated or "")}:
        print("a former authority: only servers that were made before `ca` changed trust it", file=sys.stderr)
    return found


def _moment(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
