"""SEC-09: a flavour that hands out devices is not for everybody, and on its access list stand those who use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.model.site.offers import FlavorSpec
from interlock.resources import Flavor
from interlock.vocabulary import ExistingObject, Reference, Scheme
from policies.about import SiteFact, resources
from policies.facts.access import FlavorAccessFact, device_of
from policies.facts.kinds import PlanFacts, ServerFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer


def _for_those_who_may(model: Model, _: Names) -> RuleAnswer:
    plan, site = model.plan, model.site.site
    specs = {Reference.site(Flavor.KIND, item.name): item for item in site.flavors}
    devices = [item for item in plan.flavors if device_of(item.extra_specs)]
    servers = [item for item in plan.servers if not item.is_controller and _is_closed(specs.get(item.flavor))]
    causes = [_public_cause(item.name, device_of(item.extra_specs)) for item in devices if item.public]
    causes += [cause for item in plan.flavor_accesses for cause in _given_away(plan, item, specs)]
    causes += [cause for item in servers for cause in _without_access(plan, item, specs)]
    unknown = tuple(_existing(plan, servers, site.flavors, site.existing))
    return RuleAnswer(len(devices) + len(plan.flavor_accesses) + len(servers) + len(unknown), tuple(causes), unknown)


def _is_closed(spec: FlavorSpec | None) -> bool:
    """True for flavours of which it matters who uses them."""
    return spec is not None and (not spec.public or bool(device_of(spec.all_extra_specs.items())))


def _given_away(plan: PlanFacts, access: FlavorAccessFact, specs: dict[str, FlavorSpec]) -> Iterator[Cause]:
    offer, name = specs.get(access.flavor), _name(access.flavor)
    if access.project_owner != plan.owner:
        why = f"{access.name} puts a project of {access.project_owner} on it"
        yield _list_cause(name, why, "each tenant's own stack puts its own project on the list", access.name)
    if offer is not None and offer.public:
        why = f"{access.name} is for a flavour that everybody may use"
        yield _list_cause(name, why, "say `public: false` of it", access.name)


def _without_access(plan: PlanFacts, server: ServerFact, specs: dict[str, FlavorSpec]) -> Iterator[Cause]:
    """Nova would take the operator's word for it; the list is to be whole all the same."""
    listed = {item.flavor for item in plan.flavor_accesses if item.project_owner == plan.owner}
    if not specs[server.flavor].public and server.flavor not in listed:
        why = f"{server.name} uses it, and {plan.owner}'s project is not on it"
        hint = "plan the request again: a plan holds the access"
        yield _list_cause(_name(server.flavor), why, hint, server.name)


def _name(reference: str) -> str:
    """A flavour of the operator's by its name alone."""
    return Reference.name_in(reference, Scheme.SITE, Flavor.KIND) or reference


def _existing(
    plan: PlanFacts, servers: list[ServerFact], flavors: Iterable[FlavorSpec], existing: Iterable[str]
) -> Iterator[Cause]:
    """Who may use a flavour that is on the cloud already is in no file."""
    used = {item.flavor for item in servers}
    for offer in flavors:
        device = device_of(offer.all_extra_specs.items())
        named = str(ExistingObject(Flavor.KIND, offer.name))
        theirs = not plan.is_tenant or Reference.site(Flavor.KIND, offer.name) in used
        if device and named in existing and theirs:
            yield Cause(
                key=offer.name,
                message=f"flavour {offer.name} hands out {device} and is on the cloud already: nobody states who may "
                "use it",
                witness=(f"flavour {offer.name}", device, f"existing {named}"),
                hint="let the site's stack make a flavour of its own for it, with `public: false`",
                missing=(SiteFact(f"existing.{named}"),),
                specificity=37,
                about=resources(offer.name),
            )


def _public_cause(name: str, device: str) -> Cause:
    return Cause(
        key=name,
        message=f"flavour {name} hands out {device}, and every project may use it",
        witness=("every project", f"flavour {name}", device),
        hint="say `public: false` of it: each tenant whose servers are of it gets an access",
        specificity=37,
        about=resources(name),
    )


def _list_cause(name: str, why: str, hint: str, named: str) -> Cause:
    """`named`: the resource that the reason names."""
    return Cause(
        key=(name, why),
        message=f"access list of flavour {name}: {why}",
        witness=(f"flavour {name}", why),
        hint=hint,
        specificity=37,
        about=resources(name, named),
    )


SEC_09 = Rule(
    id="SEC-09",
    title="flavours with accelerators are private, and each tenant that uses one is on its access list",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a flavour that everybody may use hands its devices to whoever starts a server first",
    source="OSSA-2013-019: private flavours that anybody could use; Nova API, flavor access",
    needs=("flavours", "access lists", "servers"),
    ask=_for_those_who_may,
)
