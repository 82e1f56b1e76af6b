"""The commands of `interlock`, each imported only when it is called: help and mistyped commands need none of them."""

from __future__ import annotations

from importlib import import_module

import typer
from typer.core import TyperGroup

#: Command -> how its help begins, in the order in which the help lists them. Its function has its name, in a
#: module of that name in `infra.commands`.
COMMANDS = {
    "lock": "Write the locks of a site and its tenants: what each is given.",
    "check": "Prove that the stacks of a site may be applied.",
    "explain": "Explain a rule, or a finding with its whole witness.",
    "verify": "Check a certificate that `interlock check --certificate` wrote.",
    "plan": "Show what a stack will be: ids, addresses, hosts, cost.",
    "capacity": "Count how many more vPODs of each size a site holds.",
    "preflight": "Name everything on the cloud that would make `pulumi up` fail.",
    "unlock": "Free a stack that a killed `pulumi` left locked.",
    "recover": "Take over a stack whose state was lost, or an old one put back.",
    "audit": "Read the live cloud, and hold it against what was proved.",
    "settle": "Release what a tenant gave up, once nothing holds it any more.",
    "site": "Show what a site holds, and what nobody stated.",
    "schema": "Print the JSON Schema of site or tenant files, for editors.",
    "demo": "Bring up the sandbox, the operator's stack and a tenant's.",
    "sandbox": "Look after the embedded OpenStack (up, down, status, reset).",
}
#: The supervisor of the sandbox has options and help of its own.
PASSED_ON = {"sandbox": {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}}
HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


class CommandGroup(TyperGroup):
    """Lists commands from the table, and imports the one that is called."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> object | None:  # type: ignore[override]  # noqa: ARG002
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        function = getattr(import_module(f"infra.commands.{cmd_name}"), cmd_name)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name, context_settings=PASSED_ON.get(cmd_name, HELP_OPTIONS))(function)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: typer.Context, formatter: object) -> None:  # type: ignore[override]  # noqa: ARG002
        """The table, without importing anything."""
        with formatter.section("Commands"):  # type: ignore[attr-defined]
            formatter.write_dl(list(COMMANDS.items()))  # type: ignore[attr-defined]
