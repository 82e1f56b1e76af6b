"""What stands before a deletion or a look at a recorded object. `destroy` and `refresh` run no program and no
gate, so these rest on the state and on the cloud alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.vocabulary import CloudFingerprint, StackName

from .actuators import Actuator, Observed, Phase, Target
from .clouds import Cloud
from .errors import Failure, Trouble, refused
from .markers import CARRIERS, owner_of, split
from .state import Declared, differing, immutable


def check_cloud(cloud: Cloud, item: Declared, values: Mapping[str, Any]) -> None:
    """Raises `Failure` if this is not the cloud, or not the region, in which the object was made.

    Otherwise `refresh` against another cloud of the same name, or another region of the same Keystone, would find
    nothing and drop the whole state.
    """
    recorded, present = CloudFingerprint.recorded(values.get("cloud_id")), cloud.login.fingerprint
    if recorded is None or recorded.may_be(present):
        return
    if recorded.identity_service == present.identity_service:
        raise refused(
            f"{item.kind} {item.name} is in region {recorded.region} of cloud {cloud.name!r}; the region in use is "
            f"{present.region or 'not named by the catalogue'}",
            "put `region:` of site.yaml and `region_name` in clouds.yaml back to the region in which this stack was "
            "applied; nothing moves between regions",
        )
    raise refused(
        f"{item.kind} {item.name} is on the cloud {recorded.words}; {cloud.name!r} in clouds.yaml is now "
        f"{present.words}",
        "point that entry of clouds.yaml (or OS_CLIENT_CONFIG_FILE) to the cloud on which this stack was applied",
    )


def check_absent(cloud: Cloud, actuator: Actuator[Any], item: Declared, values: Mapping[str, Any]) -> None:
    """Raises `Failure` if an object that was not found here may lie in another region.

    Its state was written before regions were recorded, and the catalogue has several. What Keystone keeps is the same
    in all of them.
    """
    recorded, login = CloudFingerprint.recorded(values.get("cloud_id")), cloud.login
    others = [name for name in login.catalogue.choices if name != login.fingerprint.region]
    if recorded is None or recorded.region or not others or actuator.SERVICE == "identity":
        return
    raise refused(
        f"{item.kind} {item.name} is not in region {login.fingerprint.region}, and its state does not say in which "
        f"region it was made: it may be in {', '.join(others)}",
        "set `region:` in site.yaml, or `region_name` in clouds.yaml, to the region in which this stack was applied; "
        f"if that is {login.fingerprint.region}, take {item.name} out of the state (`pulumi state delete`)",
    )


def known_here(cloud: Cloud, actuator: Actuator[Any], item: Declared, ident: str, values: Mapping[str, Any]) -> None:
    """Raises `Failure` if a recorded object is not of this cloud and region; asked before anything is changed."""
    check_cloud(cloud, item, values)
    recorded = CloudFingerprint.recorded(values.get("cloud_id"))
    is_open = recorded is not None and not recorded.region and len(cloud.login.catalogue.choices) > 1
    if is_open and actuator.read(cloud, ident) is None:
        check_absent(cloud, actuator, item, values)


def carries(target: Target[Any], seen: Observed) -> bool:
    """True if the object carries the target's marker, or is of a kind that carries none."""
    return not CARRIERS[target.spec.KIND].field or seen.marker == target.marker


def check_owner(target: Target[Any], seen: Observed) -> None:
    """Raises `Failure` if the object carries another owner's marker, or none and cannot have been made by us."""
    if not CARRIERS[target.spec.KIND].field or owner_of(seen.marker) == target.owner:
        return
    if owner_of(seen.marker):
        raise refused(
            f"{target.spec.KIND} {target.name}: {seen.id} belongs to another stack ({seen.marker})",
            "the state does not fit the cloud: run `pulumi refresh`",
        )
    # Ours with its marker taken off by hand agrees in what nobody can change; a stranger's behind an edited state not.
    fixed = sorted(differing(target, seen) & immutable(target.spec.KIND))
    if fixed:
        raise refused(
            f"{target.spec.KIND} {target.name}: {seen.id} carries no marker and differs in {', '.join(fixed)}, which "
            "cannot be changed: it may be another's",
            f"if it is not ours, take {target.name} out of the state (`pulumi state delete`) and run `pulumi up`",
        )


def check_data(cloud: Cloud, actuator: Actuator[Any], target: Target[Any], seen: Observed, recreated: bool) -> None:
    """Raises `Failure` if the object holds data that is to be kept. `recreated`: it goes only to be created again."""
    spec = target.spec
    # Cinder's `error` is a volume that was never made; it holds nothing.
    if not spec.HOLDS_DATA or seen.phase is Phase.BROKEN:
        return
    what = f"{spec.KIND} {spec.canonical()['name']} ({seen.id}) holds data"
    if recreated and actuator.holds_data(cloud, target, seen):
        raise refused(
            f"{what} and would be deleted only to be recreated: its data would be lost",
            "leave out `--replace`; to begin with an empty one, take it out of the request first",
        )
    if getattr(spec, "on_delete", "keep") == "keep":
        raise refused(
            f"{what} and says `on_delete: keep`",
            "set `on_delete: erase` for it, run `pulumi up`, then delete it again",
        )


def keeps_copy(target: Target[Any], seen: Observed) -> bool:
    """True if a copy of the object's data is to be made before it goes."""
    return getattr(target.spec, "on_delete", "") == "snapshot" and seen.phase is not Phase.BROKEN


def check_tenants(cloud: Cloud, target: Target[Any], stack: str) -> None:
    """Raises `Failure` if an object of the site is to go while tenants are on the cloud who may use it."""
    named = StackName.named(stack)
    if named is None or not named.is_site:
        return
    others = [
        (owner, f"{project['name']} ({project['id']})")
        for project in cloud.api("identity").items("/projects", "projects")
        if (owner := owner_of(split(project.get("description"))[1])) not in ("", target.owner)
    ]
    without = cloud.without_use(target.spec.KIND, target.name, stack) if others else frozenset()
    users = sorted(words for owner, words in others if owner not in without)
    if users:
        raise refused(
            f"{target.spec.KIND} {target.name} belongs to the site, and tenants still use the site: {', '.join(users)}",
            "destroy the tenants' stacks first",
        )


def check_fixed(target: Target[Any], seen: Observed) -> None:
    """Raises `Failure` if a field that nothing can put back is not as planned."""
    fixed = sorted(differing(target, seen) & immutable(target.spec.KIND))
    if fixed:
        raise Failure(
            Trouble.CONFLICT,
            f"{target.spec.KIND} {target.name} ({seen.id}) differs in {', '.join(fixed)}, which cannot be changed back",
            "someone changed it by hand; undo that, or delete the object and run `pulumi refresh` and `pulumi up`",
        )
