"""The two address plans of IPU-PODs, and why they may not meet in one L2 domain.

From the factory a rack has 10.1.x.z: x is the role, z the number. Racks that are joined to a larger pod have
10.x.y.z: x the role, y the number of the logical rack. 10.1.1.3 is BMC 3 in the first plan, and BMC 3 of
logical rack 1 in the second: both plans in one L2 domain give one address to two devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Literal

from .facts import Fact, practice, primary
from .sizes import MACHINES_PER_LOGICAL_RACK

Plan = Literal["factory", "pod"]
Role = Literal["bmc", "gateway", "management", "rnic"]

_PLAN = "Graphcore, IPU-POD128 build and test guide, network configuration"

#: Role -> its number in both plans (x).
ROLE_NUMBERS: Mapping[Role, Fact[int]] = {
    "bmc": primary(1, "", _PLAN),
    "gateway": primary(2, "", _PLAN),
    "management": primary(3, "", _PLAN),
    "rnic": primary(5, "", _PLAN),
}

#: Servers count from here on; below it, up to 16, are machines.
FIRST_SERVER = primary(101, "", f"{_PLAN}: 10.1.3.101 is the first server from the factory")

#: Ports that listen on these addresses.
AGENT_PORT = primary(8080, "", "Graphcore, V-IPU administrator guide, clusters: agent at 10.1.2.1:8080")
USER_API_PORT = practice(8090, "", "public scripts around V-IPU: user API of the controller")

_LAST = 254


@dataclass(frozen=True)
class AddressMeaning:
    """What an address means in one plan. `logical_rack` is None in the factory plan."""

    plan: Plan
    role: Role
    logical_rack: int | None
    number: int


def factory_address(role: Role, number: int) -> str:
    """Address of a device in the factory plan: `factory_address("bmc", 3)` is 10.1.1.3. ValueError if none."""
    _check_number(role, number)
    return f"10.1.{ROLE_NUMBERS[role].value}.{number}"


def pod_address(role: Role, logical_rack: int, number: int) -> str:
    """Address in the pod plan: `pod_address("rnic", 17, 11)` is 10.5.17.11. ValueError if there is none."""
    _check_number(role, number)
    if not 1 <= logical_rack <= _LAST:
        raise ValueError(f"logical rack {logical_rack}: the pod plan has room for 1 to {_LAST}")
    return f"10.{ROLE_NUMBERS[role].value}.{logical_rack}.{number}"


def readings(address: str) -> tuple[AddressMeaning, ...]:
    """Every meaning of an address: none, one, or one in each plan. ValueError if it is no IPv4 address."""
    try:
        first, second, third, number = IPv4Address(address).packed
    except AddressValueError as wrong:
        raise ValueError(f"{address!r} is no IPv4 address: {wrong}") from None
    if first != 10:
        return ()
    roles: dict[int, Role] = {fact.value: role for role, fact in ROLE_NUMBERS.items()}
    found = []
    if second == 1 and third in roles:
        found.append(AddressMeaning("factory", roles[third], None, number))
    if second in roles and 1 <= third <= _LAST:
        found.append(AddressMeaning("pod", roles[second], third, number))
    return tuple(reading for reading in found if _fits(reading.role, reading.number))


def mixed_plan_fault(addresses: Iterable[tuple[str, Plan | None]]) -> str | None:
    """Why the addresses of one L2 domain cannot stand together; None if they can.

    Each comes with the plan of its logical rack; None where nobody stated one: then it must fit the others.
    """
    members = tuple(addresses)
    for address, count in sorted(Counter(address for address, _ in members).items()):
        if count > 1:
            return f"{address} is there {count} times; {_meanings(address)}"
    possible: set[Plan] = {"factory", "pod"}
    for address, stated in members:
        plans = {reading.plan for reading in readings(address)}
        left = possible & plans & ({stated} if stated else {"factory", "pod"})
        if not left:
            return _mixed(address, stated, plans, possible)
        possible = left
    return None


def _mixed(address: str, stated: Plan | None, plans: set[Plan], possible: set[Plan]) -> str:
    if not plans or (stated and stated not in plans):
        return f"{address} is in {f'no {stated} plan' if stated else 'neither plan'}: {_meanings(address)}"
    others = " or ".join(sorted(possible))
    own = stated or " or ".join(sorted(plans))
    return (
        f"{address} is of the {own} plan, the others in this L2 domain are of the {others} plan: "
        f"mixed, one address could be two devices; give all of them the pod plan ({_meanings(address)})"
    )


def _meanings(address: str) -> str:
    found = [
        f"{item.role} {item.number} of "
        + (f"logical rack {item.logical_rack}" if item.logical_rack else "the factory plan")
        for item in readings(address)
    ]
    return f"{address} means {' and '.join(found)}" if found else f"{address} has no meaning in either plan"


def _check_number(role: Role, number: int) -> None:
    if not _fits(role, number):
        machines = MACHINES_PER_LOGICAL_RACK.value
        raise ValueError(
            f"{role} {number}: machines are 1 to {machines} (not in role management), "
            f"servers {FIRST_SERVER.value} to {_LAST} (in roles management and rnic)"
        )


def _fits(role: Role, number: int) -> bool:
    """Machines have a BMC, a gateway and an RNIC; servers a management port and an RNIC."""
    machine = 1 <= number <= MACHINES_PER_LOGICAL_RACK.value
    server = FIRST_SERVER.value <= number <= _LAST
    return (machine and role != "management") or (server and role in ("management", "rnic"))
