"""What `interlock break-glass plan` prints, pasted into a shell against real services: found, then taken back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from infra.break_glass.acts import ActsOf
from infra.break_glass.known import KnownObject, KnownStack
from infra.break_glass.manual_act import ManualAct
from infra.break_glass.switched_off import switched_off
from interlock.provider.clouds import Cloud
from interlock.resources import SecurityGroup, SecurityGroupRule
from tests.provider.test_audit import look
from tests.support.cloud.by_hand import paste
from tests.support.world.small import World

#: Seconds that Nova has for stopping, plugging and unplugging.
PATIENCE = 60.0


def acts(world: World, *, with_ids: bool) -> list[ManualAct]:
    """Those for the tenant of this world."""
    program = world.tenant
    objects = tuple(
        KnownObject(item.KIND, name, item, program.state[name].id if name in program.state else "")
        for name, item in program.resources.items()
    )
    known = KnownStack(program.stack, objects if with_ids else tuple(replace(item, id="") for item in objects))
    return list(ActsOf(known, {}).all())


def told(cloud: Cloud, world: World) -> set[str]:
    """What differs at the tenant's stack, and what is switched off there."""
    seen = look(cloud, world)
    standings = seen.standings[world.tenant.stack]
    off = switched_off(standings, seen.found, world.tenant.resources)
    return {item.name for item in standings if item.has_drifted} | {item.name for item in off}


def until(told_now: Callable[[], set[str]], wanted: Callable[[set[str]], bool]) -> set[str]:
    end = time.monotonic() + PATIENCE
    while not wanted(found := told_now()) and time.monotonic() < end:
        time.sleep(1)
    return found


@contextmanager
def done_by_hand(cloud: Cloud, act: ManualAct) -> Iterator[None]:
    """An act, and afterwards its way back."""
    paste(act.commands, OS_CLOUD=cloud.name)
    try:
        yield
    finally:
        paste(act.back, OS_CLOUD=cloud.name)


@pytest.mark.parametrize(
    ("name", "with_ids"),
    [("stop-server", False), ("detach-port", True), ("detach-volume", True), ("stop-router", False)],
)
def test_an_act_does_what_it_says_and_its_way_back_leaves_nothing(
    world: World, operator: Cloud, name: str, *, with_ids: bool
) -> None:
    act = next(item for item in acts(world, with_ids=with_ids) if item.act == name)

    def now() -> set[str]:
        return told(operator, world)

    assert now() == set()
    with done_by_hand(operator, act):
        found = until(now, bool)
        assert found & {*act.objects}, f"{act.commands}: {found}"
    assert until(now, lambda seen: not seen) == set()


def test_an_address_is_taken_off_and_stays_the_tenants(world: World, operator: Cloud) -> None:
    """Its way back is the next apply: the same address leads to its port again."""
    act = next(item for item in acts(world, with_ids=True) if item.act == "take-off-floating-ip")
    name, tenant, network = act.objects[0], world.tenant, operator.api("network")
    made = tenant.state[name]

    def port() -> str | None:
        found: str | None = network.get(f"/floatingips/{made.id}")["floatingip"]["port_id"]
        return found

    planned = port()
    paste(act.commands, OS_CLOUD=operator.name)
    assert (planned is None, port()) == (False, None)
    assert name in told(operator, world)
    assert tenant.read(name) is not None
    tenant.update(name)
    assert port() == planned
    assert told(operator, world) == set()


@pytest.mark.parametrize("with_id", [True, False])
def test_a_group_is_closed_to_what_comes_in_and_no_other(operator: Cloud, *, with_id: bool) -> None:
    """Its rules go one by one, by ids that the service lists for this very group."""
    network, name = operator.api("network"), "closed-by-hand"
    made = str(network.post("/security-groups", {"security_group": {"name": name}})["security_group"]["id"])

    def rules() -> dict[str, tuple[str, str]]:
        listed = network.items("/security-group-rules", "security_group_rules")
        return {str(rule["id"]): (str(rule["security_group_id"]), str(rule["direction"])) for rule in listed}

    try:
        for direction, port in (("ingress", 22), ("ingress", 80), ("egress", 443)):
            rule = {"direction": direction, "protocol": "tcp", "port_range_min": port, "port_range_max": port}
            network.post("/security-group-rules", {"security_group_rule": rule | {"security_group_id": made}})
        stated = (SecurityGroupRule(direction="ingress", protocol="tcp", port_min=22, port_max=22),)
        spec = SecurityGroup(name=name, project="p", rules=stated)
        group = KnownObject("SecurityGroup", name, spec, made if with_id else "")
        (act,) = ActsOf(KnownStack("lyon-alice", (group,)), {}).all()
        before = rules()
        paste(act.commands, OS_CLOUD=operator.name)
        assert rules() == {ident: of for ident, of in before.items() if of != (made, "ingress")}
        assert len(rules()) == len(before) - 2
    finally:
        network.delete(f"/security-groups/{made}")
