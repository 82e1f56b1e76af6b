"""Is there what the plan refers to: the credential's roles, the site's objects, users, image files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.provider.actuators import ACTUATORS
from interlock.provider.actuators.image import file_fault
from interlock.provider.clouds import OWN_PASSWORD, Cloud, bound_login
from interlock.provider.errors import Failure
from interlock.provider.existing import comparisons
from interlock.provider.markers import marker
from interlock.provider.references import cloud_object, parts, site_object
from interlock.resources import (
    Admission,
    Image,
    Project,
    ServiceUser,
    Volume,
    is_cloud_reference,
    is_site_reference,
)
from interlock.vocabulary import Reference

from .faults import Fault, everything, of_failure, planned


def credential(cloud: Cloud, _: Admission) -> Iterator[Fault]:
    """The operator must be an administrator: provider networks, flavours and pinning ask for it; and log in as itself,
    since Nova and Cinder take the project of a new object from the token."""
    if "admin" not in cloud.login.roles:
        have = ", ".join(sorted(cloud.login.roles)) or "none"
        yield Fault(
            "credential",
            f"the user of cloud {cloud.name!r} has no role admin in its project (roles: {have})",
            "use an administrator's entry of clouds.yaml",
        )
    if cloud.login.bound:
        yield Fault("credential", bound_login(cloud.name, cloud.login.bound), OWN_PASSWORD)
    elif not cloud.login.project:
        yield Fault(
            "credential",
            f"cloud {cloud.name!r} logs in without a project, and the operator's own objects need one",
            "name the operator's project in that entry of clouds.yaml (`project_name`, `project_domain_name`)",
        )


def domains(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Domains in which projects and users are to be made."""
    wanted = {project.domain for _, project in planned(admission, Project)}
    wanted |= {user.domain for _, user in planned(admission, ServiceUser)}
    api = cloud.api("identity")
    for name in sorted(wanted):
        # By name or by id: Keystone's first domain is `Default` by name, and `default` by id.
        found = [*api.items("/domains", "domains", name=name)] or [
            answer["domain"] for answer in [api.find(f"/domains/{name}")] if answer
        ]
        if not found:
            yield Fault("domain", f"Keystone has no domain {name}", "correct `domain` of the site file")
        elif not found[0]["enabled"]:
            yield Fault("domain", f"the domain {name} is disabled: nobody can log in there", "enable it")


def existing(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Objects under `existing:` that are not as the site file states them, or that nobody can read."""
    for item in comparisons(cloud, admission):
        what = f"existing {item.object} ({item.id})"
        if item.has_drifted:
            hint = "correct the id or what the site file states, and lock again; or mend the object"
            yield Fault("existing", f"{what}: {item.wrong}", hint)
        if item.unread:
            hint = "what nobody can read is not believed: let the operator's credential see it, or leave the object out"
            yield Fault("existing", f"{what}: not known to be as stated: {item.unknown}", hint)


def referred(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Each object of the site and of the cloud that the plan names, once."""
    named = {ref for _, resource in everything(admission) for _, ref in resource.references()}
    # Of these `existing` tells more.
    named -= {Reference.site(item.kind, item.name) for item in admission.stated}
    for reference in sorted(named):
        try:
            if is_site_reference(reference):
                site_object(cloud, admission, *parts(reference))
            elif is_cloud_reference(reference):
                cloud_object(cloud, *parts(reference))
        except Failure as failure:
            yield of_failure("reference", failure)


def copies(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """`on_delete: snapshot` is a promise: somebody must be there who can take a copy when the volume goes."""
    promised = [name for name, volume in planned(admission, Volume) if volume.on_delete == "snapshot"]
    if not promised:
        return
    services = cloud.api("block-storage").get("/os-services", binary="cinder-backup")["services"]
    if not any(item["state"] == "up" and item["status"] == "enabled" for item in services):
        yield Fault(
            "backup",
            f"{', '.join(promised)}: `on_delete: snapshot` is kept as a backup, and no service cinder-backup is up",
            "start one, or say `on_delete: keep` or `erase`",
        )


def image_files(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Files of images that are not on the cloud yet; those that are need no file any more."""
    for name, image in planned(admission, Image):
        mark = marker(admission.owner, name)
        if not ACTUATORS["Image"].search(cloud, mark, cloud.login.project):
            fault = file_fault(Path(admission.site_folder) / image.file, image.sha512)
            if fault:
                yield Fault("image", f"image {name}: {fault}", "put the right file there, or correct `sha512`")
