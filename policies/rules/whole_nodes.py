"""LIF-03: whoever has GPUs below a hypervisor has their node whole, and the next one gets no device before it is clean.

Nova gives a device that a deleted server had to the next server at once. With `one_time_use` it stays reserved in
Placement, and `interlock settle` gives it back when every step of cleaning and acceptance was seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.offers import FlavorSpec
from interlock.resources import Flavor
from interlock.vocabulary import Reference, Scheme
from policies.about import Fact, SaidFact, SiteFact, devices, resources
from policies.facts.kinds import ServerFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts


def _given_back_clean(model: Model, _: Names) -> RuleAnswer:
    site = model.site
    servers = [item for item in model.plan.servers if site.is_whole(item.host) and not item.is_bare_metal]
    return by_facts(len(servers), [cause for server in servers for cause in _faults(model, server)])


def _faults(model: Model, server: ServerFact) -> Iterator[Cause]:
    """What is wrong with the flavour of one server on a GPU node."""
    name = Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND)
    flavor = model.site.site.flavor.get(name or "")
    node = model.site.site.gpu_node.get(server.host)
    if flavor is None:
        fact = SaidFact(f"the flavour of {server.name}")
        yield _cause(server, "and which devices it has nobody states", (fact,), "use a flavour of the site file")
    elif flavor.whole_node is None or node is None or flavor.whole_node.type != node.node_type:
        yield _cause(server, _part(flavor, server), (), "use the flavour whose `whole_node` is the type of the node")
    elif flavor.whole_node.one_time_use is not True:
        yield _reused(server, flavor, flavor.whole_node.one_time_use)


def _part(flavor: FlavorSpec, server: ServerFact) -> str:
    if flavor.whole_node is None:
        return f"and flavour {flavor.name} does not hand out the node whole"
    return f"and flavour {flavor.name} hands out a {flavor.whole_node.type}, which {server.host} is not"


def _reused(server: ServerFact, flavor: FlavorSpec, stated: bool | None) -> Cause:
    fact = f"flavors.{flavor.name}.whole_node.one_time_use"
    missing = (SiteFact(fact),) if stated is None else ()
    why = "and its devices go to the next server at once when it is deleted" if stated is False else ""
    return _cause(
        server,
        why or "and whether its devices stay reserved when it is deleted nobody states",
        missing,
        "say `one_time_use` in every `device_spec` behind the aliases, restart nova-compute, and state it in the site "
        "file; or give the node out as bare metal",
    )


def _cause(server: ServerFact, why: str, missing: tuple[Fact, ...], hint: str) -> Cause:
    return Cause(
        key=(server.name, why),
        message=f"{server.name} is on GPU node {server.host}, {why}",
        witness=(server.name, f"GPU node {server.host}", server.flavor),
        hint=hint,
        missing=missing,
        specificity=41,
        about=(*resources(server.name), *devices(server.host)),
    )


LIF_03 = Rule(
    id="LIF-03",
    title="a virtual server has a GPU node whole, and its devices are given back only when they are clean",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="memory of GPUs, state of NVSwitches and firmware that a guest wrote are met by whoever gets the device next",
    source="Nova admin guide, PCI passthrough: one-time-use devices; NVIDIA, Fabric Manager: full passthrough",
    needs=("servers", "flavours", "GPU nodes"),
    ask=_given_back_clean,
    of=Of.TENANT,
)
