"""What `./run` hands over to: prepare what the command needs, then become that command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from toolchain.layout import CheckoutLayout
from toolchain.long import is_sliced, long_run
from toolchain.making import stop_on_sigterm
from toolchain.missing import MachineLacks, get_packages_of_tests, require_packages
from toolchain.plugin import ensure_plugin
from toolchain.progress import say
from toolchain.pulumi_cli import Pulumi, ensure_pulumi, find_pulumi
from toolchain.python_environment import compile_sources, ensure_environment, lock_requirements
from toolchain.stacks import ensure_stacks, mend_stacks
from toolchain.testing import pytest_arguments
from toolchain.variables import export_lines, foreign_path, variables

USAGE = """\
usage: ./run COMMAND …

  demo             the embedded cloud, the operator's stack and a tenant on it, and a summary
  test [ARGS]      every test, with samples of the random ones; ARGS go to pytest
  test --fast      what one runs after every edit: no cloud, no Pulumi, small samples
  test --long      no samples: all slices that this commit has not passed, or those named; --report [--json]
  interlock ARGS   the interlock command
  pulumi ARGS      pulumi, in the root of the project
  env              lines that prepare a shell:  eval "$(./run env)"
  prepare          make what the others need, and nothing else
  lock             write requirements.lock again from pyproject.toml and requirements-dev.in
  help             this text

All that is made lies in .interlock/; to start afresh, remove that folder.
"""

WITH_PULUMI = ("demo", "unlock")
"""The interlock commands that call Pulumi; the others must work on a machine without Pulumi and Go."""


@dataclass(frozen=True)
class Ready:
    """What a command needs, and whether parts of it had to be made."""

    pulumi: Pulumi
    values: Mapping[str, str]
    made_environment: bool
    made_plugin: bool


def prepare(layout: CheckoutLayout, *, install: bool) -> Ready:
    """Make environment, Pulumi, plugin and state folder where absent; with `install`, system packages too."""
    require_packages(install=install)
    made_environment = ensure_environment(layout)
    compile_sources(layout)
    pulumi = ensure_pulumi(layout, foreign_path(layout, os.environ))
    values = variables(layout, os.environ, pulumi)
    made_plugin = ensure_plugin(layout, Path(values["PULUMI_HOME"]))
    layout.state.mkdir(parents=True, exist_ok=True)
    return Ready(pulumi, values, made_environment, made_plugin)


def main(arguments: list[str]) -> int:
    """Run one command; `arguments` are the caller's folder and what was typed. Returns the exit code.

    Exit code 2: the command is unknown; 4: the machine lacks something; 130: stopped by Ctrl-C.
    """
    caller, name, rest = Path(arguments[0]), (arguments[1:] or ["help"])[0], arguments[2:]
    command = COMMANDS.get(name)
    if not command:
        say(f"./run: there is no command {name!r}.\n{USAGE}")
        return 2
    stop_on_sigterm()
    try:
        return command(CheckoutLayout.here(), caller, rest)
    except MachineLacks as problem:
        say(f"./run {name}: {problem}")
        return 4
    except KeyboardInterrupt:
        say(f"./run {name}: stopped; nothing half-made was left behind")
        return 130


def _demo(layout: CheckoutLayout, caller: Path, rest: list[str]) -> int:
    ready = prepare(layout, install=False)
    _become(layout.python, ["-P", "-m", "infra.cli", "demo", *rest], caller, ready.values)


def _test(layout: CheckoutLayout, _caller: Path, rest: list[str]) -> int:
    ready = prepare(layout, install=True)
    if "--fast" not in rest:
        get_packages_of_tests()
    if not is_sliced(rest):
        _become(layout.python, ["-m", "pytest", *pytest_arguments(rest, layout.root)], layout.root, ready.values)
    return long_run(rest, layout.made, layout.root, layout.python, ready.values)


def _interlock(layout: CheckoutLayout, caller: Path, rest: list[str]) -> int:
    if rest and rest[0] in WITH_PULUMI:
        values = prepare(layout, install=False).values
    else:
        require_packages(install=False)
        ensure_environment(layout)
        values = variables(layout, os.environ, find_pulumi(layout, foreign_path(layout, os.environ)))
    _become(layout.python, ["-P", "-m", "infra.cli", *rest], caller, values)


def _pulumi(layout: CheckoutLayout, _caller: Path, rest: list[str]) -> int:
    ready = prepare(layout, install=False)
    ensure_stacks(layout, ready.pulumi, ready.values)
    mend_stacks(layout, ready.values)
    _become(ready.pulumi.executable, rest, layout.root, ready.values)


def _env(layout: CheckoutLayout, _caller: Path, _rest: list[str]) -> int:
    ready = prepare(layout, install=False)
    ensure_stacks(layout, ready.pulumi, ready.values)
    sys.stdout.write(export_lines(ready.values))
    return 0


def _prepare(layout: CheckoutLayout, _caller: Path, _rest: list[str]) -> int:
    ready = prepare(layout, install=False)
    host = "official" if ready.pulumi.official else "built here, with the stand-in language host"
    say(f"Python environment: {'made' if ready.made_environment else 'up to date'}")
    say(f"Pulumi: {ready.pulumi.executable} ({host})")
    say(f"provider plugin: {'installed' if ready.made_plugin else 'up to date'}")
    return 0


def _lock(layout: CheckoutLayout, _caller: Path, _rest: list[str]) -> int:
    require_packages(install=False)
    lock_requirements(layout)
    return 0


def _help(_layout: CheckoutLayout, _caller: Path, _rest: list[str]) -> int:
    sys.stdout.write(USAGE)
    return 0


COMMANDS: dict[str, Callable[[CheckoutLayout, Path, list[str]], int]] = {
    "demo": _demo,
    "test": _test,
    "interlock": _interlock,
    "pulumi": _pulumi,
    "env": _env,
    "prepare": _prepare,
    "lock": _lock,
    "help": _help,
    "--help": _help,
    "-h": _help,
}
"""All commands of `./run`."""


def _become(executable: Path, arguments: list[str], folder: Path, values: Mapping[str, str]) -> NoReturn:
    """Replace this process, so that signals and the exit code are the command's own."""
    sys.stdout.flush()
    os.chdir(folder)
    os.execve(executable, [str(executable), *arguments], {**os.environ, **values})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
