"""The files that a certificate has to be about: the site in full form, the plans of all its stacks, and the locks.

They are read and planned as for an apply; that a plan is the one its file leads to is not shown here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.checker import digest, printable, read
from infra.program.gate import Gate

from .answers import not_asked
from .comparing import Compared, Comparing
from .evidence import files_of
from .granted import GRANTED, is_not_made, waiver_faults
from .names import is_boundary

Json = dict[str, Any]
_NOT_APPLIED = "not looked at"
#: All that a judgement says of what is applied; what that is, the operator's store alone shows.
_APPLIED = re.compile(
    rf"{_NOT_APPLIED}|looked at: nothing else is applied|proved together with the plan, sha256:[0-9a-f]{{64}}"
)
#: Of these the output says nothing: they are digests of what it speaks of already.
_NO_WORDS = ("judgement.boundary", "digest")


@dataclass(frozen=True)
class Inputs:
    """One site as it stands in its files, read once for the certificates of all its stacks."""

    gate: Gate
    #: Stack -> hash of its plan.
    hashes: dict[str, str]
    #: Stack -> the resources of its plan that nothing can make yet, in their order.
    not_made: dict[str, list[str]]
    comparing: Comparing
    #: Tenant -> digest of its lock without the hash that is in it.
    locks: dict[str, str]

    @classmethod
    def of(cls, site: str) -> Inputs:
        """Read and plan a site. Raises as `Gate.plan` does, and Malformed for a lock that is no JSON."""
        gate = Gate.open(site)
        plans = {gate.stack(tenant): gate.plan(tenant) for tenant in gate.stacks()}
        full = gate.workspace.site.model_dump(mode="json")
        hashes = {stack: plan.hash for stack, plan in plans.items()}
        locks = _locks(gate.workspace.folder / "tenants")
        documents = {stack: plan.canonical() for stack, plan in plans.items()}
        not_made = {
            stack: [item["name"] for item in document["resources"] if is_not_made(item)]
            for stack, document in documents.items()
        }
        comparing = Comparing(full, documents, locks, files_of(gate.workspace.folder))
        digests = {lock["id"]: digest({key: value for key, value in lock.items() if key != "hash"}) for lock in locks}
        return cls(gate, hashes, not_made, comparing, digests)

    def tenant_of(self, stack: str) -> str | None:
        """The tenant of a stack of this site. Raises KeyError if it has none of this name."""
        return {self.gate.stack(tenant): tenant for tenant in self.gate.stacks()}[stack]

    def compare(self, found: Json, tenant: str | None) -> Compared:
        """A certificate of the stack of this tenant, None being the operator's."""
        judgement, stack = found["judgement"], self.gate.stack(tenant)
        said = [f"it is about {judgement['stack']}, not {stack}"] if judgement["stack"] != stack else []
        if judgement["site"] != self.gate.workspace.site.name:
            said.append(f"it is about site {judgement['site']}, not {self.gate.workspace.site.name}")
        if judgement["plan_hash"] != self.hashes[stack]:
            said.append(f"it is about another plan than that of {stack}, {self.hashes[stack]}")
        if not _APPLIED.fullmatch(judgement["applied_state"]):
            said.append("it says in no words known here what is applied")
        if judgement["applied_state"] == _NOT_APPLIED:
            hashes = sorted([name, lock] for name, lock in self.locks.items() if name != tenant)
            if judgement["footprints"] != digest(hashes):
                said.append("it has looked at other locks than those of the site")
        stated = [item.model_dump(mode="json") for item in self.gate.waivers(tenant)]
        said += waiver_faults(judgement, stated, found["date"])
        said += not_asked(judgement["results"], is_tenant=tenant is not None)
        if judgement["without_actuator"] != self.not_made[stack]:
            said.append(f"of what nothing can make yet the plan has {', '.join(self.not_made[stack]) or 'nothing'}")
        if found["boundary"].keys() != {node for node in found["classes"] if is_boundary(node)}:
            said.append("it has no version of some boundary node, or one too many")
        compared = self.comparing.compare(found, tenant or "op")
        return Compared(
            (*map(printable, said), *compared.complaints), compared.tied, (*_granted(found), *compared.untied)
        )


def _granted(found: Json) -> Iterator[str]:
    """What this certificate has of what no file shows, in words."""
    has_looked = found["judgement"]["applied_state"] != _NOT_APPLIED
    for place, words in GRANTED.items():
        only_where = {"judgement.footprints": has_looked, "statement.unknown": bool(found["statement"]["unknown"])}
        if only_where.get(place, place not in _NO_WORDS):
            yield words


def _locks(folder: Path) -> list[Json]:
    return [read(file.read_bytes()) for file in sorted(folder.glob("*.lock.json"))]
