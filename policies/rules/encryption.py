"""SEC-10: what is to be encrypted is of a volume type that the site encrypts, and that type is made so."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import VolumeType
from interlock.vocabulary import Reference, Scheme
from policies.about import resources
from policies.facts.data import VolumeFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer


def _on_encrypted_types(model: Model, _: Names) -> RuleAnswer:
    plan, stated = model.plan, model.site.site.volume_encryption
    wanted = [item for item in plan.volumes if item.encrypted]
    causes = [cause for item in wanted for cause in _open(item, tuple(stated))]
    made = [item for item in plan.volume_types if item.name in stated]
    causes += [_made_otherwise(item.name) for item in made if item.encryption != stated[item.name]]
    return RuleAnswer(len(wanted) + len(made), tuple(causes), ())


def _open(volume: VolumeFact, encrypted: tuple[str, ...]) -> Iterator[Cause]:
    kind = Reference.name_in(volume.volume_type, Scheme.SITE, VolumeType.KIND)
    if kind in encrypted:
        return
    why = f"type {kind}, which the site does not encrypt" if kind else f"{volume.volume_type}, no type of this site"
    hint = f"let it be of {' or '.join(encrypted)}" if encrypted else "let the site have an encrypted type"
    yield Cause(
        key=volume.name,
        message=f"volume {volume.name} is to be encrypted and is of {why}",
        witness=(f"volume {volume.name}", "encrypted", kind or volume.volume_type),
        hint=f"{hint} (`volume_encryption` of the site file), or ask for no encryption",
        specificity=38,
        about=resources(volume.name),
    )


def _made_otherwise(name: str) -> Cause:
    return Cause(
        key=name,
        message=f"volume type {name} is not made with the encryption that the site states of it",
        witness=(f"volume type {name}", f"volume_encryption.{name}"),
        hint="plan the site again",
        specificity=38,
        about=resources(name),
    )


SEC_10 = Rule(
    id="SEC-10",
    title="volumes that are to be encrypted are of an encrypted type",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="Cinder encrypts by the type alone: of any other one the same request makes a volume in the clear",
    source="OpenStack Security Guide, data encryption: volume encryption; Cinder admin guide, volume encryption",
    needs=("volumes", "volume types", "volume_encryption"),
    ask=_on_encrypted_types,
)
