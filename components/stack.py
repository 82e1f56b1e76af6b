"""The root of a stack: admit the proof to the provider, then declare its tree."""

from __future__ import annotations

from pathlib import Path

import pulumi

from interlock.resources import Admission
from interlock.vocabulary.urns import ADMIT
from policies.proof import Proof

from .base import ComponentArgs, PlannedComponent
from .clusters import GpuCluster, GpuClusterHead, GpuClusterNode
from .data import TenantBucket, TenantShare, TenantVolume
from .declaration import Declaration
from .sites import SiteObjects
from .tenants import TenantProject
from .vpods import BareMetalPoplarServer, PoplarServer, VipuController, VirtualPod

#: Component type of the plan -> class that declares it.
COMPONENTS: dict[str, type[PlannedComponent]] = {
    cls.TYPE: cls
    for cls in (
        SiteObjects, TenantProject, VirtualPod, PoplarServer, BareMetalPoplarServer, VipuController,
        GpuCluster, GpuClusterHead, GpuClusterNode, TenantVolume, TenantShare, TenantBucket,
    )
}  # fmt: skip


def declare(proof: Proof, admission: Admission, preview_tokens: Path) -> PlannedComponent | None:
    """Declare a proved stack; the root component is returned, or None if the plan is empty.

    `preview_tokens`: where the provider notes previews. Of an empty plan the engine takes everything away again.

    The provider learns the proof first. Raises `pulumi.RunError` with every fault that its read-only
    preflight found; then nothing has been declared and nothing touched.
    """
    settings = {"cloud": admission.cloud} | ({"region": admission.region} if admission.region else {})
    provider = pulumi.ProviderResource("interlock", "cloud", settings)
    admit(admission, provider, preview_tokens)
    root = next((item for item in proof.plan.components if item.parent is None), None)
    if root is None:
        return None
    declaration = Declaration(proof, admission, provider)
    declared = COMPONENTS[root.type](root.name, ComponentArgs(declaration, COMPONENTS))
    declaration.check_complete()
    return declared


def admit(admission: Admission, provider: pulumi.ProviderResource, preview_tokens: Path) -> None:
    """Hand the proof to the provider, in this phase of the engine's run."""
    preview = pulumi.runtime.is_dry_run()
    arguments = {"admission": admission.model_dump_json(), "preview": preview, "preview_tokens": str(preview_tokens)}
    answer = pulumi.runtime.invoke(ADMIT, arguments, pulumi.InvokeOptions(provider=provider))
    found = answer.value or {}
    for note in found.get("notes") or []:
        pulumi.log.warn(note)
    faults = found.get("faults") or []
    if faults:
        listed = "\n".join(f"  - {fault}" for fault in faults)
        head = f"{len(faults)} fault(s) found before the first call; nothing was touched:"
        raise pulumi.RunError(f"{head}\n{listed}")
