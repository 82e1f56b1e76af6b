"""`interlock channel`: what servers get after their first boot, and must not stand in their user data."""

from __future__ import annotations

import json
import logging
import signal
import sys
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from infra.cli.exits import EnvironmentFailed, Exit
from interlock import __version__
from interlock.channel import Desk, KeyManagerFailed, Shelf, Ticket
from interlock.channel.desk import GAP
from interlock.channel.service import Callers, Service
from interlock.channel.serving import Threads, listening
from interlock.channel.tickets import WAITS

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: A name that is a key in JSON, a file in the server, and a word in logs.
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-"
_MOST_MINUTES = 24 * 60


def _server_id(word: str) -> str:
    try:
        return str(uuid.UUID(word))
    except ValueError:
        raise typer.BadParameter("is no id of a server: Nova's are UUIDs") from None


def _item(word: str) -> str:
    if not word or len(word) > 64 or set(word) - set(_NAME):
        raise typer.BadParameter("has lower-case letters, digits and hyphens, 64 at most")
    return word


Cloud = Annotated[str, typer.Option("--cloud", metavar="NAME", help="Entry of clouds.yaml, of the operator's project.")]
Server = Annotated[str, typer.Argument(metavar="SERVER", help="Nova's id of the server.", callback=_server_id)]


@app.callback()
def channel() -> None:
    """Hand a server, once, what must not stand in user data.

    A secret waits in Barbican, in the operator's project. The server asks its metadata (`vendor_data2.json`); Nova
    asks the service that `serve` runs, and hands its answer to that server alone.

    \b
    Examples:
      interlock channel serve --cloud operator --caller 5f0c0f1e4a1b4a6f9d6f4f0a4f8f6c11
      interlock channel put 0c2f9a7e-1111-4000-8000-000000000000 s3 --cloud operator < credentials
      interlock channel look 0c2f9a7e-1111-4000-8000-000000000000 --cloud operator
    """


@app.command()
def serve(
    cloud: Cloud,
    caller: Annotated[
        list[str],
        typer.Option("--caller", metavar="USER_ID", help="Keystone's id of the user that Nova's metadata API has."),
    ],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 8790,
    certificate: Annotated[
        str | None, typer.Option("--certificate", help="Chain of certificates (PEM), for TLS.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", help="Its private key (PEM).")] = None,
    gap: Annotated[
        float, typer.Option("--gap", min=1, help="Seconds after a server's first question until it is answered.")
    ] = GAP.total_seconds(),
) -> None:
    """Answer Nova's metadata API. Keeps no state: run it on each controller.

    Only the users of --caller are answered. Give the metadata API a user of its own: what nova-compute asks is written
    to config drives, which stay on the host's disk.

    What is handed over, refused and not there is logged to stderr, with the id of the server; never a secret.

    \b
    Exit code: 0 it was ended by SIGTERM or Ctrl-C, 2 an option is wrong, 4 the cloud or the port cannot be used.

    \b
    Example:
      interlock channel serve --cloud operator --caller 5f0c0f1e4a1b4a6f9d6f4f0a4f8f6c11
    """
    if (certificate is None) != (key is None):
        raise typer.BadParameter("--certificate and --key go together")
    _log()
    session = _session(cloud)
    shelf = Shelf(session("key-manager", "1"))
    # Asked for nobody's tickets: a login that cannot read them is told now, and not by a server that gets nothing.
    _asked(lambda: shelf.tickets(str(uuid.UUID(int=0))))
    desk = Desk(shelf, gap=timedelta(seconds=gap))
    users = Callers(session("identity", "3"), caller)
    try:
        server = listening(Service(desk, users), host, port, certificate, key)
    except OSError as error:
        raise EnvironmentFailed(f"{host}:{port}: {error}", "choose another --port, or look at the files") from None
    logging.getLogger("interlock.channel").info("listens on %s:%d", host, port)
    _until_ended(server)


@app.command()
def put(
    server: Server,
    item: Annotated[
        str, typer.Argument(metavar="NAME", help="Such as s3; the file in the server is called so.", callback=_item)
    ],
    cloud: Cloud,
    minutes: Annotated[
        int, typer.Option("--minutes", min=1, max=_MOST_MINUTES, help="How long it waits for the server.")
    ] = int(WAITS.total_seconds()) // 60,
) -> None:
    """Leave a secret for a server. It is read from stdin, as it is to be in the server.

    It takes the place of what a person left under this name. What `pulumi up` leaves there it does not replace.

    \b
    Exit code: 0 it waits, 2 an argument is wrong or stdin is empty, or a stack leaves it, 4 the key manager failed.

    \b
    Example:
      interlock channel put 0c2f9a7e-1111-4000-8000-000000000000 s3 --cloud operator < credentials
    """
    if sys.stdin.isatty():
        raise typer.BadParameter("the secret is read from stdin: redirect a file")
    text = sys.stdin.read()
    if not text:
        raise typer.BadParameter("stdin is empty, so there is nothing to leave")
    expires = datetime.now(UTC) + timedelta(minutes=minutes)
    shelf = Shelf(_session(cloud)("key-manager", "1"))
    ticket = _asked(lambda: shelf.put(server, item, text, expires))
    print(f"{ticket.item} waits for {server} until {ticket.expires:%Y-%m-%d %H:%M} UTC")


@app.command()
def look(
    server: Server,
    cloud: Cloud,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON: name, state and times of each.")] = False,
) -> None:
    """Show what waits for a server, what it took, and what expired. Shows no secret.

    \b
    Exit code: 0 shown, 2 an argument is wrong, 4 the key manager failed.

    \b
    Example:
      interlock channel look 0c2f9a7e-1111-4000-8000-000000000000 --cloud operator
    """
    shelf = Shelf(_session(cloud)("key-manager", "1"))
    found = _asked(lambda: [(ticket, shelf.state(ticket, datetime.now(UTC))) for ticket in shelf.tickets(server)])
    if as_json:
        print(json.dumps({"version": 1, "server": server, "items": [_said(*one) for one in found]}, indent=1))
        return
    for ticket, state in found:
        print(f"{ticket.item}: {state}")
    if not found:
        print(f"nothing is there for {server}")


@app.command()
def remove(
    server: Server,
    cloud: Cloud,
    of_stacks: Annotated[bool, typer.Option("--of-stacks", help="Also what `pulumi up` left for it.")] = False,
) -> None:
    """Take away what people left for a server, and what is known of what it took.

    What a stack left stays, and is named on stderr: with --of-stacks it goes, too, and that stack's `pulumi refresh`
    and `pulumi up` leave it again.

    \b
    Exit code: 0 nothing of it is there now, 2 an argument is wrong, 4 the key manager failed.

    \b
    Examples:
      interlock channel remove 0c2f9a7e-1111-4000-8000-000000000000 --cloud operator
      interlock channel remove 0c2f9a7e-1111-4000-8000-000000000000 --cloud operator --of-stacks
    """
    marks = _asked(lambda: Shelf(_session(cloud)("key-manager", "1")).remove(server, of_stacks=of_stacks))
    for mark in marks:
        told = "refresh its stack, so that its state knows" if of_stacks else "it stays; --of-stacks takes it away, too"
        print(f"what {mark} left for it: {told}", file=sys.stderr)


def _said(ticket: Ticket, state: str) -> dict[str, Any]:
    times = {"expires": ticket.expires, "announced": ticket.announced, "taken": ticket.taken}
    written = {name: time.isoformat() if time else None for name, time in times.items()}
    return {"name": ticket.item, "state": state, **written}


def _asked(what: Callable[[], Any]) -> Any:
    """Raises `EnvironmentFailed` if the key manager fails; its text has no secret in it."""
    try:
        return what()
    except KeyManagerFailed as error:
        raise EnvironmentFailed(
            f"Barbican: {error}", "see that the cloud has it, and that the login may use it"
        ) from None


def _session(cloud: str) -> Callable[[str, str], Any]:
    """Service type and major version -> its adapter, with the login of this entry of clouds.yaml."""
    # Imported here: help and wrong arguments need no cloud.
    from keystoneauth1.adapter import Adapter

    from infra.program.passphrase import cloud_reader
    from interlock.provider.redaction import quote_no_files

    reader, cannot_be_read = cloud_reader()
    quote_no_files()
    try:
        region = reader().get_one(cloud=cloud)
        session = region.get_session()
    except (cannot_be_read, TypeError, ValueError) as error:
        raise EnvironmentFailed(f"there is no usable cloud {cloud!r}: {error}", "add it to clouds.yaml") from None

    def adapter(service: str, version: str) -> Any:
        return Adapter(
            session,
            service_type=service,
            interface=region.get_interface(service),
            region_name=region.region_name,
            min_version=version,
            max_version=f"{version}.latest",
            user_agent=f"interlock/{__version__}",
        )

    return adapter


def _log() -> None:
    """To stderr, a line each; others' loggers stay silent, since they may quote what is secret."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("interlock.channel")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def _until_ended(server: Threads) -> None:
    def end(*_: object) -> None:
        raise SystemExit(int(Exit.PROVED))

    signal.signal(signal.SIGTERM, end)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return
    finally:
        server.server_close()
