"""One proof on its way into the engine: what is declared already, and how a planned resource is declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pulumi

from interlock.planning.plan import Component, Planned
from interlock.resources import ID_OF, Admission, Claims, Resource, is_cloud_reference, is_site_reference
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.urns import TypeToken
from policies.proof import Proof

#: What components read of all that the provider computes, by kind.
COMPUTED: dict[str, tuple[str, ...]] = {
    "FloatingIp": ("public_address",),
    "S3Credential": ("access_key", "secret_key"),
    "Share": ("export_path",),
}

#: Computed keys that the engine encrypts in the state, whatever the provider says of them.
SECRET: dict[str, tuple[str, ...]] = {"S3Credential": ("secret_key",)}


class CloudObject(pulumi.CustomResource):
    """One planned resource as the engine sees it.

    Inputs: the fields of its specification, the owner id, and for each reference field `id_of_<field>`: the
    cloud's ids of the objects of this plan that it names. References stay names in the specification, so that
    the digest that was proved does not depend on ids that do not exist yet.
    """

    def __init__(
        self, name: str, resource: Resource, owner: OwnerId, ids: dict[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        kind = resource.KIND
        inputs = resource.canonical() | {"owner": owner} | ids
        computed = dict.fromkeys(COMPUTED.get(kind, ()))
        always = pulumi.ResourceOptions(
            # Otherwise the engine creates before it deletes: the new object would be the old one, adopted.
            delete_before_replace=not resource.CREATED_FIRST,
            # The engine then refuses a destroy before it deletes anything; the provider would at the data's own turn.
            protect=resource.is_kept,
            additional_secret_outputs=list(SECRET.get(kind, ())),
        )
        merged = pulumi.ResourceOptions.merge(opts, always)
        super().__init__(TypeToken.object(kind), name, inputs | computed, merged)

    def computed(self, key: str) -> pulumi.Output[Any]:
        """A value that the provider computes (`COMPUTED`), unknown at the first preview."""
        value: pulumi.Output[Any] = getattr(self, key)
        return value


class Declaration:
    """Declares the resources of one proof, each once, in the order of the plan; before all others its claims.

    Who may mount a share lies below the share, which servers wait for, and names a network of their vPOD: so what names
    something that is not declared yet is declared as soon as that is.
    """

    def __init__(self, proof: Proof, admission: Admission, provider: pulumi.ProviderResource) -> None:
        self.proof = proof
        self._provider = provider
        self._declared: dict[str, CloudObject] = {}
        self._waiting: list[tuple[Planned, pulumi.Resource]] = []
        self._first = self._claims(admission)

    def resources(self, component: str, parent: pulumi.Resource) -> dict[str, CloudObject]:
        """Declare what lies directly below one component and can be by now; by plan name."""
        planned = [item for item in self.proof.plan.of(component) if item.resource.is_declared]
        self._waiting += [(item, parent) for item in planned]
        while ready := next((entry for entry in self._waiting if self._is_ready(entry[0])), None):
            self._waiting.remove(ready)
            self._declare(*ready)
        return {item.name: self._declared[item.name] for item in planned if item.name in self._declared}

    def check_complete(self) -> None:
        """LookupError if something was not declared, for it names what this stack does not make."""
        if self._waiting:
            raise LookupError(f"not declared, for what it refers to is not: {self._waiting[0][0].name}")

    def _is_ready(self, item: Planned) -> bool:
        named = (name for _, name in item.resource.references() if _own(name) and name != item.name)
        return all(name in self._declared for name in (*named, *item.after))

    def children(self, component: str) -> Iterator[Component]:
        """The components directly below one."""
        return (item for item in self.proof.plan.components if item.parent == component)

    def _claims(self, admission: Admission) -> list[CloudObject]:
        """What everything else waits for, and outlasts everything else."""
        opts = pulumi.ResourceOptions(provider=self._provider)
        return [
            CloudObject(item.name, Claims.model_validate(item.spec), admission.owner, {}, opts)
            for item in admission.resources
            if item.kind == Claims.KIND
        ]

    def _declare(self, item: Planned, parent: pulumi.Resource) -> CloudObject:
        after = [*self._first, *(self._declared[name] for name in item.after)]
        opts = pulumi.ResourceOptions(parent=parent, provider=self._provider, depends_on=after)
        made = CloudObject(item.name, item.resource, self.proof.plan.owner, self._ids(item), opts)
        self._declared[item.name] = made
        return made

    def _ids(self, item: Planned) -> dict[str, Any]:
        """`id_of_<field>` -> id, or list of ids, of the objects of this plan that the field names."""
        ids: dict[str, Any] = {}
        for field, refers in item.resource.reference_fields().items():
            value = refers.named(getattr(item.resource, field))
            if isinstance(value, tuple):
                # Nothing can wait for its own id.
                ids[ID_OF + field] = [self._declared[name].id for name in value if _own(name) and name != item.name]
            elif value is not None and _own(value):
                ids[ID_OF + field] = self._declared[value].id
        return ids


def _own(reference: str) -> bool:
    return not (is_site_reference(reference) or is_cloud_reference(reference))
