"""Who brings munge's key to the servers of a cluster with Slurm, as a line for each: interlock, or its tenant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.planning import Plan
from interlock.planning.guest.cluster_keys import MUNGE_KEY
from interlock.planning.scheduler.slurm import SLURM_CONF
from interlock.resources import S3Credential, StoredCredential
from interlock.vocabulary.request_parts import RequestPart


def key_lines(plan: Plan, scheduler: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """`scheduler`: cluster -> path -> text of what its scheduler reads."""
    made = {item.name for item in plan.resources if isinstance(item.resource, S3Credential)}
    for cluster, texts in scheduler.items():
        if SLURM_CONF not in texts:
            continue
        own = str(RequestPart(str(plan.tenant), cluster))
        handed = [
            item.resource
            for item in plan.resources
            if isinstance(item.resource, StoredCredential) and item.resource.credential in made and item.vpod == own
        ]
        if not any(_is_munge(plan, item) for item in handed):
            yield f"  {cluster}: its tenant brings munge's key, {MUNGE_KEY} on each server: nothing hands one over"
        elif any(item.by for item in handed):
            yield f"  {cluster}: munge's key is made; heads fetch it, and give it to each node in band"
        else:
            yield f"  {cluster}: munge's key is made, and each server fetches it"


def _is_munge(plan: Plan, handed: StoredCredential) -> bool:
    key = plan.by_name[handed.credential].resource
    return isinstance(key, S3Credential) and key.opens == "munge"
