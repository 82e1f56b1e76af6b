"""Operators on encrypted volumes and the types that they are of."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from interlock.planning import plan_site
from interlock.resources import Volume, VolumeEncryption
from tests.builders.pod64 import site_locked
from tests.mutants.operator import Operator, pick, virtual
from tests.mutants.workspaces import OPERATOR, Workspace

LUKS = VolumeEncryption(provider="luks", cipher="aes-xts-plain64", key_size=256, control_location="front-end")


def _encrypting(space: Workspace) -> Workspace:
    """The site encrypts its one volume type."""
    space = space.with_site(volume_encryption={"ceph": LUKS})
    return replace(space, of_site=plan_site(space.site, site_locked(space.site)))


def _asked(space: Workspace, rng: Random) -> Workspace | None:
    """A tenant with a volume that is to be encrypted."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return space.edit(pod.tenant, space.named(pod.tenant, Volume)[0], encrypted=True).asking(pod.tenant)


def on_a_type_in_the_clear(space: Workspace, rng: Random) -> Workspace | None:
    return _asked(space, rng)


def on_an_encrypted_type(space: Workspace, rng: Random) -> Workspace | None:
    return _asked(_encrypting(space), rng)


def made_in_the_clear(space: Workspace, _: Random) -> Workspace | None:
    return _encrypting(space).edit(OPERATOR, "ceph", encryption=None).asking(OPERATOR)


def made_encrypted(space: Workspace, _: Random) -> Workspace | None:
    return _encrypting(space).asking(OPERATOR)


ENCRYPTION = (
    Operator(
        "volume-in-the-clear", "a volume that is to be encrypted, of a type that is not",
        on_a_type_in_the_clear, on_an_encrypted_type, "SEC-10",
    ),
    Operator(
        "type-in-the-clear", "a volume type that the site encrypts, made without encryption",
        made_in_the_clear, made_encrypted, "SEC-10",
    ),
)  # fmt: skip
