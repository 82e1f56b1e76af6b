"""The files that a certificate has to be about: the site in full form, the plans of all its stacks, and the locks.

They are read and planned as for an apply; that a plan is the one its file leads to is not shown here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.checker import digest, printable, read
from infra.program.gate import Gate

from .comparing import Compared, Comparing

Json = dict[str, Any]
_NOT_APPLIED = "not looked at"
_WAIVER = ("rule", "owner", "reason", "expires")


@dataclass(frozen=True)
class Inputs:
    """One site as it stands in its files, read once for the certificates of all its stacks."""

    gate: Gate
    #: Stack -> hash of its plan.
    hashes: dict[str, str]
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
        comparing = Comparing(full, {stack: plan.canonical() for stack, plan in plans.items()}, locks)
        digests = {lock["id"]: digest({key: value for key, value in lock.items() if key != "hash"}) for lock in locks}
        return cls(gate, hashes, comparing, digests)

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
        untied = ["the versions of boundary nodes"]
        if judgement["applied_state"] == _NOT_APPLIED:
            hashes = sorted([name, lock] for name, lock in self.locks.items() if name != tenant)
            if judgement["footprints"] != digest(hashes):
                said.append("it has looked at other locks than those of the site")
        else:
            untied.append("what is applied, and the locks that it was judged beside")
        said += self._waivers(judgement, tenant)
        compared = self.comparing.compare(found, tenant or "op")
        return Compared((*map(printable, said), *compared.complaints), compared.tied, (*untied, *compared.untied))

    def _waivers(self, judgement: Json, tenant: str | None) -> list[str]:
        """Those in use are in the request, or of the operator's stack in the site file, word for word."""
        stated = [item.model_dump(mode="json") for item in self.gate.waivers(tenant)]
        known = [tuple(str(item[key]) for key in _WAIVER) for item in stated]
        used = [item for item in judgement["waivers"] if item["state"] == "used"]
        strange = [item["rule"] for item in used if tuple(item[key] for key in _WAIVER) not in known]
        return [f"nobody states the waiver of {rule} that it uses" for rule in strange]


def _locks(folder: Path) -> list[Json]:
    return [read(file.read_bytes()) for file in sorted(folder.glob("*.lock.json"))]
