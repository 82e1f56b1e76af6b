"""SEC-15: what a server boots is the operator's or its own tenant's, from a file that was checked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from interlock.resources import Image
from interlock.vocabulary import Reference, Scheme
from policies.about import resources
from policies.facts.access import ImageFileFact
from policies.facts.kinds import PlanFacts, ServerFact
from policies.facts.rights import ImageFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer

_SHA512 = re.compile(r"[0-9a-f]{128}")


def _whose_images(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    causes = [cause for server in plan.servers for cause in _boots(plan, server)]
    causes += [cause for image in plan.images for cause in _offered(plan, image)]
    causes += [cause for file in plan.access.image_files for cause in _unchecked(file)]
    return RuleAnswer(len(plan.servers) + len(plan.images), tuple(causes))


def _boots(plan: PlanFacts, server: ServerFact) -> Iterator[Cause]:
    own = {image.name for image in plan.images}
    # The operator's images tenants cannot write.
    if Reference.name_in(server.image, Scheme.SITE, Image.KIND) is None and server.image not in own:
        why = f"boots {server.image}, which is neither the operator's nor its owner's"
        step = "whoever can write an image runs what boots from it"
        yield _cause("server", server.name, why, step, server.image)


def _offered(plan: PlanFacts, image: ImageFact) -> Iterator[Cause]:
    if plan.is_tenant and image.visibility != "private":
        why = f"of {image.owner} is {image.visibility}: others boot what {image.owner} can write"
        yield _cause("image", image.name, why, "everybody boots it")


def _unchecked(file: ImageFileFact) -> Iterator[Cause]:
    if not _SHA512.fullmatch(file.sha512):
        yield _cause("image", file.name, "has no SHA-512 checksum", f"sha512 {file.sha512 or 'empty'}")
    if "://" in file.file or file.file.startswith("/") or ".." in file.file.split("/"):
        yield _cause("image", file.name, f"comes from {file.file}, not from the site's own folder", file.file)


def _cause(kind: str, name: str, why: str, step: str, *named: str) -> Cause:
    """`named`: the resources that the reason names."""
    what = f"{kind} {name}"
    return Cause(
        key=(what, why),
        message=f"{what} {why}",
        witness=(what, why, step),
        hint="boot the operator's images, or private ones of the same tenant, from files with a checksum",
        specificity=79,
        about=resources(name, *named),
    )


SEC_15 = Rule(
    id="SEC-15",
    title="servers boot images of the operator or of their own tenant, checked and private",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="who writes an image runs what boots from it",
    source="docs/design/semantics.md §11, example 41; OSSA-2024-001, OSSA-2024-004: images that name files of the host",
    needs=("images", "servers"),
    ask=_whose_images,
)
