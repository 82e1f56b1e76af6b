"""A released device is who its serial says: under another name, on another place, or nowhere on the site.

acme gave up a device of some serial; whoever has that device by now meets it, and its old place is nobody's.
"""

from __future__ import annotations

import json

import pytest

from infra.verifying.comparing import Comparing
from interlock.model.lock.record import Released
from interlock.model.site.inventory import Site
from interlock.vocabulary import nodes
from policies import judge
from policies.certificate import certificate
from policies.judging import seen_by
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, tenant
from tests.policies.workspace import Made, assumptions, full_site, made, pair, sharing, with_footprint

MACHINES = full_site()
METAL = bare_metal_pod64(sharing=sharing(), assumptions=assumptions())


def pair_of(kind: str) -> tuple[Site, Made, Made]:
    """acme and globex, with machines on hypervisors or with a whole host each."""
    if kind == "machines":
        return MACHINES, *pair(MACHINES)
    acme = made(METAL, tenant("acme", vpods=(bare_metal_vpod(servers=1),)))
    return METAL, acme, made(METAL, tenant("globex", vpods=(bare_metal_vpod(servers=1),)), [acme.lock])


def gave_up(site: Site, who: Made, kind: str, name: str, serial: str) -> Made:
    """acme's lock says so, and its footprint follows."""
    entry = Released(vpod="old", claim=kind, value=name, serial=serial)
    return with_footprint(site, who.plan, who.lock.model_copy(update={"released": (entry,)}))


def held_by(globex: Made, kind: str) -> str:
    train = globex.lock.allocation.vpods["train"]
    return (train.machines if kind == "machines" else train.hosts)[0]


def identity(kind: str, serial: str) -> str:
    return str(nodes.HeldMachine(serial) if kind == "machines" else nodes.HeldHost(serial))


def serial_of(site: Site, kind: str, name: str) -> str:
    return site.machine[name].serial if kind == "machines" else site.host[name].serial


def agree(site: Site, *stacks: Made) -> None:
    """The second derivation finds what certificates state."""
    locks = [item.lock for item in stacks]
    plans = {item.plan.stack: json.loads(json.dumps(item.plan.canonical())) for item in stacks}
    documents = [json.loads(lock.model_dump_json()) for lock in locks]
    comparing = Comparing(json.loads(site.model_dump_json()), plans, documents)
    for item in stacks:
        made_of = certificate(seen_by(site, item.plan, locks), judge(site, item.plan, locks))
        found = json.loads(made_of.model_dump_json())
        assert comparing.compare(found, str(item.plan.tenant)).complaints == ()


@pytest.mark.parametrize("kind", ["machines", "hosts"])
def test_the_place_of_what_was_replaced_is_its_new_holders(kind: str) -> None:
    """The name is globex's by now, and another device stands there."""
    site, acme, globex = pair_of(kind)
    old = gave_up(site, acme, kind, held_by(globex, kind), "S-OLD")
    assert identity(kind, "S-OLD") in old.lock.footprint.exclusive
    assert identity(kind, serial_of(site, kind, held_by(globex, kind))) not in old.lock.footprint.exclusive
    for item in (old, globex):
        assert judge(site, item.plan, [old.lock, globex.lock]).exit_code == 0
    agree(site, old, globex)


@pytest.mark.parametrize("kind", ["machines", "hosts"])
def test_put_back_under_another_name_it_is_the_same_device(kind: str) -> None:
    site, acme, globex = pair_of(kind)
    serial = serial_of(site, kind, held_by(globex, kind))
    old = gave_up(site, acme, kind, "any-name", serial)
    judgement = judge(site, globex.plan, [old.lock, globex.lock])
    assert judgement.exit_code == 1
    (found,) = [item for item in judgement.findings if item.rule == "TOP-06"]
    assert "what acme has released but is not seen to have let go" in found.message
    agree(site, old, globex)


@pytest.mark.parametrize("kind", ["machines", "hosts"])
def test_with_its_own_name_it_says_what_it_said_without_a_serial(kind: str) -> None:
    site, acme, globex = pair_of(kind)
    name = held_by(globex, kind)
    by_serial = gave_up(site, acme, kind, name, serial_of(site, kind, name))
    by_name = gave_up(site, acme, kind, name, "")
    assert by_serial.lock.footprint == by_name.lock.footprint
