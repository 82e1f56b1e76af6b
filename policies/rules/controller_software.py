"""LIF-08: the agents of a vPOD, its controller and the SDK of its servers are of releases that go together.

What was read of the controller says releases of agents and controller; what the site states of images says the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware.vipu_software import are_known_together, minor_of
from interlock.model.site.controller_readings import RENEW_CONTROLLERS, ControllerSeen
from interlock.model.site.offers import ImageSpec
from interlock.resources import Image
from interlock.vocabulary import Reference, Scheme
from policies.about import Fact, SaidFact, SiteFact, components, resources
from policies.facts.controllers import ControllerFacts, controllers_read
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts

_WHOLE = "upgrade the whole vPOD at once: agents first, then the controller, then the images of its servers"


def _together(model: Model, _: Names) -> RuleAnswer:
    read = controllers_read(model.plan, model.site)
    return by_facts(len(read), [cause for item in read for cause in _faults(model, item)])


def _faults(model: Model, item: ControllerFacts) -> Iterator[Cause]:
    if item.seen is None:
        yield unread(item, "of which release it and its agents are")
        return
    yield from _agents(item, item.seen)
    release = item.seen.release
    if release is None or minor_of(release) is None:
        yield _cause(item, "did not say its release", (), (SaidFact(f"the release of {item.name}"),))
        return
    for image in _images(model, item.vpod):
        yield from _of_image(item, release, image)


def _agents(item: ControllerFacts, seen: ControllerSeen) -> Iterator[Cause]:
    if not seen.agents:
        yield _cause(item, "lists no agent", (), (SaidFact(f"agents of {item.name}"),))
    unsaid = [name for name, release in seen.agents.items() if release is None]
    if unsaid:
        missing = (SaidFact(f"releases of agents of {item.name}"),)
        yield _cause(item, f"did not say the releases of its agents {', '.join(unsaid)}", (), missing)
    said = {name: release for name, release in seen.agents.items() if release is not None}
    found = sorted(set(said.values()))
    if len(found) > 1:
        witness = tuple(f"agent {name}: {release}" for name, release in said.items())
        yield _cause(item, f"has agents of releases {' and '.join(found)}", witness)
    elif found and seen.release is not None and minor_of(found[0]) != minor_of(seen.release):
        witness = (f"agents: {found[0]}", f"controller: {seen.release}")
        yield _cause(item, f"is of release {seen.release}, and its agents are of {found[0]}", witness)


def _images(model: Model, vpod: str | None) -> list[ImageSpec]:
    """Images of the site that Poplar servers of a vPOD boot, each once."""
    servers = (item for item in model.plan.servers if item.vpod == vpod and not item.is_controller)
    names = {Reference.name_in(server.image, Scheme.SITE, Image.KIND) for server in servers}
    return [image for image in model.site.site.images if image.name in names]


def _of_image(item: ControllerFacts, release: str, image: ImageSpec) -> Iterator[Cause]:
    client, sdk = image.properties.vipu, image.properties.sdk
    if client is not None and minor_of(client) != minor_of(release):
        witness = (f"image {image.name}: V-IPU {client}", f"controller: {release}")
        yield _cause(item, f"is of release {release}, and its servers' image {image.name} has V-IPU {client}", witness)
    if sdk is None:
        missing: Fact = SiteFact(f"images.{image.name}.properties.sdk")
        yield _cause(item, f"serves image {image.name}, which does not say its Poplar SDK", (), (missing,))
    elif not are_known_together(release, sdk):
        missing = SaidFact(f"that V-IPU {release} and Poplar SDK {sdk} belong together")
        why = f"is of release {release}, and no source has it with Poplar SDK {sdk} of image {image.name}"
        yield _cause(item, why, (f"image {image.name}: Poplar SDK {sdk}",), (missing,))


def _cause(item: ControllerFacts, why: str, witness: tuple[str, ...], missing: tuple[Fact, ...] = ()) -> Cause:
    return Cause(
        key=(item.name, why),
        message=f"controller {item.name} {why}",
        witness=(*item.witness, *witness),
        hint=f"find out, and run `{RENEW_CONTROLLERS}`" if missing else _WHOLE,
        missing=missing,
        # What nobody knows yet, before the first reading or of a pair that nobody published, stops no vPOD.
        severity=Severity.WARN if missing else None,
        specificity=34,
        about=(*resources(item.name), *components(item.vpod)),
    )


def unread(item: ControllerFacts, what: str) -> Cause:
    """A controller of which there is no reading that counts."""
    return Cause(
        key=(item.name, "reading"),
        message=f"{item.why}: {what} is not known",
        witness=item.witness,
        hint=f"run `{RENEW_CONTROLLERS}` once it runs",
        missing=(SaidFact(f"a reading of {item.name}"),),
        severity=Severity.WARN,
        specificity=33,
        about=(*resources(item.name), *components(item.vpod)),
    )


LIF_08 = Rule(
    id="LIF-08",
    title="agents, controller and SDK of a vPOD are of releases that go together",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="half an upgraded vPOD fails at the first partition, and nobody looks for the agent of one machine",
    source="Graphcore, V-IPU user guide: agents' releases are attributes of IPUs; derived: one release for all "
    "machines of a vPOD, and equal minor releases of controller, agents and clients: nothing published promises more",
    needs=("readings of controllers", "images", "servers"),
    ask=_together,
    of=Of.TENANT,
)
