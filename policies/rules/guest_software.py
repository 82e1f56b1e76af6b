"""SW-16, SW-17: what the site says of its images and flavours suits what a server is asked for.

Only what the site states is compared. What one side states and the other leaves open is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.offers import FlavorSpec, ImageSpec
from interlock.resources import Flavor, Image
from interlock.vocabulary import Reference, Scheme
from policies.about import Fact, SiteFact, components, resources
from policies.facts.kinds import ServerFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .racks import machines_of
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts

#: How Nova and people write pages of 1 GiB.
_ONE_GIB = ("1GB", "1048576")


def _image(model: Model, reference: str) -> ImageSpec | None:
    name = Reference.name_in(reference, Scheme.SITE, Image.KIND)
    return next((item for item in model.site.site.images if item.name == name), None)


def _flavor(model: Model, server: ServerFact) -> FlavorSpec | None:
    name = Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND)
    return next((item for item in model.site.site.flavors if item.name == name), None)


def _poplar(model: Model) -> list[tuple[ServerFact, ImageSpec]]:
    """Poplar servers with the site's image that each boots."""
    vpods = {vpod.name for vpod in model.plan.vpods}
    servers = [item for item in model.plan.servers if item.vpod in vpods and not item.is_controller]
    found = [(server, _image(model, server.image)) for server in servers]
    return [(server, image) for server, image in found if image is not None]


# SW-16


def _software(model: Model, _: Names) -> RuleAnswer:
    pairs = _poplar(model)
    causes = [cause for server, image in pairs for cause in (*_vipu(model, server, image), *_sdk(model, server, image))]
    stated = [image for _, image in pairs if image.properties.vipu or image.properties.sdk]
    return by_facts(len(stated), causes)


def _vipu(model: Model, server: ServerFact, image: ImageSpec) -> Iterator[Cause]:
    """Client and server speak one protocol for each minor version; nobody says that another is understood."""
    site = model.site.site
    name = site.controller.image if site.controller else None
    controller = next((item.properties.vipu for item in site.images if item.name == name), None)
    client = image.properties.vipu
    if name is None or (client is None and controller is None):
        return
    if client is None or controller is None:
        lacks = image.name if client is None else name
        yield _cause(
            server, f"boots image {image.name}, and image {lacks} does not say its V-IPU version",
            (
                f"image {image.name}: V-IPU {client or 'not stated'}",
                f"image {name}: V-IPU {controller or 'not stated'}",
            ),
            missing=(SiteFact(f"images.{lacks}.properties.vipu"),),
        )  # fmt: skip
    elif _minor(client) != _minor(controller):
        yield _cause(
            server, f"has V-IPU {client} by its image {image.name}, and the controller's is {controller}",
            (f"image {image.name}: V-IPU {client}", f"image {name}: V-IPU {controller}"),
        )  # fmt: skip


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


def _sdk(model: Model, server: ServerFact, image: ImageSpec) -> Iterator[Cause]:
    properties = image.properties
    if properties.sdk is None:
        return
    vpod = next((item for item in model.plan.vpods if item.name == server.vpod), None)
    machines = machines_of(model, vpod.machines) if vpod is not None else []
    for generation in sorted({machine.generation for machine in machines} - set(properties.generations)):
        named = next(machine.name for machine in machines if machine.generation == generation)
        witness = (f"image {image.name}: Poplar SDK {properties.sdk}", f"machine {named}: {generation}")
        if properties.generations:
            says = f"for {', '.join(properties.generations)}"
            yield _cause(server, f"has Poplar SDK {properties.sdk} {says}, and its vPOD has {generation}", witness)
        else:
            why = f"boots image {image.name}, which does not say whether its Poplar SDK supports {generation}"
            missing = (SiteFact(f"images.{image.name}.properties.generations"),)
            yield _cause(server, why, witness, missing=missing)


# SW-17


def _fits(model: Model, _: Names) -> RuleAnswer:
    pairs = [(server, image, _flavor(model, server)) for server, image in _poplar(model)]
    known = [(server, image, flavor) for server, image, flavor in pairs if flavor is not None]
    causes = [
        cause
        for server, image, flavor in known
        for cause in (*_pages(server, flavor), *_disk(server, image, flavor), *_boot(server, image, flavor))
    ]
    return RuleAnswer(len(known), tuple(causes))


def _pages(server: ServerFact, flavor: FlavorSpec) -> Iterator[Cause]:
    """Without them the server is scheduled beside others on CPUs and memory that a Poplar host sets aside."""
    specs = flavor.all_extra_specs
    for key, good, what in (
        ("hw:cpu_policy", ("dedicated",), "no dedicated CPUs"),
        ("hw:mem_page_size", _ONE_GIB, "no pages of 1 GiB"),
    ):
        if specs.get(key) not in good:
            says = f"{key} {specs[key]}" if key in specs else f"{key} is not there"
            yield _cause(server, f"gets {what} by its flavour {flavor.name}", (f"flavour {flavor.name}", says))


def _disk(server: ServerFact, image: ImageSpec, flavor: FlavorSpec) -> Iterator[Cause]:
    needs = image.properties.disk_gib
    # A root disk of 0 is as large as the image.
    if needs is not None and 0 < flavor.disk_gib < needs:
        yield _cause(
            server, f"gets a root disk of {flavor.disk_gib} GiB, and its image {image.name} needs {needs} GiB",
            (f"flavour {flavor.name}: {flavor.disk_gib} GiB", f"image {image.name}: {needs} GiB"),
        )  # fmt: skip


def _boot(server: ServerFact, image: ImageSpec, flavor: FlavorSpec) -> Iterator[Cause]:
    if image.properties.boot == "bios" and flavor.extra_specs.get("os:secure_boot") == "required":
        yield _cause(
            server, f"is to boot securely by its flavour {flavor.name}, and its image {image.name} boots by BIOS",
            (f"flavour {flavor.name}: os:secure_boot required", f"image {image.name}: bios"),
        )  # fmt: skip


def _cause(server: ServerFact, why: str, witness: tuple[str, ...], missing: tuple[Fact, ...] = ()) -> Cause:
    return Cause(
        key=(server.name, why),
        message=f"server {server.name} {why}",
        witness=(f"server {server.name}", *witness),
        hint="take an image and a flavour that suit it, or correct what the site states of them",
        missing=missing,
        specificity=33,
        about=(*resources(server.name), *(components(server.vpod) if server.vpod else ())),
    )


SW_16 = Rule(
    id="SW-16",
    title="the V-IPU software and the Poplar SDK of a server's image suit its controller and its machines",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a client that its controller does not understand, or an SDK without the machines' model, is found at run time",
    source="Graphcore, metadata of its Poplar images: vipu_version, sdk_version; that minor versions must be equal is"
    " derived: nothing published promises more",
    needs=("images", "servers", "machines of vPODs"),
    ask=_software,
    of=Of.TENANT,
)
SW_17 = Rule(
    id="SW-17",
    title="a Poplar server's flavour has dedicated CPUs, pages of 1 GiB and the disk that its image needs",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a Poplar host sets CPUs and pages aside; a server that does not ask for them competes for what is left",
    source="Graphcore, OpenStack reference design: 464 of 512 GiB in pages of 1 GiB, dedicated CPUs; Nova admin guide,"
    " CPU topologies and huge pages",
    needs=("flavours", "images", "servers"),
    ask=_fits,
    of=Of.TENANT,
)
