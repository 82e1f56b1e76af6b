"""Holds what Pulumi registered against the proof; used by the policy pack."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from interlock.resources import KINDS, Admission, Admitted, digest_of

#: Where the program leaves copies of proofs; this package is installed editable.
PROOFS = Path(__file__).resolve().parents[1] / ".interlock" / "proofs"
PREFIX = "interlock:index:"


class Registered(Protocol):
    """What the policy SDK shows of a resource (`PolicyResource`)."""

    resource_type: str
    name: str
    props: Mapping[str, Any]


class StackArgs(Protocol):
    """What the policy SDK shows of a stack (`StackValidationArgs`)."""

    resources: list[Any]
    stack: str


def validate(args: StackArgs, report: Callable[..., None]) -> None:
    """Report every difference between stack and proof as a violation."""
    for message in differences(args.resources):
        report(message)


def differences(resources: list[Any]) -> Iterator[str]:
    """What is in the stack and not in the proof, or otherwise than proved, a sentence each."""
    ours = [item for item in resources if item.resource_type.startswith(PREFIX)]
    stack = _stack_properties(resources)
    admission = _admission(stack)
    if admission is None:
        yield "no proof of this stack was found: run the committed program, which writes one before it declares anything"
        return
    for item in ours:
        yield from _difference(item, admission)


def _stack_properties(resources: list[Any]) -> Mapping[str, Any]:
    roots = (item for item in resources if item.resource_type == "pulumi:pulumi:Stack")
    return next((item.props for item in roots), {})


def _admission(stack: Mapping[str, Any]) -> Admission | None:
    plan_hash = stack.get("plan_hash")
    if not isinstance(plan_hash, str):
        return None
    found = sorted(PROOFS.glob(f"*/{plan_hash.removeprefix('sha256:')}.json"))
    return Admission.model_validate(json.loads(found[0].read_text())["admission"]) if found else None


def _difference(item: Registered, admission: Admission) -> Iterator[str]:
    kind = item.resource_type.removeprefix(PREFIX)
    proved = admission.by_name.get((kind, item.name))
    if proved is None:
        yield f"{kind} {item.name} is in the stack and in no proof (code beside the plan, or left by an older plan)"
    elif (why := _differs(item, kind, proved)) is not None:
        yield f"{kind} {item.name}: {why} (a mix of old and new, as --target leaves it, is not proved)"


def _differs(item: Registered, kind: str, proved: Admitted) -> str | None:
    fields = KINDS[kind].model_fields
    try:
        spec = {name: item.props[name] for name in fields if name in item.props}
        actual = KINDS[kind].model_validate(spec).canonical()
    except ValidationError as error:
        return f"its inputs are not of the kind: {error.errors()[0]['msg']}"
    if digest_of({"kind": kind, "spec": actual}) == proved.digest:
        return None
    changed = sorted(name for name in fields if actual[name] != proved.spec.get(name))
    return f"{', '.join(changed)} is not as proved"
