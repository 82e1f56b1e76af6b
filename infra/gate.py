"""From files to a proof: load, plan, prove. The program, `interlock check` and the demo all come through here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interlock.model.load import Workspace, load_workspace, require_fresh_lock
from interlock.model.lock import Lock, SiteLock
from interlock.planning import Plan, plan_site, plan_tenant, request_hash, site_hash
from interlock.resources import Admission
from policies import Judgement, NotProved, Proof, admission, judge, prove

from .places import PROOFS, STACKS

#: The tenant of the operator's own stack.
SITE = None


@dataclass(frozen=True)
class Gate:
    """One site with all its requests and locks, and what follows from them."""

    workspace: Workspace

    @classmethod
    def open(cls, site: str, stacks: Path = STACKS) -> Gate:
        """Load a site's folder below `stacks`. Raises `InputErrors`."""
        return cls(load_workspace(stacks, site))

    def stack(self, tenant: str | None) -> str:
        """Name of a stack of this site."""
        return f"{self.workspace.site.name}-{tenant or 'site'}"

    def stacks(self) -> Iterator[str | None]:
        """The operator's stack, then every tenant's, by id."""
        yield SITE
        yield from sorted(self.workspace.tenants)

    def plan(self, tenant: str | None) -> Plan:
        """The plan of one stack. Raises `InputErrors` if its lock is missing or older than its inputs."""
        site = self.workspace.site
        if tenant is None:
            return plan_site(site, self._site_lock())
        lock = self._lock(tenant)
        return plan_tenant(site, self._site_lock(), self.workspace.tenants[tenant], lock)

    def judge(self, tenant: str | None) -> Judgement:
        """What the rules say of one stack's plan beside the locks of all others."""
        return judge(self.workspace.site, self.plan(tenant), self.others(tenant))

    def prove(self, tenant: str | None) -> Proof:
        """The proof of one stack. Raises `NotProved`."""
        return prove(self.workspace.site, self.plan(tenant), self.others(tenant))

    def others(self, tenant: str | None) -> list[Lock]:
        """The locks of everybody else."""
        return [lock for name, lock in sorted(self.workspace.locks.items()) if name != tenant]

    def admission(self, proof: Proof) -> Admission:
        """The proof as the provider takes it."""
        site = self.workspace.site
        return admission(
            proof,
            cloud=site.cloud,
            site_folder=str(self.workspace.folder),
            existing=site.existing,
            virtual_functions={host.name: host.virtual_functions for host in site.hosts},
        )

    def _lock(self, tenant: str) -> Lock:
        wanted = request_hash(self.workspace.tenants[tenant]) if tenant in self.workspace.tenants else ""
        return require_fresh_lock(self.workspace, tenant, wanted, site_hash(self.workspace.site))

    def _site_lock(self) -> SiteLock:
        return self.workspace.require_site_lock(site_hash(self.workspace.site))


def keep_copy(proof: Proof, admitted: Admission) -> Path:
    """Write the proof where the policy pack and people find it: `.interlock/proofs/<stack>/<hash>.json`."""
    folder = PROOFS / proof.plan.stack
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{proof.plan.hash.removeprefix('sha256:')}.json"
    document = {
        "plan_hash": proof.plan.hash,
        "proof_hash": proof.hash,
        "judgement": proof.judgement.model_dump(mode="json"),
        "admission": admitted.model_dump(mode="json"),
    }
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    return path


__all__ = ["Gate", "NotProved", "keep_copy"]
