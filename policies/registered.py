"""Holds what Pulumi registered against the proof; the policy pack reports each difference as a violation.

Everything is compared canonically: whole floats are integers again, absent keys are the defaults of the kind,
and what the provider adds (`id_of_…`, computed outputs) is left out. A value that cannot be read is a difference:
the policy SDK would turn an unknown into an advisory note about the whole policy, and let everything pass.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pulumi_policy import PolicyResource, StackValidationArgs
from pulumi_policy.proxy import UnknownValueError
from pydantic import ValidationError

from interlock.project import project_folder
from interlock.resources import KINDS, Admission, digest_of
from interlock.vocabulary.digests import Digest
from interlock.vocabulary.urns import TypeToken, Urn

#: Where the program leaves copies of proofs.
PROOFS = project_folder() / ".interlock" / "proofs"

PROVIDER = "pulumi:providers:interlock"
STACK = "pulumi:pulumi:Stack"

NO_PROOF = "no proof of this stack was found: run the committed program, which writes one before it declares"
MIX = "a mix of old and new, as --target leaves it, was not proved"


def validate(args: StackValidationArgs, report: Callable[..., None]) -> None:
    """Report every difference between stack and proof as a violation."""
    for message in differences(args.resources):
        report(message)


def differences(resources: Sequence[PolicyResource], proofs: Path = PROOFS) -> Iterator[str]:
    """What is in the stack and not in its proof, or not as proved, or only in the proof; a sentence each."""
    yield from _foreign(resources)
    objects = [item for item in resources if TypeToken.kind_of(item.resource_type)]
    admission = _admission(resources, proofs)
    if admission is not None:
        yield from _other_provider(resources, admission)
        yield from _not_as_proved(objects, admission)
        yield from _missing(objects, admission)
    elif objects:
        yield NO_PROOF


def _foreign(resources: Sequence[PolicyResource]) -> Iterator[str]:
    """Nobody's proof speaks of what another provider makes."""
    for item in resources:
        known = item.resource_type in (STACK, PROVIDER) or TypeToken.named(item.resource_type) is not None
        if not known:
            yield f"{item.resource_type} {item.name} is of no kind that a proof holds (code beside the plan)"


def _admission(resources: Sequence[PolicyResource], proofs: Path) -> Admission | None:
    """The proof whose plan the stack's own output names; None if there is none that can be read."""
    stack = next((item for item in resources if item.resource_type == STACK), None)
    plan_hash = _read(stack.props, "plan_hash") if stack else None
    digest = Digest.named(plan_hash) if isinstance(plan_hash, str) else None
    if stack is None or digest is None:
        return None
    name = Urn.parse(stack.urn).stack
    file = proofs / name / f"{digest.hex}.json"
    try:
        found = Admission.model_validate(json.loads(file.read_text())["admission"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if (found.stack, found.plan_hash) == (name, plan_hash) else None


def _read(props: Mapping[str, Any], key: str) -> Any:
    """A value, or None if it is absent or not known yet."""
    try:
        return props.get(key)
    except UnknownValueError:
        return None


def _other_provider(resources: Sequence[PolicyResource], admission: Admission) -> Iterator[str]:
    for item in resources:
        if item.resource_type != PROVIDER:
            continue
        if _read(item.props, "cloud") != admission.cloud:
            yield f"provider {item.name} is not set to cloud {admission.cloud}, which was proved"
        if (_read(item.props, "region") or "") != admission.region:
            yield f"provider {item.name} is not set to {_region(admission)} of the cloud, which was proved"


def _region(admission: Admission) -> str:
    return f"region {admission.region}" if admission.region else "the default region"


def _not_as_proved(objects: Sequence[PolicyResource], admission: Admission) -> Iterator[str]:
    times = Counter(_key(item) for item in objects)
    yield from (f"{kind} {name} is in the stack {n} times" for (kind, name), n in times.items() if n > 1)
    for item in objects:
        kind, name = _key(item)
        if (kind, name) not in admission.by_name:
            yield f"{kind} {name} is in the stack and not in its proof (code beside the plan, or an old plan)"
        elif (why := _differs(item, kind, admission)) is not None:
            yield f"{kind} {name}: {why} (altered beside the plan; {MIX})"


def _missing(objects: Sequence[PolicyResource], admission: Admission) -> Iterator[str]:
    """What was proved is the whole; a part of it without the rest is another thing."""
    there = {_key(item) for item in objects}
    missing = [name for kind, name in admission.by_name if (kind, name) not in there]
    if missing:
        yield f"{len(missing)} resource(s) of the proof are not in the stack: {', '.join(missing)} ({MIX})"


def _key(item: PolicyResource) -> tuple[str, str]:
    return TypeToken.kind_of(item.resource_type), item.name


def _differs(item: PolicyResource, kind: str, admission: Admission) -> str | None:
    """In which fields a resource differs from what was proved."""
    fields, proved = KINDS[kind].model_fields, admission.by_name[kind, item.name]
    try:
        values = {key: _plain(item.props[key]) for key in (*fields, "owner") if key in item.props}
        owner = values.pop("owner", None)
        actual = KINDS[kind].model_validate(values).canonical()
    except UnknownValueError as error:
        return f"{'.'.join(error.props)} is not known yet, so nobody can tell whether it is as proved"
    except ValidationError as error:
        return f"its inputs are not those of a {kind}: {error.errors()[0]['msg']}"
    if owner != admission.owner:
        return "its owner is not this stack"
    if digest_of({"kind": kind, "spec": actual}) == proved.digest:
        return None
    # The engine tells what is applied: what an object keeps as it was made, an earlier proof held.
    kept = KINDS[kind].kept_as_made()
    changed = [name for name in fields if name not in kept and actual[name] != proved.spec.get(name)]
    return f"{', '.join(changed)} not as proved" if changed else None


def _plain(value: Any) -> Any:
    """A value of the engine as JSON would have it; raises UnknownValueError for what is not known yet."""
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(value[index]) for index in range(len(value))]
    return int(value) if isinstance(value, float) and value.is_integer() else value
