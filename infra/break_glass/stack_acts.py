"""What a person may do by hand at one stack, from what can be read while cloud and store are down."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import typer

from infra.cli.exits import EnvironmentFailed
from infra.program.gate import Gate
from infra.reports.wiring_text import SYNTAX_OF, Syntax
from infra.stack.engine import Engine
from interlock.model.site.inventory import Site
from interlock.model.text.validation import nearest
from interlock.planning import Plan
from interlock.vipu.loading import VipuRead, load_vipu
from interlock.vocabulary import InterlockError

from .acts import ActsOf
from .known import KnownStack, deployment_of, known_stack
from .manual_act import ManualAct


@dataclass(frozen=True)
class StackActs:
    """One stack, and the acts there are for it."""

    known: KnownStack
    every: tuple[ManualAct, ...]

    def acts(self, names: Collection[str]) -> tuple[ManualAct, ...]:
        """Those about some objects, by their names or by what they are about; all of them if none are named.

        Raises `typer.BadParameter`, naming the nearest, for a name that no act is about.
        """
        known = {name for act in self.every for name in act.objects}
        for name in names:
            if name not in known:
                hint = nearest(name, known) or "without OBJECT all are listed"
                raise typer.BadParameter(f"no act is about `{name}`: {hint}", param_hint="OBJECT")
        return tuple(act for act in self.every if not names or set(names) & {*act.objects})


def acts_at(site: str, tenant: str | None) -> StackActs:
    """The stack as state and plan know it.

    Raises `InputErrors` if the site's files cannot be read, and as `Gate.plan` does if neither plan nor state is there.
    """
    gate = Gate.open(site)
    stack = gate.stack(tenant)
    deployment, of_state = _state(stack)
    plan, of_plan = _plan(gate, tenant)
    if of_plan is not None and deployment is None:
        raise of_plan
    notes = [of_state] if of_state else []
    notes += [f"the stack cannot be planned, so this is what its state has: {of_plan}"] if of_plan else []
    known = known_stack(stack, plan, deployment, notes)
    acts = ActsOf(known, _syntax(gate.workspace.site), _controllers())
    return StackActs(known, tuple(acts.all()))


def _state(stack: str) -> tuple[Mapping[str, Any] | None, str]:
    """The deployment, and what to say if there is none."""
    by_name = "ids are asked for by name; look at each for its marker before you go on"
    try:
        found = deployment_of(stack, Engine.here())
    except EnvironmentFailed as error:
        return None, f"the state cannot be read: {error.what}; {by_name}"
    return found, "" if found is not None else f"the backend in use has no stack {stack}; {by_name}"


def _plan(gate: Gate, tenant: str | None) -> tuple[Plan | None, InterlockError | None]:
    try:
        return gate.plan(tenant), None
    except InterlockError as error:
        return None, error


def _controllers() -> VipuRead | None:
    """How V-IPU controllers are reached; None if no file that can be read says it."""
    try:
        return load_vipu()
    except InterlockError:
        return None


def _syntax(site: Site) -> dict[str, Syntax]:
    return {switch.name: SYNTAX_OF[switch.model] for switch in site.switches if switch.model in SYNTAX_OF}
