"""Operators on what things cost, draw and weigh: budgets of requests, power of rooms, floors under racks."""

from __future__ import annotations

from random import Random

from interlock.model.site.inventory import PriceBook
from interlock.model.site.physical import Cable, Device, Endpoint, Feed, Placement, Rack, Room
from interlock.model.tenant.request import Budget
from interlock.planning.costs import cost_of
from interlock.planning.plan import Plan
from policies import Verdict
from tests.builders.pod64 import priced
from tests.mutants.operator import Operator
from tests.mutants.workspaces import OPERATOR, Workspace

PRICES = {
    "ipu_machine": "2.50", "poplar_vcpu": "0.01", "poplar_ram_gib": "0.002", "bare_metal_host": "3",
    "controller": "0.1", "volume_gib": "0.08", "share_gib": "0.05", "bucket": "1",
}  # fmt: skip
#: A price that whatever a tenant has needs: nobody is without a machine.
UNSTATED = "ipu_machine"
#: Watts and kilograms of a machine that stands in a rack.
WATTS, WEIGHT = 1000, 16.4


def _priced(space: Workspace, rng: Random, prices: PriceBook, above: int) -> Workspace:
    """A tenant whose budget is what its plan costs, and so many units of the currency above it."""
    tenant = rng.choice(space.tenants)
    space = space.with_site(prices=priced(**PRICES))
    plan = space.plan(tenant)
    total = cost_of(space.site, plan).total
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    limited = Plan(**(fields | {"budget": Budget(per_month=str(total + above), currency="EUR")}))
    return space.with_plan(tenant, limited).with_site(prices=prices).asking(tenant)


def above_its_budget(space: Workspace, rng: Random) -> Workspace | None:
    return _priced(space, rng, priced(**PRICES), -1)


def at_its_budget(space: Workspace, rng: Random) -> Workspace | None:
    return _priced(space, rng, priced(**PRICES), 0)


def price_that_nobody_states(space: Workspace, rng: Random) -> Workspace | None:
    known = {name: price for name, price in PRICES.items() if name != UNSTATED}
    return _priced(space, rng, priced(**known), 0)


def _standing(space: Workspace, *, watts: int, floor: int) -> Workspace:
    """Every machine in a rack of one room, on two feeds; `watts` and `floor`: what the room gives and carries."""
    numbers = sorted({machine.logical_rack or "" for machine in space.site.machines})
    racks = tuple(
        Rack(
            name=f"rack-{number}", room="hall", units=42, max_weight_kg=900, cooling="in-row-air",
            feeds=(Feed(name="A", capacity_w=22000), Feed(name="B", capacity_w=22000)),
            pdus={f"pdu-{number}-a": "A", f"pdu-{number}-b": "B"},
        )
        for number in numbers
    )  # fmt: skip
    placed = tuple(
        Placement(
            device=machine.name, rack=f"rack-{machine.logical_rack}", unit=machine.position, nameplate_w=WATTS,
            weight_kg=WEIGHT,
        )
        for machine in space.site.machines
    )  # fmt: skip
    cords = tuple(
        Cable(
            a=Endpoint(device=machine.name, interface=f"psu-{side}"),
            b=Endpoint(device=f"pdu-{machine.logical_rack}-{side}", interface=f"outlet-{machine.position}"),
            kind="power",
        )
        for machine in space.site.machines
        for side in "ab"
    )
    pdus = tuple(Device(name=f"pdu-{number}-{side}", role="pdu") for number in numbers for side in "ab")
    return space.with_site(
        rooms=(Room(name="hall", power_w=watts, floor_kg_m2=floor),), physical_racks=racks, placements=placed,
        cables=(*space.site.cables, *cords), devices=(*space.site.devices, *pdus),
    ).asking(OPERATOR)  # fmt: skip


def _drawn(space: Workspace) -> int:
    return WATTS * len(space.site.machines)


def room_that_gives_too_little(space: Workspace, _: Random) -> Workspace | None:
    return _standing(space, watts=_drawn(space) - 1, floor=1000)


def room_that_gives_enough(space: Workspace, _: Random) -> Workspace | None:
    return _standing(space, watts=_drawn(space), floor=1000)


#: Sixteen machines and the rack itself weigh 396.4 kg on 0.72 m²: 550.6 kg/m².
BORNE = 551


def floor_that_gives_way(space: Workspace, _: Random) -> Workspace | None:
    return _standing(space, watts=_drawn(space), floor=BORNE - 1)


def floor_that_carries(space: Workspace, _: Random) -> Workspace | None:
    return _standing(space, watts=_drawn(space), floor=BORNE)


FIGURES = (
    Operator(
        "budget-exceeded", "a plan that costs more than its request allows",
        above_its_budget, at_its_budget, "CST-01",
    ),
    Operator(
        "budget-unpriced", "a budget, and a price that nobody states",
        price_that_nobody_states, at_its_budget, "CST-01", verdict=Verdict.NOT_PROVABLE,
    ),
    Operator(
        "room-power", "a room that gives a watt less than its racks draw",
        room_that_gives_too_little, room_that_gives_enough, "PWR-05",
    ),
    Operator(
        "room-floor", "a floor that does not carry a full rack",
        floor_that_gives_way, floor_that_carries, "PWR-07",
    ),
)  # fmt: skip
