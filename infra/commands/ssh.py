"""`interlock ssh`: the command by which people get in to a tenant's server."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import Annotated

import typer

from infra.cli.exits import EnvironmentFailed
from infra.cli.formats import Format, format_option, print_json
from infra.commands.options import OneTenant, Site
from infra.program.gate import Gate
from infra.stack.public_addresses import address_of
from interlock.model.text.errors import Code, InputErrors
from interlock.model.text.names import account_name
from interlock.planning.ways_in import NAME_THEM, WayIn, WaysIn, ways_in, why_nobody


def _login(word: str | None) -> str | None:
    if word is None:
        return None
    try:
        return account_name(word)
    except ValueError as error:
        said = getattr(error, "context", None) or {"text": str(error)}
        raise typer.BadParameter(said["text"]) from None


def ssh(
    tenant: OneTenant,
    server: Annotated[
        str | None,
        typer.Argument(metavar="SERVER", help="Such as train-poplar-0; not needed if only one is public."),
    ] = None,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="After --: what to run there, else a shell.")
    ] = None,
    site: Site = "",
    login: Annotated[
        str | None,
        typer.Option(
            "--login", "-l", callback=_login, help="Account on the server; by default the first of `access.accounts`."
        ),
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Run it in place of printing it.")] = False,
    form: Annotated[Format, format_option("ssh")] = Format.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Print the ssh command that gets in to a tenant's server.

    By its floating IP, and through the site's bastion where the site declares one. The address comes from the outputs
    of the stack; where Pulumi cannot read them, the cloud is asked. Which servers have a floating IP, and from which
    prefixes they are reached, the request says under `access.public`; the account, under `access.accounts`. Of several
    it is the first, and stderr names the others.

    The JSON form is one object: `version`, `server`, `address`, `via` (the bastion, or null), `from`, `command`.

    \b
    Exit code:
      0  printed; with --run that of ssh, which has 255 for a fault of its own
      2  the input is wrong: a file, a lock, the name of a server, or one that is not public
      4  the server has no address yet, or neither stack nor cloud could be asked

    \b
    Examples:
      interlock ssh acme
      interlock ssh acme train-poplar-0 --run
      interlock ssh acme train-poplar-0 --run -- uptime -p
      interlock ssh acme --json
    """
    if run and (as_json or form is Format.JSON):
        raise typer.BadParameter("prints nothing: leave JSON out", param_hint="--run")
    gate = Gate.indexed(site)
    plan = gate.plan(tenant)
    found = ways_in(gate.workspace.site, plan)
    way = _chosen(gate, tenant, server, found)
    address = address_of(gate, plan, way)
    via = _bastion(found)
    account = login or _account(gate, tenant)
    command = ["ssh", *(("-J", via) if via else ()), f"{account}@{address}", *_quoted(words or [])]
    if run:
        _run(command)
    elif as_json or form is Format.JSON:
        reached = {"server": way.server, "address": address, "via": via or None, "from": list(way.prefixes)}
        print_json(reached | {"command": command})
    else:
        # Never broken into lines: it is for a shell.
        print(shlex.join(command))


def _account(gate: Gate, tenant: str) -> str:
    """The account that the request names first; of others people are told, since any of them may be meant."""
    first, *others = gate.tenant(tenant).access.accounts
    if others:
        print(f"note: logs in as {first}; `--login` takes {' or '.join(others)}", file=sys.stderr)
    return first


def _chosen(gate: Gate, tenant: str, word: str | None, found: WaysIn) -> WayIn:
    """The server that is meant. Raises `InputErrors` if there is none, or more than one."""
    by_name = {way.server: way for way in found.servers}
    if word is None:
        if len(by_name) == 1:
            return found.servers[0]
        if nobody := why_nobody(found):
            raise _wrong(gate, tenant, nobody, NAME_THEM)
        names = ", ".join(_short(tenant, name) for name in by_name)
        raise typer.BadParameter(
            f"{len(by_name)} servers of {tenant} are public: {names or 'none'}", param_hint="SERVER"
        )
    name = next((name for name in (word, f"{tenant}-{word}") if name in by_name or name in found.closed), "")
    if name in by_name:
        return by_name[name]
    if name:
        raise _wrong(gate, tenant, f"{name} has no floating IP, so nobody gets in to it from outside", NAME_THEM)
    known = [_short(tenant, item) for item in (*by_name, *found.closed)]
    message = f"{tenant} has no virtual server {word}; there are: {', '.join(known) or 'none'}"
    raise typer.BadParameter(message, param_hint="SERVER")


def _wrong(gate: Gate, tenant: str, message: str, hint: str) -> InputErrors:
    return InputErrors([gate.workspace.sources[tenant].error(Code.NO_SUCH, ("access",), message, hint)])


def _short(tenant: str, name: str) -> str:
    return name.removeprefix(f"{tenant}-")


def _bastion(found: WaysIn) -> str:
    """`user@host` of the site's bastion; empty if it has none."""
    if found.bastion is None:
        return ""
    user = f"{found.bastion.user}@" if found.bastion.user else ""
    return f"{user}{found.bastion.host}"


def _quoted(words: list[str]) -> list[str]:
    """ssh hands a command on as one text to a shell: each word stays one there, too."""
    return [shlex.join(words)] if words else []


def _run(command: list[str]) -> None:
    """Becomes ssh. Raises `EnvironmentFailed` if there is none."""
    program = shutil.which(command[0])
    if program is None:
        raise EnvironmentFailed("ssh is not on PATH", "install OpenSSH's client, or leave --run out")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(program, command)
