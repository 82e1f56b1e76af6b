"""The commands of `interlock`, each imported only when it is called: help and mistyped commands need none of them."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from infra.cli import debugging
from interlock.garbage import importing

#: Command -> how its help begins, in the order in which the help lists them. Its function has its name, in a
#: module of that name in `infra.commands` (`-` is `_`); where that has an `app`, the function is what its commands have
#: in common.
COMMANDS = {
    "lock": "Write the locks of a site and its tenants: what each is given.",
    "check": "Prove that the stacks of a site may be applied.",
    "explain": "Explain a rule, or a finding with its whole witness.",
    "verify": "Check a certificate that `interlock check --certificate` wrote.",
    "plan": "Show what a stack will be: ids, addresses, hosts, cost.",
    "rollout": "Print the order of steps when the operator's objects change.",
    "wiring": "Print what switches need that Neutron does not wire.",
    "nodes": "List what is to be enrolled at Ironic for a site.",
    "capacity": "Count how many more vPODs and GPU nodes a site holds.",
    "ssh": "Print the ssh command that gets in to a tenant's server.",
    "preflight": "Name everything on the cloud that would make `pulumi up` fail.",
    "unlock": "Unlock a stack that a killed `pulumi` left locked.",
    "recover": "Take over a stack whose state was lost or is an old copy.",
    "audit": "Read the live cloud and compare it with what was proved.",
    "switches": "Read the switches and compare each port with what is stated.",
    "fabrics": "Ask how subnet managers are set, for the proof.",
    "controllers": "Ask how V-IPU controllers are set, for the proof.",
    "settle": "Settle what a tenant released, once it was seen to be clean.",
    "report": "Report what has become of all that a tenant was given.",
    "break-glass": "Change objects by hand, and judge it afterwards.",
    "evidence": "Sign evidence of what was released, and verify it.",
    "access": "Sign, revoke and list what a tenant's people log in with.",
    "channel": "Hand a server, once, what must not stand in user data.",
    "site": "Show what a site holds, and which facts are not stated.",
    "schema": "Print the JSON Schema of files, and of some answers.",
    "demo": "Bring up a sandbox, the operator's stack and tenants' stacks.",
    "sandbox": "Manage the embedded OpenStack (up, down, status, enrol, reset).",
}
#: The supervisor of the sandbox has options and help of its own.
PASSED_ON: dict[str, dict[str, Any]] = {"sandbox": {"ignore_unknown_options": True, "help_option_names": []}}
HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


class CommandGroup(TyperGroup):
    """Lists commands from the table, and imports the one that is called."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ARG002
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        word = cmd_name.replace("-", "_")
        module = _imported(f"infra.commands.{word}")
        alone = getattr(module, "app", None)
        if alone is None:
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            alone.command(cmd_name, context_settings=PASSED_ON.get(cmd_name, HELP_OPTIONS))(getattr(module, word))
        command = typer.main.get_command(alone)
        if cmd_name not in PASSED_ON:
            command.params.append(_debug_option())
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called; a mistyped one is told the nearest."""
        word = args[0] if args else ""
        if not (ctx.resilient_parsing or word in COMMANDS or word.startswith("-")):
            close = get_close_matches(word, COMMANDS, n=1)
            ctx.fail(f"there is no command `{word}`: " + (f"did you mean `{close[0]}`?" if close else "see --help"))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names and options that begin so, without importing any command."""
        # Imported here: only a shell that completes needs it, and typer has it in no public place.
        from typer._click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [*names, *(item for item in options if item.value not in COMMANDS)]

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """The table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _debug_option() -> Any:
    """`--debug`, which every command has: taken from a command that has nothing else."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command()(_with_debug)
    return typer.main.get_command(alone).params[0]


def _with_debug(
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            callback=debugging.begin_if,
            is_eager=True,
            expose_value=False,
            help="Show each request to the cloud on stderr, without headers, bodies and secrets.",
        ),
    ] = False,
) -> None:
    """Nothing."""


def _imported(name: str) -> ModuleType:
    """A module, imported without garbage collection."""
    with importing():
        return import_module(name)
