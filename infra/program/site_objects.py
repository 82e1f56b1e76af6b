"""The operator's stack beside the tenants that use what is in it: what is kept, and what cannot be recreated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.model.text.source import KEY
from interlock.planning import Plan, PlanningError
from interlock.planning.site_uses import offers_of
from interlock.resources import Admitted
from interlock.store.records import StackRecord
from interlock.store.site_objects import recreated_for, reference_to, users
from interlock.vocabulary import ExistingObject

#: Kind -> the section of the site file that has its objects, and whether they stand there by their names.
SECTIONS: dict[str, tuple[str, bool]] = {
    "Flavor": ("flavors", True),
    "Image": ("images", True),
    "VolumeType": ("volume_types", False),
    "ShareType": ("share_types", True),
    "Role": ("s3_role", False),
    "Project": ("domain", False),
}


@dataclass(frozen=True)
class SiteStanding:
    """What tenants' applied stacks use, held against the operator's plan as the site file has it."""

    #: What the file no longer has and somebody uses, as it was applied.
    kept: tuple[Admitted, ...] = ()
    #: What the file has another than was applied, so that it would be recreated, and somebody uses: with the fields.
    recreated: tuple[tuple[Admitted, tuple[str, ...]], ...] = ()
    #: What was applied and is not in the file; nobody uses it.
    free: tuple[Admitted, ...] = ()
    #: What is in the file and not applied, or otherwise than it was.
    added: tuple[Admitted, ...] = ()
    changed: tuple[Admitted, ...] = ()
    #: Reference -> stacks that use it.
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def require_unchanged(self) -> None:
        """Raises PlanningError for the first object that would be recreated while somebody uses it."""
        for item, fields in self.recreated:
            section, has_names = SECTIONS.get(item.kind, ("external", False))
            raise PlanningError(
                f"{ExistingObject(item.kind, item.name)} would be recreated, for another {', '.join(fields)}, and is "
                f"used by {', '.join(self.users[reference_to(item)])}",
                "state the new one beside it under another name and this one as it was, then move its users: "
                "`interlock rollout` prints the order"
                if has_names
                else "put it back as it was, or take it from all who use it first: `interlock rollout` lists them",
                (section, item.name, KEY) if has_names else (section, KEY),
            )

    def words(self) -> tuple[str, ...]:
        """A line for each object that is kept."""
        return tuple(
            f"kept: {ExistingObject(item.kind, item.name)} is not in the site file, and is used by "
            f"{', '.join(self.users[reference_to(item)])}; `interlock rollout` prints the order in which it can go"
            for item in self.kept
        )


def standing(records: Mapping[str, StackRecord], planned: Plan, existing: Mapping[str, str]) -> SiteStanding:
    """`planned`: the operator's plan as the site file has it. `existing`: what that names as there already."""
    record = records.get(planned.stack)
    if record is None or not record.offers:
        # Nothing was applied, or by a version that did not record what.
        return SiteStanding(added=offers_of(planned))
    wanted = {reference_to(item): item for item in offers_of(planned)}
    applied = {reference_to(item): item for item in record.offers}
    having = users(records.values(), record.offers)
    left = {name: item for name, item in applied.items() if name not in wanted}
    both = {name: item for name, item in applied.items() if name in wanted and wanted[name].spec != item.spec}
    fields = {name: recreated_for(item, wanted[name]) for name, item in both.items()}
    return SiteStanding(
        kept=tuple(
            item
            for name, item in left.items()
            if name in having and str(ExistingObject(item.kind, item.name)) not in existing
        ),
        recreated=tuple((item, fields[name]) for name, item in both.items() if fields[name] and name in having),
        free=tuple(item for name, item in left.items() if name not in having),
        added=tuple(item for name, item in wanted.items() if name not in applied),
        changed=tuple(wanted[name] for name in both),
        users=having,
    )
