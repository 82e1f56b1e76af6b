"""The two address plans, and the trap between them."""

from __future__ import annotations

import pytest

from interlock.hardware import factory_address, mixed_plan_fault, pod_address, readings
from interlock.hardware.addressing import ROLE_NUMBERS, AddressMeaning, Plan, Role


def test_addresses_from_the_factory() -> None:
    assert factory_address("bmc", 3) == "10.1.1.3"
    assert factory_address("gateway", 3) == "10.1.2.3"
    assert factory_address("rnic", 3) == "10.1.5.3"
    assert factory_address("management", 101) == "10.1.3.101"


def test_an_address_of_a_pod() -> None:
    assert pod_address("rnic", 17, 11) == "10.5.17.11"


@pytest.mark.parametrize("role", ROLE_NUMBERS)
@pytest.mark.parametrize("number", [1, 16, 101, 254])
def test_addresses_read_back(role: Role, number: int) -> None:
    try:
        factory, pod = factory_address(role, number), pod_address(role, 7, number)
    except ValueError:
        assert (role == "management") == (number <= 16)
        assert role != "rnic"
        return
    assert AddressMeaning("factory", role, None, number) in readings(factory)
    assert AddressMeaning("pod", role, 7, number) in readings(pod)


@pytest.mark.parametrize("address", ["10.1.1.3", "10.1.2.3", "10.1.5.3"])
def test_an_address_of_both_plans_has_both_readings(address: str) -> None:
    number = int(address.split(".")[2])
    assert [item.plan for item in readings(address)] == ["factory", "pod"]
    assert readings(address)[1] == AddressMeaning("pod", "bmc", number, 3)


@pytest.mark.parametrize("address", ["192.168.1.1", "10.4.1.1", "10.1.4.17", "10.1.1.99", "10.5.0.1", "10.2.1.200"])
def test_what_is_in_no_plan(address: str) -> None:
    assert readings(address) == ()


def test_what_is_no_address() -> None:
    with pytest.raises(ValueError, match="is no IPv4 address"):
        readings("10.1.1")


@pytest.mark.parametrize(
    ("role", "number"), [("bmc", 0), ("bmc", 17), ("gateway", 101), ("management", 1), ("rnic", 255)]
)
def test_numbers_that_a_role_does_not_have(role: Role, number: int) -> None:
    with pytest.raises(ValueError, match="machines are 1 to 16"):
        factory_address(role, number)


@pytest.mark.parametrize("logical_rack", [0, 255])
def test_the_pod_plan_has_room_for_254_racks(logical_rack: int) -> None:
    with pytest.raises(ValueError, match="1 to 254"):
        pod_address("bmc", logical_rack, 1)


def stated(plan: Plan | None, *addresses: str) -> list[tuple[str, Plan | None]]:
    return [(address, plan) for address in addresses]


def test_one_plan_is_fine() -> None:
    assert mixed_plan_fault(stated("factory", "10.1.1.3", "10.1.2.3", "10.1.5.3", "10.1.3.101")) is None
    assert mixed_plan_fault(stated("pod", "10.1.1.3", "10.2.1.3", "10.5.17.11")) is None
    assert mixed_plan_fault(stated(None, "10.1.2.3", "10.2.1.3", "10.5.17.11")) is None
    assert mixed_plan_fault([]) is None


def test_both_plans_in_one_domain_are_refused_with_the_reason() -> None:
    found = mixed_plan_fault(stated("factory", "10.1.1.3") + stated("pod", "10.5.17.11"))
    assert found is not None
    assert "10.5.17.11 is of the pod plan" in found
    assert "the factory plan" in found


def test_both_plans_are_refused_even_where_every_address_could_be_of_one() -> None:
    assert mixed_plan_fault(stated("factory", "10.1.1.3") + stated("pod", "10.1.2.3")) is not None


def test_nobody_stated_a_plan_and_none_fits_all() -> None:
    found = mixed_plan_fault(stated(None, "10.1.3.101", "10.5.17.11"))
    assert found is not None
    assert "mixed" in found


def test_two_racks_from_the_factory_have_the_same_addresses() -> None:
    found = mixed_plan_fault(stated("factory", "10.1.1.3", "10.1.1.3"))
    assert found is not None
    assert "10.1.1.3 is there 2 times" in found


def test_the_collision_itself_names_both_meanings() -> None:
    found = mixed_plan_fault([(factory_address("bmc", 3), "factory"), (pod_address("bmc", 1, 3), "pod")])
    assert found is not None
    assert "bmc 3 of the factory plan and bmc 3 of logical rack 1" in found


def test_an_address_of_no_plan_is_refused() -> None:
    assert "neither plan" in (mixed_plan_fault(stated(None, "192.168.0.1")) or "")
    assert "no factory plan" in (mixed_plan_fault(stated("factory", "10.5.17.11")) or "")
